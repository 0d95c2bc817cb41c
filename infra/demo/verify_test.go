package main

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// delivered is a delivery that was signed at a time. Its digest was made with openssl dgst -sha256 -hmac.
func delivered(t *testing.T, at time.Time) (body []byte, header http.Header) {
	t.Helper()
	body = []byte(`{"id":"evt_1","type":"file.updated"}`)
	hook, err := standardwebhooks.NewWebhook(testSecret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := hook.Sign("evt_1", at, body)
	if err != nil {
		t.Fatal(err)
	}
	header = http.Header{}
	header.Set("X-Service-Signature", "sha256=bfff94d37a747ce30e8de988f8097e4073103d9714274190d0e84b1328c64b50")
	header.Set("Webhook-Id", "evt_1")
	header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	header.Set("Webhook-Signature", signature)
	return body, header
}

func TestOnlyWhatIsSignedHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		age               time.Duration
		change            func(body []byte, header http.Header)
		secret            string
		service, standard bool
	}{
		{"as it came", 0, nil, testSecret, true, true},
		{"another secret", 0, nil, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", false, false},
		{"no secret", 0, nil, "", false, false},
		{"an altered body", 0, func(body []byte, _ http.Header) { body[2] = 'I' }, testSecret, false, false},
		{"another id", 0, func(_ []byte, header http.Header) { header.Set("Webhook-Id", "evt_2") }, testSecret, true, false},
		{"an hour old", time.Hour, nil, testSecret, true, false},
		{"no signatures", 0, func(_ []byte, header http.Header) {
			header.Del("X-Service-Signature")
			header.Del("Webhook-Signature")
		}, testSecret, false, false},
	} {
		body, header := delivered(t, now().Add(-c.age))
		if c.change != nil {
			c.change(body, header)
		}
		got := verify(c.secret, body, header)
		if (got.service == nil) != c.service || (got.standard == nil) != c.standard || got.hold() != (c.service && c.standard) {
			t.Errorf("%s: %v, %v", c.name, got.service, got.standard)
		}
	}
}
