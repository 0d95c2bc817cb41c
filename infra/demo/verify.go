package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// checks are the two ways to know who sent a delivery; nil is a signature that holds.
type checks struct {
	service  error // X-Service-Signature
	standard error // Standard Webhooks
}

func (c checks) hold() bool { return c.service == nil && c.standard == nil }

// verify checks a delivery as a stranger would who has read the documentation: the HMAC by hand, Standard Webhooks (which looks at
// the time stamp, too) with the library that its authors publish.
func verify(secret string, body []byte, header http.Header) (c checks) {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	if !hmac.Equal([]byte(header.Get("X-Service-Signature")), []byte("sha256="+hex.EncodeToString(mac.Sum(nil)))) {
		c.service = errors.New("X-Service-Signature does not fit the body")
	}
	hook, err := standardwebhooks.NewWebhook(secret)
	if err == nil {
		err = hook.Verify(body, header)
	}
	c.standard = err
	return c
}
