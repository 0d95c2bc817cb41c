package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

// function replaces the runtime, and records its invocations.
type function struct {
	respond func(context.Context, runtime.Invocation) (*runtime.Response, error)

	mu   sync.Mutex
	seen []runtime.Invocation
}

func (f *function) invoke(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
	f.mu.Lock()
	f.seen = append(f.seen, in)
	f.mu.Unlock()
	return f.respond(ctx, in)
}

// event returns the event of the only invocation so far.
func (f *function) event(t *testing.T) map[string]any {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) != 1 {
		t.Fatalf("invocations: %d, want 1", len(f.seen))
	}
	var event map[string]any
	if err := json.Unmarshal(f.seen[0].Payload, &event); err != nil {
		t.Fatalf("event is not JSON: %v\n%s", err, f.seen[0].Payload)
	}
	return event
}

func (f *function) invocations() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen)
}

// buffered returns a fixed payload.
func buffered(payload string) func(context.Context, runtime.Invocation) (*runtime.Response, error) {
	return func(context.Context, runtime.Invocation) (*runtime.Response, error) {
		return &runtime.Response{ContentType: "application/json", Payload: []byte(payload), Body: http.NoBody}, nil
	}
}

// streamed returns a stream that f writes.
func streamed(f func(*io.PipeWriter)) func(context.Context, runtime.Invocation) (*runtime.Response, error) {
	return func(context.Context, runtime.Invocation) (*runtime.Response, error) {
		r, w := io.Pipe()
		go f(w)
		return &runtime.Response{
			ContentType: "application/vnd.awslambda.http-integration-response", Streaming: true, Body: r,
		}, nil
	}
}

// clock is the time of all requests in these tests.
func clock() time.Time { return time.Date(2026, 1, 31, 8, 15, 30, 123e6, time.UTC) }

func anyRoute(path string) resources.Route {
	return resources.Route{Method: "ANY", Path: path, Function: "Function"}
}

func apiOf(routes ...resources.Route) resources.API {
	return resources.API{ID: "gy415nuibc", Name: "test", Stage: "prod", Routes: routes}
}

func newGateway(t testing.TB, f *function, options gateway.Options) *gateway.Gateway {
	t.Helper()
	options.Invoke = f.invoke
	if options.Now == nil {
		options.Now = clock
	}
	if options.Account == "" {
		options.Account = "123456789012"
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	return gateway.New(options)
}

// serve starts a gateway as it runs in production.
func serve(t *testing.T, f *function, options gateway.Options) *httptest.Server {
	t.Helper()
	g := newGateway(t, f, options)
	server := httptest.NewUnstartedServer(nil)
	server.Config = gateway.NewServer(g, nil, slog.New(slog.DiscardHandler))
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// call sends one request through a gateway without a socket.
func call(t *testing.T, g http.Handler, method, target, body string, header http.Header) *http.Response {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, target, reader)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	response := w.Result()
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func text(t *testing.T, response *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

const ok = `{"statusCode":200,"body":"ok"}`
