package soak

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"devplatform/infra/platformtest"
)

// patience limits the wait for a condition that is met within seconds on an idle machine.
const patience = time.Minute

const (
	connections = 10_000
	// memoryOfConnection is the limit of the memory of an idle connection, in bytes.
	memoryOfConnection = 100 << 10
	// otherFiles is more than the number of files that a process needs besides the connections.
	otherFiles = 5_000
	// leftOver is the number of files and goroutines that may be left at the end: a tenth of the connections.
	leftOver = connections / 10
	// responseTimeout is longer than the time limits of the gateway: 10 s for an instance, 29 s for a response.
	responseTimeout = time.Minute
)

// TestTenThousandConnections connects 10,000 clients. Each client sends a request, waits, and sends another request at
// the same time as all other clients. Each request gets a response. One more client is served at the same time. A
// connection needs little memory, and its resources are released at the end.
func TestTenThousandConnections(t *testing.T) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur < connections+otherFiles {
		t.Skipf("this machine lets a process open %d files (%v): too few for %d connections", files.Cur, err, connections)
	}
	p := start(t)
	platformtest.NewClient(t, p.url).Do("GET", "/api/auth/me", "").WantError(t, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
	before := look(t, p.pid)
	idle, _ := p.probeProcess(t, p.pid)
	address, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	var first tally
	clients := make([]*client, connections)
	// forAll calls do for all clients, for at most limit of them at the same time.
	forAll := func(limit int, do func(n int)) {
		var wait sync.WaitGroup
		slots := make(chan struct{}, limit)
		for n := range clients {
			slots <- struct{}{}
			wait.Go(func() {
				defer func() { <-slots }()
				do(n)
			})
		}
		wait.Wait()
	}
	forAll(100, func(n int) {
		conn, err := (&net.Dialer{Timeout: responseTimeout}).DialContext(t.Context(), "tcp", "127.0.0.1:"+address.Port())
		if err != nil {
			t.Errorf("client %d can't connect: %v", n, err)
			return
		}
		clients[n] = &client{conn, bufio.NewReaderSize(conn, 512)}
		first.add(clients[n].get())
	})
	if t.Failed() {
		t.FailNow()
	}
	defer forAll(100, func(n int) { _ = clients[n].Close() })
	resting := look(t, p.pid)
	if connected := resting.files - before.files; connected < connections {
		t.Errorf("only %d connections are open at once", connected)
	}
	t.Logf("%d connections at rest: %d KB each, %d files; first requests: %s", connections, (resting.rss-before.rss)/connections>>10, resting.files, &first)
	if (resting.rss-before.rss)/connections > memoryOfConnection {
		t.Errorf("a connection costs %d bytes", (resting.rss-before.rss)/connections)
	}

	var served atomic.Bool
	other := make(chan struct{})
	go func() {
		defer close(other)
		one := platformtest.NewClient(t, p.url)
		for range 3 {
			a, err := one.Try("GET", "/api/auth/me", "")
			served.Store(err == nil && (a.Status == http.StatusUnauthorized || a.Status == http.StatusTooManyRequests))
		}
	}()
	begin := time.Now()
	var second tally
	forAll(connections, func(n int) { second.add(clients[n].get()) })
	t.Logf("%d requests at once: %s within %v", connections, &second, time.Since(begin).Round(time.Millisecond))
	<-other
	if !served.Load() {
		t.Error("another client was not served at the same time")
	}
	for _, responses := range []*tally{&first, &second} {
		if responses.other != nil || responses.served == 0 || responses.served+responses.refused != connections {
			t.Errorf("%s; %v", responses, responses.other)
		}
	}

	forAll(100, func(n int) { _ = clients[n].Close() })
	platformtest.EventuallyWithin(t, patience, "the connections are closed", func() bool {
		return look(t, p.pid).files <= before.files+leftOver
	})
	platformtest.EventuallyWithin(t, patience, "the resources of the connections are released", func() bool {
		now, _ := p.probeProcess(t, p.pid)
		return now.goroutines <= idle.goroutines+leftOver && now.heap <= idle.heap+20<<20
	})
	platformtest.NewClient(t, p.url).Do("GET", "/api/auth/me", "").WantError(t, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
	after := look(t, p.pid)
	now, _ := p.probeProcess(t, p.pid)
	t.Logf("before: %v, %d goroutines, heap %d KB; with all of them: %v; after: %v, %d goroutines, heap %d KB",
		before, idle.goroutines, idle.heap>>10, resting, after, now.goroutines, now.heap>>10)
}

// client is an HTTP client with a connection of its own.
type client struct {
	net.Conn

	reader *bufio.Reader
}

// get sends a request and reads its response.
func (c *client) get() (status int, err error) {
	_ = c.SetDeadline(time.Now().Add(responseTimeout))
	if _, err := io.WriteString(c, "GET /api/auth/me HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return 0, fmt.Errorf("send: %w", err)
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && (!strings.HasPrefix(string(body), `{"error":"`) || !strings.Contains(string(body), `,"code":"`)) {
		err = fmt.Errorf("body %s", body)
	}
	return response.StatusCode, err
}

// tally counts responses.
type tally struct {
	mu              sync.Mutex
	served, refused int
	other           error // the latest error, or response with another status
}

func (r *tally) add(status int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		r.other = err
	case status == http.StatusUnauthorized:
		r.served++
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		r.refused++
	default:
		r.other = fmt.Errorf("status %d", status)
	}
}

func (r *tally) String() string { return fmt.Sprintf("%d served, %d refused", r.served, r.refused) }
