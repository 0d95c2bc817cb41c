package openai

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
)

// NewQuick is like New, but the waits of the returned provider are short.
func NewQuick(o Options) model.Provider {
	w := provider.DefaultWaits()
	w.Backoff, w.Usage = func(int) time.Duration { return time.Millisecond }, 10*time.Millisecond
	return newClient(o, w)
}

// Read reads an answer without a server.
func Read(answer []byte, emit func(model.Part) error) (model.Outcome, error) {
	a := newAnswer("", model.Request{}, emit)
	response := &http.Response{Body: io.NopCloser(bytes.NewReader(answer))}
	err := a.read(response, provider.Waits{Usage: time.Hour, Close: time.Hour}, func() {})
	return a.outcome, err
}

// Endpoint returns the URL of chat completions for a base URL. It also reports whether the first request to this server
// uses max_completion_tokens instead of max_tokens.
func Endpoint(base string) (string, bool, error) {
	s, err := newServer(base)
	if err != nil {
		return "", false, err
	}
	return s.url, s.useCompletionTokens.Load(), nil
}
