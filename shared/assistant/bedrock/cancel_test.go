package bedrock

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"devplatform/shared/assistant/model"
)

func TestCancelEndsTheRequest(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][][]byte{
		"before the response":      nil,
		"before the first event":   {},
		"during the answer":        {messageStart(), textDelta(0, "a")},
		"while a call is buffered": {messageStart(), toolStart(0, "t", "n"), toolStart(1, "u", "n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			disconnected := make(chan struct{})
			s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if frames != nil {
					w.WriteHeader(http.StatusOK)
					writeFrames(w, frames...)
					_ = http.NewResponseController(w).Flush()
				}
				cancel()
				<-r.Context().Done()
				close(disconnected)
			})
			_, _, err := generateFor(ctx, t, s.provider(claude), chatRequest())
			var failed *model.Error
			if !errors.Is(err, context.Canceled) || errors.As(err, &failed) {
				t.Errorf("got error %v, want %v", err, context.Canceled)
			}
			<-disconnected
			s.CheckRequests(t, 1)
		})
	}
}

// An error of emit is returned unchanged, nothing more is emitted, and the request is cancelled.
func TestEmitErrorEndsAnswer(t *testing.T) {
	t.Parallel()
	errEmit := errors.New("emit failed")
	frames := [][]byte{
		messageStart(),
		textDelta(0, "a"),
		toolStart(1, "t", "n"),
		toolStart(2, "u", "n"),
		toolDelta(2, "{}"),
		blockStop(2),
		toolDelta(1, "{}"),
		blockStop(1),
	}
	// The parts are the text; start, delta and end of t; then start, delta and end of u, which waited in the queue.
	for failAt := range 7 {
		disconnected := make(chan struct{})
		s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			writeFrames(w, frames...)
			<-r.Context().Done()
			close(disconnected)
		})
		parts := 0
		_, err := s.provider(claude).Generate(t.Context(), chatRequest(), func(model.Part) error {
			if parts == failAt {
				return errEmit
			}
			parts++
			return nil
		})
		if err != errEmit { //nolint:errorlint // the error must be unchanged
			t.Errorf("got error %v, want %v", err, errEmit)
		}
		if parts != failAt {
			t.Errorf("got %d parts before the error, want %d", parts, failAt)
		}
		<-disconnected
		s.CheckRequests(t, 1)
	}
}
