package api

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"golang.org/x/sync/errgroup"
)

// Attempt does something of which a panic is an error, for what runs in a goroutine of its own: a panic there would end the function.
func Attempt(do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return do()
}

// together hands items to their handler and answers with an error for each, nil for what is done. All fail if the time is over
// before they are begun with, if the handler panics, or if it does not say of each what became of it.
func together[T any](ctx context.Context, items []T, handle func(context.Context, []T) []error) []error {
	if len(items) == 0 {
		return nil
	}
	var errs []error
	err := Attempt(func() error {
		if cause := ctx.Err(); cause != nil {
			return fmt.Errorf("not begun: %w", cause)
		}
		if errs = handle(ctx, items); len(errs) != len(items) {
			return fmt.Errorf("the handler answered %d for %d", len(errs), len(items))
		}
		return nil
	})
	if err == nil {
		return errs
	}
	errs = make([]error, len(items))
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// Parallel does n things, numbered from 0, at most so many at once, and answers with their errors; a panic is one, of that thing
// alone. It is for handlers of batches: a panic in a goroutine of their own would end the function.
func Parallel(n, atOnce int, do func(i int) error) []error {
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			errs[i] = Attempt(func() error { return do(i) })
			return nil
		})
	}
	_ = group.Wait() // none fails
	return errs
}

// requestID is the invocation's id for the log, if there is one.
func requestID(ctx context.Context) []slog.Attr {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		return []slog.Attr{slog.String("requestId", invocation.AwsRequestID)}
	}
	return nil
}
