package lambdafn_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-lambda-go/lambda"

	"devplatform/shared/async"
	"devplatform/shared/lambdafn"
)

// Every invocation ends after the work beside it, because Lambda then freezes the process.
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
			handler := tc.newHandler(func(ctx context.Context) { async.EndAfter(ctx, work) })
			go func() {
				_, err := handler.Invoke(t.Context(), tc.payload)
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
