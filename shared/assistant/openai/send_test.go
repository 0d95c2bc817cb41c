package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

func TestRetries(t *testing.T) {
	t.Parallel()
	disconnect := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	unavailable := respondError(503, "unavailable")
	succeed := respondEvents(helloChunk, stopChunk)
	for name, tc := range map[string]struct {
		handlers   []http.HandlerFunc
		attempts   int
		fails      bool
		retryAfter time.Duration
	}{
		"unavailable twice": {
			handlers: []http.HandlerFunc{unavailable, unavailable, succeed},
			attempts: 3,
		},
		"unavailable three times": {
			handlers: []http.HandlerFunc{unavailable, unavailable, unavailable, succeed},
			attempts: 3,
			fails:    true,
		},
		"connection lost twice": {
			handlers: []http.HandlerFunc{disconnect, disconnect, succeed},
			attempts: 3,
		},
		"connection lost three times": {
			handlers: []http.HandlerFunc{disconnect},
			attempts: 3,
			fails:    true,
		},
		"short wait requested": {
			handlers: []http.HandlerFunc{respondError(429, "", "Retry-After-Ms", "2.5"), succeed},
			attempts: 2,
		},
		"long wait requested": {
			handlers:   []http.HandlerFunc{respondError(429, "", "Retry-After", "30"), succeed},
			attempts:   1,
			fails:      true,
			retryAfter: 30 * time.Second,
		},
		"long wait requested with status 503": {
			handlers:   []http.HandlerFunc{respondError(503, "", "Retry-After", "3600"), succeed},
			attempts:   1,
			fails:      true,
			retryAfter: time.Hour,
		},
		"wait requested as a date": {
			handlers: []http.HandlerFunc{
				respondError(429, "", "Retry-After", "Sun, 22 Nov 2026 03:01:30 GMT",
					"Date", "Sun, 22 Nov 2026 03:00:00 GMT"), succeed,
			},
			attempts:   1,
			fails:      true,
			retryAfter: 90 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tc.handlers...)
			got, _, err := generate(t, s, simpleRequest)
			if tc.fails {
				if failed := providertest.CheckFault(t, err, model.Unavailable); failed.RetryAfter != tc.retryAfter {
					t.Errorf("got RetryAfter %v, want %v", failed.RetryAfter, tc.retryAfter)
				}
			} else if err != nil || got.Text != "Hello" {
				t.Errorf("got the text %q and error %v, want Hello", got.Text, err)
			}
			s.CheckRequests(t, tc.attempts)
			for _, r := range s.Requests() {
				if r.Body != s.Requests()[0].Body || r.Body == "" {
					t.Errorf("a retry has another body: %s", r.Body)
				}
			}
		})
	}
}

// If a model accepts only max_completion_tokens, the provider switches to this name of the limit.
func TestSwitchToOtherLimitName(t *testing.T) {
	t.Parallel()
	rejectMaxTokens := respondError(400, `{"error":{
		"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
		"type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter"
	}}`)
	s := serve(t, rejectMaxTokens, respondEvents(helloChunk, stopChunk))
	p := openai.NewQuick(openai.Options{BaseURL: s.URL, Model: "m"})
	r := simpleRequest
	r.MaxOutput = 7
	for range 2 {
		if _, err := p.Generate(t.Context(), r, new(providertest.Answer).Emit); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`"max_tokens":7`, `"max_completion_tokens":7`, `"max_completion_tokens":7`}
	s.CheckRequests(t, len(want))
	for i, got := range s.Requests() {
		if !strings.Contains(got.Body, want[i]) || strings.Count(got.Body, "_tokens") != 1 {
			t.Errorf("request %d: got %s, want only the limit %s", i, got.Body, want[i])
		}
	}
	// A server that rejects both names gets two requests.
	rejecting := serve(t, rejectMaxTokens)
	_, _, err := generate(t, rejecting, r)
	providertest.CheckFault(t, err, model.Misconfigured)
	rejecting.CheckRequests(t, 2)
}

func TestHTMLResponse(t *testing.T) {
	t.Parallel()
	_, _, err := generate(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Welcome")
	}), simpleRequest)
	providertest.CheckFault(t, err, model.Misconfigured)
}

// New neither reads the key nor connects. The key is read for each call.
func TestNewDoesNotReadKeyOrConnect(t *testing.T) {
	t.Parallel()
	reads := 0
	s := serve(t, respondEvents(helloChunk, stopChunk))
	p := openai.New(openai.Options{BaseURL: s.URL, Model: "m", Key: func(context.Context) (string, error) {
		reads++
		return fmt.Sprintf(" key-%d\n", reads), nil
	}})
	if reads != 0 {
		t.Error("New read the key")
	}
	for range 2 {
		if _, err := p.Generate(t.Context(), simpleRequest, new(providertest.Answer).Emit); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range s.Requests() {
		if got, want := r.Header.Get("Authorization"), fmt.Sprintf("Bearer key-%d", i+1); got != want {
			t.Errorf("request %d: got Authorization %q, want %q", i, got, want)
		}
	}
}

func TestNoKey(t *testing.T) {
	t.Parallel()
	s := serve(t, respondEvents(helloChunk, stopChunk))
	emptyKey := func(context.Context) (string, error) { return "", nil }
	for _, key := range []func(context.Context) (string, error){nil, emptyKey} {
		p := openai.New(openai.Options{BaseURL: s.URL, Model: "m", Key: key})
		if _, err := p.Generate(t.Context(), simpleRequest, new(providertest.Answer).Emit); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.Requests() {
		if _, ok := r.Header["Authorization"]; ok {
			t.Errorf("got Authorization %q, want none", r.Header["Authorization"])
		}
	}
}

func TestKeyError(t *testing.T) {
	t.Parallel()
	s := serve(t, respondEvents(helloChunk, stopChunk))
	errKey := errors.New("the secret store is down")
	p := openai.New(openai.Options{BaseURL: s.URL, Key: func(context.Context) (string, error) { return "", errKey }})
	_, err := p.Generate(t.Context(), simpleRequest, new(providertest.Answer).Emit)
	if providertest.CheckFault(t, err, model.Unavailable); !errors.Is(err, errKey) {
		t.Errorf("the error %v does not wrap %v", err, errKey)
	}
	s.CheckRequests(t, 0)
}

// Redirects are not followed, so that neither the prompt nor the key is sent to another host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other := serve(t, respondEvents(helloChunk, stopChunk))
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, respondError(status, "", "Location", other.URL+"/v1/chat/completions"))
		_, _, err := generate(t, s, simpleRequest)
		providertest.CheckFault(t, err, model.Misconfigured)
		if !strings.Contains(err.Error(), other.URL) {
			t.Errorf("the error %q does not contain the location", err)
		}
	}
	other.CheckRequests(t, 0)
}

// A complete answer is returned even if the server does not end the stream.
func TestAnswerDoesNotWaitForEndOfStream(t *testing.T) {
	t.Parallel()
	disconnected := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		respondEvents(helloChunk, stopChunk)(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(disconnected)
	})
	got, outcome, err := generate(t, s, simpleRequest)
	if err != nil || got.Text != "Hello" || outcome.Stop != model.StopEnd {
		t.Errorf("got %q, outcome %+v and error %v, want the text Hello", got.Text, outcome, err)
	}
	<-disconnected
}

// Each part is emitted before the server sends the next chunk.
func TestPartsAreEmittedImmediately(t *testing.T) {
	t.Parallel()
	emittedPart := make(chan struct{})
	chunks := []string{
		helloChunk,
		callsChunk(`{"index":0,"id":"a","function":{"name":"f"}}`),
		callsChunk(`{"index":0,"function":{"arguments":"{"}}`),
		callsChunk(`{"index":0,"function":{"arguments":"}"}}`),
		callsChunk(`{"index":1,"id":"b","function":{"name":"f"}}`),
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, chunk := range chunks {
			respondEvents(chunk)(w, r)
			_ = http.NewResponseController(w).Flush()
			<-emittedPart
		}
		respondEvents(stopChunk)(w, r)
	})
	p := openai.NewQuick(openai.Options{BaseURL: s.URL, Model: "m"})
	parts := 0
	_, err := p.Generate(t.Context(), simpleRequest, func(part model.Part) error {
		parts++
		if part.Kind != model.CallEnd { // the end of a call is emitted with the next part
			emittedPart <- struct{}{}
		}
		return nil
	})
	if want := len(chunks) + 2; err != nil || parts != want {
		t.Errorf("got %d parts and error %v, want %d parts", parts, err, want)
	}
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		respondEvents(helloChunk, stopChunk, usageChunk, doneData)(w, r)
	})
	p := openai.New(openai.Options{BaseURL: s.URL, Model: "m", Key: key})
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			var got providertest.Answer
			outcome, err := p.Generate(t.Context(), fullRequest, got.Emit)
			if err != nil || got.Text != "Hello" || outcome.Usage.Input != 11 {
				t.Errorf("got %q, outcome %+v and error %v, want the text Hello", got.Text, outcome, err)
			}
		})
	}
	group.Wait()
}

// Connections are reused, because the provider waits for the end of the stream after [DONE].
func TestConnectionIsReused(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respondEvents(helloChunk, stopChunk, doneData)(w, r)
		_ = http.NewResponseController(w).Flush()
	}))
	var connections atomic.Int32
	s.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	p := openai.New(openai.Options{BaseURL: s.URL, Model: "m"})
	for range 20 {
		if _, err := p.Generate(t.Context(), simpleRequest, new(providertest.Answer).Emit); err != nil {
			t.Fatal(err)
		}
	}
	// On a busy machine, the end of a stream may sometimes be late.
	if n := connections.Load(); n > 10 {
		t.Errorf("got %d connections for 20 answers, want at most 10", n)
	}
}
