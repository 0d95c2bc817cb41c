package bedrock

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
)

func TestCancelEndsTheRequest(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][][]byte{
		"before the answer":  nil,
		"before any event":   {},
		"in the answer":      {started(), text(0, "a")},
		"while a call waits": {started(), tool(0, "t", "n"), tool(1, "u", "n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan struct{})
			s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if frames != nil {
					w.WriteHeader(http.StatusOK)
					send(w, frames...)
					_ = http.NewResponseController(w).Flush()
				}
				cancel()
				<-r.Context().Done()
				close(left)
			})
			_, _, err := askFor(ctx, t, s.provider(claude), hello())
			var failed *model.Error
			if !errors.Is(err, context.Canceled) || errors.As(err, &failed) {
				t.Errorf("%v", err)
			}
			<-left
			if n := len(s.seen()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestNoRequestAfterCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := streaming(t, stopped("end_turn"))
	_, _, err := askFor(ctx, t, s.provider(claude), hello())
	if !errors.Is(err, context.Canceled) || len(s.seen()) != 0 {
		t.Errorf("%v, %d requests", err, len(s.seen()))
	}
}

func TestDeadlineReturnsContextError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		send(w, started())
		<-r.Context().Done()
	})
	if _, _, err := askFor(ctx, t, s.provider(claude), hello()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestEmitErrorEndsAnswer(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	frames := [][]byte{started(), text(0, "a"), tool(1, "t", "n"), tool(2, "u", "n"), toolInput(2, "{}"), ended(2), toolInput(1, "{}"), ended(1)}
	for refuse := range 7 { // text; start, delta and end of t; then the queued parts of u
		left := make(chan struct{})
		s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			send(w, frames...)
			<-r.Context().Done()
			close(left)
		})
		parts := 0
		_, err := s.provider(claude).Generate(t.Context(), hello(), func(model.Part) error {
			if parts == refuse {
				return enough
			}
			parts++
			return nil
		})
		if err != enough || parts != refuse { //nolint:errorlint // the error must be unchanged
			t.Errorf("%d: %d, %v", refuse, parts, err)
		}
		<-left
		if n := len(s.seen()); n != 1 {
			t.Errorf("%d requests", n)
		}
	}
}
