package hooktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Request is one request as it arrived.
type Request struct {
	Method, Path string
	Query        url.Values
	Header       http.Header
	// Body is the raw body, which is what is signed.
	Body []byte
	// At is when the whole of it had arrived.
	At time.Time
	// Attempt counts the requests of this webhook-id to this path, from 1.
	Attempt int
	// Status is what it is answered with: 0 where there is no answer or the test's own handler answers.
	Status int
}

// ID is the event's id: the header webhook-id.
func (r Request) ID() string { return r.Header.Get("Webhook-Id") }

// Verify checks both signatures as subscribers are told to. The time stamp is not compared with the clock, which tests move.
func (r Request) Verify(secret string) error {
	return errors.Join(r.VerifyService(secret), r.VerifyStandard(secret))
}

// VerifyService checks X-Service-Signature: the HMAC of the raw body under the secret's own bytes, prefix and all.
func (r Request) VerifyService(secret string) error {
	const header = "X-Service-Signature"
	digest, found := strings.CutPrefix(r.Header.Get(header), "sha256=")
	if !found {
		return fmt.Errorf("%s is %q, not sha256=<hex>", header, r.Header.Get(header))
	}
	given, err := hex.DecodeString(digest)
	if err != nil {
		return fmt.Errorf("%s: %w", header, err)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(r.Body)
	if !hmac.Equal(given, mac.Sum(nil)) {
		return fmt.Errorf("%s does not fit the body and the secret", header)
	}
	return nil
}

// VerifyStandard checks the three headers of Standard Webhooks with the library of that standard. The secret may be any of those
// that are live: one of the signatures must be its.
func (r Request) VerifyStandard(secret string) error {
	var key *standardwebhooks.Webhook
	var err error
	if strings.HasPrefix(secret, "whsec_") {
		key, err = standardwebhooks.NewWebhook(secret)
	} else {
		key, err = standardwebhooks.NewWebhookRaw([]byte(secret))
	}
	if err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	if err := key.VerifyIgnoringTimestamp(r.Body, r.Header); err != nil {
		return fmt.Errorf("webhook-signature: %w", err)
	}
	return nil
}
