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
	"devplatform/shared/async"
	"devplatform/shared/retry"
	"devplatform/shared/retryafter"
)

// Limits of the retries of a request. No attempt begins after retryWindow, because the user is waiting.
const (
	maxRetries  = 2
	retryWindow = 2 * time.Second
)

// Limits for reading an error response.
const (
	maxErrorBody = 64 << 10
	errorTimeout = 3 * time.Second
)

// maxRetryAfter is the maximum of RetryAfter in the errors that send returns.
const maxRetryAfter = 24 * time.Hour

// send sends the request, with retries, and returns the response when the server has sent its headers. Its errors are
// *model.Errors.
func (s *server) send(ctx context.Context, b body, key string) (*http.Response, error) {
	window, cancel := context.WithTimeout(ctx, retryWindow)
	defer cancel()
	var err error
	for range retry.Attempts(window, 1+maxRetries, func(n int) time.Duration { return s.retryWait(err, n) }) {
		response, failure := s.attempt(ctx, b, key) //nolint:bodyclose // the caller closes it
		if failure == nil {
			return response, nil
		}
		if err = failure; !isRetryable(err) {
			break
		}
	}
	return nil, err
}

// attempt sends the request, and sends it again if the server requires the other name of the limit of tokens.
func (s *server) attempt(ctx context.Context, b body, key string) (*http.Response, error) {
	useCompletionTokens := s.useCompletionTokens.Load()
	response, err := s.post(ctx, b, useCompletionTokens, key)
	if reported, ok := errors.AsType[*serverError](err); ok && reported.requiresOtherLimitName() {
		s.useCompletionTokens.CompareAndSwap(useCompletionTokens, !useCompletionTokens) // also for later requests
		return s.post(ctx, b, !useCompletionTokens, key)
	}
	return response, err
}

// post sends the request once.
func (s *server) post(ctx context.Context, b body, useCompletionTokens bool, key string) (*http.Response, error) {
	data, err := b.encode(useCompletionTokens)
	if err != nil {
		return nil, err
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
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	timeout := async.AfterFunc(errorTimeout, func() { _ = response.Body.Close() })
	defer timeout.Stop()
	data, _ = io.ReadAll(io.LimitReader(response.Body, maxErrorBody)) // if this fails, the status is sufficient
	reported := parseError(data)
	reported.status = response.StatusCode
	reported.mediaType, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type"))
	reported.location = response.Header.Get("Location")
	reported.isFinal = response.Header.Get("X-Should-Retry") == "false" // a header of OpenAI
	return nil, &model.Error{Fault: reported.fault(), RetryAfter: retryAfter(response.Header), Cause: reported}
}

// isRetryable reports whether the same request may succeed soon.
func isRetryable(err error) bool {
	var failed *model.Error
	var reported *serverError
	if !errors.As(err, &failed) || failed.Fault != model.Unavailable || failed.RetryAfter > retryWindow/2 {
		return false
	}
	return !errors.As(err, &reported) || !reported.isFinal
}

// retryWait returns the backoff, or the wait that the server requested if that is longer.
func (s *server) retryWait(err error, retries int) time.Duration {
	wait := s.waits.backoff(retries)
	var failed *model.Error
	if errors.As(err, &failed) {
		wait = max(wait, failed.RetryAfter)
	}
	return wait
}

// retryAfter returns the wait that a response requests, in OpenAI's header (in milliseconds) or in the standard header.
// If the standard header contains a date, the wait is the time from the response's Date header to this date. retryAfter
// returns 0 if no header is valid.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		if ms > 0 { // not NaN
			return time.Duration(min(ms*float64(time.Millisecond), float64(maxRetryAfter)))
		}
		return 0
	}
	now, _ := http.ParseTime(h.Get("Date")) // if it is zero, dates in Retry-After are ignored
	wait, _ := retryafter.Parse(h.Get("Retry-After"), now)
	return min(wait, maxRetryAfter)
}
