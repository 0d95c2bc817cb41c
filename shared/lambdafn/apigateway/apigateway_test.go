package apigateway_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn/apigateway"
)

func TestRequestInfo(t *testing.T) {
	t.Parallel()
	const stageURL = "https://abc.execute-api.example.com/dev"
	for name, tc := range map[string]struct {
		edge        config.Edge
		change      func(*events.APIGatewayProxyRequest) // changes the event if it is not nil
		wantHTTP    bool                                 // whether the client used plain HTTP
		wantBaseURL string
	}{
		"the gateway's stage": {wantBaseURL: stageURL},
		"APP_URL": {
			edge:        config.Edge{AppURL: "https://app.example.com"},
			wantBaseURL: "https://app.example.com",
		},
		"plain HTTP without a stage": {
			change: func(e *events.APIGatewayProxyRequest) {
				e.MultiValueHeaders["X-Forwarded-Proto"] = []string{"https, http"}
				e.RequestContext.Path, e.RequestContext.DomainName = e.Path, "localhost:3000"
			},
			wantHTTP:    true,
			wantBaseURL: "http://localhost:3000",
		},
		"no host and no stage": {
			change: func(e *events.APIGatewayProxyRequest) {
				e.RequestContext.Path, e.RequestContext.DomainName = e.Path, ""
			},
			wantBaseURL: "",
		},
		"a stage without a host": {
			change:      func(e *events.APIGatewayProxyRequest) { e.RequestContext.DomainName = "" },
			wantBaseURL: "/dev",
		},
		"no X-Forwarded-Proto": {
			change:      func(e *events.APIGatewayProxyRequest) { delete(e.MultiValueHeaders, "X-Forwarded-Proto") },
			wantBaseURL: stageURL,
		},
	} {
		event := edgetest.Event("GET", "/api/info")
		if tc.change != nil {
			tc.change(&event)
		}
		router, _ := edgetest.NewRouter(tc.edge)
		response, _ := edgetest.Invoke(t, router, event)
		var got httpapi.RequestInfo
		if err := json.Unmarshal([]byte(response.Body), &got); err != nil {
			t.Fatal(response.Body, err)
		}
		want := httpapi.RequestInfo{
			RequestID: "req-1", SourceIP: "198.51.100.1", UserAgent: "test/1", HTTPS: !tc.wantHTTP, BaseURL: tc.wantBaseURL,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: wrong request info (-want +got):\n%s", name, diff)
		}
		if id := response.Header.Get("X-Request-Id"); id != "req-1" {
			t.Errorf("%s: got X-Request-Id %q, want req-1", name, id)
		}
	}
}

func TestRequestBodies(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	const body = `{"email":"é@example.com","password":"hunter2hunter2"}`
	event := edgetest.Event("POST", "/api/signup")
	event.MultiValueHeaders["Content-Type"] = []string{"application/json"}
	event.Body = body
	response, raw := edgetest.Invoke(t, router, event)
	want := `{"email":"é@example.com","size":14}`
	if response.Status != 201 || response.Body != want || raw.IsBase64Encoded {
		t.Errorf("got %d %s (base64: %v), want 201 %s as text", response.Status, response.Body, raw.IsBase64Encoded, want)
	}
	event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(body)), true
	if response, _ := edgetest.Invoke(t, router, event); response.Status != 201 {
		t.Errorf("body in base64: got %d %s, want 201", response.Status, response.Body)
	}
	event.Body = "!"
	response, _ = edgetest.Invoke(t, router, event)
	edgetest.WantError(t, response, 400, fault.CodeValidationFailed)
}

func TestInvalidEvents(t *testing.T) {
	t.Parallel()
	router, log := edgetest.NewRouter(config.Edge{})
	for _, path := range []string{
		"/api/%zz", "/api/%", "/api/me%00", "/api/me\r\nX: y", "/api/../api/me", "/api/%2e%2e/me", "//api/me", "/api/list?x",
		"/api/list#x", "/api/li st", "",
	} {
		response, _ := edgetest.Invoke(t, router, edgetest.Event("GET", path))
		edgetest.WantError(t, response, 404, fault.CodeRouteNotFound)
	}
	for _, payload := range []any{
		edgetest.Event("G T", "/api/me"), edgetest.Event("", "/api/me"), []byte(`{"Records":[]}`), []byte(`[]`),
		[]byte(`hello`), []byte(``),
	} {
		response, _ := edgetest.Invoke(t, router, payload)
		edgetest.WantError(t, response, 400, fault.CodeValidationFailed)
	}
	noValues := edgetest.Event("GET", "/api/list")
	noValues.MultiValueHeaders["X-Ok"] = nil
	if response, _ := edgetest.Invoke(t, router, noValues); response.Status != 200 {
		t.Errorf("header without values: got %d %s, want 200", response.Status, response.Body)
	}
	for _, line := range log.Lines(t) {
		if line["requestId"] == "" || line["status"] == nil {
			t.Errorf("logged %v, want a request ID and a status", line)
		}
	}
}

// A panic makes the invocation fail, and not the process.
func TestPanics(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.Handler{
		"of a handler":                          http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }),
		"of the function that builds a handler": httpapi.Lazy(func() http.Handler { panic("broken") }),
	} {
		for range 2 {
			out, err := apigateway.New(handler).Invoke(t.Context(), []byte(`{"httpMethod":"GET","path":"/"}`))
			if out != nil || err == nil || !strings.Contains(err.Error(), "panic: broken") {
				t.Errorf("panic %s: got %s, error %v, want the panic as an error", name, out, err)
			}
		}
	}
}
