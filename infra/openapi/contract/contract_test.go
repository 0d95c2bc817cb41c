package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const nonconforming = "does not conform to the OpenAPI document"

// recorder is a test that records its failures.
type recorder struct {
	testing.TB

	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// TestCheck checks that only responses that do not conform to the document fail a test.
func TestCheck(t *testing.T) {
	t.Parallel()
	const me = `{"id":"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK","email":"ada@example.com","username":"ada","createdAt":"2026-01-31T08:15:30.123Z"}`
	for _, tc := range []struct {
		method, path string
		status       int
		media, body  string
		failure      string // "" for none
	}{
		{"GET", "/api/auth/me", 200, mediaType, me, ""},
		{"GET", "/api/auth/me", 200, mediaType, strings.Replace(me, `"ada"`, "7", 1), nonconforming},
		{"GET", "/api/auth/me", 200, mediaType, strings.Replace(me, "{", `{"passwordHash":"x",`, 1), nonconforming},
		{"GET", "/api/auth/me", 502, mediaType, `{"error":"no","code":"INTERNAL_ERROR"}`, ""},
		{"GET", "/api/auth/me", 504, mediaType, `{"message":"Endpoint request timed out"}`, nonconforming},
		{"GET", "/api/auth/me", 200, mediaType, `{"id":"x"}`, nonconforming},
		{"GET", "/api/auth/me", 200, mediaType, strings.Replace(me, "2026-01-31T", "yesterday ", 1), nonconforming},
		{"GET", "/api/auth/me", 200, "text/plain", me, "Content-Type"},
		{"GET", "/api/auth/me", 418, mediaType, me, "status 418"},
		{"GET", "/api/auth/me?x=1", 401, mediaType, `{"error":"no","code":"AUTH_INVALID_TOKEN"}`, ""},
		{"GET", "/api/auth/me", 401, mediaType, `{"error":"no","code":"AUTH_INVALID_TOKEN","more":1}`, nonconforming},
		{"DELETE", "/api/auth/sessions/ses_1", 404, mediaType, `{"error":"no","code":"SESSION_NOT_FOUND"}`, ""},
		{"GET", "/api/nowhere", 200, mediaType, `{}`, "an operation that is not in the OpenAPI document"},
		{"GET", "/api/nowhere", 404, mediaType, `{}`, ""},
	} {
		r := &recorder{TB: t}
		Check(r, tc.method, tc.path, tc.status, http.Header{"Content-Type": {tc.media}}, []byte(tc.body))
		got := strings.Join(r.failures, "; ")
		if (tc.failure == "") != (got == "") || !strings.Contains(got, tc.failure) {
			t.Errorf("%s %s %d %s: got %q, want %q", tc.method, tc.path, tc.status, tc.body, got, tc.failure)
		}
	}
}

// TestStreamsAndSharedResponses checks that an event stream needs its media type, and that an error, also a shared one,
// needs its schema.
func TestStreamsAndSharedResponses(t *testing.T) {
	t.Parallel()
	c, err := read([]byte(`{"openapi": "3.1.0", "paths": {"/api/stream": {"post": {"responses": {
		"200": {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
		"204": {"description": "No Content"},
		"429": {"$ref": "#/components/responses/Often"}, "500": {"$ref": "#/components/responses/Nowhere"},
		"503": {"content": {"application/json": {"schema": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}}}}
	}}}}, "components": {"responses": {"Often": {"content": {"application/json": {"schema": {"type": "object", "required": ["often"]}}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		status      int
		media, body string
		failure     string // "" for none
	}{
		{200, "text/event-stream", "data: {}\n\n", ""},
		{200, "application/json", "{}", "Content-Type"},
		{200, "", "data: {}\n\n", "Content-Type"},
		{204, "", "", ""},
		{204, "text/event-stream", "data: {}\n\n", "has a body"},
		{503, "application/json", `{"code":"AI_UNAVAILABLE"}`, ""},
		{503, "application/json", `{}`, nonconforming},
		{503, "text/event-stream", "data: {}\n\n", "Content-Type"},
		{429, "application/json", `{"often":1}`, ""},
		{429, "application/json", `{}`, nonconforming},
		{429, "", "", "Content-Type"},
		{500, "application/json", `{}`, "is not in the OpenAPI document"},
	} {
		r := &recorder{TB: t}
		c.check(r, "POST", "/api/stream", tc.status, http.Header{"Content-Type": {tc.media}}, []byte(tc.body))
		got := strings.Join(r.failures, "; ")
		if (tc.failure == "") != (got == "") || !strings.Contains(got, tc.failure) {
			t.Errorf("%d %s %q: got %q, want %q", tc.status, tc.media, tc.body, got, tc.failure)
		}
	}
}
