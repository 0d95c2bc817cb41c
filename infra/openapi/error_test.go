package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/docs"
	"devplatform/shared/fault"
)

// TestErrorExamplesMatchTheResponses compares the document's examples of the edge's errors with the responses of the
// edge.
func TestErrorExamplesMatchTheResponses(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	s := specOf(t, edgetest.Register, nil)
	asJSON := map[string]string{"Content-Type": "application/json"}
	asText := map[string]string{"Content-Type": "text/plain"}
	crossSite := map[string]string{"Sec-Fetch-Site": "cross-site"}
	for _, tc := range []struct {
		method, target, body string
		header               map[string]string
		status               string
		code                 fault.Code
	}{
		{"POST", "/api/signup", "{", asJSON, "400", fault.CodeValidationFailed},
		{"GET", "/api/list?limit=101", "", nil, "400", fault.CodeValidationFailed},
		{"GET", "/api/me?a=%ff", "", nil, "400", fault.CodeValidationFailed},
		{"GET", "/api/me", "", nil, "401", fault.CodeInvalidToken},
		{"POST", "/api/signup", "{}", crossSite, "403", fault.CodeCSRFRejected},
		{"POST", "/api/signup", strings.Repeat(" ", 4<<20+1), asJSON, "413", fault.CodePayloadTooLarge},
		{"POST", "/api/signup", "{}", asText, "415", fault.CodeUnsupportedMediaType},
		{"GET", "/api/panic", "", nil, "500", fault.CodeInternal},
		{"GET", "/api/fail/storage", "", nil, "503", fault.CodeServiceUnavailable},
	} {
		path, _, _ := strings.Cut(tc.target, "?")
		request := edgetest.Request{Method: tc.method, Target: tc.target, Body: tc.body, Header: tc.header}
		response := request.Send(t, router)
		shown := s.response(s.Paths[path][strings.ToLower(tc.method)].Responses[tc.status])
		message := edgetest.WantError(t, response, tc.code.Status(), tc.code)
		want := map[string]any{"error": message, "code": string(tc.code)}
		if diff := cmp.Diff(any(want), shown.Content[jsonType].Examples[string(tc.code)].Value); diff != "" {
			t.Errorf("%s %s: %s", tc.method, tc.target, diff)
		}
		for _, name := range []string{"X-Request-Id", "Retry-After"} {
			_, described := shown.Headers[name]
			if described != (response.Header.Get(name) != "") {
				t.Errorf("%s %s: %s is described: %t", tc.method, tc.target, name, described)
			}
		}
	}
}

// TestGatewayErrorsMatchTheTemplate compares the examples of the gateway's error responses with template.yaml, which
// defines these responses.
func TestGatewayErrorsMatchTheTemplate(t *testing.T) {
	t.Parallel()
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := readSpec(t, docs.OpenAPI)
	for _, name := range []string{"BadGateway", "GatewayTimeout", "RateLimited"} {
		found := 0
		for _, example := range s.Components.Responses[name].Content[jsonType].Examples {
			text, err := json.Marshal(example.fault())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(template), string(text)) {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s: template.yaml has none of the examples: %+v", name, s.Components.Responses[name])
		}
	}
}
