package awsclient

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"devplatform/shared/clock"
)

// RetryTime is the time after which an operation begins no further retry.
const RetryTime = 10 * time.Second

// budget limits the retries of an operation, in all layers together.
type budget struct {
	retries atomic.Int64 // that are left
	ends    time.Time
}

type budgetKey struct{}

// WithBudget returns a context for one operation. All retries of calls and of loops within the operation share one
// budget, so that nested retries do not multiply: there are at most the given number of retries, and none begins after
// limit. If ctx already has a budget, WithBudget returns ctx.
func WithBudget(ctx context.Context, retries int, limit time.Duration) context.Context {
	if ctx.Value(budgetKey{}) != nil {
		return ctx
	}
	b := &budget{ends: clock.System().Add(limit)}
	b.retries.Store(int64(retries))
	return context.WithValue(ctx, budgetKey{}, b)
}

// TakeRetry takes a retry from the budget of the operation. It reports false if none is left, and true if there is no
// budget.
func TakeRetry(ctx context.Context) bool {
	b, ok := ctx.Value(budgetKey{}).(*budget)
	return !ok || clock.System().Before(b.ends) && b.retries.Add(-1) >= 0
}

// WaitToRetry takes a retry from the budget of the operation, and waits before it. It reports false if no retry is
// left, or if ctx ends.
func WaitToRetry(ctx context.Context, wait time.Duration) bool {
	return TakeRetry(ctx) && Sleep(ctx, wait)
}

var errNoRetries = errors.New("awsclient: the operation has used all of its retries")

// budgeted is a retryer whose retries come from the budget of the operation.
type budgeted struct{ aws.RetryerV2 }

// GetRetryToken implements aws.Retryer.
func (r budgeted) GetRetryToken(ctx context.Context, err error) (release func(error) error, tokenErr error) {
	if !TakeRetry(ctx) {
		return nil, errNoRetries
	}
	return r.RetryerV2.GetRetryToken(ctx, err) //nolint:wrapcheck // the SDK wraps it
}
