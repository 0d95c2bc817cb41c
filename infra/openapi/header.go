package main

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
)

// Names of the components for headers that any response may have.
const (
	requestIDHeader = "RequestId"
	renewalHeader   = "SessionRenewal"
	retryHeader     = "RetryAfter"
	headersPrefix   = "#/components/headers/"
)

// commonHeaders returns the headers of the HTTP edge that clients use. description.md describes the other headers.
func commonHeaders() map[string]*huma.Header {
	return map[string]*huma.Header{
		requestIDHeader: {
			Description: "The ID of the request. Operators use it to find the request in their logs",
			Schema:      &huma.Schema{Type: huma.TypeString}, Example: "8f2b5c1e-52b0-4d0f-9a55-0c6f0f7a3f1e",
		},
		renewalHeader: {
			Description: "The cookie of a renewed session. An active session is renewed at most once a day",
			Schema:      &huma.Schema{Type: huma.TypeString},
			Example: "__Host-session=eyJhbGciOiJIUzI1NiJ9.e30.c2ln; Path=/; Max-Age=604800; " +
				"HttpOnly; Secure; SameSite=Lax",
		},
		retryHeader: {
			Description: "The number of seconds to wait before the next attempt",
			Schema:      &huma.Schema{Type: huma.TypeInteger}, Example: 1,
		},
	}
}

// errorHeaders returns the headers of an error response. X-Request-Id and Retry-After refer to components. All other
// headers have the descriptions of the success response.
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
