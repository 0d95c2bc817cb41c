package lambdafn_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"devplatform/shared/async"
	"devplatform/shared/lambdafn"
)

// Every invocation ends after the work beside it, because Lambda then freezes the process. The context of its handler
// ends before the time limit of the function.
func TestInvocationsEndAfterTheWorkBesideThem(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		newHandler func(begin func(context.Context)) lambda.Handler
		payload    []byte
	}{
		"queue": {func(begin func(context.Context)) lambda.Handler {
			return lambdafn.Queue(discardLog, func(ctx context.Context, messages []lambdafn.QueueMessage) []error {
				begin(ctx)
				return make([]error, len(messages))
			})
		}, queueEvent(0)},
		"stream": {func(begin func(context.Context)) lambda.Handler {
			return lambdafn.Stream(discardLog, func(ctx context.Context, _ lambdafn.StreamRecord) error {
				begin(ctx)
				return nil
			}, nil)
		}, streamEvent()},
		"schedule": {func(begin func(context.Context)) lambda.Handler {
			return lambdafn.Schedule(discardLog, func(ctx context.Context) error {
				begin(ctx)
				return nil
			})
		}, []byte("{}")},
	} {
		synctest.Test(t, func(t *testing.T) {
			work, ended := make(chan struct{}), make(chan error, 1)
			end := time.Now().Add(time.Minute)
			ctx, cancel := context.WithDeadline(t.Context(), end)
			defer cancel()
			handler := tc.newHandler(func(ctx context.Context) {
				wantMargin(ctx, t, end)
				async.EndAfter(ctx, work)
			})
			go func() {
				_, err := handler.Invoke(ctx, tc.payload)
				ended <- err
			}()
			synctest.Wait()
			if len(ended) > 0 {
				t.Errorf("%s: the invocation ended before the work", name)
			}
			close(work)
			if err := <-ended; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// wantMargin checks that a handler's context ends long enough before the time limit to send a response.
func wantMargin(ctx context.Context, t *testing.T, end time.Time) {
	t.Helper()
	if own, ok := ctx.Deadline(); !ok || end.Sub(own) < 100*time.Millisecond {
		t.Errorf("the handler's context ends %v before the time limit, want at least 100 ms", end.Sub(own))
	}
}

// A batch that is received in the margin before the time limit fails, and its handler is not called.
func TestBatchesAreNotStartedTooLate(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	response, _ := invokeQueue(late, t, queueEvent(0), func(context.Context, []lambdafn.QueueMessage) []error {
		t.Error("the handler was called too close to the time limit")
		return []error{nil}
	})
	if want := failures("m0"); response != want {
		t.Errorf("queue: got the response %s, want %s", response, want)
	}
	response, handled, line := invokeStream(late, t, streamEvent(removal(200)), succeed)
	if want := failures("100"); response != want || len(handled) != 0 || line["failed"] != 2.0 || line["level"] != "WARN" {
		t.Errorf("stream: got the response %s, %d handled records and the log %v, want %s, none and a warning",
			response, len(handled), line, want)
	}
}
