package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
)

// response buffers a response until it is complete. If a handler fails or panics, the client receives an error response
// instead of an incomplete body. The first flush starts the response: after that, writes are sent immediately.
type response struct {
	to      http.ResponseWriter
	header  http.Header
	status  int
	body    bytes.Buffer
	started bool // whether the status and the headers have been sent
}

func newResponse(to http.ResponseWriter) *response {
	return &response{to: to, header: http.Header{}}
}

func (r *response) Header() http.Header { return r.header }

// WriteHeader sets the status. As in net/http, only the first call has an effect.
func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *response) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.started {
		return r.to.Write(p)
	}
	return r.body.Write(p)
}

// FlushError sends everything that was written so far. The first flush starts the response. Errors: the error of
// net/http if the client has disconnected; http.ErrNotSupported.
func (r *response) FlushError() error {
	if !r.started {
		r.send()
	}
	if err := http.NewResponseController(r.to).Flush(); err != nil {
		return fmt.Errorf("httpapi: flush: %w", err)
	}
	return nil
}

// reset discards the status, the body and the handler's headers. It keeps the headers that every response has. It must
// not be called after the response has started.
func (r *response) reset() {
	for name := range r.header {
		if _, isCommon := securityHeaders[name]; !isCommon && name != "X-Request-Id" {
			delete(r.header, name)
		}
	}
	r.resetBody()
}

// resetBody discards the status and the body. It must not be called after the response has started.
func (r *response) resetBody() {
	r.status = 0
	r.body.Reset()
}

// finish sends the response if it has not started.
func (r *response) finish() {
	if !r.started {
		r.send()
	}
}

// send sends everything that was written so far. For a HEAD request, it also sends the body of the GET response. The
// gateway or net/http omits the body and uses its length as Content-Length.
func (r *response) send() {
	r.WriteHeader(http.StatusOK)
	r.started = true
	if r.status == http.StatusNotModified { // the client already has the content's headers (RFC 9110 §15.4.5)
		r.header.Del("Content-Type")
	}
	for name, values := range r.header {
		r.to.Header()[name] = values
	}
	r.to.WriteHeader(r.status)
	if r.body.Len() > 0 {
		_, _ = r.to.Write(r.body.Bytes()) // a client may have disconnected
	}
}
