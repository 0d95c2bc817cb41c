package apigateway_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn/apigateway"
)

func TestRequestInfo(t *testing.T) {
	t.Parallel()
	local, _ := edgetest.NewRouter(config.Edge{})
	deployed, _ := edgetest.NewRouter(config.Edge{AppURL: "https://app.example.com"})
	plain := edgetest.Event("GET", "/api/info")
	plain.MultiValueHeaders["X-Forwarded-Proto"] = []string{"https, http"}
	plain.RequestContext.Path = plain.Path
	plain.RequestContext.DomainName = "localhost:3000"
	nameless, staged := edgetest.Event("GET", "/api/info"), edgetest.Event("GET", "/api/info")
	nameless.RequestContext.Path = nameless.Path
	nameless.RequestContext.DomainName, staged.RequestContext.DomainName = "", ""
	unsaid := edgetest.Event("GET", "/api/info")
	delete(unsaid.MultiValueHeaders, "X-Forwarded-Proto")
	want := httpapi.RequestInfo{
		RequestID: "req-1", SourceIP: "198.51.100.1", UserAgent: "test/1", HTTPS: true,
		BaseURL: "https://abc.execute-api.example.com/dev",
	}
	app, http := want, want
	app.BaseURL = "https://app.example.com"
	http.HTTPS, http.BaseURL = false, "http://localhost:3000"
	here, below := want, want
	here.BaseURL, below.BaseURL = "", "/dev"
	for name, tc := range map[string]struct {
		got  func() edgetest.Response
		want httpapi.RequestInfo
	}{
		"the gateway's stage": {func() edgetest.Response {
			response, _ := edgetest.Invoke(t, local, edgetest.Event("GET", "/api/info"))
			return response
		}, want},
		"APP_URL": {func() edgetest.Response {
			response, _ := edgetest.Invoke(t, deployed, edgetest.Event("GET", "/api/info"))
			return response
		}, app},
		"plain http, no stage": {func() edgetest.Response { response, _ := edgetest.Invoke(t, local, plain); return a }, http},
		"an empty Host":        {func() edgetest.Response { response, _ := edgetest.Invoke(t, local, nameless); return a }, here},
		"a stage without Host": {func() edgetest.Response { response, _ := edgetest.Invoke(t, local, staged); return a }, below},
		"no X-Forwarded-Proto": {func() edgetest.Response { response, _ := edgetest.Invoke(t, local, unsaid); return a }, want},
	} {
		response := tc.got()
		var got httpapi.RequestInfo
		if err := json.Unmarshal([]byte(response.Body), &got); err != nil {
			t.Fatal(response.Body, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if response.Header.Get("X-Request-Id") != "req-1" {
			t.Errorf("%s: X-Request-Id %q", name, response.Header.Get("X-Request-Id"))
		}
	}
}

func TestRequestBodies(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	const body = `{"email":"é@example.com","password":"hunter2hunter2"}`
	e := edgetest.Event("POST", "/api/signup")
	e.MultiValueHeaders["Content-Type"] = []string{"application/json"}
	e.Body = body
	if response, raw := edgetest.Invoke(t, router, e); response.Status != 201 || r.IsBase64Encoded || response.Body != `{"email":"é@example.com","size":14}` {
		t.Errorf("%d %s", response.Status, response.Body)
	}
	e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(body)), true
	if response, _ := edgetest.Invoke(t, router, e); response.Status != 201 {
		t.Errorf("base64: %d %s", response.Status, response.Body)
	}
	e.Body = "!"
	response, _ := edgetest.Invoke(t, router, e)
	edgetest.WantError(t, response, 400, fault.CodeValidationFailed)
}

func TestCookiesAreSeparateHeaders(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{CookiePlainHTTP: true})
	e := edgetest.Event("POST", "/api/login")
	e.MultiValueHeaders["X-Forwarded-Proto"] = []string{"http"}
	response, _ := edgetest.Invoke(t, router, e)
	if diff := cmp.Diff([]string{edgetest.SetSecure, edgetest.SetPlain}, response.Header["Set-Cookie"]); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidEvents(t *testing.T) {
	t.Parallel()
	router, log := edgetest.NewRouter(config.Edge{})
	method := edgetest.Event("G T", "/api/me")
	header := edgetest.Event("GET", "/api/list")
	header.MultiValueHeaders["X-Ok"] = nil
	for name, tc := range map[string]struct {
		payload any
		status  int
		code    fault.Code
	}{
		"a path that is not a URL": {edgetest.Event("GET", "/api/%zz"), 404, fault.CodeRouteNotFound},
		"half an escape":           {edgetest.Event("GET", "/api/%"), 404, fault.CodeRouteNotFound},
		"a NUL":                    {edgetest.Event("GET", "/api/me%00"), 404, fault.CodeRouteNotFound},
		"a line break":             {edgetest.Event("GET", "/api/me\r\nX: y"), 404, fault.CodeRouteNotFound},
		"dots":                     {edgetest.Event("GET", "/api/../api/me"), 404, fault.CodeRouteNotFound},
		"escaped dots":             {edgetest.Event("GET", "/api/%2e%2e/me"), 404, fault.CodeRouteNotFound},
		"two slashes":              {edgetest.Event("GET", "//api/me"), 404, fault.CodeRouteNotFound},
		"a path with a question":   {edgetest.Event("GET", "/api/list?x"), 404, fault.CodeRouteNotFound},
		"a path with a fragment":   {edgetest.Event("GET", "/api/list#x"), 404, fault.CodeRouteNotFound},
		"a path with a blank":      {edgetest.Event("GET", "/api/li st"), 404, fault.CodeRouteNotFound},
		"no path":                  {edgetest.Event("GET", ""), 404, fault.CodeRouteNotFound},
		"an invalid method":        {method, 400, fault.CodeValidationFailed},
		"no method":                {edgetest.Event("", "/api/me"), 400, fault.CodeValidationFailed},
		"another kind of event":    {[]byte(`{"Records":[]}`), 400, fault.CodeValidationFailed},
		"a list":                   {[]byte(`[]`), 400, fault.CodeValidationFailed},
		"not JSON":                 {[]byte(`hello`), 400, fault.CodeValidationFailed},
		"empty":                    {[]byte(``), 400, fault.CodeValidationFailed},
		"a header without values":  {header, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			response, _ := edgetest.Invoke(t, router, tc.payload)
			if tc.status == 200 {
				if response.Status != 200 {
					t.Errorf("%d %s", response.Status, response.Body)
				}
				return
			}
			edgetest.WantError(t, response, tc.status, tc.code)
		})
	}
	for _, line := range log.Lines(t) {
		if line["requestId"] == "" || line["status"] == nil {
			t.Errorf("log: %v", line)
		}
	}
}

// The handler's context ends before the function's time limit, so that there is time for an error response.
func TestHandlerDeadline(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	var kept time.Duration
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own, _ := r.Context().Deadline()
		kept = deadline.Sub(own)
		w.WriteHeader(http.StatusNoContent)
	})
	if _, err := apigateway.New(h).Invoke(ctx, []byte(`{"httpMethod":"GET","path":"/"}`)); err != nil || kept < 100*time.Millisecond {
		t.Errorf("%v is reserved for the response, %v", kept, err)
	}
}

func TestLazyWaitsUntilBuilt(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	lazy := httpapi.Lazy(func() http.Handler {
		<-gate
		router, _ := edgetest.NewRouter(config.Edge{})
		return router
	})
	done := make(chan int)
	go func() {
		response, _ := edgetest.Invoke(t, lazy, edgetest.Event("GET", "/api/list"))
		done <- response.Status
	}()
	close(gate)
	if status := <-done; status != 200 {
		t.Errorf("%d", status)
	}
}
