package hooktest

import (
	"net/http"
	"testing"
)

// FuzzVerify checks that arbitrary headers are not accepted as signatures of a body.
func FuzzVerify(f *testing.F) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	f.Add("sha256=", "evt_1", "1769847330", "v1,", []byte("{}"))
	f.Add("sha256=zz", "", "x", "v1,AAAA v1,AAAA", []byte{})
	f.Add("", "evt_1", "-1", "v1a,x  v1", []byte("\xff"))
	f.Fuzz(func(t *testing.T, service, id, timestamp, standard string, body []byte) {
		r := Request{Body: body, Header: http.Header{
			"X-Service-Signature": {service},
			"Webhook-Id":          {id},
			"Webhook-Timestamp":   {timestamp},
			"Webhook-Signature":   {standard},
		}}
		if r.VerifyService(secret) == nil {
			t.Fatalf("X-Service-Signature %q is accepted for the body %q", service, body)
		}
		if r.VerifyStandard(secret) == nil {
			t.Fatalf("webhook-signature %q is accepted for the body %q", standard, body)
		}
	})
}
