package async

import (
	"context"
	"slices"
	"sync"
)

// invocation collects the work that must end before an invocation of a function ends.
type invocation struct {
	mu   sync.Mutex
	work []<-chan struct{}
}

type invocationKey struct{}

// WithInvocation returns a context for an invocation of a function, and a function that waits for the work that was
// passed to EndAfter. Call wait before the function responds, because Lambda may freeze the process after the response.
// wait returns at the latest when ctx ends.
func WithInvocation(ctx context.Context) (_ context.Context, wait func()) {
	i := &invocation{}
	return context.WithValue(ctx, invocationKey{}, i), func() {
		for done := range i.each() {
			select {
			case <-done:
			case <-ctx.Done():
				return
			}
		}
	}
}

// EndAfter delays the end of the invocation to which ctx belongs until done is closed. The caller must limit the time
// until done is closed. Outside of an invocation, EndAfter does nothing, because the process continues to run.
func EndAfter(ctx context.Context, done <-chan struct{}) {
	i, ok := ctx.Value(invocationKey{}).(*invocation)
	if !ok {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Contains(i.work, done) {
		i.work = append(i.work, done)
	}
}

// each iterates over the work, including work that is added during the iteration.
func (i *invocation) each() func(yield func(<-chan struct{}) bool) {
	return func(yield func(<-chan struct{}) bool) {
		for n := 0; ; n++ {
			i.mu.Lock()
			var done <-chan struct{}
			if n < len(i.work) {
				done = i.work[n]
			}
			i.mu.Unlock()
			if done == nil || !yield(done) {
				return
			}
		}
	}
}
