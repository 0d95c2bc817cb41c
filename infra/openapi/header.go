package main

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
)

// Names of the headers that any response may have.
const (
	requestIDHeader = "RequestId"
	renewalHeader   = "SessionRenewal"
	retryHeader     = "RetryAfter"
	headersPrefix   = "#/components/headers/"
)

// commonHeaders describes the headers that the edge sets. Those without a meaning for clients are only in the
// document's description.
func commonHeaders() map[string]*huma.Header {
	text, number := huma.TypeString, huma.TypeInteger
	return map[string]*huma.Header{
		requestIDHeader: {
			Description: "The request's ID, by which the service's operators find it in their logs",
			Schema:      &huma.Schema{Type: text}, Example: "8f2b5c1e-52b0-4d0f-9a55-0c6f0f7a3f1e",
		},
		renewalHeader: {
			Description: "A renewed session cookie: at most once a day, if the session is in use",
			Schema:      &huma.Schema{Type: text}, Example: "__Host-session=eyJhbGciOiJIUzI1NiJ9.e30.c2ln; Path=/; Max-Age=604800; HttpOnly; Secure; SameSite=Lax",
		},
		retryHeader: {
			Description: "Seconds to wait before the next attempt",
			Schema:      &huma.Schema{Type: number}, Example: 1,
		},
	}
}

// errorHeaders returns the headers of an error response. Those that a success has, too, are described there.
func errorHeaders(errs []*fault.Error, success *huma.Response) map[string]*huma.Header {
	headers := map[string]*huma.Header{"X-Request-Id": {Ref: headersPrefix + requestIDHeader}}
	for _, err := range errs {
		for name := range err.Headers() {
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
