package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
)

// EventStream is the response of an endpoint that streams server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Writes are buffered until the first flush. Later
// writes are sent immediately. The handler sets the Content-Type.
type EventStream struct {
	*response
	confirm func() error // returns an error if the caller's session is not active
}

// FlushError sends everything that was written so far. The first flush also sends the status and the headers. It
// returns an error if the client has disconnected, and http.ErrNotSupported if the server cannot flush.
// The first flush also fails if the caller's session has ended. http.ResponseController calls this method.
func (s *EventStream) FlushError() error {
	if !s.started {
		if err := s.confirm(); err != nil {
			return err
		}
		s.send()
	}
	if err := http.NewResponseController(s.to).Flush(); err != nil {
		return fmt.Errorf("httpapi: flush: %w", err)
	}
	return nil
}

// response buffers a response until it is complete. If a handler fails or panics, the client receives an error response
// instead of an incomplete body. The first flush starts the response: after that, writes are sent immediately.
type response struct {
	to      http.ResponseWriter
	header  http.Header
	status  int
	body    bytes.Buffer
	started bool // whether the status and the headers have been sent
}

// Header returns the headers with which the response starts.
func (r *response) Header() http.Header { return r.header }

// WriteHeader sets the status. As in net/http, only the first call has an effect.
func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write writes a part of the body.
func (r *response) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.started {
		return r.to.Write(p)
	}
	return r.body.Write(p)
}

// reset discards the status and the body. It must not be called after the response has started.
func (r *response) reset() {
	r.status = 0
	r.body.Reset()
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
