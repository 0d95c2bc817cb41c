package async

import (
	"context"
	"time"
)

// exitMargin is the time before the function's time limit at which all detached work ends, so that the function never
// ends in the middle of a call.
const exitMargin = 100 * time.Millisecond

type timeLimitKey struct{}

// WithMargin returns a context that ends margin before the deadline of ctx, which must be the function's time limit.
// Detach uses a part of the margin.
func WithMargin(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	timeLimit, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(context.WithValue(ctx, timeLimitKey{}, timeLimit), timeLimit.Add(-margin))
}

// Detach returns a context for work that must be done even if ctx has ended, such as a settlement after the client has
// disconnected. It has the values of ctx, including the budget of retries of an operation, which may be used up. It
// ends after limit, and at the latest 100 ms before the function's time limit (see WithMargin). A process can also end
// at any time, so the work must be recoverable without Detach.
func Detach(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	timeLimit, ok := ctx.Value(timeLimitKey{}).(time.Time)
	if !ok {
		return detached, cancel
	}
	detached, cancelLimited := context.WithDeadline(detached, timeLimit.Add(-exitMargin))
	return detached, func() {
		cancelLimited()
		cancel()
	}
}
