package runtime_test

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
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

// While the processors are busy, no more than two instances for each of them start at once. All further calls wait for
// a second, and not one after the other.
func TestBusyProcessors(t *testing.T) {
	t.Parallel()
	var checks atomic.Int32
	most := 2 * goruntime.NumCPU()
	r := start(t, func(o *runtime.Options) {
		o.Patience, o.MaxWait, o.MaxConcurrency = time.Millisecond, 1900*time.Millisecond, most+3
		o.Busy = func() bool {
			checks.Add(1)
			return true
		}
	})
	g := newGate(t)
	var done sync.WaitGroup
	for range most + 3 {
		done.Go(func() {
			if got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url})}); got.FunctionError != nil {
				t.Error(got.FunctionError)
			}
		})
	}
	for range most {
		<-g.arrived
	}
	eventually(t, "the other calls wait", func() bool { return checks.Load() > 0 })
	if got := r.Starts(); got != most || !r.Waits("echo") {
		t.Errorf("%d instances started while the processors are busy, want %d and calls that wait", got, most)
	}
	for range 3 {
		<-g.arrived
	}
	g.open()
	done.Wait()
	if r.Waits("echo") {
		t.Error("a call waits after all have ended")
	}
}
