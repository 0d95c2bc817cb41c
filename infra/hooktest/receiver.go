// Package hooktest is the far end of a webhook, for tests and measurements: an HTTP server on this machine that records what it
// is sent, checks its signatures, and behaves as well or as badly as the path asks for. It knows the wire (headers, signatures as
// shared/webhook/VERIFYING.md describes), not the sender: nothing of shared may be imported here, or a mistake in signing
// would be checked against itself. What a test expects of the requests is the test's.
//
// What the first part of a path asks for; whatever follows it tells subscribers apart, as in /ok/billing and /status/500/audit:
//
//	/ok                  200
//	/status/N            that status
//	/fail?n=2            500 to the first n requests (1 unless told) of a webhook-id on this path, then 200; status= is another one
//	/gone                410
//	/retry-after?s=3     429 with Retry-After: 3 (s is sent as it is; status= is another one)
//	/redirect?to=/ok     302 to a URL or a path of here (/ok/redirected unless told)
//	/slow?ms=200         200 after that time (1000 unless told)
//	/hang                no answer until the client gives up
//	/drip?ms=1000        200, and then a byte at such an interval, without end
//	/huge                200 and a body without end, as fast as it is read
//	/reset               no answer: the connection is reset
//	anything else        404
//
// n=2 in the query of any of them limits it to the first requests of each webhook-id on that path; what follows is answered 200.
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

// Receiver is a running server. Its methods may be called at any time by any goroutine.
type Receiver struct {
	plain, secure *httptest.Server
	closing       chan struct{}
	close         sync.Once

	mu       sync.Mutex
	requests []Request
	seen     map[string]*count // by path
	handlers map[string]http.Handler
	changed  chan struct{} // closed at the next request
}

// count is how often something came: in all, and by webhook-id.
type count struct {
	total int
	ids   map[string]int
}

// New starts a receiver on free ports of the loopback interface, one for http and one for https with a certificate of its own
// (see [Receiver.Certificates]). It ends with the test; where t is nil, [Receiver.Close] ends it. It panics if there is no port.
func New(t testing.TB) *Receiver {
	r := &Receiver{closing: make(chan struct{}), handlers: map[string]http.Handler{}}
	r.Reset()
	r.plain, r.secure = httptest.NewUnstartedServer(r), httptest.NewUnstartedServer(r)
	for _, server := range []*httptest.Server{r.plain, r.secure} {
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that hang up are what it is for
	}
	r.plain.Start()
	r.secure.StartTLS()
	if t != nil {
		t.Cleanup(r.Close)
	}
	return r
}

// Close lets go of every request and stops the server. Requests that are still coming in see their connections end.
func (r *Receiver) Close() {
	r.close.Do(func() {
		close(r.closing)
		for _, server := range []*httptest.Server{r.plain, r.secure} {
			server.CloseClientConnections()
			server.Close()
		}
	})
}

// URL is where a path is served over http.
func (r *Receiver) URL(path string) string { return r.plain.URL + path }

// SecureURL is where a path is served over https.
func (r *Receiver) SecureURL(path string) string { return r.secure.URL + path }

// Certificates are what a client must trust to use [Receiver.SecureURL].
func (r *Receiver) Certificates() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(r.secure.Certificate())
	return pool
}

// Handle puts a handler of the test's in place of a path's behaviour, from the next request on; nil gives the path its own back.
// The path is the whole one, without the query. Requests are recorded as before, with status 0: it isn't known yet.
func (r *Receiver) Handle(path string, handler http.Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if handler == nil {
		delete(r.handlers, path)
		return
	}
	r.handlers[path] = handler
}

// ServeHTTP records the request when its body is there, then behaves as the path asks for.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client has gone before it had said everything
	}
	handler, b := r.record(req, body)
	if handler != nil {
		handler.ServeHTTP(w, req)
		return
	}
	b.answer(r, w, req)
}

// record takes a request down and says how it is answered: by the test's own handler, else by the path's behaviour.
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
		Method: req.Method, Path: path, Query: req.URL.Query(), Header: req.Header.Clone(), Body: body, Attempt: attempt, Status: status,
		At: time.Now(), //nolint:forbidigo // when something arrived is measured by the real clock
	})
	close(r.changed)
	r.changed = make(chan struct{})
	return handler, b
}

// Requests are those that came since the beginning or the last Reset, in their order. The slice must not be changed.
func (r *Receiver) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests[:len(r.requests):len(r.requests)]
}

// To are the requests to a path.
func (r *Receiver) To(path string) []Request {
	var to []Request
	for _, request := range r.Requests() {
		if request.Path == path {
			to = append(to, request)
		}
	}
	return to
}

// Total is the number of requests, to whichever path.
func (r *Receiver) Total() int { return len(r.Requests()) }

// Count is the number of requests to a path.
func (r *Receiver) Count(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seen := r.seen[path]; seen != nil {
		return seen.total
	}
	return 0
}

// IDs tells how often each webhook-id came to a path. Requests without one count as "".
func (r *Receiver) IDs(path string) map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seen := r.seen[path]; seen != nil {
		return maps.Clone(seen.ids)
	}
	return nil
}

// CountID is the number of requests with a webhook-id, to whichever path.
func (r *Receiver) CountID(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, seen := range r.seen {
		n += seen.ids[id]
	}
	return n
}

// Reset forgets all requests, so that counting begins anew. Handlers stay.
func (r *Receiver) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.seen = nil, map[string]*count{}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
}

// Wait returns when the condition holds, which is looked at now and after each request; or, with an error that says how many
// requests there were, when ctx has ended.
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
			return fmt.Errorf("hooktest: what was waited for did not come (%s): %w", r.summary(), context.Cause(ctx))
		}
	}
}

// WaitFor waits until n requests, or more, have come to a path, and returns them.
func (r *Receiver) WaitFor(ctx context.Context, path string, n int) ([]Request, error) {
	err := r.Wait(ctx, func(r *Receiver) bool { return r.Count(path) >= n })
	return r.To(path), err
}

func (r *Receiver) summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.requests) == 0 {
		return "no request at all"
	}
	counts := make([]string, 0, len(r.seen))
	for path, seen := range r.seen {
		counts = append(counts, fmt.Sprintf("%s: %d", path, seen.total))
	}
	slices.Sort(counts)
	return "requests to " + strings.Join(counts, ", ")
}
