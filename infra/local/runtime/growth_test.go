package runtime_test

import (
	"sync"
	"testing"
	"time"

	"devplatform/infra/local/runtime"
)

// Calls that are quicker than the patience do not start another instance.
func TestQuickRequestsShareAnInstance(t *testing.T) {
	t.Parallel()
	r := start(t, func(o *runtime.Options) {
		o.Patience = time.Hour
		o.MaxWait = time.Minute
	})
	g := newGate(t)
	var done sync.WaitGroup
	for range 5 {
		done.Go(func() {
			if got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url})}); got.FunctionError != nil {
				t.Error(got.FunctionError)
			}
		})
	}
	<-g.arrived
	eventually(t, "the others wait", func() bool { return r.Queued("echo") == 4 })
	g.open()
	done.Wait()
	instances := r.Snapshot()
	if len(instances) != 1 || r.Starts() != 1 {
		t.Errorf("instances %+v and %d starts, want one that served all five", instances, r.Starts())
	}
}

// Calls that block one another get an instance each.
func TestBlockedRequestsGetInstances(t *testing.T) {
	t.Parallel()
	r := start(t, func(o *runtime.Options) { o.Patience = time.Millisecond })
	g := newGate(t)
	var done sync.WaitGroup
	for range 5 {
		done.Go(func() {
			if got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url})}); got.FunctionError != nil {
				t.Error(got.FunctionError)
			}
		})
	}
	for range 5 {
		<-g.arrived
	}
	if got := len(r.Snapshot()); got != 5 {
		t.Errorf("%d instances for five requests that block", got)
	}
	g.open()
	done.Wait()
}
