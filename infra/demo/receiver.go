package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// delivery is one request that came to the receiver.
type delivery struct {
	path    string // which endpoint it came to
	id      string // X-Service-Delivery: the same on every attempt
	attempt int    // counted here, by id
	status  int    // what it is answered with
	at      time.Time
	took    time.Duration // from the event to its arrival
	payload payload
	body    []byte
	header  http.Header
	checks  checks
}

// payload is an event, as far as the story needs it.
type payload struct {
	ID, Type  string
	Timestamp time.Time
	Data      struct {
		File struct{ Path string }
	}
}

// receiver is the far end of the webhooks: a server on this machine that trusts nothing but a signature.
type receiver struct {
	url    string
	server *http.Server
	show   func(delivery)

	mu      sync.Mutex
	secrets map[string]string // by path
	refuse  map[string]int    // how many more requests to a path are answered 503
	seen    []delivery
	changed chan struct{} // closed, and replaced, when something has changed
}

// maxBody is more than any event has.
const maxBody = 1 << 20

// newReceiver listens on a free port of the loopback interface.
func newReceiver(show func(delivery)) (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a loopback port is had at once
	if err != nil {
		return nil, fmt.Errorf("the webhook receiver has no port: %w", err)
	}
	r := &receiver{url: "http://" + listener.Addr().String(), show: show, secrets: map[string]string{}, refuse: map[string]int{}, changed: make(chan struct{})}
	r.server = &http.Server{Handler: http.HandlerFunc(r.receive), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(listener) }() // it ends with close
	return r, nil
}

func (r *receiver) close() { _ = r.server.Close() }

// expect tells the secret of a path, and how many requests to refuse at first.
func (r *receiver) expect(path, secret string, refuse int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets[path], r.refuse[path] = secret, refuse
	r.announce()
}

// announce wakes who waits for a change; the lock is held.
func (r *receiver) announce() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// known waits until a path has its secret: a delivery may be quicker than the answer that tells it.
func (r *receiver) known(ctx context.Context, path string) bool {
	for {
		r.mu.Lock()
		_, known := r.secrets[path]
		changed := r.changed
		r.mu.Unlock()
		if known {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

func (r *receiver) receive(w http.ResponseWriter, request *http.Request) {
	at := now()
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBody))
	if err != nil || !r.known(request.Context(), request.URL.Path) {
		return
	}
	d := r.judge(request.URL.Path, body, request.Header)
	d.at, d.took = at, at.Sub(d.payload.Timestamp)
	r.show(d)
	r.mu.Lock()
	r.seen = append(r.seen, d)
	r.announce()
	r.mu.Unlock()
	w.WriteHeader(d.status)
}

// judge checks what came and decides what it is answered.
func (r *receiver) judge(path string, body []byte, header http.Header) delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := delivery{path: path, id: header.Get("X-Service-Delivery"), attempt: 1, status: http.StatusNoContent, body: body, header: header}
	d.checks = verify(r.secrets[path], body, header)
	if err := json.Unmarshal(body, &d.payload); err != nil || !d.checks.hold() {
		d.status = http.StatusUnauthorized
	} else if r.refuse[path] > 0 {
		r.refuse[path]--
		d.status = http.StatusServiceUnavailable
	}
	for _, before := range r.seen {
		if before.id == d.id {
			d.attempt++
		}
	}
	return d
}

// patience is how long a delivery may take that nothing holds up.
const patience = 30 * time.Second

// wait answers all that has come once it is enough; what says what is waited for.
func (r *receiver) wait(ctx context.Context, patience time.Duration, what string, enough func([]delivery) bool) ([]delivery, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		r.mu.Lock()
		seen, changed := slices.Clone(r.seen), r.changed
		r.mu.Unlock()
		if i := slices.IndexFunc(seen, func(d delivery) bool { return !d.checks.hold() }); i >= 0 {
			return nil, fmt.Errorf("delivery %s is not signed as documented: %w", seen[i].id, errors.Join(seen[i].checks.service, seen[i].checks.standard))
		}
		if enough(seen) {
			return seen, nil
		}
		select {
		case <-changed:
		case <-late.C:
			return nil, fmt.Errorf("waited %s for %s", patience, what)
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
}

// all is what has come so far.
func (r *receiver) all() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}
