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
		{
			method: "POST",
			target: "/api/signup",
			body:   "{",
			header: asJSON,
			status: "400",
			code:   fault.CodeValidationFailed,
		},
		{
			method: "GET",
			target: "/api/list?limit=101",
			status: "400",
			code:   fault.CodeValidationFailed,
		},
		{
			method: "GET",
			target: "/api/me?a=%ff",
			status: "400",
			code:   fault.CodeValidationFailed,
		},
		{
			method: "GET",
			target: "/api/me",
			status: "401",
			code:   fault.CodeInvalidToken,
		},
		{
			method: "POST",
			target: "/api/signup",
			body:   "{}",
			header: crossSite,
			status: "403",
			code:   fault.CodeCSRFRejected,
		},
		{
			method: "POST",
			target: "/api/signup",
			body:   strings.Repeat(" ", 4<<20+1),
			header: asJSON,
			status: "413",
			code:   fault.CodePayloadTooLarge,
		},
		{
			method: "POST",
			target: "/api/signup",
			body:   "{}",
			header: asText,
			status: "415",
			code:   fault.CodeUnsupportedMediaType,
		},
		{
			method: "GET",
			target: "/api/panic",
			status: "500",
			code:   fault.CodeInternal,
		},
		{
			method: "GET",
			target: "/api/fail/storage",
			status: "503",
			code:   fault.CodeServiceUnavailable,
		},
	} {
		path, _, _ := strings.Cut(tc.target, "?")
		request := edgetest.Request{Method: tc.method, Target: tc.target, Body: tc.body, Header: tc.header}
		response := request.Send(t, router)
		documented := s.response(s.Paths[path][strings.ToLower(tc.method)].Responses[tc.status])
		message := edgetest.WantError(t, response, tc.code.Status(), tc.code)
		want := map[string]any{"error": message, "code": string(tc.code)}
		if diff := cmp.Diff(any(want), documented.Content[jsonType].Examples[string(tc.code)].Value); diff != "" {
			t.Errorf("%s %s: the example differs from the response (-response +example):\n%s", tc.method, tc.target, diff)
		}
		for _, name := range []string{"X-Request-Id", "Retry-After"} {
			_, isDocumented := documented.Headers[name]
			if value := response.Header.Get(name); isDocumented != (value != "") {
				t.Errorf("%s %s: got %s: %q, but the header is documented: %t", tc.method, tc.target, name, value, isDocumented)
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
	for _, name := range []string{"InternalError", "GatewayTimeout", "RateLimited"} {
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
			t.Errorf("%s: template.yaml contains none of the examples %+v", name, s.Components.Responses[name])
		}
	}
}
