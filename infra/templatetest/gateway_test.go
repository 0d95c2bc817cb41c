package templatetest_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	. "devplatform/infra/templatetest"
	"devplatform/shared/fault"
)

// TestGatewayResponses checks the gateway's own error responses. Each has an honest status, the code of the contract
// for this status, and the headers that the responses of the functions have.
func TestGatewayResponses(t *testing.T) {
	t.Parallel()
	const retry = true
	want := map[string]struct {
		status  float64 // 0 if the gateway sets it
		code    fault.Code
		isRetry bool // whether the response has the header Retry-After
	}{
		"DEFAULT_4XX":                  {400, fault.CodeValidationFailed, !retry},
		"DEFAULT_5XX":                  {0, fault.CodeInternal, retry},
		"MISSING_AUTHENTICATION_TOKEN": {404, fault.CodeRouteNotFound, !retry},
		"INVALID_SIGNATURE":            {404, fault.CodeRouteNotFound, !retry},
		"EXPIRED_TOKEN":                {404, fault.CodeRouteNotFound, !retry},
		"RESOURCE_NOT_FOUND":           {404, fault.CodeRouteNotFound, !retry},
		"ACCESS_DENIED":                {403, fault.CodeAccessDenied, !retry},
		"WAF_FILTERED":                 {403, fault.CodeAccessDenied, !retry},
		"REQUEST_TOO_LARGE":            {413, fault.CodePayloadTooLarge, !retry},
		"THROTTLED":                    {429, fault.CodeRateLimited, retry},
		"INTEGRATION_FAILURE":          {503, fault.CodeServiceUnavailable, retry},
		"INTEGRATION_TIMEOUT":          {504, fault.CodeServiceUnavailable, retry},
	}
	responses, _ := Source(t).Resources["Api"].Properties["GatewayResponses"].(map[string]any)
	for kind, response := range responses {
		expected, isExpected := want[kind]
		if !isExpected {
			t.Errorf("the gateway response %s is not expected", kind)
		}
		status, _ := At(response, "StatusCode").(float64)
		text, _ := At(response, "ResponseTemplates", "application/json").(string)
		var body map[string]string
		err := json.Unmarshal([]byte(text), &body)
		if err != nil || len(body) != 2 || body["error"] == "" || body["code"] != string(expected.code) ||
			status != expected.status {
			t.Errorf("%s: got status %v and body %s, want %v and the code %s", kind, status, text, expected.status, expected.code)
		}
		headers, _ := At(response, "ResponseParameters", "Headers").(map[string]any)
		checkGatewayHeaders(t, kind, headers)
		if hasRetry := headers["Retry-After"] == "'1'"; hasRetry != expected.isRetry {
			t.Errorf("%s: got the header Retry-After %v, want one: %v", kind, headers["Retry-After"], expected.isRetry)
		}
	}
	if len(responses) != len(want) {
		t.Errorf("got the gateway responses %v, want responses of %v", slices.Collect(maps.Keys(responses)), want)
	}
}

func checkGatewayHeaders(t *testing.T, kind string, headers map[string]any) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Request-Id": "context.requestId", "Cache-Control": "'no-store'", "X-Content-Type-Options": "'nosniff'",
		"Referrer-Policy":           "'no-referrer'",
		"Strict-Transport-Security": "'max-age=31536000; includeSubDomains'",
		"Content-Security-Policy":   "'default-src 'none'; frame-ancestors 'none''",

		"Access-Control-Allow-Credentials": "'true'",
		"Access-Control-Expose-Headers":    "'Retry-After, X-Request-Id'",
	} {
		if headers[name] != want {
			t.Errorf("%s: got the header %s: %v, want %s", kind, name, headers[name], want)
		}
	}
	// A fixed origin, and never the origin of the request, which can be any page.
	origins := Branches(headers["Access-Control-Allow-Origin"])
	want := `{"Fn::Sub":["'${Origin}'",{"Origin":{"Fn::Select":[0,{"Fn::Split":[",",{"Ref":"AllowedOrigins"}]}]}}]}`
	if text, err := json.Marshal(origins[0]); err != nil || len(origins) != 1 || string(text) != want {
		t.Errorf("%s: got the header Access-Control-Allow-Origin %v, want the first allowed origin, if there is one", kind, origins)
	}
}
