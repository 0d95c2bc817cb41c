package runtime_test

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
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
	platformtest.Eventually(t, "the others wait", func() bool { return r.Queued("echo") == 4 })
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
	var stopped atomic.Pointer[time.Time] // the time at which the clock stands still; nil if it runs
	var ahead atomic.Int64                // by which the clock is ahead, in nanoseconds
	most := 2 * goruntime.NumCPU()
	r := start(t, func(o *runtime.Options) {
		o.Patience, o.MaxConcurrency = time.Millisecond, most+3
		o.Busy = func() bool {
			checks.Add(1)
			return true
		}
		o.Now = func() time.Time {
			if at := stopped.Load(); at != nil {
				return *at
			}
			return time.Now().Add(time.Duration(ahead.Load()))
		}
	})
	g := newGate(t)
	var done sync.WaitGroup
	call := func(n int) {
		for range n {
			done.Go(func() {
				in := runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url})}
				if got := invoke(t, r, in); got.FunctionError != nil {
					t.Error(got.FunctionError)
				}
			})
		}
	}
	call(most)
	for range most {
		<-g.arrived
	}
	now := time.Now()
	stopped.Store(&now)
	call(3)
	platformtest.Eventually(t, "the other calls wait", func() bool { return checks.Load() > 3 && r.Queued("echo") == 3 })
	if got := r.Starts(); got != most || !r.Waits("echo") {
		t.Errorf("%d instances started while the processors are busy, want %d and calls that wait", got, most)
	}
	ahead.Store(int64(time.Second))
	stopped.Store(nil)
	before := checks.Load()
	for range 3 {
		<-g.arrived
	}
	if after := checks.Load(); after > before+1 { // the first one can be simultaneous
		t.Errorf("the processors were checked %d times for calls that had waited for a second", after-before)
	}
	g.open()
	done.Wait()
	if r.Waits("echo") {
		t.Error("a call waits after all have ended")
	}
}
