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

// Request is a recorded request.
type Request struct {
	Method, Path string
	Query        url.Values
	Header       http.Header
	// Body is the raw body. The signatures are computed from it.
	Body []byte
	// At is the time at which the request had arrived completely.
	At time.Time
	// Attempt is the number of this request among the requests with the same webhook-id and path, counted from 1.
	Attempt int
	// Status is the status of the response. It is 0 if there is no response, or if the test's own handler writes
	// the response.
	Status int
}

// ID returns the ID of the event, which is in the header webhook-id.
func (r Request) ID() string { return r.Header.Get("Webhook-Id") }

// Verify checks both signatures in the way that is documented for subscribers. It does not compare the header
// webhook-timestamp with the current time, because tests use their own clocks.
func (r Request) Verify(secret string) error {
	return errors.Join(r.VerifyService(secret), r.VerifyStandard(secret))
}

// VerifyService checks X-Service-Signature: the HMAC-SHA256 of the raw body. The key is the complete secret with its
// prefix, without decoding.
func (r Request) VerifyService(secret string) error {
	const header = "X-Service-Signature"
	digest, found := strings.CutPrefix(r.Header.Get(header), "sha256=")
	if !found {
		return fmt.Errorf("%s is %q, want sha256=<hex>", header, r.Header.Get(header))
	}
	given, err := hex.DecodeString(digest)
	if err != nil {
		return fmt.Errorf("%s: %w", header, err)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(r.Body)
	if !hmac.Equal(given, mac.Sum(nil)) {
		return fmt.Errorf("%s is not the signature of the body with this secret", header)
	}
	return nil
}

// VerifyStandard checks the three headers of Standard Webhooks with the library of that standard. If the endpoint has
// several active secrets, the secret can be any of them: one of the signatures must match.
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
