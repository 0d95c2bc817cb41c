package openai

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
	"devplatform/shared/async"
)

// Limits for reading an error response.
const (
	maxErrorBody = 64 << 10
	errorTimeout = 3 * time.Second
)

// send sends the request once, and again if the server requires the other name of the token limit. It returns the
// response when the server has sent its headers. Its errors are *model.Errors.
func (s *server) send(ctx context.Context, b body, key string) (*http.Response, error) {
	useCompletionTokens := s.useCompletionTokens.Load()
	for attempt := 1; ; attempt++ {
		response, err := s.post(ctx, b, useCompletionTokens, key)
		if err != nil || response.StatusCode == http.StatusOK {
			return response, err
		}
		failure, text := readError(response)
		// An example of the message is "Unsupported parameter: 'max_tokens' is not supported with this model. Use
		// 'max_completion_tokens' instead.".
		if attempt == 2 || response.StatusCode != http.StatusBadRequest || failure.Fault != model.Misconfigured ||
			!strings.Contains(text, "max_tokens") || !strings.Contains(text, "max_completion_tokens") {
			return nil, failure
		}
		s.useCompletionTokens.CompareAndSwap(useCompletionTokens, !useCompletionTokens) // also for later requests
		useCompletionTokens = !useCompletionTokens
	}
}

// post sends the request. The name of its token limit is max_completion_tokens or max_tokens.
func (s *server) post(ctx context.Context, b body, useCompletionTokens bool, key string) (*http.Response, error) {
	if useCompletionTokens {
		b.MaxCompletionTokens, b.MaxTokens = b.MaxTokens, 0
	}
	data, err := json.Marshal(b)
	if err != nil {
		return nil, &model.Error{Fault: model.Misconfigured, Cause: fmt.Errorf("request: %w", err)}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(data))
	if err != nil {
		return nil, &model.Error{Fault: model.Misconfigured, Cause: fmt.Errorf("request: %w", err)}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "devplatform")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := s.client.Do(r)
	if err != nil {
		return nil, &model.Error{Fault: model.Unavailable, Cause: fmt.Errorf("send: %w", err)}
	}
	return response, nil
}

// readError reads and closes a response with an error. It also returns the text of the server.
func readError(response *http.Response) (failure *model.Error, text string) {
	defer func() { _ = response.Body.Close() }()
	timeout := async.AfterFunc(errorTimeout, func() { _ = response.Body.Close() })
	defer timeout.Stop()
	data, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody)) // if this fails, the status is sufficient
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	reported := parseError(data)
	reported.Status, reported.mediaType = response.StatusCode, mediaType
	reported.location = response.Header.Get("Location")
	failure = reported.modelError()
	failure.RetryAfter = provider.RetryAfter(response.Header)
	return failure, reported.Message
}
