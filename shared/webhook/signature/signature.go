// Package signature creates secrets, and computes the headers by which a receiver verifies that a delivery is authentic
// and unchanged. It does no I/O. It must not contain the storage of secrets, their validity, or the sending of
// requests.
package signature

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"devplatform/shared/clock"
)

// The headers that Sign sets, in the canonical form of http.Header. Standard Webhooks defines the last three.
const (
	HeaderSignature = "X-Service-Signature"
	HeaderEvent     = "X-Service-Event"
	HeaderDelivery  = "X-Service-Delivery"
	HeaderTimestamp = "X-Service-Timestamp"

	HeaderStandardID        = "Webhook-Id"
	HeaderStandardTimestamp = "Webhook-Timestamp"
	HeaderStandardSignature = "Webhook-Signature"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32 // of a generated secret

	// Standard Webhooks requires keys of this size.
	minKeyBytes = 24
	maxKeyBytes = 64
)

// Sign returns the headers of an attempt. at is the time at which it begins. secrets are the valid secrets, newest
// first. Sign panics if there are none, because a request must not be sent without a signature.
//
//   - X-Service-Signature is "sha256=" and the hex HMAC-SHA256 of the raw body. The key consists of all bytes of the
//     newest secret, including any prefix.
//   - X-Service-Event is the event type, X-Service-Delivery is the ID of the delivery, and X-Service-Timestamp is at in
//     RFC 3339 with milliseconds.
//   - webhook-id is the ID of the event, and webhook-timestamp is at in Unix seconds. webhook-signature contains
//     "v1,<base64>" for each secret, separated by spaces: the HMAC-SHA256 of id.timestamp.body
//     (https://www.standardwebhooks.com, version 1.0.0).
func Sign(secrets []string, eventID, deliveryID, eventType string, at time.Time, body []byte) http.Header {
	seconds := strconv.FormatInt(at.Unix(), 10)
	signed := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := digest(standardKey(secret), []byte(eventID), []byte("."), []byte(seconds), []byte("."), body)
		signed[i] = "v1," + base64.StdEncoding.EncodeToString(mac)
	}
	header := make(http.Header, 9) // with capacity for the headers that the sender adds
	header.Set(HeaderSignature, "sha256="+hex.EncodeToString(digest([]byte(secrets[0]), body)))
	header.Set(HeaderEvent, eventType)
	header.Set(HeaderDelivery, deliveryID)
	header.Set(HeaderTimestamp, clock.Stamp(at).String())
	header.Set(HeaderStandardID, eventID)
	header.Set(HeaderStandardTimestamp, seconds)
	header.Set(HeaderStandardSignature, strings.Join(signed, " "))
	return header
}

// NewSecret returns a secret in the form of Standard Webhooks: "whsec_" and the base64 encoding of 32 random bytes.
func NewSecret() string {
	var key [secretBytes]byte
	_, _ = rand.Read(key[:]) // never returns an error
	return secretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// CheckSecret returns the rule of Standard Webhooks that a secret breaks, or "". A secret without the prefix whsec_
// can be any text. With the prefix, libraries decode the rest, and not all of them accept another alphabet, no padding,
// line breaks, or a key of another size.
func CheckSecret(secret string) string {
	encoded, hasPrefix := strings.CutPrefix(secret, secretPrefix)
	if !hasPrefix {
		return ""
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case err != nil || base64.StdEncoding.EncodeToString(key) != encoded:
		return "must have base64 with padding (RFC 4648, section 4) after whsec_"
	case len(key) < minKeyBytes || len(key) > maxKeyBytes:
		return "must have 24 to 64 bytes after whsec_, encoded as base64"
	}
	return ""
}

// standardKey returns the key that the official libraries of Standard Webhooks derive from a secret: the decoded text
// after whsec_. A secret that CheckSecret rejects is used with all its bytes, like a secret without the prefix.
func standardKey(secret string) []byte {
	encoded, hasPrefix := strings.CutPrefix(secret, secretPrefix)
	if !hasPrefix || CheckSecret(secret) != "" {
		return []byte(secret)
	}
	key, _ := base64.StdEncoding.DecodeString(encoded) // CheckSecret has decoded it
	return key
}

func digest(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}
