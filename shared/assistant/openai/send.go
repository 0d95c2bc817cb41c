package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/awsclient"
	"devplatform/shared/retryafter"
)

// Bounds of the retries of a request. No attempt begins after retryWindow, because the user is waiting.
const (
	maxRetries  = 2
	retryWindow = 2 * time.Second
)

// Bounds of reading an error response.
const (
	maxErrorBody = 64 << 10
	errorTimeout = 3 * time.Second
)

// maxRetryAfter is the longest wait that send reports.
const maxRetryAfter = 24 * time.Hour

// send sends the request, with retries, and returns the response when the server has begun to answer. It returns a
// *model.Error.
func (s *server) send(ctx context.Context, b body, key string) (*http.Response, error) {
	window, cancel := context.WithTimeout(ctx, retryWindow)
	defer cancel()
	hasSwitched := false
	for retries := 0; ; {
		useCompletionTokens := s.useCompletionTokens.Load()
		data, err := b.encode(useCompletionTokens)
		if err != nil {
			return nil, err
		}
		response, err := s.attempt(ctx, data, key)
		if err == nil {
			return response, nil
		}
		var stated *serverError
		if errors.As(err, &stated) && stated.wantsOtherLimit() && !hasSwitched {
			hasSwitched = true // also for the next calls
			s.useCompletionTokens.CompareAndSwap(useCompletionTokens, !useCompletionTokens)
			continue
		}
		if retries == maxRetries || !isRetryable(err) || !awsclient.Sleep(window, s.retryWait(err, retries)) {
			return nil, err
		}
		retries++
	}
}

// attempt sends the request once.
func (s *server) attempt(ctx context.Context, data []byte, key string) (*http.Response, error) {
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
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	timeout := time.AfterFunc(errorTimeout, func() { _ = response.Body.Close() })
	defer timeout.Stop()
	data, _ = io.ReadAll(io.LimitReader(response.Body, maxErrorBody)) // if this fails, the status is enough
	stated := parseError(data)
	stated.status = response.StatusCode
	stated.mediaType, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type"))
	stated.location = response.Header.Get("Location")
	stated.isFinal = response.Header.Get("X-Should-Retry") == "false" // a header of OpenAI
	return nil, &model.Error{Fault: stated.fault(), RetryAfter: retryAfter(response.Header), Cause: stated}
}

// isRetryable reports whether the same request may succeed soon.
func isRetryable(err error) bool {
	var failed *model.Error
	var stated *serverError
	if !errors.As(err, &failed) || failed.Fault != model.Unavailable || failed.RetryAfter > retryWindow/2 {
		return false
	}
	return !errors.As(err, &stated) || !stated.isFinal
}

// retryWait returns the backoff, or the wait that the server asks for if it is longer.
func (s *server) retryWait(err error, retries int) time.Duration {
	wait := s.waits.backoff(retries)
	var failed *model.Error
	if errors.As(err, &failed) {
		wait = max(wait, failed.RetryAfter)
	}
	return wait
}

// retryAfter returns the wait that a response asks for, in milliseconds by a header of OpenAI, or by the standard
// header. It measures dates by the response's own clock, and returns 0 if no header is valid.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		if ms > 0 { // not NaN
			return time.Duration(min(ms*float64(time.Millisecond), float64(maxRetryAfter)))
		}
		return 0
	}
	now, _ := http.ParseTime(h.Get("Date")) // zero: dates are not valid
	wait, _ := retryafter.Parse(h.Get("Retry-After"), now)
	return min(wait, maxRetryAfter)
}
