package httpapi

import "net/http"

// EventStream is the response of an endpoint that streams server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). What a handler writes is held back until the first
// flush, and sent at once from then on. The handler sets the Content-Type.
type EventStream struct{ out *response }

// Header returns the headers with which the response starts.
func (s *EventStream) Header() http.Header { return s.out.Header() }

// WriteHeader sets the status. Only the first call has an effect.
func (s *EventStream) WriteHeader(status int) { s.out.WriteHeader(status) }

// Write writes a part of the body.
func (s *EventStream) Write(p []byte) (int, error) { return s.out.Write(p) }

// FlushError sends what was written so far; the first flush sends status and headers before it.
// http.ResponseController calls it. Errors: the client has disconnected; http.ErrNotSupported.
func (s *EventStream) FlushError() error { return s.out.FlushError() }

// Started reports whether a flush has sent the beginning of the response.
func (s *EventStream) Started() bool { return s.out.started }
