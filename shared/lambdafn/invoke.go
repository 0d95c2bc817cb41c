package lambdafn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"

	"devplatform/shared/async"
)

// responseMargin is the part of a function's time limit that is reserved for the response. The handler's context ends
// when the margin begins, so that a handler that waits for storage can still respond with an error. Without a margin,
// Lambda would end the function without a response.
const responseMargin = 500 * time.Millisecond

// WithMargin returns a context that ends 500 ms before the function's own time limit. In the margin, work can continue
// that must be done even if the handler's context has ended (see async.Detach). end waits for the work beside the
// invocation (see async.EndAfter) and then cancels the context. It must be called before the function responds.
func WithMargin(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := async.WithMargin(ctx, responseMargin)
	ctx, wait := async.WithInvocation(ctx)
	return ctx, func() {
		wait()
		cancel()
	}
}

var (
	// errNotBatch reports that an event is not valid. It does not wrap the decoder's error, which may contain parts of a
	// record.
	errNotBatch = errors.New("lambdafn: not an event of a stream or a queue")
	// errNoRecords reports that an event has no Records. The event of a schedule has none.
	errNoRecords = errors.New("lambdafn: an event without Records")
)

// parseBatch returns the records of an event of a stream or a queue. Errors: errNotBatch; errNoRecords.
func parseBatch[Record any](payload []byte) ([]Record, error) {
	var event struct {
		Records []Record `json:"Records"`
	}
	switch err := json.Unmarshal(payload, &event); {
	case err != nil:
		return nil, errNotBatch
	case event.Records == nil:
		return nil, errNoRecords
	}
	return event.Records, nil
}

// handleAll calls handle once with all items. It returns one error for each item, which is nil if the item was handled.
// All items fail if ctx has already ended, if handle panics, or if handle returns the wrong number of errors.
func handleAll[T any](ctx context.Context, items []T, handle func(context.Context, []T) []error) []error {
	if len(items) == 0 {
		return nil
	}
	var errs []error
	err := async.Recover(func() error {
		if cause := ctx.Err(); cause != nil {
			return fmt.Errorf("not started: %w", cause)
		}
		if errs = handle(ctx, items); len(errs) != len(items) {
			return fmt.Errorf("the handler returned %d results for %d items", len(errs), len(items))
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

// Parallel runs f(0) to f(n-1), at most limit of them at the same time. It returns the error of each call, in the order
// of the arguments. If a call panics, the panic becomes the error of that call.
func Parallel(n, limit int, f func(i int) error) []error {
	errs := make([]error, n)
	if n == 1 { // the usual case, without a goroutine
		errs[0] = async.Recover(func() error { return f(0) })
		return errs
	}
	var group async.Group
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() error {
			errs[i] = async.Recover(func() error { return f(i) })
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	return errs
}

// requestID returns the invocation's ID as a log attribute, if there is an invocation.
func requestID(ctx context.Context) []slog.Attr {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		return []slog.Attr{slog.String("requestId", invocation.AwsRequestID)}
	}
	return nil
}
