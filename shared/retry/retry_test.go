package retry_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"devplatform/shared/retry"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if !retry.Take(t.Context()) {
			t.Error("without a budget: no retry is left")
		}
		outer := retry.WithBudget(t.Context(), 2, time.Minute)
		inner := retry.WithBudget(outer, 100, time.Hour) // shares the budget of outer
		if !retry.Take(outer) || !retry.Take(inner) || retry.Take(inner) {
			t.Error("got another number of retries than two in both layers")
		}
		timed := retry.WithBudget(t.Context(), 2, time.Minute)
		time.Sleep(time.Minute)
		if retry.Take(timed) {
			t.Error("a retry is left after the time of the budget")
		}
	})
}

// TestAttempts checks the waits between attempts, and that attempts end with their maximum number, with the budget and
// with the context.
func TestAttempts(t *testing.T) {
	t.Parallel()
	wait := func(failures int) time.Duration { return time.Duration(failures+1) * time.Second }
	for name, tc := range map[string]struct {
		limit    func(context.Context) (context.Context, context.CancelFunc)
		attempts []int
		took     time.Duration
	}{
		"all": {context.WithCancel, []int{0, 1, 2, 3}, 6 * time.Second},
		"two in the budget": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return retry.WithBudget(ctx, 1, time.Minute), func() {}
		}, []int{0, 1}, time.Second},
		"end of the context": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2*time.Second)
		}, []int{0, 1}, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := tc.limit(t.Context())
			defer cancel()
			begin, attempts := time.Now(), []int{}
			for n := range retry.Attempts(ctx, 4, wait) {
				attempts = append(attempts, n)
			}
			if took := time.Since(begin); !slices.Equal(attempts, tc.attempts) || took != tc.took {
				t.Errorf("%s: got the attempts %v in %v, want %v in %v", name, attempts, took, tc.attempts, tc.took)
			}
		})
	}
	for n := range retry.Attempts(t.Context(), 4, wait) {
		if n > 0 {
			t.Fatal("the attempts continue after the body of the loop has ended it")
		}
		break
	}
}

func TestJitterGrowsAndIsRandom(t *testing.T) {
	t.Parallel()
	for failures := range 4 {
		minimum := 10 * time.Millisecond << failures
		waits := map[time.Duration]bool{}
		for range 20 {
			wait := retry.Jitter(failures)
			waits[wait] = true
			if wait < minimum || wait >= 4*minimum {
				t.Errorf("Jitter(%d) = %v, want at least %v and less than %v", failures, wait, minimum, 4*minimum)
			}
		}
		if len(waits) < 2 {
			t.Errorf("Jitter(%d) returned the same wait 20 times, want random waits", failures)
		}
	}
	if wait := retry.Jitter(100); wait < 80*time.Millisecond || wait >= 320*time.Millisecond {
		t.Errorf("Jitter(100) = %v, want at least 80 ms and less than 320 ms", wait)
	}
}

func TestSleepEndsWithContext(t *testing.T) {
	t.Parallel()
	if !retry.Sleep(t.Context(), time.Nanosecond) {
		t.Error("Sleep = false, want true because the context did not end")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if retry.Sleep(ctx, time.Hour) {
		t.Error("Sleep = true, want false because the context ended")
	}
}

// TestSleepAfterTheContext checks that no attempt begins after the end of the context, even if there is no wait.
func TestSleepAfterTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // select would choose at random
		if retry.Sleep(ctx, -time.Second) {
			t.Fatal("the sleep succeeded")
		}
	}
}
