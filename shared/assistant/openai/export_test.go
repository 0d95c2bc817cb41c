package openai

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"devplatform/shared/assistant/model"
)

// NewQuick is like New, but the waits of the returned provider are short.
func NewQuick(o Options) model.Provider {
	backoff := func(int) time.Duration { return time.Millisecond }
	return newProvider(o, waits{backoff: backoff, usageWait: 10 * time.Millisecond})
}

// Read reads an answer without a server.
func Read(answer []byte, emit func(model.Part) error) (model.Outcome, error) {
	a := newAnswer("", model.Request{}, emit)
	response := &http.Response{Body: io.NopCloser(bytes.NewReader(answer))}
	err := a.read(response, time.Hour, time.NewTimer)
	return a.outcome, err
}

// Endpoint returns the URL of chat completions for a base URL. It also reports whether the first request to this server
// uses max_completion_tokens instead of max_tokens.
func Endpoint(base string) (string, bool, error) {
	s, err := newServer(base, waits{})
	if err != nil {
		return "", false, err
	}
	return s.url, s.useCompletionTokens.Load(), nil
}

// RetryAfter returns the wait that a response's headers request.
var RetryAfter = retryAfter
