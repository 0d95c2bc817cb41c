package hooktest

import (
	"net/http"
	"testing"
)

// FuzzVerify: no header but the signature of that body under that secret is taken, as subscribers are told to check.
func FuzzVerify(f *testing.F) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	f.Add("sha256=", "evt_1", "1769847330", "v1,", []byte("{}"))
	f.Add("sha256=zz", "", "x", "v1,AAAA v1,AAAA", []byte{})
	f.Add("", "evt_1", "-1", "v1a,x  v1", []byte("\xff"))
	f.Fuzz(func(t *testing.T, service, id, timestamp, standard string, body []byte) {
		r := Request{Body: body, Header: http.Header{
			"X-Service-Signature": {service}, "Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {standard},
		}}
		if r.VerifyService(secret) == nil || r.VerifyStandard(secret) == nil {
			t.Fatalf("%q, %q is taken for a signature of %q", service, standard, body)
		}
	})
}
