package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

const nuls = "\x00\x00\x00\x00\x00\x00\x00\x00"

func streamRoute() resources.Route {
	route := anyRoute("/x")
	route.Stream = true
	return route
}

func get(t *testing.T, server *httptest.Server, path string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err == nil {
		t.Cleanup(func() { _ = response.Body.Close() })
	}
	return response, err
}

// TestStream has a function that waits for the client to get a chunk before it writes the next: none may be buffered.
func TestStream(t *testing.T) {
	t.Parallel()
	acknowledged := make(chan struct{})
	f := &function{respond: streamed(func(w *io.PipeWriter) {
		prelude := `{"statusCode":201,"headers":{"Content-Type":"text/event-stream"},"multiValueHeaders":{"X-A":["1","2"]},"cookies":["a=1","b=2"]}`
		_, _ = io.WriteString(w, prelude[:10])
		_, _ = io.WriteString(w, prelude[10:]+nuls[:3])
		_, _ = io.WriteString(w, nuls[3:])
		for _, chunk := range []string{"one", "\x00two", "three"} {
			<-acknowledged
			_, _ = io.WriteString(w, chunk)
		}
		_ = w.Close()
	})}
	server := serve(t, f, gateway.Options{API: apiOf(streamRoute())})
	response, err := get(t, server, "/x")
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusCreated || response.Header.Get("Content-Type") != "text/event-stream" ||
		!slices.Equal(response.Header["X-A"], []string{"1", "2"}) || !slices.Equal(response.Header["Set-Cookie"], []string{"a=1", "b=2"}) {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	if response.ContentLength != -1 || response.Header.Get("X-Amzn-Requestid") == "" {
		t.Errorf("length %d, headers %v", response.ContentLength, response.Header)
	}
	for _, want := range []string{"one", "\x00two", "three"} {
		acknowledged <- struct{}{}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	}
	if rest, err := io.ReadAll(response.Body); err != nil || len(rest) != 0 {
		t.Errorf("%q, %v after the end", rest, err)
	}
	if !f.seen[0].Stream {
		t.Error("the invocation does not request a stream")
	}
}

// TestStreamCut has a function that exits in the middle: the client must see that the body is incomplete.
func TestStreamCut(t *testing.T) {
	t.Parallel()
	f := &function{respond: streamed(func(w *io.PipeWriter) {
		_, _ = io.WriteString(w, "{}"+nuls+"half")
		_ = w.CloseWithError(&runtime.FunctionError{Type: "Runtime.ExitError"})
	})}
	response, err := get(t, serve(t, f, gateway.Options{API: apiOf(streamRoute())}), "/x")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if string(body) != "half" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", body, err)
	}
}

func TestStreamRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"empty":              "",
		"buffered response":  ok,
		"no delimiter":       `{"statusCode":200}` + nuls[1:],
		"delimiter too late": `{"headers":{"X":"` + strings.Repeat("x", 16<<10) + `"}}` + nuls + "body",
		"not JSON":           "text" + nuls + "body",
		"no metadata":        nuls + "body",
		"bad status":         `{"statusCode":1000}` + nuls + "body",
		"unknown member":     `{"statusCode":200,"body":"x"}` + nuls + "body",
		"bad header":         `{"headers":{"A":"b\r\nC: d"}}` + nuls + "body",
		"bad cookie":         `{"cookies":["a=1\r\nC: d"]}` + nuls + "body",
	}
	for name, stream := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &function{respond: streamed(func(w *io.PipeWriter) {
				_, _ = io.WriteString(w, stream)
				_ = w.Close()
			})}
			g := newGateway(t, f, gateway.Options{API: apiOf(streamRoute())})
			response := call(t, g, http.MethodGet, "/x", "", nil)
			if body := text(t, response); response.StatusCode != http.StatusBadGateway || body != `{"message":"Internal server error"}` {
				t.Errorf("%d %s", response.StatusCode, body)
			}
		})
	}
}

// TestStreamTimes has functions that pause before and after their first byte, for both time limits.
func TestStreamTimes(t *testing.T) {
	t.Parallel()
	short, long := 250*time.Millisecond, time.Hour
	tests := map[string]struct {
		start         string
		timeout, idle time.Duration
	}{
		"time-out before the metadata": {`{"statusCode"`, short, long},
		"idle before the metadata":     {"", long, short},
		"time-out in the body":         {"{}" + nuls + "half", short, long},
		"idle in the body":             {"{}" + nuls + "half", long, short},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			f := &function{respond: streamed(func(w *io.PipeWriter) {
				_, _ = io.WriteString(w, test.start)
				for {
					if _, err := io.WriteString(w, ""); err != nil {
						ended <- err
						return
					}
					select {
					case <-t.Context().Done():
						_ = w.Close()
						return
					case <-time.After(time.Millisecond):
					}
				}
			})}
			route := streamRoute()
			route.Timeout = test.timeout
			response, err := get(t, serve(t, f, gateway.Options{API: apiOf(route), StreamIdle: test.idle}), "/x")
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			if !strings.Contains(test.start, nuls) {
				if response.StatusCode != http.StatusGatewayTimeout || string(body) != `{"message":"Endpoint request timed out"}` {
					t.Errorf("%d %s", response.StatusCode, body)
				}
				return
			}
			if string(body) != "half" || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%q, %v", body, err)
			}
		})
	}
}

// TestStreamPauses has a stream that lasts longer than StreamIdle in total, but whose pauses are shorter.
func TestStreamPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		route := streamRoute()
		route.Timeout = time.Hour
		f := &function{respond: streamed(func(w *io.PipeWriter) {
			_, _ = io.WriteString(w, "{}"+nuls)
			for range 3 {
				time.Sleep(40 * time.Second)
				_, _ = io.WriteString(w, "x")
			}
			_ = w.Close()
		})}
		g := newGateway(t, f, gateway.Options{API: apiOf(route), StreamIdle: time.Minute})
		if body, err := io.ReadAll(call(t, g, http.MethodGet, "/x", "", nil).Body); string(body) != "xxx" || err != nil {
			t.Errorf("%q, %v", body, err)
		}
	})
}

// TestStreamClientGone has a client that disconnects while the function sends nothing: the body is closed before the
// invocation's context ends.
func TestStreamClientGone(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	var invocation context.Context
	f := &function{respond: func(ctx context.Context, _ runtime.Invocation) (*runtime.Response, error) {
		invocation = ctx
		r, w := io.Pipe()
		go func() {
			defer close(closed)
			_, _ = io.WriteString(w, "{}"+nuls+"first")
			for {
				if _, err := io.WriteString(w, ""); err != nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
		return &runtime.Response{Streaming: true, Body: r}, nil
	}}
	route := streamRoute()
	route.Timeout = time.Hour
	response, err := get(t, serve(t, f, gateway.Options{API: apiOf(route)}), "/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(response.Body, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if invocation.Err() != nil {
		t.Error("the invocation's context has ended")
	}
	_ = response.Body.Close()
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("the stream is still open")
	}
}

// TestStreamHead checks that HEAD gets the headers of a stream.
func TestStreamHead(t *testing.T) {
	t.Parallel()
	f := &function{respond: streamed(func(w *io.PipeWriter) {
		_, _ = io.WriteString(w, `{"statusCode":200,"headers":{"X-A":"1"}}`+nuls+"body")
		_ = w.Close()
	})}
	server := serve(t, f, gateway.Options{API: apiOf(streamRoute())})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK || response.Header.Get("X-A") != "1" {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
}

// TestStreamNotRead has a client that does not read: the route's time-out ends the stream.
func TestStreamNotRead(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	f := &function{respond: streamed(func(w *io.PipeWriter) {
		defer close(closed)
		_, _ = io.WriteString(w, "{}"+nuls)
		for chunk := strings.Repeat("x", 64<<10); ; {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})}
	route := streamRoute()
	route.Timeout = 100 * time.Millisecond
	if _, err := get(t, serve(t, f, gateway.Options{API: apiOf(route)}), "/x"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("the stream is still open")
	}
}

// TestStreamOutlastsBodyTimeout checks that the time-out of the body does not apply to the response.
func TestStreamOutlastsBodyTimeout(t *testing.T) {
	t.Parallel()
	const bodyTimeout = 100 * time.Millisecond
	f := &function{respond: streamed(func(w *io.PipeWriter) {
		_, _ = io.WriteString(w, "{}"+nuls+"first,")
		<-time.After(3 * bodyTimeout)
		_, _ = io.WriteString(w, "last")
		_ = w.Close()
	})}
	server := serve(t, f, gateway.Options{API: apiOf(streamRoute()), BodyTimeout: bodyTimeout})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/x", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err := io.ReadAll(response.Body); string(body) != "first,last" || err != nil {
		t.Errorf("%q, %v", body, err)
	}
}
