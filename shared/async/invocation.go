package async

import (
	"context"
	"slices"
	"sync"
)

// invocation collects the work that must end before an invocation of a function ends.
type invocation struct {
	mu   sync.Mutex
	work []<-chan struct{} // each is closed when its work ends
}

type invocationKey struct{}

// WithInvocation returns a context for an invocation of a function, and a function that waits for the work that was
// passed to EndAfter. Call wait before the function responds, because Lambda may freeze the process after the response.
// wait returns at the latest when ctx ends.
func WithInvocation(ctx context.Context) (_ context.Context, wait func()) {
	i := &invocation{}
	return context.WithValue(ctx, invocationKey{}, i), func() {
		for n := 0; ; n++ {
			done, ok := i.at(n)
			if !ok {
				return
			}
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

// at returns the n-th channel that was passed to EndAfter. It reports false if there are n channels or fewer.
func (i *invocation) at(n int) (done <-chan struct{}, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n >= len(i.work) {
		return nil, false
	}
	return i.work[n], true
}
