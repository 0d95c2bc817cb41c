// Package provider contains the parts that the providers of package model share: the order of an answer's parts, the
// retries of a request, and the classification and the text of a server's errors. The protocols of vendors and the use
// of answers do not belong here.
package provider

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/retry"
)

// MaxAttempts is the maximum number of attempts to send a request. For the user, a quick error is better than a slow
// one.
const MaxAttempts = 3

// Waits limit how long a provider waits for retries and for the end of a stream. Only the context limits the whole
// answer.
type Waits struct {
	// Backoff returns the wait after an attempt that failed. No attempt begins after Window.
	Backoff func(failures int) time.Duration
	Window  time.Duration
	// Usage is the longest wait, after the end of the message, for the usage. Close is the longest wait, after that, for
	// the end of the stream. The connection can be reused only after the end of the stream.
	Usage, Close time.Duration
}

// DefaultWaits returns the waits of a provider. All attempts to send a request begin within two seconds.
func DefaultWaits() Waits {
	return Waits{
		Backoff: func(failures int) time.Duration { return 10 * retry.Jitter(failures) },
		Window:  2 * time.Second, Usage: 3 * time.Second, Close: 100 * time.Millisecond,
	}
}

// Retry calls attempt until it succeeds, returns an error that another attempt does not resolve, or has begun to emit
// an answer. An attempt that failed is repeated if the provider is unavailable and did not request a wait of
// more than half of Window.
// Errors: the error of the last attempt; the error of ctx if it has ended.
func (w Waits) Retry(ctx context.Context, attempt func() (hasBegun bool, err error)) error {
	window, cancel := context.WithTimeout(ctx, w.Window)
	defer cancel()
	var err error
	var requested time.Duration
	wait := func(failures int) time.Duration { return max(requested, w.Backoff(failures)) }
	for range retry.Attempts(window, MaxAttempts, wait) {
		var hasBegun bool
		if hasBegun, err = attempt(); err == nil || hasBegun {
			return err
		}
		failure, ok := errors.AsType[*model.Error](err)
		if !ok || failure.Fault != model.Unavailable || failure.RetryAfter > w.Window/2 {
			break
		}
		requested = failure.RetryAfter
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
