package apigateway_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

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

func TestCookiesAreSeparateHeaders(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{CookiePlainHTTP: true})
	event := edgetest.Event("POST", "/api/login")
	event.MultiValueHeaders["X-Forwarded-Proto"] = []string{"http"}
	response, _ := edgetest.Invoke(t, router, event)
	want := []string{edgetest.SetSecure, edgetest.SetPlain}
	if diff := cmp.Diff(want, response.Header["Set-Cookie"]); diff != "" {
		t.Errorf("wrong Set-Cookie headers (-want +got):\n%s", diff)
	}
}

func TestInvalidEvents(t *testing.T) {
	t.Parallel()
	router, log := edgetest.NewRouter(config.Edge{})
	noValues := edgetest.Event("GET", "/api/list")
	noValues.MultiValueHeaders["X-Ok"] = nil
	for name, tc := range map[string]struct {
		payload any
		status  int
		code    fault.Code
	}{
		"invalid escape in the path": {
			payload: edgetest.Event("GET", "/api/%zz"),
			status:  404,
			code:    fault.CodeRouteNotFound,
		},
		"incomplete escape in the path": {
			payload: edgetest.Event("GET", "/api/%"),
			status:  404,
			code:    fault.CodeRouteNotFound,
		},
		"NUL in the path": {payload: edgetest.Event("GET", "/api/me%00"), status: 404, code: fault.CodeRouteNotFound},
		"line break in the path": {
			payload: edgetest.Event("GET", "/api/me\r\nX: y"),
			status:  404,
			code:    fault.CodeRouteNotFound,
		},
		"dots in the path": {
			payload: edgetest.Event("GET", "/api/../api/me"),
			status:  404,
			code:    fault.CodeRouteNotFound,
		},
		"escaped dots in the path": {
			payload: edgetest.Event("GET", "/api/%2e%2e/me"),
			status:  404,
			code:    fault.CodeRouteNotFound,
		},
		"two slashes in the path": {
			payload: edgetest.Event("GET", "//api/me"),
			status:  404,
			code:    fault.CodeRouteNotFound,
		},
		"question mark in the path": {
			payload: edgetest.Event("GET", "/api/list?x"),
			status:  404,
			code:    fault.CodeRouteNotFound,
		},
		"fragment in the path": {
			payload: edgetest.Event("GET", "/api/list#x"),
			status:  404,
			code:    fault.CodeRouteNotFound,
		},
		"blank in the path":     {payload: edgetest.Event("GET", "/api/li st"), status: 404, code: fault.CodeRouteNotFound},
		"no path":               {payload: edgetest.Event("GET", ""), status: 404, code: fault.CodeRouteNotFound},
		"invalid method":        {payload: edgetest.Event("G T", "/api/me"), status: 400, code: fault.CodeValidationFailed},
		"no method":             {payload: edgetest.Event("", "/api/me"), status: 400, code: fault.CodeValidationFailed},
		"event of a stream":     {payload: []byte(`{"Records":[]}`), status: 400, code: fault.CodeValidationFailed},
		"JSON list":             {payload: []byte(`[]`), status: 400, code: fault.CodeValidationFailed},
		"not JSON":              {payload: []byte(`hello`), status: 400, code: fault.CodeValidationFailed},
		"empty payload":         {payload: []byte(``), status: 400, code: fault.CodeValidationFailed},
		"header without values": {payload: noValues, status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			response, _ := edgetest.Invoke(t, router, tc.payload)
			if tc.status == 200 {
				if response.Status != 200 {
					t.Errorf("got %d %s, want 200", response.Status, response.Body)
				}
				return
			}
			edgetest.WantError(t, response, tc.status, tc.code)
		})
	}
	for _, line := range log.Lines(t) {
		if line["requestId"] == "" || line["status"] == nil {
			t.Errorf("logged %v, want a request ID and a status", line)
		}
	}
}

// TestHandlerDeadline checks that the handler's context ends before the function's time limit, so that the handler can
// still send an error response.
func TestHandlerDeadline(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	var margin time.Duration
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlerDeadline, _ := r.Context().Deadline()
		margin = deadline.Sub(handlerDeadline)
		w.WriteHeader(http.StatusNoContent)
	})
	if _, err := apigateway.New(h).Invoke(ctx, []byte(`{"httpMethod":"GET","path":"/"}`)); err != nil {
		t.Fatal(err)
	}
	if margin < 100*time.Millisecond {
		t.Errorf("the handler's context ends %v before the time limit, want at least 100 ms", margin)
	}
}

func TestLazyWaitsUntilBuilt(t *testing.T) {
	t.Parallel()
	startBuild := make(chan struct{})
	lazy := httpapi.Lazy(func() http.Handler {
		<-startBuild
		router, _ := edgetest.NewRouter(config.Edge{})
		return router
	})
	status := make(chan int)
	go func() {
		response, _ := edgetest.Invoke(t, lazy, edgetest.Event("GET", "/api/list"))
		status <- response.Status
	}()
	close(startBuild)
	if got := <-status; got != 200 {
		t.Errorf("got status %d, want 200", got)
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
