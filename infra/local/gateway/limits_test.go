package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/runtime"
)

// raw sends bytes to the server and reads one response.
func raw(t *testing.T, server *httptest.Server, request string) (status int, body string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.Header.Get("x-amzn-RequestId") == "" || response.Header.Get("x-amz-apigw-id") == "" {
		t.Errorf("no request ids in %v", response.Header)
	}
	return response.StatusCode, text(t, response)
}

func TestFailures(t *testing.T) {
	t.Parallel()
	fails := func(err error) func(context.Context, runtime.Invocation) (*runtime.Response, error) {
		return func(context.Context, runtime.Invocation) (*runtime.Response, error) {
			return nil, fmt.Errorf("wrapped: %w", err)
		}
	}
	internal := `{"message":"Internal server error"}`
	tests := map[string]struct {
		respond func(context.Context, runtime.Invocation) (*runtime.Response, error)
		status  int
		body    string
		code    string
	}{
		"throttled":        {fails(runtime.ErrThrottled), 500, internal, "InternalServerErrorException"},
		"event too large":  {fails(runtime.ErrPayloadTooLarge), 413, `{"message":"Request Too Long"}`, "RequestTooLargeException"},
		"no such function": {fails(runtime.ErrFunctionNotFound), 500, internal, "InternalServerErrorException"},
		"crash":            {fails(errors.New("x")), 502, internal, "InternalServerErrorException"},
		"time-out": {func(ctx context.Context, _ runtime.Invocation) (*runtime.Response, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, 504, `{"message":"Endpoint request timed out"}`, "InternalServerErrorException"},
		"function error": {func(context.Context, runtime.Invocation) (*runtime.Response, error) {
			return &runtime.Response{Body: http.NoBody, FunctionError: &runtime.FunctionError{}}, nil
		}, 502, internal, "InternalServerErrorException"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			route := anyRoute("/x")
			route.Timeout = 20 * time.Millisecond
			g := newGateway(t, &function{respond: test.respond}, gateway.Options{API: apiOf(route)})
			response := call(t, g, http.MethodGet, "/x", "", nil)
			if body := text(t, response); response.StatusCode != test.status || body != test.body {
				t.Errorf("%d %s", response.StatusCode, body)
			}
			if got := response.Header.Get("x-amzn-ErrorType"); got != test.code {
				t.Errorf("x-amzn-ErrorType = %q", got)
			}
			if got := response.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type = %q", got)
			}
		})
	}
}

// TestRequestSizes sends large bodies. One that API Gateway accepts may still be too large for an event.
func TestRequestSizes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		size    int
		chunked bool
		fill    string
		status  int
	}{
		"5 MB":                       {5 << 20, false, "x", 200},
		"5 MB chunked":               {5 << 20, true, "x", 200},
		"event over 6 MB":            {6<<20 + 1, false, "x", 413},
		"event over 6 MB, escaped":   {4 << 20, false, "\"", 413},
		"over 10 MB":                 {10<<20 + 1, false, "x", 413},
		"over 10 MB chunked":         {10<<20 + 1, true, "x", 413},
		"far over 10 MB and chunked": {30 << 20, true, "x", 413},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &function{respond: buffered(ok)}
			server := serve(t, f, gateway.Options{API: apiOf(anyRoute("/x"))})
			var body io.Reader = strings.NewReader(strings.Repeat(test.fill, test.size))
			if test.chunked {
				body = io.MultiReader(body)
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/x", body)
			if err != nil {
				t.Fatal(err)
			}
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			if response.StatusCode != test.status {
				t.Errorf("status %d, want %d", response.StatusCode, test.status)
			}
			if f.invocations() != btoi(test.status == 200) {
				t.Errorf("invocations: %d", f.invocations())
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestExpectContinue checks that the gateway refuses a too large body before the client sends it, and requests a valid
// one.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	f := &function{respond: buffered(ok)}
	server := serve(t, f, gateway.Options{API: apiOf(anyRoute("/x"))})
	head := "POST /x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: "
	if status, _ := raw(t, server, head+"99999999\r\n\r\n"); status != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d", status)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, head+"2\r\n\r\n")
	reader := bufio.NewReader(conn)
	if line, _ := reader.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" || f.invocations() != 0 {
		t.Fatalf("%q, invocations %d", line, f.invocations())
	}
	_, _ = io.WriteString(conn, "hi")
	_, _ = reader.ReadString('\n')
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body := f.event(t)["body"]; response.StatusCode != http.StatusOK || body != "hi" {
		t.Errorf("%d, body %v", response.StatusCode, body)
	}
}

func TestHeaderLimits(t *testing.T) {
	t.Parallel()
	f := &function{respond: buffered(ok)}
	server := serve(t, f, gateway.Options{API: apiOf(anyRoute("/x"))})
	request := func(size int) string {
		return "GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Fill: " + strings.Repeat("x", size) + "\r\n\r\n"
	}
	if status, _ := raw(t, server, request(9000)); status != http.StatusOK {
		t.Errorf("9,000 bytes: %d", status)
	}
	status, body := raw(t, server, request(10240))
	if status != http.StatusRequestHeaderFieldsTooLarge || body != `{"message":"HTTP header is larger than 10240 bytes."}` {
		t.Errorf("10,240 bytes: %d %s", status, body)
	}
	status, body = raw(t, server, "GET /x?"+strings.Repeat("x", 10240)+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	if status != http.StatusRequestURITooLong || body != `{"message":"Request-URI Too Long"}` {
		t.Errorf("URL: %d %s", status, body)
	}
	if f.invocations() != 1 {
		t.Errorf("invocations: %d", f.invocations())
	}
}

// TestClientGone checks that a function is not interrupted when its client disconnects.
func TestClientGone(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan error, 1)
	release := make(chan struct{})
	f := &function{respond: func(ctx context.Context, _ runtime.Invocation) (*runtime.Response, error) {
		close(entered)
		<-release
		left <- ctx.Err()
		return buffered(ok)(ctx, runtime.Invocation{})
	}}
	server := serve(t, f, gateway.Options{API: apiOf(anyRoute("/x"))})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/x", nil)
		if response, err := server.Client().Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	<-entered
	cancel()
	<-done
	close(release)
	if err := <-left; err != nil {
		t.Errorf("the invocation's context ended with its client: %v", err)
	}
}

// TestSlowBody has clients that stop in the middle of their body, for an existing route and for an unknown one.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"/x": http.StatusGatewayTimeout, "/nowhere": http.StatusForbidden} {
		f := &function{respond: buffered(ok)}
		server := serve(t, f, gateway.Options{API: apiOf(anyRoute("/x")), BodyTimeout: 30 * time.Millisecond})
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
		got, err := io.ReadAll(conn) // to the end: the server closes the connection
		if err != nil || !strings.HasPrefix(string(got), fmt.Sprintf("HTTP/1.1 %d ", want)) || f.invocations() != 0 {
			t.Errorf("%s: %q, %v", path, got, err)
		}
		_ = conn.Close()
	}
}

// TestRefusedBodyIsRead has clients that write everything before they read: they get the response, not a broken
// connection.
func TestRefusedBodyIsRead(t *testing.T) {
	t.Parallel()
	const size = 24 << 20
	for name, head := range map[string]string{
		"chunked": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", size),
		"sized":   fmt.Sprintf("Content-Length: %d\r\n\r\n", size+len("\r\n0\r\n\r\n")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &function{respond: buffered(ok)}
			server := serve(t, f, gateway.Options{API: apiOf(anyRoute("/x"))})
			request := "POST /x HTTP/1.1\r\nHost: x\r\n" + head + strings.Repeat("x", size) + "\r\n0\r\n\r\n"
			if status, body := raw(t, server, request); status != http.StatusRequestEntityTooLarge || f.invocations() != 0 {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}
