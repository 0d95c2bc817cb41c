package async_test

import (
	"context"
	"testing"
	"testing/synctest"

	"devplatform/shared/async"
)

// checkWaits calls wait, and then each of the steps. wait must not return before the last step.
func checkWaits(t *testing.T, wait func(), steps ...func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wait()
	}()
	for i, step := range steps {
		synctest.Wait()
		select {
		case <-ended:
			t.Fatalf("the invocation ended before step %d of %d", i+1, len(steps))
		default:
		}
		step()
	}
	<-ended
}

func TestInvocationEndsAfterItsWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, wait := async.WithInvocation(t.Context())
		first, second, third := make(chan struct{}), make(chan struct{}), make(chan struct{})
		async.EndAfter(ctx, first)
		async.EndAfter(context.WithoutCancel(ctx), second)
		async.EndAfter(ctx, second)
		checkWaits(t, wait, func() { close(second) }, func() {
			async.EndAfter(ctx, third) // work can begin more work
			close(first)
		}, func() { close(third) })
	})
}

// The invocation does not wait beyond its deadline, and the context of a request that was canceled is not its deadline.
func TestInvocationEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		deadline, expire := context.WithCancel(t.Context())
		ctx, wait := async.WithInvocation(deadline)
		request, cancel := context.WithCancel(ctx)
		cancel()
		async.EndAfter(request, make(chan struct{}))
		checkWaits(t, wait, expire)
	})
}

func TestEndAfterOutsideOfAnInvocation(t *testing.T) {
	t.Parallel()
	async.EndAfter(t.Context(), make(chan struct{}))
}
