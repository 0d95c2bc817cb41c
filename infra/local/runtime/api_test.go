package runtime_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
)

// puppet starts a process that does nothing, and returns the address of its Runtime API.
func puppet(t testing.TB) (*runtime.Runtime, string, <-chan reply) {
	t.Helper()
	address := make(chan string, 1)
	r := start(t, func(o *runtime.Options) {
		o.Functions = []runtime.Function{function(t, "puppet", "puppet")}
		o.Lines = func(_, line string) {
			if a, ok := strings.CutPrefix(line, "api "); ok {
				address <- "http://" + a + "/2018-06-01/runtime/"
			}
		}
	})
	responses := make(chan reply, 1)
	go func() {
		responses <- invoke(t, r, runtime.Invocation{Function: "puppet", RequestID: "id-1", Payload: []byte(`{"a":1}`), TraceID: "Root=1"})
	}()
	return r, <-address, responses
}

// call sends a request to the Runtime API.
func call(t testing.TB, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(headers); n += 2 {
		request.Header.Set(headers[n], headers[n+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, strings.TrimSpace(string(text))
}

func TestRuntimeAPI(t *testing.T) {
	t.Parallel()
	_, api, responses := puppet(t)
	const invalid = `{"errorType":"InvalidRequestID","errorMessage":"Invalid request ID"}`
	steps := []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"before any next", "POST", "invocation/id-1/response", "x", 400, invalid},
		{"next", "GET", "invocation/next", "", 200, `{"a":1}`},
		{"next without a response", "GET", "invocation/next", "", 403, `{"errorType":"InvalidStateTransition","errorMessage":"State transition from \"running\" to \"idle\" is not allowed"}`},
		{"init error too late", "POST", "init/error", "{}", 403, `{"errorType":"InvalidStateTransition","errorMessage":"State transition from \"running\" to \"init failed\" is not allowed"}`},
		{"wrong id", "POST", "invocation/id-2/response", "x", 400, invalid},
		{"wrong id of an error", "POST", "invocation/id-2/error", "x", 400, invalid},
		{"wrong method", "GET", "invocation/id-1/response", "", 405, "Method Not Allowed"},
		{"unknown path", "GET", "invocation", "", 404, "404 page not found"},
		{"response", "POST", "invocation/id-1/response", `"done"`, 202, `{"status":"OK"}`},
		{"response again", "POST", "invocation/id-1/response", `"twice"`, 400, invalid},
		{"error after the response", "POST", "invocation/id-1/error", `{}`, 400, invalid},
	}
	for _, s := range steps {
		response, body := call(t, s.method, api+s.path, s.body)
		if response.StatusCode != s.status || body != s.want {
			t.Errorf("%s: %d %s, want %d %s", s.name, response.StatusCode, body, s.status, s.want)
		}
		if s.name == "next" {
			got := map[string]string{}
			for _, name := range []string{"Content-Type", "Lambda-Runtime-Aws-Request-Id", "Lambda-Runtime-Invoked-Function-Arn", "Lambda-Runtime-Trace-Id"} {
				got[name] = response.Header.Get(name)
			}
			want := map[string]string{
				"Content-Type": "application/json", "Lambda-Runtime-Aws-Request-Id": "id-1", "Lambda-Runtime-Trace-Id": "Root=1",
				"Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:us-east-1:000000000000:function:puppet",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("headers of next (-want +got):\n%s", diff)
			}
		}
	}
	if got := <-responses; got.body != `"done"` {
		t.Errorf("response %q, %v", got.body, got.FunctionError)
	}
}

func TestRuntimeAPIErrors(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, path, body, header string
		status                   int
		want                     string
	}{
		{"as reported", "error", `{"errorType":"A","errorMessage":"b","stackTrace":[]}`, "", 202, `{"errorType":"A","errorMessage":"b","stackTrace":[]}`},
		{"no document", "error", ``, "Function.Oops", 202, `{"errorType":"Function.Oops","errorMessage":""}`},
		{"too large", "response", strings.Repeat("x", runtime.MaxResponse+1), "", 413, `{"errorType":"Function.ResponseSizeTooLarge","errorMessage":"The response is larger than 6291556 bytes"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, api, responses := puppet(t)
			call(t, "GET", api+"invocation/next", "")
			response, body := call(t, "POST", api+"invocation/id-1/"+c.path, c.body, "Lambda-Runtime-Function-Error-Type", c.header)
			if response.StatusCode != c.status {
				t.Errorf("status %d, want %d", response.StatusCode, c.status)
			}
			if want := `{"errorType":"RequestEntityTooLarge","errorMessage":"The response is larger than 6291556 bytes"}`; c.status == 413 && body != want {
				t.Errorf("body %s, want %s", body, want)
			}
			got := <-responses
			if diff := cmp.Diff(c.want, got.body); diff != "" || got.FunctionError == nil {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.header != "" && got.FunctionError.Type != c.header {
				t.Errorf("type %q, want %q", got.FunctionError.Type, c.header)
			}
		})
	}
}

func TestRuntimeThatGivesUpPolling(t *testing.T) {
	t.Parallel()
	address := make(chan string, 2)
	r := start(t, func(o *runtime.Options) {
		o.Functions = []runtime.Function{function(t, "puppet", "puppet")}
		o.InitTimeout = 2 * time.Second
		o.Lines = func(_, line string) {
			if a, ok := strings.CutPrefix(line, "api "); ok {
				address <- "http://" + a + "/2018-06-01/runtime/"
			}
		}
	})
	invoked := func(ctx context.Context) <-chan reply {
		responses := make(chan reply, 1)
		go func() {
			response, err := r.Invoke(ctx, runtime.Invocation{Function: "puppet", RequestID: "id", Payload: []byte(`{}`)})
			responses <- reply{Response: response, err: err}
		}()
		return responses
	}
	first := invoked(t.Context())
	api := <-address
	call(t, "GET", api+"invocation/next", "")
	call(t, "POST", api+"invocation/id/response", "1")
	<-first
	ctx, cancel := context.WithCancel(t.Context())
	polled := make(chan struct{})
	go func() {
		defer close(polled)
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, api+"invocation/next", nil)
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	platformtest.Eventually(t, "idle", func() bool { return r.Snapshot()[0].Idle })
	cancel()
	<-polled
	platformtest.Eventually(t, "the instance has ended", func() bool { return len(r.Snapshot()) == 0 })
	second := invoked(t.Context())
	next := <-address
	if next == api {
		t.Fatal("the same instance")
	}
	call(t, "GET", next+"invocation/next", "")
	call(t, "POST", next+"invocation/id/response", "2")
	if got := <-second; got.err != nil || string(got.Payload) != "2" {
		t.Errorf("response %q, %v", got.Payload, got.err)
	}
}

// A page that reaches the Runtime API under a name of its own (DNS rebinding) must not see events or respond to them.
func TestRuntimeAPIRebinding(t *testing.T) {
	t.Parallel()
	_, api, responses := puppet(t)
	for host, want := range map[string]int{"evil.example": http.StatusForbidden, "a.localhost": http.StatusForbidden, "localhost:1": http.StatusOK} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, api+"invocation/next", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("as %s: got %d, want %d", host, response.StatusCode, want)
		}
	}
	call(t, http.MethodPost, api+"invocation/id-1/response", "{}")
	<-responses
}
