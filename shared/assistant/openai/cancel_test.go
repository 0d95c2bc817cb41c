package openai_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

// TestCancel checks that the request is cancelled at the server, before the first byte and after it.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, begun := range map[string]bool{"before the first byte": false, "after the first byte": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone := make(chan struct{})
			arrived := make(chan struct{})
			u := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if begun {
					stream(hello)(w, r)
					_ = http.NewResponseController(w).Flush()
				}
				close(arrived)
				<-r.Context().Done()
				close(gone)
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var once sync.Once
			var got collected
			p := openai.NewQuick(openai.Options{BaseURL: u.URL, Model: "m", Key: key})
			go func() {
				<-arrived
				if !begun {
					once.Do(cancel)
				}
			}()
			_, err := p.Generate(ctx, question, func(part model.Part) error {
				once.Do(cancel)
				return got.take(part)
			})
			if err != context.Canceled { //nolint:errorlint // the error must be unchanged
				t.Errorf("%v", err)
			}
			<-gone
			if n := len(u.requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestExpiredContext(t *testing.T) {
	t.Parallel()
	u := serve(t, stream(hello, stop))
	ctx, cancel := context.WithDeadline(t.Context(), time.Time{})
	defer cancel()
	p := openai.New(openai.Options{BaseURL: u.URL, Model: "m"})
	if _, err := p.Generate(ctx, question, new(collected).take); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestEmitFails checks that an error of emit is returned unchanged, that nothing more is emitted, and that the request
// is cancelled.
func TestEmitFails(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	gone := make(chan struct{})
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		stream(strings.Replace(hello, "{", `{"usage":{"prompt_tokens":3,"completion_tokens":1},`, 1), say(`{"content":"more"}`))(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	emitted := 0
	p := openai.NewQuick(openai.Options{BaseURL: u.URL, Model: "m", Key: key})
	outcome, err := p.Generate(t.Context(), question, func(model.Part) error {
		emitted++
		return enough
	})
	if err != enough || emitted != 1 { //nolint:errorlint // the error must be unchanged
		t.Errorf("%v after %d parts", err, emitted)
	}
	if outcome.Usage.Input != 3 || outcome.Model != "m-1" {
		t.Errorf("outcome %+v", outcome)
	}
	<-gone
}

// TestEmitFailsAtTheEnd checks an error of emit for a call that was queued until the end.
func TestEmitFailsAtTheEnd(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	answer := events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}]}`), stop)
	_, err := openai.Read([]byte(answer), func(p model.Part) error {
		if p.CallID == "b" {
			return enough
		}
		return nil
	})
	if err != enough { //nolint:errorlint // the error must be unchanged
		t.Errorf("%v", err)
	}
}
