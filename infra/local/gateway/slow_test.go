package gateway_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"devplatform/infra/local/gateway"
	lambda "devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
)

// impatient replaces the time-outs for slow clients in these tests.
const impatient = time.Second

// patience is the maximum time to wait for something, on a busy machine.
const patience = time.Minute

// serveImpatient starts a gateway with short time-outs.
func serveImpatient(t *testing.T, f *function, secure bool, options gateway.Options) *httptest.Server {
	t.Helper()
	options.BodyTimeout = impatient
	g := newGateway(t, f, options)
	server := httptest.NewUnstartedServer(nil)
	server.Config = gateway.NewServer(g, nil, slog.New(slog.DiscardHandler))
	server.Config.ReadHeaderTimeout = impatient
	if secure {
		server.EnableHTTP2 = true
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

func dial(t *testing.T, server *httptest.Server) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// drip sends s again and again, one byte at a time, until the other end closes the connection.
func drip(conn net.Conn, s string) {
	for i := 0; ; i++ {
		if _, err := io.WriteString(conn, s[i%len(s):i%len(s)+1]); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// TestSlowSenders has clients that never finish their requests: a time-out closes their connections, and none reaches
// the function. A fast client is served in the meantime.
func TestSlowSenders(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		secure      bool
		head, drops string
		response    string // the beginning of the response, if there is one
	}{
		"headers":       {false, "GET /x HTTP/1.1\r\nHost: x\r\nX-Slow: ", "a", ""},
		"request line":  {false, "", "GET /", ""},
		"silence":       {false, "", "", ""},
		"body":          {false, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", "a", "HTTP/1.1 504 "},
		"chunks":        {false, "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n", "HTTP/1.1 504 "},
		"refused body":  {false, "POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", "a", "HTTP/1.1 403 "},
		"large body":    {false, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", "a", "HTTP/1.1 413 "},
		"TLS handshake": {true, "\x16\x03\x01\x02\x00\x01", "a", ""},
		"TLS silence":   {true, "", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &function{respond: buffered(ok)}
			server := serveImpatient(t, f, test.secure, gateway.Options{API: apiOf(anyRoute("/x"))})
			var slow sync.WaitGroup
			for range 10 {
				conn := dial(t, server)
				if _, err := io.WriteString(conn, test.head); err != nil {
					t.Fatal(err)
				}
				if test.drops != "" {
					slow.Go(func() { drip(conn, test.drops) })
				}
				slow.Go(func() {
					got, err := io.ReadAll(conn)
					if isTimeout(err) || !strings.HasPrefix(string(got), test.response) {
						t.Errorf("%q, %v; want %q", got, err, test.response)
					}
					_ = conn.Close()
				})
			}
			if response, err := get(t, server, "/x"); err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("a quick client: %v, %v", response, err)
			}
			slow.Wait()
			if f.invocations() != 1 {
				t.Errorf("%d invocations", f.invocations())
			}
		})
	}
}

// TestResponseNotRead has clients that send requests and do not read the responses, which are small, large or streamed.
// The server closes their connections.
func TestResponseNotRead(t *testing.T) {
	t.Parallel()
	large := `{"statusCode":200,"body":"` + strings.Repeat("x", 5<<20) + `"}`
	endless := func(ended *atomic.Int64) func(context.Context, lambda.Invocation) (*lambda.Response, error) {
		return streamed(func(w *io.PipeWriter) {
			defer ended.Add(1)
			_, _ = io.WriteString(w, "{}"+nuls)
			for chunk := strings.Repeat("x", 64<<10); ; {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
			}
		})
	}
	for _, name := range []string{"small", "large", "streamed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var streamsEnded atomic.Int64
			route := anyRoute("/x")
			f := &function{respond: buffered(large)}
			switch name {
			case "small":
				f.respond = buffered(`{"statusCode":200,"body":"` + strings.Repeat("x", 16<<10) + `"}`)
			case "streamed":
				route = streamRoute()
				f.respond = endless(&streamsEnded)
			}
			server := serveImpatient(t, f, false, gateway.Options{API: apiOf(route)})
			conn := dial(t, server)
			for { // after the buffers are full, the server closes the connection
				if _, err := io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
					if isTimeout(err) {
						t.Error("the server still holds the connection")
					}
					break
				}
			}
			if name == "streamed" {
				platformtest.EventuallyWithin(t, patience, "the stream's end", func() bool { return streamsEnded.Load() == 1 })
			}
		})
	}
}

// TestWindowClosed has an HTTP/2 client whose flow-control window is always empty.
func TestWindowClosed(t *testing.T) {
	t.Parallel()
	server := serveImpatient(t, &function{respond: buffered(ok)}, true, gateway.Options{API: apiOf(anyRoute("/x"))})
	conn, err := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{
		InsecureSkipVerify: true, NextProtos: []string{"h2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, http2.ClientPreface)
	framer := http2.NewFramer(conn, conn)
	_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	_ = framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, EndStream: true, EndHeaders: true,
		BlockFragment: []byte("\x82\x87\x04\x02/x\x01\x01x"), // GET, https, /x, authority x
	})
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("no end of the stream: %v", err)
		}
		if reset, ok := frame.(*http2.RSTStreamFrame); ok && reset.StreamID == 1 {
			return
		}
	}
}
