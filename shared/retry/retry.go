// Package retry contains the common parts of all retry loops: attempts with random waits between them, and a budget
// that limits the retries of nested loops and of the AWS SDK. The callers decide which errors are worth another
// attempt. The loop of optimistic concurrency is db.Retry.
package retry

import (
	"context"
	"iter"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"devplatform/shared/clock"
)

// Attempts returns an iterator over the attempts of an operation. maxAttempts is their maximum number, at least 1. Each
// value is the number of attempts that failed before: 0 to maxAttempts-1. The body of the loop makes one attempt, and
// ends the loop after a success, or after an error that another attempt does not resolve. Before each further attempt,
// the loop takes a retry from the budget of the operation and waits. wait returns the time to wait after an attempt,
// such as Jitter. The loop ends early if no retry is left, or if ctx ends.
func Attempts(ctx context.Context, maxAttempts int, wait func(failures int) time.Duration) iter.Seq[int] {
	return func(yield func(int) bool) {
		for failures := 0; yield(failures); failures++ {
			if failures+1 == maxAttempts || !Take(ctx) || !Sleep(ctx, wait(failures)) {
				return
			}
		}
	}
}

// maxDoublings is the number of times that Jitter doubles the wait.
const maxDoublings = 3

// Jitter returns a random time to wait before another attempt. If failures is 0, the time is at least 10 ms and less
// than 40 ms. Each further failure doubles both limits, up to 80 ms and 320 ms. Without randomness, clients that failed
// together would fail together again.
func Jitter(failures int) time.Duration {
	minimum := 10 * time.Millisecond << min(failures, maxDoublings)
	return minimum + rand.N(3*minimum) //nolint:gosec // it needs no cryptographic randomness
}

// Sleep waits for d and returns true. If ctx has ended or ends before that, it returns false immediately.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil // if both have happened, select chooses at random
	case <-ctx.Done():
		return false
	}
}

// MaxTime is the time after which an operation begins no further retry.
const MaxTime = 10 * time.Second

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

// Take takes a retry from the budget of the operation. It reports false if none is left, and true if there is no
// budget.
func Take(ctx context.Context) bool {
	b, ok := ctx.Value(budgetKey{}).(*budget)
	return !ok || clock.System().Before(b.ends) && b.retries.Add(-1) >= 0
}
