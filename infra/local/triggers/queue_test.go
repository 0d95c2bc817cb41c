package triggers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
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
		equal(t, "left", r.fake.left(), []string(nil))
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

// Without a maximum, the concurrency grows as on Lambda.
func TestConcurrencyGrows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newQueueRig(t, withQueue(func(s *resources.EventSourceMapping) { s.BatchSize = 1 }))
		r.worker.handle = lasting(10 * time.Second)
		r.fake.put(numbers(0, 100)...)
		r.Start()
		after(time.Millisecond)
		if n := len(r.worker.seen()); n < 5 || n > 6 {
			t.Errorf("%d at the beginning", n)
		}
		after(2 * time.Second)
		if n := len(r.worker.seen()); n < 14 || n > 17 {
			t.Errorf("%d after 2 s", n)
		}
		after(time.Minute)
		equal(t, "left", len(r.fake.left()), 0)
		equal(t, "invocations", len(r.worker.seen()), 100)
	})
}

// A function that fails gets fewer concurrent batches, unless it returns the failed messages.
func TestFailuresSlowDown(t *testing.T) {
	for report, most := range map[bool]int{false: 2, true: 8} {
		t.Run(fmt.Sprint(report), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newQueueRig(t, withQueue(func(s *resources.EventSourceMapping) {
					s.MaximumConcurrency, s.BatchSize, s.ReportBatchItemFailures = 8, 1, report
				}))
				r.worker.handle = func(context.Context, []string) (string, error) {
					time.Sleep(1100 * time.Millisecond)
					return "", errFunction
				}
				r.fake.put(numbers(0, 30)...)
				r.Start()
				after(5 * time.Second)
				r.worker.mu.Lock()
				equal(t, "at once", r.worker.busy <= most, true)
				r.worker.mu.Unlock()
				if report {
					equal(t, "at once", len(r.worker.seen()) >= 30, true)
				}
			})
		})
	}
}

func TestBatchingWindowOfQueues(t *testing.T) {
	window := withQueue(func(s *resources.EventSourceMapping) { s.BatchSize, s.BatchingWindow = 15, 5*time.Second })
	t.Run("it ends", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t, window)
			r.Start()
			for i := range 3 {
				r.fake.put(fmt.Sprint(i))
				after(1100 * time.Millisecond)
			}
			after(time.Second)
			equal(t, "too early", r.worker.seen(), []string(nil))
			after(2 * time.Second)
			equal(t, "batches", r.worker.seen(), []string{"0 1 2"})
		})
	})
	t.Run("the batch is full", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t, window)
			r.Start()
			r.fake.put(numbers(0, 15)...)
			after(0)
			equal(t, "batches", r.worker.seen(), []string{strings.Join(numbers(0, 15), " ")})
		})
	})
	t.Run("the payload is full", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t, window)
			big := strings.Repeat("x", 1<<20-1000)
			for i := range 7 {
				r.fake.put(fmt.Sprint(i) + big)
			}
			r.Start()
			after(0)
			equal(t, "sizes", len(locked(&r.worker.mu, &r.worker.sizes)), 2)
			for _, size := range locked(&r.worker.mu, &r.worker.sizes) {
				if size > 6<<20 {
					t.Errorf("a payload of %d bytes", size)
				}
			}
			equal(t, "left", len(r.fake.left()), 0)
		})
	})
	t.Run("the visibility timeout is shorter", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t, window, func(r *queueRig) { r.fake.visibility = 3 * time.Second })
			r.Start()
			r.fake.put("a")
			after(2500 * time.Millisecond)
			equal(t, "batches", r.worker.seen(), []string{"a"})
		})
	})
}

func TestQueueFilters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newQueueRig(t, withQueue(func(s *resources.EventSourceMapping) { s.Filters = []string{`{"body": {"n": [1]}}`} }))
		r.Start()
		r.fake.put(`{"n":1}`, `{"n":2}`, "plain")
		after(0)
		equal(t, "batches", r.worker.seen(), []string{`{"n":1}`})
		equal(t, "left", r.fake.left(), []string(nil))
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

// There is a pause between requests to a service without long polls.
func TestQueueThatDoesNotWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newQueueRig(t)
		opened := r.mappings[0].(*queueMapping)
		opened.queues = hasty{r.fake}
		r.Start()
		after(10 * time.Second)
		if n := r.fake.count("ReceiveMessage"); n == 0 || n > 50 {
			t.Errorf("%d requests in 10 s", n)
		}
	})
}

type hasty struct{ *fakeQueue }

func (h hasty) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	in.WaitTimeSeconds = 0
	return h.fakeQueue.ReceiveMessage(ctx, in)
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
			equal(t, "left", r.fake.left(), []string{"2", "3", "4"})
			r.fake.mu.Lock()
			defer r.fake.mu.Unlock()
			for _, m := range r.fake.messages {
				if m.visible.After(time.Now()) {
					t.Errorf("%s is hidden", m.body)
				}
			}
		})
	})
	t.Run("gathered messages become visible again", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t, withQueue(func(s *resources.EventSourceMapping) { s.BatchSize, s.BatchingWindow = 100, 5*time.Second }))
			r.Start()
			r.fake.put(numbers(0, 12)...)
			after(time.Second)
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
			equal(t, "batches", r.worker.seen(), []string(nil))
			equal(t, "released", locked(&r.fake.mu, &r.fake.released), numbers(0, 12))
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
	t.Run("a batch is cut", func(t *testing.T) {
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
			equal(t, "left", r.fake.left(), []string{"a"})
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
		equal(t, "left", len(r.fake.left()), 0)
		after(time.Minute)
		equal(t, "pollers", m.pollers.Load(), int32(1))
		all := strings.Fields(strings.Join(r.worker.seen(), " "))
		slices.Sort(all)
		equal(t, "each once", len(slices.Compact(all)), 1000)
	})
}
