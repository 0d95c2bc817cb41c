package runtime

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

const (
	testMaxWait  = 10 * time.Second
	testPatience = time.Hour
)

// requeued returns a pool and a call that waits in its queue again: the pool assigned the call to an idle instance,
// which ended before it took the call, after the given time. Another instance is busy, so that no instance starts for
// an hour.
func requeued(t *testing.T, waited time.Duration) (*pool, *call) {
	t.Helper()
	idleMachine := func() bool { return false }
	rt := &Runtime{opts: Options{
		Now: time.Now, MaxWait: testMaxWait, Patience: testPatience, MaxConcurrency: 2, Busy: idleMachine,
	}}
	p := &pool{rt: rt, all: map[*instance]struct{}{}, function: Function{Name: "echo"}}
	busy, free := newInstance(p), newInstance(p)
	busy.state, free.state = running, idle
	p.all[busy], p.all[free] = struct{}{}, struct{}{}
	p.idle = []*instance{free}
	c := newCall(rt, Invocation{Function: "echo"}, "arn")
	p.enqueue(c)
	time.Sleep(waited)
	p.removeEnded(free)
	if n := queueLength(p); n != 1 && waited < testMaxWait {
		t.Fatalf("%d calls are in the queue, want 1", n)
	}
	return p, c
}

// queueLength returns the number of calls in the queue of a pool.
func queueLength(p *pool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.Len()
}

func TestRequeuedCallIsWithdrawn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, c := requeued(t, 0)
		if !p.withdraw(c) || queueLength(p) != 0 {
			t.Errorf("the call is still in the queue of %d calls", queueLength(p))
		}
		if p.withdraw(c) {
			t.Error("the call was withdrawn twice")
		}
		c.refuse(context.Canceled)
		time.Sleep(2 * testMaxWait)
		if o := <-c.result; !errors.Is(o.err, context.Canceled) {
			t.Errorf("got error %v, want %v", o.err, context.Canceled)
		}
	})
}

func TestRequeuedCallIsThrottledAfterMaxWait(t *testing.T) {
	t.Parallel()
	for _, waited := range []time.Duration{0, testMaxWait / 2, 2 * testMaxWait} {
		synctest.Test(t, func(t *testing.T) {
			enqueued := time.Now()
			p, c := requeued(t, waited)
			select {
			case o := <-c.result:
				if n := queueLength(p); !errors.Is(o.err, ErrThrottled) || n != 0 {
					t.Errorf("got error %v and a queue of %d calls, want %v and 0", o.err, n, ErrThrottled)
				}
			case <-time.After(testPatience / 2):
				t.Fatal("the call was not throttled")
			}
			if got, want := time.Since(enqueued), max(waited, testMaxWait); got != want {
				t.Errorf("re-queued after %v: throttled after %v, want %v", waited, got, want)
			}
		})
	}
}
