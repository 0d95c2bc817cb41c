package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"devplatform/shared/retry"
)

// ErrStale reports that an item changed after it was read and before it was written. Nothing was written. Stores return
// it, and Retry makes another attempt.
var ErrStale = errors.New("db: the item changed after it was read")

const (
	// maxAttempts is the maximum number of attempts of one operation. It is enough for sixteen clients that write the
	// same item at the same time.
	maxAttempts = 20
	// warnAttempts is the number of conflicts of one operation after which a warning is logged: the item is
	// contended.
	warnAttempts = 8
)

// Retry implements optimistic concurrency. It calls attempt until it succeeds or returns an error other than ErrStale
// and ErrConflict. Each attempt reads the current item, decides what to write, and writes it with Tx.CommitOnce or
// DoOnce, which do not retry conflicts. All calls of an attempt must use its context: Retry, the calls, and every Retry
// within the attempt share one budget of retries and time. operation is the name of the operation in the log. Errors:
// the errors of attempt; ErrConflict after 20 attempts, if the budget is used up, or if ctx ended while Retry waited.
func Retry(ctx context.Context, operation string, attempt func(context.Context) error) error {
	return RetryUpTo(ctx, maxAttempts, operation, attempt)
}

// RetryUpTo is like Retry, with another maximum number of attempts. The calls within the attempts have the same budget
// of retries as in Retry.
func RetryUpTo(ctx context.Context, attempts int, operation string, attempt func(context.Context) error) error {
	ctx = retry.WithBudget(ctx, maxAttempts-1, retry.MaxTime)
	for n := 1; ; n++ {
		err := attempt(ctx)
		if !errors.Is(err, ErrStale) && !errors.Is(err, ErrConflict) {
			return err
		}
		if n == warnAttempts {
			slog.WarnContext(ctx, "an operation keeps conflicting with other writers",
				"operation", operation, "attempts", n, "cause", err.Error())
		}
		if n == attempts || !retry.Take(ctx) || !retry.Sleep(ctx, retry.Jitter(n-1)) {
			return fmt.Errorf("%w: %s: %d attempts: %w", ErrConflict, operation, n, err)
		}
	}
}
