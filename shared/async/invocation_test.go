package async_test

import (
	"context"
	"testing"

	"devplatform/shared/async"
)

func TestInvocationEndsAfterItsWork(t *testing.T) {
	t.Parallel()
	ctx, wait := async.WithInvocation(t.Context())
	first, second, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	async.EndAfter(ctx, first)
	async.EndAfter(context.WithoutCancel(ctx), second)
	async.EndAfter(ctx, second)
	go func() {
		defer close(ended)
		wait()
	}()
	for _, done := range []chan struct{}{second, first} {
		select {
		case <-ended:
			t.Fatal("the invocation ended before its work")
		default:
		}
		close(done)
	}
	<-ended
}

// The invocation does not wait beyond its deadline, and the context of a request that was canceled is not its deadline.
func TestInvocationEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	deadline, expire := context.WithCancel(t.Context())
	ctx, wait := async.WithInvocation(deadline)
	request, cancel := context.WithCancel(ctx)
	cancel()
	async.EndAfter(request, make(chan struct{}))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wait()
	}()
	select {
	case <-ended:
		t.Fatal("the invocation ended with the request's context")
	default:
	}
	expire()
	<-ended
}

func TestEndAfterOutsideOfAnInvocation(t *testing.T) {
	t.Parallel()
	async.EndAfter(t.Context(), make(chan struct{}))
}
