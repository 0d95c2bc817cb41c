package httpapi

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
)

// Headers that any operation may answer with, by their names in the document.
const (
	requestIDHeader = "RequestId"
	renewalHeader   = "SessionRenewal"
	retryHeader     = "RetryAfter"
	headersPrefix   = "#/components/headers/"
)

// commonHeaders are the headers that the edge itself sets. Those of API.md §1 that say nothing to a client's code are in the
// document's description alone.
func commonHeaders() map[string]*huma.Header {
	text, number := huma.TypeString, huma.TypeInteger
	return map[string]*huma.Header{
		requestIDHeader: {
			Description: "The request's id, by which the service's operators find it in their logs",
			Schema:      &huma.Schema{Type: text}, Example: "8f2b5c1e-52b0-4d0f-9a55-0c6f0f7a3f1e",
		},
		renewalHeader: {
			Description: "The session cookie anew, with a later end: at most once a day, and only where the session is in use",
			Schema:      &huma.Schema{Type: text}, Example: "__Host-session=eyJhbGciOiJIUzI1NiJ9.e30.c2ln; Path=/; Max-Age=604800; HttpOnly; Secure; SameSite=Lax",
		},
		retryHeader: {
			Description: "How many seconds to wait before the next try",
			Schema:      &huma.Schema{Type: number}, Example: 1,
		},
	}
}

// documentHeaders adds to a success what the edge sets on it.
func (d *document) documentHeaders(success *huma.Response, op *Operation) {
	if success.Headers == nil {
		success.Headers = map[string]*huma.Header{}
	}
	success.Headers["X-Request-Id"] = &huma.Header{Ref: headersPrefix + requestIDHeader}
	if _, own := success.Headers["Set-Cookie"]; op.Session && !own {
		success.Headers["Set-Cookie"] = &huma.Header{Ref: headersPrefix + renewalHeader}
	}
}

// headersOf are the headers of an error answer. Those that a success has, too, are described there.
func headersOf(errs []*fault.Error, success *huma.Response) map[string]*huma.Header {
	headers := map[string]*huma.Header{"X-Request-Id": {Ref: headersPrefix + requestIDHeader}}
	for _, err := range errs {
		for name := range err.GetHeaders() {
			if http.CanonicalHeaderKey(name) == "Retry-After" {
				headers["Retry-After"] = &huma.Header{Ref: headersPrefix + retryHeader}
				continue
			}
			for described, header := range success.Headers {
				if strings.EqualFold(described, name) {
					headers[described] = header
				}
			}
		}
	}
	return headers
}
