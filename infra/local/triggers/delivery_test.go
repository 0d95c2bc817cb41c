package triggers

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"pgregory.net/rapid"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

func TestFunctionErrorsLeaveMessages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newQueueRig(t)
		failures := 2
		r.worker.handle = func(context.Context, []string) (string, error) {
			if failures--; failures >= 0 {
				return "", errFunction
			}
			return "", nil
		}
		r.fake.put("a", "b")
		r.Start()
		after(29 * time.Second)
		equal(t, "batches", r.worker.seen(), []string{"a b"})
		after(32 * time.Second)
		equal(t, "batches", r.worker.seen(), []string{"a b", "a b", "a b"})
		equal(t, "receive counts", locked(&r.worker.mu, &r.worker.counts), []string{"1", "2", "3"})
		equal(t, "left", r.fake.remaining(), []string(nil))
		equal(t, "visibility was not touched", r.fake.count("ChangeMessageVisibilityBatch"), 0)
		equal(t, "log", r.logs.count("WARN the batch failed"), 2)
	})
}

func TestPartialResponsesOfQueues(t *testing.T) {
	for _, tc := range []struct {
		answer string
		left   []string
	}{
		{`{}`, nil},
		{`{"batchItemFailures": [{"itemIdentifier": "id-c"}, {"itemIdentifier": "id-a"}, {"itemIdentifier": "id-a"}]}`, []string{"a", "c"}},
		{`{"batchItemFailures": [{"itemIdentifier": "id-a"}, {"itemIdentifier": "id-z"}]}`, []string{"a", "b", "c"}},
	} {
		t.Run(tc.answer, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newQueueRig(t)
				r.worker.handle = func(context.Context, []string) (string, error) { return tc.answer, nil }
				r.fake.put("a", "b", "c")
				r.Start()
				after(time.Second)
				equal(t, "left", r.fake.remaining(), tc.left)
				equal(t, "visibility was not touched", r.fake.count("ChangeMessageVisibilityBatch"), 0)
			})
		})
	}
}

// A visibility timeout that the function sets for a failed message stays in effect.
func TestVisibilitySetByFunction(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newQueueRig(t)
		r.worker.handle = func(context.Context, []string) (string, error) {
			r.fake.change(func() { r.fake.messages[0].visible = time.Now().Add(5 * time.Second) })
			return `{"batchItemFailures": [{"itemIdentifier": "id-a"}]}`, nil
		}
		r.fake.put("a")
		r.Start()
		after(11 * time.Second)
		r.worker.mu.Lock()
		defer r.worker.mu.Unlock()
		equal(t, "invocations", len(r.worker.times), 3)
		equal(t, "wait", r.worker.times[1].Sub(r.worker.times[0]), 5*time.Second)
	})
}

func TestThrottles(t *testing.T) {
	throttledFor := func(d time.Duration) func(context.Context, []string) (string, error) {
		end := time.Now().Add(d)
		return func(context.Context, []string) (string, error) {
			if time.Now().Before(end) {
				return "", fmt.Errorf("Fn: %w", runtime.ErrThrottled)
			}
			return "", nil
		}
	}
	t.Run("the batch is tried again", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t)
			r.worker.handle = throttledFor(10 * time.Second)
			r.fake.put("a")
			r.Start()
			after(20 * time.Second)
			counts := locked(&r.worker.mu, &r.worker.counts)
			equal(t, "tried again", len(counts) > 3, true)
			equal(t, "receives", counts[len(counts)-1], "1")
			equal(t, "left", r.fake.remaining(), []string(nil))
			equal(t, "log", r.logs.count("WARN the function can't be invoked"), 1)
		})
	})
	t.Run("the messages become visible before the function can be invoked", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t)
			r.worker.handle = throttledFor(40 * time.Second)
			r.fake.put("a")
			r.Start()
			after(time.Minute)
			counts := locked(&r.worker.mu, &r.worker.counts)
			equal(t, "receives", counts[len(counts)-1], "2")
			equal(t, "left", r.fake.remaining(), []string(nil))
		})
	})
	t.Run("the platform stops before the function can be invoked", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t)
			r.worker.handle = throttledFor(time.Hour)
			r.fake.put("a")
			r.Start()
			after(time.Second)
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
			equal(t, "released", locked(&r.fake.mu, &r.fake.released), []string{"a"})
		})
	})
	t.Run("a payload that is too large", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t)
			r.worker.handle = func(context.Context, []string) (string, error) { return "", runtime.ErrPayloadTooLarge }
			r.fake.put("a")
			r.Start()
			after(10 * time.Second)
			equal(t, "invocations", len(r.worker.seen()), 1)
			equal(t, "left", r.fake.remaining(), []string{"a"})
			equal(t, "log", r.logs.count("ERROR a message is too large"), 1)
		})
	})
}

func TestDeletions(t *testing.T) {
	t.Run("the request fails twice", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t)
			r.fake.change(func() {
				r.fake.fault = func(op string) error {
					if op == "DeleteMessageBatch" && r.fake.count(op) <= 2 {
						return &smithy.GenericAPIError{Code: "InternalFailure", Message: "x"}
					}
					return nil
				}
			})
			r.fake.put("a", "b", "c")
			r.Start()
			after(29 * time.Second)
			equal(t, "batches", r.worker.seen(), []string{"a b c"})
			equal(t, "left", r.fake.remaining(), []string(nil))
		})
	})
	t.Run("an entry is refused", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t)
			r.fake.refuse = func(handle string, _ int) *types.BatchResultErrorEntry {
				if handle != "handle-2" {
					return nil
				}
				return &types.BatchResultErrorEntry{Code: aws.String("ReceiptHandleIsInvalid"), SenderFault: true}
			}
			r.fake.put("a", "b", "c")
			r.Start()
			after(29 * time.Second)
			equal(t, "left", r.fake.remaining(), []string{"b"})
			equal(t, "log", r.logs.count("WARN a message that is done can't be deleted"), 1)
		})
	})
	t.Run("the request always fails", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newQueueRig(t)
			r.fake.fault = func(op string) error {
				if op == "DeleteMessageBatch" {
					return &smithy.GenericAPIError{Code: "InternalFailure", Message: "x"}
				}
				return nil
			}
			r.fake.put("a")
			r.Start()
			after(31 * time.Second)
			equal(t, "batches", r.worker.seen(), []string{"a", "a"})
			equal(t, "log", r.logs.count("WARN messages that are done were not deleted"), 1)
		})
	})
}

// TestNoMessageIsLost stops and starts mappings at random moments, with functions that fail at random: every message is
// delivered, and none is delivered again after a success.
func TestNoMessageIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 10).Draw(rt, "batch size")
		most := rapid.IntRange(2, 5).Draw(rt, "maximum concurrency")
		messages := numbers(0, rapid.IntRange(1, 60).Draw(rt, "messages"))
		outcomes := rapid.SliceOfN(rapid.IntRange(0, 3), 16, 16).Draw(rt, "outcomes")
		stops := rapid.SliceOfN(rapid.IntRange(0, 4000), 0, 4).Draw(rt, "stops") // in milliseconds
		synctest.Test(t, func(t *testing.T) {
			r := newQueueRig(t, withQueue(func(s *resources.EventSourceMapping) {
				s.BatchSize, s.MaximumConcurrency = size, most
			}))
			var mu sync.Mutex
			calls, done := 0, map[string]int{}
			r.worker.handle = func(_ context.Context, batch []string) (string, error) {
				time.Sleep(200 * time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				calls++
				good, answer := batch, ""
				switch outcomes[calls%len(outcomes)] * min(max(200-calls, 0), 1) { // the last calls succeed
				case 1:
					return "", errFunction
				case 2:
					return "", runtime.ErrThrottled
				case 3:
					good = batch[1:]
					answer = fmt.Sprintf(`{"batchItemFailures":[{"itemIdentifier":"id-%s"}]}`, batch[0])
				}
				for _, body := range good {
					done[body]++
				}
				return answer, nil
			}
			r.fake.put(messages...)
			for _, ms := range stops {
				r.Start()
				after(time.Duration(ms) * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				if err := r.Close(ctx); err != nil {
					t.Error(err)
				}
				cancel()
				r.open(t)
			}
			r.Start()
			after(4 * time.Hour)
			equal(t, "left", r.fake.remaining(), []string(nil))
			for _, body := range messages {
				if done[body] != 1 {
					t.Errorf("message %s was done %d times", body, done[body])
				}
			}
		})
	})
}
