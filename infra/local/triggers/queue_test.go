package triggers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"devplatform/infra/local/resources"
)

func withQueue(c func(*resources.EventSourceMapping)) func(*queueRig) {
	return func(r *queueRig) { c(&r.spec) }
}

func numbers(from, to int) (bodies []string) {
	for i := from; i < to; i++ {
		bodies = append(bodies, fmt.Sprint(i))
	}
	return bodies
}

// lasting returns a handler that takes this time.
func lasting(d time.Duration) func(context.Context, []string) (string, error) {
	return func(context.Context, []string) (string, error) {
		time.Sleep(d)
		return "", nil
	}
}

func TestMessagesReachTheFunctionAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newQueueRig(t)
		r.Start()
		after(7 * time.Second)
		r.fake.put("a")
		after(0)
		equal(t, "batches", r.worker.seen(), []string{"a"})
		after(time.Hour) // mostly spent in long polls
		r.fake.put("b", "c")
		after(0)
		equal(t, "batches", r.worker.seen(), []string{"a", "b c"})
		equal(t, "left", r.fake.remaining(), []string(nil))
		if n := r.fake.count("ReceiveMessage"); n > 200 {
			t.Errorf("%d requests in an hour of nothing", n)
		}
	})
}

// While all slots are busy, messages wait in the queue, where they form full batches.
func TestMessagesWaitInTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newQueueRig(t, withQueue(func(s *resources.EventSourceMapping) { s.MaximumConcurrency = 2 }))
		r.worker.handle = lasting(10 * time.Second)
		r.Start()
		r.fake.put("a")
		after(time.Second)
		r.fake.put("b")
		after(time.Second)
		r.fake.put(numbers(0, 5)...)
		after(time.Second)
		r.fake.put(numbers(5, 20)...)
		after(5 * time.Second)
		equal(t, "received", locked(&r.fake.mu, &r.fake.handles), 2)
		after(time.Minute)
		equal(t, "batches", r.worker.seen(), []string{"a", "b", "0 1 2 3 4 5 6 7 8 9", "10 11 12 13 14 15 16 17 18 19"})
		equal(t, "most at once", locked(&r.worker.mu, &r.worker.peak), 2)
	})
}

// A queue that can't be reached is searched until it can, and logged once.
func TestQueueOutage(t *testing.T) {
	missing := &types.QueueDoesNotExist{Message: aws.String("no such queue")}
	away := &smithy.GenericAPIError{Code: "ServiceUnavailable", Message: "away"}
	for name, fault := range map[string]func(op string) error{
		"the endpoint": func(string) error { return away },
		"receiving": func(op string) error {
			if op == "ReceiveMessage" {
				return away
			}
			return nil
		},
		"the queue": func(string) error { return missing },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newQueueRig(t)
				r.fake.change(func() { r.fake.fault = fault })
				r.Start()
				after(2 * time.Minute)
				r.fake.put("a")
				r.fake.change(func() { r.fake.fault = nil })
				after(30 * time.Second)
				equal(t, "batches", r.worker.seen(), []string{"a"})
				equal(t, "unavailable", r.logs.count("WARN the queue can't be read"), 1)
				equal(t, "available", r.logs.count("INFO the queue can be read again"), 1)
				// The same while the queue is read.
				r.fake.change(func() { r.fake.fault = fault })
				after(2 * time.Minute)
				r.fake.put("b")
				r.fake.change(func() { r.fake.fault = nil })
				after(30 * time.Second)
				equal(t, "batches", r.worker.seen(), []string{"a", "b"})
				equal(t, "unavailable", r.logs.count("WARN the queue can't be read"), 2)
			})
		})
	}
}

func TestCloseOfQueues(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t)
			r.Start()
			after(time.Second)
			began := time.Now()
			if err := r.Close(t.Context()); err != nil || time.Since(began) > lastResponse {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		})
	})
	t.Run("batches in flight finish, and the rest stays visible", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t, withQueue(func(s *resources.EventSourceMapping) { s.MaximumConcurrency, s.BatchSize = 2, 1 }))
			r.worker.handle = lasting(10 * time.Second)
			r.Start()
			r.fake.put(numbers(0, 5)...)
			after(time.Second)
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
			equal(t, "batches", slices.Sorted(slices.Values(r.worker.seen())), []string{"0", "1"})
			equal(t, "left", r.fake.remaining(), []string{"2", "3", "4"})
			r.fake.mu.Lock()
			defer r.fake.mu.Unlock()
			for _, m := range r.fake.messages {
				if m.visible.After(time.Now()) {
					t.Errorf("%s is hidden", m.body)
				}
			}
		})
	})
	t.Run("messages that are received during the stop are released", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t)
			r.Start()
			after(time.Second)
			r.stop()
			synctest.Wait()
			r.fake.put("a")
			after(time.Second)
			equal(t, "batches", r.worker.seen(), []string(nil))
			equal(t, "released", locked(&r.fake.mu, &r.fake.released), []string{"a"})
		})
	})
	t.Run("a batch is interrupted", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t)
			r.worker.handle = func(ctx context.Context, _ []string) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}
			r.Start()
			r.fake.put("a")
			after(time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			equal(t, "left", r.fake.remaining(), []string{"a"})
			equal(t, "released", locked(&r.fake.mu, &r.fake.released), []string(nil)) // the result is unknown
		})
	})
}

// Five pollers read a full queue, and one remains when it is empty.
func TestManyPollers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newQueueRig(t)
		m := r.mappings[0].(*queueMapping)
		r.fake.change(func() {
			r.fake.fault = func(op string) error {
				if op == "ReceiveMessage" {
					time.Sleep(10 * time.Millisecond)
				}
				return nil
			}
		})
		r.fake.put(numbers(0, 1000)...)
		r.Start()
		after(50 * time.Millisecond)
		equal(t, "pollers", m.pollers.Load(), int32(maxPollers))
		after(time.Second)
		equal(t, "left", len(r.fake.remaining()), 0)
		after(time.Minute)
		equal(t, "pollers", m.pollers.Load(), int32(1))
		all := strings.Fields(strings.Join(r.worker.seen(), " "))
		slices.Sort(all)
		equal(t, "each once", len(slices.Compact(all)), 1000)
	})
}

// Messages that are too large for one invocation are delivered in several.
func TestLargeMessages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newQueueRig(t)
		for i := range 7 {
			r.fake.put(fmt.Sprint(i) + strings.Repeat("x", 1<<20-1000))
		}
		r.Start()
		after(0)
		equal(t, "invocations", len(locked(&r.worker.mu, &r.worker.sizes)), 2)
		for _, size := range locked(&r.worker.mu, &r.worker.sizes) {
			if size > 6<<20 {
				t.Errorf("a payload of %d bytes", size)
			}
		}
		equal(t, "left", len(r.fake.remaining()), 0)
	})
}

// While a call of the function waits for an instance, no messages are received.
func TestMessagesWaitForInstances(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newQueueRig(t)
		var waits atomic.Bool
		r.options.Waits = func(function string) bool { return function == "Fn" && waits.Load() }
		waits.Store(true)
		r.fake.put("a")
		r.Start()
		after(time.Minute)
		equal(t, "received", locked(&r.fake.mu, &r.fake.handles), 0)
		waits.Store(false)
		after(time.Second)
		equal(t, "batches", r.worker.seen(), []string{"a"})
	})
}
