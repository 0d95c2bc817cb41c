package gateway_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/resources"
)

// roundTrip sends a request and returns the response's status and body. The status is 0 if the server has closed the
// connection.
func roundTrip(t *testing.T, conn net.Conn) (status int, closes bool, body string) {
	t.Helper()
	if _, err := io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return 0, true, ""
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, true, ""
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode, response.Close, text(t, response)
}

// TestConnectionLimit opens more connections than the limit. A new connection closes the connection that has been idle
// for the longest time. While all are busy, it gets a gateway response. Later, new connections are accepted again.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	const most = 4
	api := apiOf(anyRoute("/x"))
	api.GatewayResponses = map[string]resources.GatewayResponse{"THROTTLED": {
		Templates: map[string]string{"application/json": `{"error":"Too many requests.","code":"RATE_LIMITED"}`},
	}}
	f := &function{respond: buffered(ok)}
	var log syncBuffer
	g := newGateway(t, f, gateway.Options{API: api, MaxConnections: most, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	server := httptest.NewUnstartedServer(nil)
	server.Config = gateway.NewServer(g, nil, slog.New(slog.DiscardHandler))
	rested, rests := make(chan struct{}, 100), server.Config.ConnState
	server.Config.ConnState = func(c net.Conn, state http.ConnState) { // a client gets its response before its connection is idle
		rests(c, state)
		if state == http.StateIdle {
			rested <- struct{}{}
		}
	}
	server.Listener = g.Listener(server.Listener)
	server.Start()
	t.Cleanup(server.Close)

	var idle []net.Conn
	for range most {
		conn := dial(t, server)
		if status, _, _ := roundTrip(t, conn); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		<-rested
		idle = append(idle, conn)
	}
	for n := range most { // they close the idle ones, the longest idle first
		if status, _, _ := roundTrip(t, dial(t, server)); status != http.StatusOK {
			t.Errorf("new connection %d: %d", n, status)
		}
		<-rested
		if rest, err := io.ReadAll(idle[n]); isTimeout(err) || len(rest) > 0 {
			t.Errorf("idle connection %d: %q, %v", n, rest, err)
		}
	}
	busy := make([]net.Conn, 0, most)
	for range most { // busy connections: their requests are incomplete
		conn := dial(t, server)
		_, _ = io.WriteString(conn, "GET /x HTTP/1.1\r\n")
		busy = append(busy, conn)
	}
	waitFor(t, "a refusal", func() bool {
		conn := dial(t, server)
		defer func() { _ = conn.Close() }()
		status, closes, body := roundTrip(t, conn)
		return status == http.StatusTooManyRequests && closes && body == `{"error":"Too many requests.","code":"RATE_LIMITED"}`
	})
	if got := strings.Count(log.String(), "too many connections"); got != 1 {
		t.Errorf("got %d warnings:\n%s", got, log.String())
	}
	for _, conn := range busy {
		_, _ = io.WriteString(conn, "Host: x\r\nConnection: close\r\n\r\n")
		if got, err := io.ReadAll(conn); err != nil || !bytes.HasPrefix(got, []byte("HTTP/1.1 200 ")) {
			t.Errorf("%q, %v", got, err)
		}
	}
	if status, closes, _ := roundTrip(t, dial(t, server)); status != http.StatusOK || closes {
		t.Errorf("afterwards: %d, %t", status, closes)
	}
}

// TestMoreConnectionsThanAccepted opens more connections than the listener accepts, and then closes the server.
func TestMoreConnectionsThanAccepted(t *testing.T) {
	t.Parallel()
	g := newGateway(t, &function{respond: buffered(ok)}, gateway.Options{API: apiOf(anyRoute("/x")), MaxConnections: 1})
	server := httptest.NewUnstartedServer(nil)
	server.Config = gateway.NewServer(g, nil, slog.New(slog.DiscardHandler))
	server.Config.ReadHeaderTimeout = 2 * patience // only closed connections may free slots
	server.Listener = g.Listener(server.Listener)
	server.Start()
	t.Cleanup(server.Close)
	conns := make([]net.Conn, 0, 400)
	for range cap(conns) {
		conns = append(conns, dial(t, server))
	}
	for _, conn := range conns { // each gets its response when earlier ones are closed
		if status, _, _ := roundTrip(t, conn); status != http.StatusOK && status != http.StatusTooManyRequests {
			t.Fatalf("status %d", status)
		}
		_ = conn.Close()
	}
	for range cap(conns) {
		dial(t, server)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Config.Close()
	}()
	waitFor(t, "the end of the server", func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}

// scarce is a listener whose first calls fail because the process has too many open files.
type scarce struct {
	net.Listener

	mu    sync.Mutex
	times int
}

func (s *scarce) Accept() (net.Conn, error) {
	s.mu.Lock()
	s.times--
	short := s.times >= 0
	s.mu.Unlock()
	if short {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return s.Listener.Accept()
}

// TestTooManyOpenFiles makes Accept fail because of too many open files: the server retries, logs one warning, and
// serves.
func TestTooManyOpenFiles(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	g := newGateway(t, &function{respond: buffered(ok)}, gateway.Options{
		API: apiOf(anyRoute("/x")), Logger: slog.New(slog.NewTextHandler(&log, nil)), MaxConnections: 1,
	})
	server := httptest.NewUnstartedServer(nil)
	server.Config = gateway.NewServer(g, nil, slog.New(slog.DiscardHandler))
	server.Listener = g.Listener(&scarce{Listener: server.Listener, times: 5})
	server.Start()
	defer server.Close()
	if status, _, _ := roundTrip(t, dial(t, server)); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if got := strings.Count(log.String(), "too many open files"); got != 1 {
		t.Errorf("got %d warnings:\n%s", got, log.String())
	}
}

// syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestSharedConnectionLimit has two gateways with one limit of connections: a new connection of one closes an idle
// connection of the other. The second gateway has its own domain name in events.
func TestSharedConnectionLimit(t *testing.T) {
	t.Parallel()
	rested := make(chan struct{}, 10)
	start := func(g *gateway.Gateway) *httptest.Server {
		server := httptest.NewUnstartedServer(nil)
		server.Config = gateway.NewServer(g, nil, slog.New(slog.DiscardHandler))
		rests := server.Config.ConnState
		server.Config.ConnState = func(c net.Conn, state http.ConnState) {
			rests(c, state)
			if state == http.StateIdle {
				rested <- struct{}{}
			}
		}
		server.Listener = g.Listener(server.Listener)
		server.Start()
		t.Cleanup(server.Close)
		return server
	}
	f := &function{respond: buffered(ok)}
	first := newGateway(t, &function{respond: buffered(ok)}, gateway.Options{API: apiOf(anyRoute("/x")), MaxConnections: 1})
	second := newGateway(t, f, gateway.Options{
		API: apiOf(anyRoute("/x")), Beside: first, DomainName: func(host string) string { return "name of " + host },
	})
	idle := dial(t, start(first))
	if status, _, _ := roundTrip(t, idle); status != http.StatusOK {
		t.Fatalf("got the status %d", status)
	}
	<-rested
	if status, _, _ := roundTrip(t, dial(t, start(second))); status != http.StatusOK {
		t.Errorf("got the status %d for a connection of the other gateway", status)
	}
	if rest, err := io.ReadAll(idle); isTimeout(err) || len(rest) > 0 {
		t.Errorf("the idle connection is still open: %q, %v", rest, err)
	}
	if got := fmt.Sprint(at(t, f.event(t), "requestContext")["domainName"]); got != "name of x" {
		t.Errorf("got the domain name %s", got)
	}
}
