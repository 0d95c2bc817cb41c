package account

import (
	"encoding/json"
	"strings"
	"testing"

	"devplatform/shared/docs"
)

// TestDocument checks that the document describes every operation of accounts.
func TestDocument(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string   `json:"operationId"`
			Summary     string   `json:"summary"`
			Tags        []string `json:"tags"`
			Responses   map[string]struct {
				Ref string `json:"$ref"`
			} `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(docs.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	statuses := map[string]string{ // the status of a successful response, by operation
		"POST /api/auth/signup":            "201",
		"POST /api/auth/login":             "200",
		"GET /api/auth/me":                 "200",
		"POST /api/auth/logout":            "200",
		"GET /api/auth/codehost":           "302",
		"GET /api/auth/codehost/callback":  "302",
		"POST /api/auth/codehost/link":     "200",
		"GET /api/auth/sessions":           "200",
		"DELETE /api/auth/sessions/{id}":   "200",
		"DELETE /api/auth/identities/{id}": "200",
		"PUT /api/auth/password":           "200",
		"GET /api/auth/identities":         "200",
	}
	for path, methods := range document.Paths {
		for method, op := range methods {
			name := strings.ToUpper(method) + " " + path
			if !strings.HasPrefix(path, "/api/auth/") {
				continue
			}
			status, known := statuses[name]
			if !known {
				t.Errorf("the document describes %s, which is not an expected operation", name)
			}
			delete(statuses, name)
			if _, ok := op.Responses[status]; !ok || op.Responses["500"].Ref == "" {
				t.Errorf("%s: got the responses %v, want %s and 500", name, op.Responses, status)
			}
			if op.OperationID == "" || op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s: got %+v, want an operationId, a summary and one tag", name, op)
			}
		}
	}
	if len(statuses) > 0 {
		t.Errorf("the document does not describe %v", statuses)
	}
	for _, text := range []string{
		"AUTH_RATE_LIMITED", "AUTH_USER_EXISTS", "AUTH_OAUTH_STATE_INVALID", "RateLimit-Remaining", "ada@example.com",
	} {
		if !strings.Contains(string(docs.OpenAPI), text) {
			t.Errorf("the document does not contain %s", text)
		}
	}
	if strings.Contains(string(docs.OpenAPI), "__Host-oauth") {
		t.Error("the document contains the cookie __Host-oauth, which is internal")
	}
}
