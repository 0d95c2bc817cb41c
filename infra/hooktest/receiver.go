// Package hooktest provides a receiver of webhooks for tests and measurements: an HTTP server that records requests and
// checks their signatures. The path of a request selects the response. The package verifies signatures in the way that
// shared/webhook/VERIFYING.md documents for subscribers. It must not import packages of shared: a mistake in the code
// that signs would then be repeated here, and no test would find it.
//
// The first part of a path selects the response. The rest has no effect, and can identify a subscriber, as in
// /ok/billing and /status/500/audit:
//
//	/ok                  200
//	/status/N            the status N
//	/fail?n=2            500 to the first n requests of each webhook-id to this path, then 200; n is 1 by default
//	/gone                410
//	/retry-after?s=3     429 with Retry-After: 3; s can be any text, and is 1 by default
//	/redirect?to=/ok     302 to a URL, or to a path of the receiver; /ok/redirected by default
//	/slow?ms=200         200 after a delay in milliseconds, 1000 by default
//	/hang                no response until the client closes the connection
//	/drip?ms=1000        200, with one byte every ms milliseconds, without end; ms is 1000 by default
//	/huge                200, with a large body that never ends
//	/reset               no response: the connection is reset
//	any other path       404
//
// The query parameter status replaces the status of /fail, /retry-after and /redirect. The query parameter n limits any
// of the responses to the first n requests of each webhook-id to this path. Later requests receive 200.
package hooktest

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Receiver is a running server. Its methods are safe for concurrent use.
type Receiver struct {
	plain, secure *httptest.Server // HTTP and HTTPS
	closing       chan struct{}
	close         sync.Once

	mu       sync.Mutex
	requests []Request
	seen     map[string]*count // by path
	handlers map[string]http.Handler
	changed  chan struct{} // closed when the next request arrives
}

// count contains the number of requests to a path, in total and by webhook-id.
type count struct {
	total int
	ids   map[string]int
}

// New starts a receiver on two free ports of the loopback interface: one for HTTP, and one for HTTPS with its own
// certificate (see [Receiver.Certificates]). The receiver is closed at the end of the test. If t is nil, the caller
// closes it with [Receiver.Close]. New panics if no port is free.
func New(t testing.TB) *Receiver {
	r := &Receiver{closing: make(chan struct{}), handlers: map[string]http.Handler{}}
	r.Reset()
	r.plain, r.secure = httptest.NewUnstartedServer(r), httptest.NewUnstartedServer(r)
	for _, server := range []*httptest.Server{r.plain, r.secure} {
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // tests cause connection errors on purpose
	}
	r.plain.Start()
	r.secure.StartTLS()
	if t != nil {
		t.Cleanup(r.Close)
	}
	return r
}

// Close stops the servers. It ends requests in progress by closing their connections.
func (r *Receiver) Close() {
	r.close.Do(func() {
		close(r.closing)
		for _, server := range []*httptest.Server{r.plain, r.secure} {
			server.CloseClientConnections()
			server.Close()
		}
	})
}

// URL returns the URL of a path over HTTP.
func (r *Receiver) URL(path string) string { return r.plain.URL + path }

// SecureURL returns the URL of a path over HTTPS.
func (r *Receiver) SecureURL(path string) string { return r.secure.URL + path }

// Certificates returns the certificates that a client of [Receiver.SecureURL] must trust.
func (r *Receiver) Certificates() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(r.secure.Certificate())
	return pool
}

// Handle makes a handler respond to later requests to a path. A nil handler restores the standard response. path is the
// complete path, without the query. The requests that the handler serves are recorded with status 0.
func (r *Receiver) Handle(path string, handler http.Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if handler == nil {
		delete(r.handlers, path)
		return
	}
	r.handlers[path] = handler
}

// ServeHTTP records a request and responds to it.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client closed the connection before it sent the complete request
	}
	handler, b := r.record(req, body)
	if handler != nil {
		handler.ServeHTTP(w, req)
		return
	}
	b.respond(r, w, req)
}

// record records a request. It returns the handler that the test set for the path, or nil. It also returns the
// behaviour that applies if there is no handler.
func (r *Receiver) record(req *http.Request, body []byte) (http.Handler, behaviour) {
	id, path := req.Header.Get("Webhook-Id"), req.URL.Path
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[path] == nil {
		r.seen[path] = &count{ids: map[string]int{}}
	}
	seen := r.seen[path]
	seen.total++
	seen.ids[id]++
	attempt := seen.ids[id]
	handler, b := r.handlers[path], behaviourOf(req.URL, attempt)
	status := b.status
	if handler != nil {
		status = 0
	}
	r.requests = append(r.requests, Request{
		Method:  req.Method,
		Path:    path,
		Query:   req.URL.Query(),
		Header:  req.Header.Clone(),
		Body:    body,
		Attempt: attempt,
		Status:  status,
		At:      time.Now(), //nolint:forbidigo // the arrival is measured with the real clock
	})
	close(r.changed)
	r.changed = make(chan struct{})
	return handler, b
}

// Requests returns the requests since the start or the last Reset, in the order of their arrival. The caller must not
// change the slice.
func (r *Receiver) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests[:len(r.requests):len(r.requests)]
}

// To returns the requests to a path.
func (r *Receiver) To(path string) []Request {
	var requests []Request
	for _, request := range r.Requests() {
		if request.Path == path {
			requests = append(requests, request)
		}
	}
	return requests
}

// Total returns the number of requests to all paths.
func (r *Receiver) Total() int { return len(r.Requests()) }

// Count returns the number of requests to a path.
func (r *Receiver) Count(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seen := r.seen[path]; seen != nil {
		return seen.total
	}
	return 0
}

// IDs returns the number of requests to a path by webhook-id. Requests without a webhook-id count as "".
func (r *Receiver) IDs(path string) map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seen := r.seen[path]; seen != nil {
		return maps.Clone(seen.ids)
	}
	return nil
}

// CountID returns the number of requests with a webhook-id to all paths.
func (r *Receiver) CountID(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, seen := range r.seen {
		n += seen.ids[id]
	}
	return n
}

// Reset removes all requests and counts. It keeps the handlers.
func (r *Receiver) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.seen = nil, map[string]*count{}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
}

// Wait returns when condition returns true. It evaluates the condition at once, and after each request. If ctx is done
// first, it returns an error that contains the number of requests.
func (r *Receiver) Wait(ctx context.Context, condition func(*Receiver) bool) error {
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if condition(r) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("hooktest: the condition was not met (%s): %w", r.summary(), context.Cause(ctx))
		}
	}
}

// WaitFor waits until at least n requests to a path have arrived, and returns them.
func (r *Receiver) WaitFor(ctx context.Context, path string, n int) ([]Request, error) {
	err := r.Wait(ctx, func(r *Receiver) bool { return r.Count(path) >= n })
	return r.To(path), err
}

func (r *Receiver) summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.requests) == 0 {
		return "no requests"
	}
	counts := make([]string, 0, len(r.seen))
	for path, seen := range r.seen {
		counts = append(counts, fmt.Sprintf("%s: %d", path, seen.total))
	}
	slices.Sort(counts)
	return "requests to " + strings.Join(counts, ", ")
}
