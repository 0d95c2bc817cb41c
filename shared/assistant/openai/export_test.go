package openai

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"devplatform/shared/assistant/model"
)

// NewQuick is New with waits that no test notices.
func NewQuick(o Options) model.Provider {
	return newProvider(o, pace{retry: time.Millisecond, tail: 10 * time.Millisecond})
}

// Read reads an answer's bytes without a server.
func Read(answer []byte, emit func(model.Part) error) (model.Outcome, error) {
	a := newAnswer("", model.Request{}, emit)
	response := &http.Response{Body: io.NopCloser(bytes.NewReader(answer))}
	err := a.read(response, time.Hour, time.NewTimer)
	return a.outcome, err
}

// Endpoint is where a base URL leads, and whether the limit is called max_completion_tokens there.
func Endpoint(base string) (string, bool, error) {
	s, err := newServer(base, pace{})
	if err != nil {
		return "", false, err
	}
	return s.url, s.completionTokens.Load(), nil
}

// RetryAfter is what an answer's header asks for.
var RetryAfter = retryAfter
