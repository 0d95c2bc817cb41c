// Package awshttp makes the HTTP clients that the platform's AWS SDK clients use.
package awshttp

import (
	"io"
	"net/http"
	"time"
)

// timeout limits one request: a long poll of 20 s, and time for the rest of the response.
const timeout = 30 * time.Second

// New returns a new HTTP client for the AWS SDK. The caller closes its idle connections.
func New() *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: plainBodies{&http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
			ExpectContinueTimeout: 3 * time.Second,
		}},
	}
}

// plainBodies hides every method of a request's body except Read and Close, in particular WriteTo. Without it,
// responses are lost: the SDK closes the request's body when it receives the response's header, while net/http may
// still be looking for the end of the body. On a closed body, Read returns io.EOF at the end of a copy, as it should.
// WriteTo returns io.EOF as an error. Then net/http closes the connection while the SDK reads the response, and the SDK
// reports "use of closed network connection" (https://github.com/aws/aws-sdk-go-v2/issues/2737). The service has
// executed the request: messages that were in a lost response stay invisible until their visibility timeout ends.
type plainBodies struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (t plainBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r = r.WithContext(r.Context()) // a copy: a RoundTripper must not change the caller's request
		r.Body = struct{ io.ReadCloser }{r.Body}
		if r.Header.Get("Expect") != "" {
			// Wait for "100 Continue". net/http does not wait if the version is not set, as in the SDK's requests. After a
			// refusal, it sends the body, unless it closes the connection. But the SDK has closed the body, so sending
			// would fail, and the response could be lost.
			r.ProtoMajor, r.ProtoMinor, r.Close = 1, 1, true
		}
	}
	return t.Transport.RoundTrip(r)
}
