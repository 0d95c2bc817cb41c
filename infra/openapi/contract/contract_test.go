package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// recorder is a test that notes its failures.
type recorder struct {
	testing.TB

	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// TestCheck shows that what is not as the document says fails a test, and what is does not.
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
		{"GET", "/api/auth/me", 200, mediaType, strings.Replace(me, `"ada"`, "7", 1), "not as the OpenAPI document says"},
		{"GET", "/api/auth/me", 200, mediaType, strings.Replace(me, "{", `{"passwordHash":"x",`, 1), "not as the OpenAPI document says"},
		{"GET", "/api/auth/me", 502, mediaType, `{"error":"no","code":"INTERNAL_ERROR"}`, ""},
		{"GET", "/api/auth/me", 504, mediaType, `{"message":"Endpoint request timed out"}`, "not as the OpenAPI document says"},
		{"GET", "/api/auth/me", 200, mediaType, `{"id":"x"}`, "not as the OpenAPI document says"},
		{"GET", "/api/auth/me", 200, mediaType, strings.Replace(me, "2026-01-31T", "yesterday ", 1), "not as the OpenAPI document says"},
		{"GET", "/api/auth/me", 200, "text/plain", me, "Content-Type"},
		{"GET", "/api/auth/me", 418, mediaType, me, "status 418"},
		{"GET", "/api/auth/me?x=1", 401, mediaType, `{"error":"no","code":"AUTH_INVALID_TOKEN"}`, ""},
		{"GET", "/api/auth/me", 401, mediaType, `{"error":"no","code":"AUTH_INVALID_TOKEN","more":1}`, "not as the OpenAPI document says"},
		{"DELETE", "/api/auth/sessions/ses_1", 404, mediaType, `{"error":"no","code":"SESSION_NOT_FOUND"}`, ""},
		{"GET", "/api/nowhere", 200, mediaType, `{}`, "does not know it"},
		{"GET", "/api/nowhere", 404, mediaType, `{}`, ""},
	} {
		r := &recorder{TB: t}
		Check(r, tc.method, tc.path, tc.status, http.Header{"Content-Type": {tc.media}}, []byte(tc.body))
		said := strings.Join(r.failures, "; ")
		if (tc.failure == "") != (said == "") || !strings.Contains(said, tc.failure) {
			t.Errorf("%s %s %d %s: said %q, want %q", tc.method, tc.path, tc.status, tc.body, said, tc.failure)
		}
	}
}

// TestStreams holds streams of events to their media type, and errors in their stead to the schema.
func TestStreams(t *testing.T) {
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
		{503, "application/json", `{}`, "not as the OpenAPI document says"},
		{503, "text/event-stream", "data: {}\n\n", "Content-Type"},
		{429, "application/json", `{"often":1}`, ""},
		{429, "application/json", `{}`, "not as the OpenAPI document says"},
		{429, "", "", "Content-Type"},
		{500, "application/json", `{}`, "is not in the OpenAPI document"},
	} {
		r := &recorder{TB: t}
		c.check(r, "POST", "/api/stream", tc.status, http.Header{"Content-Type": {tc.media}}, []byte(tc.body))
		said := strings.Join(r.failures, "; ")
		if (tc.failure == "") != (said == "") || !strings.Contains(said, tc.failure) {
			t.Errorf("%d %s %q: said %q, want %q", tc.status, tc.media, tc.body, said, tc.failure)
		}
	}
}
