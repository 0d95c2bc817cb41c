package signature_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"devplatform/shared/webhook/signature"
)

const (
	eventID    = "evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	deliveryID = "dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	eventType  = "project.created"
	newSecret  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	oldSecret  = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

var body = []byte(`{"id":"` + eventID + `","type":"project.created","data":{"project":{"name":"Zoë \u2028"}}}`)

func TestSignHeaders(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 9, 15, 30, 123_999_999, time.FixedZone("CET", 3600))
	got := signature.Sign([]string{"Jefe"}, "evt_1", "dlv_1", "file.updated", at, []byte("what do ya want for nothing?"))
	want := http.Header{
		// RFC 4231, test case 2
		"X-Service-Signature": {"sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		"X-Service-Event":     {"file.updated"},
		"X-Service-Delivery":  {"dlv_1"},
		"X-Service-Timestamp": {"2026-01-31T08:15:30.123Z"},
		"Webhook-Id":          {"evt_1"},
		"Webhook-Timestamp":   {"1769847330"},
		"Webhook-Signature":   {got.Get("webhook-signature")}, // checked with the official library in TestSignAnyBody
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the headers (-want +got):\n%s", diff)
	}
}

// The official libraries of all languages are tested with this vector.
func TestStandardWebhooksVector(t *testing.T) {
	t.Parallel()
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	got := signature.Sign([]string{newSecret}, "msg_p5jXN8AQM9LWM0D4loKWxJek", deliveryID, eventType,
		time.Unix(1614265330, 999_999_999), []byte(`{"test": 2432232314}`)).Get("webhook-signature")
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A secret with the prefix must be one that every library of Standard Webhooks accepts.
func TestCheckSecret(t *testing.T) {
	t.Parallel()
	encode := func(size int) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, size)) }
	const (
		form = "must have base64 with padding (RFC 4648, section 4) after whsec_"
		size = "must have 24 to 64 bytes after whsec_, encoded as base64"
	)
	for secret, want := range map[string]string{
		newSecret: "", signature.NewSecret(): "", "whsec_" + encode(24): "", "whsec_" + encode(25): "",
		"whsec_" + encode(64): "",
		"s":                   "", "a whsec_ secret": "", "WHSEC_x": "", "whsec": "", "鍵": "",
		"whsec_":                                      size,
		"whsec_aGVsbG8gd29ybGQ=":                      size,
		"whsec_" + encode(23):                         size,
		"whsec_" + encode(65):                         size,
		"whsec_!!!":                                   form,
		"whsec_abc":                                   form,
		"whsec_" + strings.Repeat("_-", 22):           form, // base64url
		"whsec_correct horse battery staple":          form,
		"whsec_ " + encode(24):                        form,
		newSecret + "\n":                              form,
		newSecret + "====":                            form,
		"whsec_" + encode(24)[:31]:                    form,
		"whsec_" + strings.TrimRight(encode(25), "="): form,
		"whsec_" + strings.Replace(encode(25), "/w==", "/x==", 1): form, // bits after the last byte
		"whsec_whsec_" + encode(24):                               form,
	} {
		if got := signature.CheckSecret(secret); got != want {
			t.Errorf("CheckSecret(%q) = %q, want %q", secret, got, want)
		}
	}
}

// The key of a secret is the one that the official libraries derive.
func TestStandardKey(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, secret, key string }{
		{"base64 after the prefix", "whsec_YSB3ZWJob29rIHNlY3JldCwgMzIgYnl0", "a webhook secret, 32 byt"},
		{"base64 with padding", "whsec_YSB3ZWJob29rIHNlY3JldCwgMzIgYnl0ZQ==", "a webhook secret, 32 byte"},
		{"no prefix", "aGVsbG8gd29ybGQ=", "aGVsbG8gd29ybGQ="},
		{"prefix in upper case", "WHSEC_aGVsbG8gd29ybGQ=", "WHSEC_aGVsbG8gd29ybGQ="},
		{"a key that would be empty", "whsec_", "whsec_"},
		{"not ASCII", "schlüssel-鍵", "schlüssel-鍵"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			header := signature.Sign([]string{tc.secret}, eventID, deliveryID, eventType, time.Now(), body)
			webhook, err := standardwebhooks.NewWebhookRaw([]byte(tc.key))
			if err != nil {
				t.Fatal(err)
			}
			if err := webhook.Verify(body, header); err != nil {
				t.Error(err)
			}
			if got, want := header.Get("X-Service-Signature"), serviceSignature(tc.secret, body); got != want {
				t.Errorf("X-Service-Signature: got %s, want %s", got, want)
			}
		})
	}
}

// The official library accepts the signature of each secret, with any body.
func TestSignAnyBody(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prefixed := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 70), func(key []byte) string {
			return "whsec_" + base64.StdEncoding.EncodeToString(key)
		})
		damaged := rapid.Map(rapid.String(), func(s string) string { return "whsec_" + s })
		other := rapid.String().Filter(func(s string) bool { return s != "" })
		secrets := rapid.SliceOfN(rapid.OneOf(prefixed, damaged, other), 1, 3).Draw(t, "secrets")
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		at := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "ms"))
		header := signature.Sign(secrets, eventID, deliveryID, eventType, at, body)
		verify(t, secrets, body, header)
		if n := len(strings.Fields(header.Get("webhook-signature"))); n != len(secrets) {
			t.Fatalf("got %d signatures for %d secrets", n, len(secrets))
		}
	})
}

// verify checks each secret with the official library. It uses the constructor that accepts the secret.
func verify(t interface{ Fatalf(string, ...any) }, secrets []string, body []byte, header http.Header) {
	for _, secret := range secrets {
		webhook, err := standardwebhooks.NewWebhookRaw([]byte(secret))
		if strings.HasPrefix(secret, "whsec_") && signature.CheckSecret(secret) == "" {
			webhook, err = standardwebhooks.NewWebhook(secret)
		}
		if err != nil {
			t.Fatalf("%q: %v", secret, err)
		}
		if err := webhook.VerifyIgnoringTimestamp(body, header); err != nil {
			t.Fatalf("%q: %v", secret, err)
		}
	}
	if got, want := header.Get("X-Service-Signature"), serviceSignature(secrets[0], body); got != want {
		t.Fatalf("X-Service-Signature: got %s, want %s", got, want)
	}
}

// serviceSignature returns the value of X-Service-Signature.
func serviceSignature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func TestSignPanicsWithoutSecrets(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("Sign without secrets did not panic")
		}
	}()
	signature.Sign(nil, eventID, deliveryID, eventType, time.Now(), body)
}

func TestNewSecret(t *testing.T) {
	t.Parallel()
	first, second := signature.NewSecret(), signature.NewSecret()
	if first == second || !regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`).MatchString(first) {
		t.Errorf("got %q and %q, want two secrets in the form of Standard Webhooks", first, second)
	}
}
