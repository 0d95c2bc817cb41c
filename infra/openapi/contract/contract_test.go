package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const nonconforming = "does not conform to the OpenAPI document"

// recorder is a testing.TB that records its failures.
type recorder struct {
	testing.TB

	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// TestCheck checks that Check fails exactly for responses that do not conform to the document.
func TestCheck(t *testing.T) {
	t.Parallel()
	const me = `{"id":"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK","email":"ada@example.com","username":"ada",` +
		`"createdAt":"2026-01-31T08:15:30.123Z",` +
		`"emailVerified":false,"pendingEmail":null,"mailUndeliverableSince":null,"mail":true}`
	for _, tc := range []struct {
		method, path string
		status       int
		media, body  string
		failure      string // a part of the failure, or "" for a response that conforms
	}{
		{
			method: "GET",
			path:   "/api/auth/me",
			status: 200,
			media:  mediaType,
			body:   me,
		},
		{
			method:  "GET",
			path:    "/api/auth/me",
			status:  200,
			media:   mediaType,
			body:    strings.Replace(me, `"ada"`, "7", 1),
			failure: nonconforming,
		},
		{
			method:  "GET",
			path:    "/api/auth/me",
			status:  200,
			media:   mediaType,
			body:    strings.Replace(me, "{", `{"passwordHash":"x",`, 1),
			failure: nonconforming,
		},
		{
			method: "GET",
			path:   "/api/auth/me",
			status: 502,
			media:  mediaType,
			body:   `{"error":"Failed.","code":"INTERNAL_ERROR"}`,
		},
		{
			method:  "GET",
			path:    "/api/auth/me",
			status:  504,
			media:   mediaType,
			body:    `{"message":"Endpoint request timed out"}`,
			failure: nonconforming,
		},
		{
			method:  "GET",
			path:    "/api/auth/me",
			status:  200,
			media:   mediaType,
			body:    `{"id":"x"}`,
			failure: nonconforming,
		},
		{
			method:  "GET",
			path:    "/api/auth/me",
			status:  200,
			media:   mediaType,
			body:    strings.Replace(me, "2026-01-31T", "yesterday ", 1),
			failure: nonconforming,
		},
		{
			method:  "GET",
			path:    "/api/auth/me",
			status:  200,
			media:   "text/plain",
			body:    me,
			failure: "Content-Type",
		},
		{
			method:  "GET",
			path:    "/api/auth/me",
			status:  418,
			media:   mediaType,
			body:    me,
			failure: "status 418",
		},
		{
			method: "GET",
			path:   "/api/auth/me?x=1",
			status: 401,
			media:  mediaType,
			body:   `{"error":"Failed.","code":"AUTH_INVALID_TOKEN"}`,
		},
		{
			method:  "GET",
			path:    "/api/auth/me",
			status:  401,
			media:   mediaType,
			body:    `{"error":"Failed.","code":"AUTH_INVALID_TOKEN","more":1}`,
			failure: nonconforming,
		},
		{
			method: "DELETE",
			path:   "/api/auth/sessions/ses_1",
			status: 404,
			media:  mediaType,
			body:   `{"error":"Failed.","code":"SESSION_NOT_FOUND"}`,
		},
		{
			method:  "GET",
			path:    "/api/unknown",
			status:  200,
			media:   mediaType,
			body:    `{}`,
			failure: "an operation that is not in the OpenAPI document",
		},
		{
			method: "GET",
			path:   "/api/unknown",
			status: 404,
			media:  mediaType,
			body:   `{}`,
		},
	} {
		r := &recorder{TB: t}
		Check(r, tc.method, tc.path, tc.status, http.Header{"Content-Type": {tc.media}}, []byte(tc.body))
		got := strings.Join(r.failures, "; ")
		if (tc.failure == "") != (got == "") || !strings.Contains(got, tc.failure) {
			t.Errorf("%s %s %d %s: got the failures %q, want %q", tc.method, tc.path, tc.status, tc.body, got, tc.failure)
		}
	}
}

// TestStreamsAndSharedResponses checks that a contract reports an event stream without its media type, and a JSON body
// that does not conform to its schema. This includes responses that several operations share.
func TestStreamsAndSharedResponses(t *testing.T) {
	t.Parallel()
	c, err := read([]byte(`{"openapi": "3.1.0", "paths": {"/api/stream": {"post": {"responses": {
		"200": {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
		"204": {"description": "No Content"},
		"429": {"$ref": "#/components/responses/RateLimited"}, "500": {"$ref": "#/components/responses/Missing"},
		"503": {"content": {"application/json": {"schema":
			{"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}}}}
	}}}}, "components": {"responses": {"RateLimited": {"content": {"application/json": {"schema":
		{"type": "object", "required": ["limit"]}}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		status      int
		media, body string
		failure     string // a part of the failure, or "" for a response that conforms
	}{
		{200, "text/event-stream", "data: {}\n\n", ""},
		{200, "application/json", "{}", "Content-Type"},
		{200, "", "data: {}\n\n", "Content-Type"},
		{204, "", "", ""},
		{204, "text/event-stream", "data: {}\n\n", "has a body"},
		{503, "application/json", `{"code":"AI_UNAVAILABLE"}`, ""},
		{503, "application/json", `{}`, nonconforming},
		{503, "text/event-stream", "data: {}\n\n", "Content-Type"},
		{429, "application/json", `{"limit":1}`, ""},
		{429, "application/json", `{}`, nonconforming},
		{429, "", "", "Content-Type"},
		{500, "application/json", `{}`, "is not in the OpenAPI document"},
	} {
		r := &recorder{TB: t}
		c.check(r, "POST", "/api/stream", tc.status, http.Header{"Content-Type": {tc.media}}, []byte(tc.body))
		got := strings.Join(r.failures, "; ")
		if (tc.failure == "") != (got == "") || !strings.Contains(got, tc.failure) {
			t.Errorf("%d %s %q: got the failures %q, want %q", tc.status, tc.media, tc.body, got, tc.failure)
		}
	}
}
