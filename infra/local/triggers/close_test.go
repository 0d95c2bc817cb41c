package triggers

import (
	"context"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/resources"
)

func TestCloseLetsBatchesFinish(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.BatchSize = 1 }))
		r.function.handle = func(context.Context, []string) (string, error) {
			time.Sleep(10 * time.Second)
			return "", nil
		}
		r.fake.put("a", "b")
		r.Start()
		after(time.Second)
		began := time.Now()
		r.close(t)
		equal(t, "time", time.Since(began), 9*time.Second)
		equal(t, "batches", r.function.seen(), []string{"100"})
		equal(t, "position", r.savedPosition(t), "100")
	})
}

func TestCloseInterruptsLongBatches(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.function.handle = func(ctx context.Context, _ []string) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		r.fake.put("a")
		r.Start()
		after(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Close(ctx); err == nil || !strings.Contains(err.Error(), "batches in flight were interrupted") {
			t.Errorf("close: %v", err)
		}
		equal(t, "position", r.savedPosition(t), "")
		equal(t, "discarded", r.discardedMessages(t), []string(nil))
	})
}

// Close does not wait for a batch that waits for its retry.
func TestCloseInBackoff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.function.handle = failOn("100")
		r.fake.put("a")
		r.Start()
		after(10 * time.Second)
		began := time.Now()
		r.close(t)
		equal(t, "time", time.Since(began), time.Duration(0))
	})
}
