package apigateway_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn/apigateway"
)

// event is a proxy event as API Gateway makes it.
func event(method, path string) events.APIGatewayProxyRequest {
	return events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Resource: "/api/{proxy+}",
		MultiValueHeaders: map[string][]string{
			"Host": {"abc.execute-api.example.com"}, "User-Agent": {"test/1"}, "X-Forwarded-Proto": {"https"},
			"X-Forwarded-For": {"203.0.113.66, 198.51.100.1"},
		},
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID: "req-1", Stage: "dev", Path: "/dev" + path, DomainName: "abc.execute-api.example.com",
			Identity: events.APIGatewayRequestIdentity{SourceIP: "198.51.100.1"},
		},
	}
}

func invoke(t *testing.T, h http.Handler, payload any) (answer, events.APIGatewayProxyResponse) {
	t.Helper()
	data, ok := payload.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(payload); err != nil {
			t.Fatal(err)
		}
	}
	out, err := apigateway.New(h).Invoke(t.Context(), data)
	if err != nil {
		t.Fatalf("the function failed: %v", err)
	}
	var response events.APIGatewayProxyResponse
	if err := json.Unmarshal(out, &response); err != nil {
		t.Fatal(err)
	}
	a := answer{status: response.StatusCode, header: response.MultiValueHeaders, body: response.Body}
	checkHeaders(t, a)
	return a, response
}

func TestLambdaKnowsWhatTheGatewayKnows(t *testing.T) {
	t.Parallel()
	local, _ := newRouter(edgeOf())
	deployed, _ := newRouter(config.Edge{AppURL: "https://app.example.com"})
	plain := event("GET", "/api/info")
	plain.MultiValueHeaders["X-Forwarded-Proto"] = []string{"https, http"}
	plain.RequestContext.Path = plain.Path
	plain.RequestContext.DomainName = "localhost:3000"
	nameless, staged := event("GET", "/api/info"), event("GET", "/api/info")
	nameless.RequestContext.Path = nameless.Path
	nameless.RequestContext.DomainName, staged.RequestContext.DomainName = "", ""
	unsaid := event("GET", "/api/info")
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
		got  func() answer
		want httpapi.RequestInfo
	}{
		"the gateway's stage":  {func() answer { a, _ := invoke(t, local, event("GET", "/api/info")); return a }, want},
		"APP_URL":              {func() answer { a, _ := invoke(t, deployed, event("GET", "/api/info")); return a }, app},
		"plain http, no stage": {func() answer { a, _ := invoke(t, local, plain); return a }, http},
		"an empty Host":        {func() answer { a, _ := invoke(t, local, nameless); return a }, here},
		"and a stage":          {func() answer { a, _ := invoke(t, local, staged); return a }, below},
		"no word of a scheme":  {func() answer { a, _ := invoke(t, local, unsaid); return a }, want},
	} {
		a := tc.got()
		var got httpapi.RequestInfo
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			t.Fatal(a.body, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if a.header.Get("X-Request-Id") != "req-1" {
			t.Errorf("%s: X-Request-Id %q", name, a.header.Get("X-Request-Id"))
		}
	}
}

func TestLambdaBodies(t *testing.T) {
	t.Parallel()
	router, _ := newRouter(edgeOf())
	const body = `{"email":"é@example.com","password":"hunter2hunter2"}`
	e := event("POST", "/api/signup")
	e.MultiValueHeaders["Content-Type"] = []string{"application/json"}
	e.Body = body
	if a, r := invoke(t, router, e); a.status != 201 || r.IsBase64Encoded || a.body != `{"email":"é@example.com","size":14}` {
		t.Errorf("%d %s", a.status, a.body)
	}
	e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(body)), true
	if a, _ := invoke(t, router, e); a.status != 201 {
		t.Errorf("base64: %d %s", a.status, a.body)
	}
	e.Body = "!"
	a, _ := invoke(t, router, e)
	wantError(t, a, 400, fault.CodeValidationFailed)
}

func TestLambdaCookiesAreOneHeaderEach(t *testing.T) {
	t.Parallel()
	router, _ := newRouter(config.Edge{CookiePlainHTTP: true})
	e := event("POST", "/api/login")
	e.MultiValueHeaders["X-Forwarded-Proto"] = []string{"http"}
	a, _ := invoke(t, router, e)
	if diff := cmp.Diff([]string{setHost, setTwin}, a.header["Set-Cookie"]); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenEventsAreAnswered(t *testing.T) {
	t.Parallel()
	router, log := newRouter(edgeOf())
	method := event("G T", "/api/me")
	header := event("GET", "/api/list")
	header.MultiValueHeaders["X-Ok"] = nil
	for name, tc := range map[string]struct {
		payload any
		status  int
		code    fault.Code
	}{
		"a path that is no URL":   {event("GET", "/api/%zz"), 404, fault.CodeRouteNotFound},
		"half an escape":          {event("GET", "/api/%"), 404, fault.CodeRouteNotFound},
		"a NUL":                   {event("GET", "/api/me%00"), 404, fault.CodeRouteNotFound},
		"a line break":            {event("GET", "/api/me\r\nX: y"), 404, fault.CodeRouteNotFound},
		"dots":                    {event("GET", "/api/../api/me"), 404, fault.CodeRouteNotFound},
		"escaped dots":            {event("GET", "/api/%2e%2e/me"), 404, fault.CodeRouteNotFound},
		"two slashes":             {event("GET", "//api/me"), 404, fault.CodeRouteNotFound},
		"a path with a question":  {event("GET", "/api/list?x"), 404, fault.CodeRouteNotFound},
		"a path with a fragment":  {event("GET", "/api/list#x"), 404, fault.CodeRouteNotFound},
		"a path with a blank":     {event("GET", "/api/li st"), 404, fault.CodeRouteNotFound},
		"no path":                 {event("GET", ""), 404, fault.CodeRouteNotFound},
		"a method that is none":   {method, 400, fault.CodeValidationFailed},
		"no method":               {event("", "/api/me"), 400, fault.CodeValidationFailed},
		"another kind of event":   {[]byte(`{"Records":[]}`), 400, fault.CodeValidationFailed},
		"a list":                  {[]byte(`[]`), 400, fault.CodeValidationFailed},
		"no JSON":                 {[]byte(`hello`), 400, fault.CodeValidationFailed},
		"no event":                {[]byte(``), 400, fault.CodeValidationFailed},
		"a header without values": {header, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := invoke(t, router, tc.payload)
			if tc.status == 200 {
				if a.status != 200 {
					t.Errorf("%d %s", a.status, a.body)
				}
				return
			}
			wantError(t, a, tc.status, tc.code)
		})
	}
	for _, line := range log.lines(t) {
		if line["requestId"] == "" || line["status"] == nil {
			t.Errorf("log: %v", line)
		}
	}
}

// Whoever waits for storage still has time to say so when the function's own is nearly over.
func TestLambdaEndsBeforeItsTime(t *testing.T) {
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
		t.Errorf("%v is kept for the answer, %v", kept, err)
	}
}

func TestLazyServesOnceBuilt(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	lazy := httpapi.Lazy(func() http.Handler {
		<-gate
		router, _ := newRouter(edgeOf())
		return router
	})
	done := make(chan int)
	go func() {
		a, _ := invoke(t, lazy, event("GET", "/api/list"))
		done <- a.status
	}()
	close(gate)
	if status := <-done; status != 200 {
		t.Errorf("%d", status)
	}
}
