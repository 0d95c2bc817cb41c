package httpapi

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// eventStreamType is that of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
const eventStreamType = "text/event-stream"

// EventStream is an answer as the function of a huma.StreamResponse writes it: held back up to the first FlushError, sent at once from then on.
type EventStream struct {
	http.ResponseWriter

	out   *response
	state *state
}

// EventStreamOf is the answer of the operation under way, of which the router asks for a stream.
func EventStreamOf(ctx huma.Context) *EventStream {
	r, w := humago.Unwrap(ctx)
	out, ok := w.(*response)
	if !ok {
		panic("api: a stream outside of a router")
	}
	return &EventStream{ResponseWriter: out, out: out, state: stateFrom(r.Context())}
}

// FlushError sends what was written until now, the first time with status and headers before it; http.ResponseController knows it by
// this name. Error: the client has gone; or, wrapped, http.ErrNotSupported.
func (s *EventStream) FlushError() error { return s.out.FlushError() }

// Fail answers with an error as if the operation had returned it, where nothing was sent yet: what was written is forgotten, headers that
// were set stay. Where the answer has begun it only notes the error for the request log, and reports false: the client has to be
// told in the stream's own way.
func (s *EventStream) Fail(err error) bool {
	s.state.cause = err
	if s.out.begun {
		s.state.note(AsError(err))
		return false
	}
	s.out.resetBody()
	s.state.fail(s.out, err)
	return true
}
