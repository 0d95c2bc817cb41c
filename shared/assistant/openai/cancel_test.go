package openai_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

// When the context is canceled, the provider disconnects, both before and after the first byte of the response.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, hasBegun := range map[string]bool{"before the first byte": false, "after the first byte": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disconnected := make(chan struct{})
			arrived := make(chan struct{})
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if hasBegun {
					respondEvents(helloChunk)(w, r)
					_ = http.NewResponseController(w).Flush()
				}
				close(arrived)
				<-r.Context().Done()
				close(disconnected)
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var once sync.Once
			var got providertest.Answer
			p := openai.NewQuick(openai.Options{BaseURL: s.URL, Model: "m", Key: key})
			go func() {
				<-arrived
				if !hasBegun {
					once.Do(cancel)
				}
			}()
			_, err := p.Generate(ctx, simpleRequest, func(part model.Part) error {
				once.Do(cancel)
				return got.Emit(part)
			})
			if err != context.Canceled { //nolint:errorlint // the error must be unchanged
				t.Errorf("got error %v, want %v", err, context.Canceled)
			}
			<-disconnected
			s.CheckRequests(t, 1)
		})
	}
}

// An error of emit is returned unchanged, nothing more is emitted, and the request is canceled.
func TestEmitFails(t *testing.T) {
	t.Parallel()
	errEmit := errors.New("emit failed")
	disconnected := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		withUsage := strings.Replace(helloChunk, "{", `{"usage":{"prompt_tokens":3,"completion_tokens":1},`, 1)
		respondEvents(withUsage, deltaChunk(`{"content":"more"}`))(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(disconnected)
	})
	emitted := 0
	p := openai.NewQuick(openai.Options{BaseURL: s.URL, Model: "m", Key: key})
	outcome, err := p.Generate(t.Context(), simpleRequest, func(model.Part) error {
		emitted++
		return errEmit
	})
	if err != errEmit || emitted != 1 { //nolint:errorlint // the error must be unchanged
		t.Errorf("got error %v after %d parts, want %v after 1", err, emitted, errEmit)
	}
	if outcome.Usage.Input != 3 || outcome.Model != "m-1" {
		t.Errorf("got the outcome %+v, want the model and the usage of the first event", outcome)
	}
	<-disconnected
}

// If a tool call is emitted only at the end of the answer, because it waited in the part queue, an error of emit is
// also returned unchanged.
func TestEmitFailsAtTheEnd(t *testing.T) {
	t.Parallel()
	errEmit := errors.New("emit failed")
	calls := callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},` +
		`{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}`)
	_, err := openai.Read([]byte(eventStream(calls, stopChunk)), func(p model.Part) error {
		if p.CallID == "b" {
			return errEmit
		}
		return nil
	})
	if err != errEmit { //nolint:errorlint // the error must be unchanged
		t.Errorf("got error %v, want %v", err, errEmit)
	}
}
