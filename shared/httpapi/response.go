package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
)

// response holds an answer back until it is whole, so that a handler that panics or an answer that can't be
// written becomes one clean error instead of a torn body. A handler that flushes has begun to stream:
// what it writes goes through at once from then on.
type response struct {
	to     http.ResponseWriter
	header http.Header
	status int
	body   bytes.Buffer
	begun  bool // status and headers have gone
}

func newResponse(to http.ResponseWriter) *response {
	return &response{to: to, header: http.Header{}}
}

func (r *response) Header() http.Header { return r.header }

// WriteHeader keeps the first status, as net/http does.
func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *response) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.begun {
		return r.to.Write(p) //nolint:wrapcheck // the handler's own writer
	}
	return r.body.Write(p) //nolint:wrapcheck // never fails
}

// Flush is FlushError for who can't do anything about a client that has gone.
func (r *response) Flush() { _ = r.FlushError() }

// FlushError sends what was written until now; the first one begins the answer. Error: net/http's, for a client that has gone,
// and http.ErrNotSupported.
func (r *response) FlushError() error {
	if !r.begun {
		r.send()
	}
	if err := http.NewResponseController(r.to).Flush(); err != nil {
		return fmt.Errorf("api: flush: %w", err)
	}
	return nil
}

// reset forgets what the handler answered, but for the headers that every answer has. The answer has not begun.
func (r *response) reset() {
	for name := range r.header {
		if _, always := securityHeaders[name]; !always && name != "X-Request-Id" {
			delete(r.header, name)
		}
	}
	r.resetBody()
}

// resetBody forgets status and body. The answer has not begun.
func (r *response) resetBody() {
	r.status = 0
	r.body.Reset()
}

// finish sends the answer, unless it was streamed.
func (r *response) finish() {
	if !r.begun {
		r.send()
	}
}

// send sends what there is of the answer. That to HEAD has the body that GET would have: whoever speaks HTTP with the client, the
// gateway or net/http, takes its length and leaves it out.
func (r *response) send() {
	r.WriteHeader(http.StatusOK)
	r.begun = true
	if r.status == http.StatusNotModified { // repeats nothing that the client has (RFC 9110 §15.4.5)
		r.header.Del("Content-Type")
	}
	for name, values := range r.header {
		r.to.Header()[name] = values
	}
	r.to.WriteHeader(r.status)
	if r.body.Len() > 0 {
		_, _ = r.to.Write(r.body.Bytes()) //nolint:gosec // JSON, under nosniff; a client that has gone is no error
	}
}

// discard is where nothing is written to.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) WriteHeader(int)             {}
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
