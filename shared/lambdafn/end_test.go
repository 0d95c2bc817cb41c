package lambdafn_test

import (
	"context"
	"testing"

	"devplatform/shared/async"
	"devplatform/shared/lambdafn"
)

// The invocation for a batch ends after the work beside it, because Lambda then freezes the process.
func TestQueueEndsAfterTheWorkBesideIt(t *testing.T) {
	t.Parallel()
	work, handled, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	handler := lambdafn.Queue(discardLog, func(ctx context.Context, messages []lambdafn.QueueMessage) []error {
		defer close(handled)
		async.EndAfter(ctx, work)
		return make([]error, len(messages))
	})
	go func() {
		defer close(ended)
		if _, err := handler.Invoke(t.Context(), queueEvent(0)); err != nil {
			t.Error(err)
		}
	}()
	<-handled
	select {
	case <-ended:
		t.Error("the invocation ended before the work")
	default:
	}
	close(work)
	<-ended
}
