package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"strconv"
	"time"

	"devplatform/shared/assistant/model"
)

// A request is tried again while that is cheap for the one who waits: twice, and not once two seconds have gone.
const (
	maxRetries  = 2
	retryWindow = 2 * time.Second
	firstWait   = 200 * time.Millisecond
)

// maxRefusal is how much of an answer that is none is read, in refusalTimeout.
const (
	maxRefusal     = 64 << 10
	refusalTimeout = 3 * time.Second
)

// send makes the request, and returns once the server has begun a good answer. Errors: *model.Error, and what the context's end
// brings about.
func (s *server) send(ctx context.Context, b body, key string) (*http.Response, error) {
	window, stop := context.WithTimeout(ctx, retryWindow)
	defer stop()
	renamed := false
	for retries := 0; ; {
		completionTokens := s.completionTokens.Load()
		data, err := b.encode(completionTokens)
		if err != nil {
			return nil, err
		}
		response, err := s.try(ctx, data, key)
		var stated *reply
		if err == nil {
			return response, nil
		}
		if errors.As(err, &stated) && stated.wantsOtherLimit() && !renamed {
			// A model that goes by the other name behind a host that does not tell. The next call knows.
			renamed = true
			s.completionTokens.CompareAndSwap(completionTokens, !completionTokens)
			continue
		}
		if retries == maxRetries || !mayRetry(err) || !pause(window, s.retryWait(err, retries)) {
			return nil, err
		}
		retries++
	}
}

// try makes the request once.
func (s *server) try(ctx context.Context, data []byte, key string) (*http.Response, error) {
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
	late := time.AfterFunc(refusalTimeout, func() { _ = response.Body.Close() })
	defer late.Stop()
	said, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // the status says enough where the rest is lost
	stated := readReply(said)
	stated.status = response.StatusCode
	stated.mediaType, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type"))
	stated.location = response.Header.Get("Location")
	stated.final = response.Header.Get("X-Should-Retry") == "false" // OpenAI's own word
	return nil, &model.Error{Fault: stated.fault(), RetryAfter: retryAfter(response.Header), Cause: stated}
}

// mayRetry reports that the same request may fare better.
func mayRetry(err error) bool {
	var failed *model.Error
	var stated *reply
	if !errors.As(err, &failed) || failed.Fault != model.Unavailable || failed.RetryAfter > retryWindow/2 {
		return false
	}
	return !errors.As(err, &stated) || !stated.final
}

// retryWait is what the server asked for, else 200 to 400 ms, then twice that.
func (s *server) retryWait(err error, retries int) time.Duration {
	step := s.pace.retry << retries
	wait := step + rand.N(step) //nolint:gosec // spreads callers out, guards nothing
	var failed *model.Error
	if errors.As(err, &failed) {
		wait = max(wait, failed.RetryAfter)
	}
	return wait
}

// pause waits; false if the context ended first.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// longestWait keeps what a server may ask for within what anybody would wait.
const longestWait = 24 * time.Hour

// retryAfter is how long the server wants to be left alone: milliseconds (OpenAI's own header), seconds, or a date (RFC 9110
// §10.2.3), which is read against the server's own Date. 0: it does not say.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return atMost(ms, time.Millisecond)
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return atMost(seconds, time.Second)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(until.Sub(now), 0), longestWait)
}

func atMost(n float64, unit time.Duration) time.Duration {
	if !(n > 0) { // NaN, too
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(longestWait)))
}
