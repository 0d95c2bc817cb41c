package httpapi

import "net/http"

// EventStream is the response of an endpoint that streams server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Writes are buffered until the first flush. Later
// writes are sent immediately. The handler sets the Content-Type.
type EventStream struct {
	out     *response
	confirm func() error // returns an error if the caller's session is not active
}

// Header returns the headers with which the response starts.
func (s *EventStream) Header() http.Header { return s.out.Header() }

// WriteHeader sets the status. Only the first call has an effect.
func (s *EventStream) WriteHeader(status int) { s.out.WriteHeader(status) }

// Write writes a part of the body.
func (s *EventStream) Write(p []byte) (int, error) { return s.out.Write(p) }

// FlushError sends everything that was written so far. The first flush also sends the status and the headers. It
// returns an error if the client has disconnected, and http.ErrNotSupported if the server cannot flush.
// The first flush also fails if the caller's session has ended. http.ResponseController calls this method.
func (s *EventStream) FlushError() error {
	if !s.out.started {
		if err := s.confirm(); err != nil {
			return err
		}
	}
	return s.out.FlushError()
}

// Started reports whether the status and the headers have been sent.
func (s *EventStream) Started() bool { return s.out.started }
