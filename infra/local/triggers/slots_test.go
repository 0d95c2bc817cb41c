package triggers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// take acquires slots until none is free, and returns their number.
func take(t *testing.T, s *slots) (n int) {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		ok := s.acquire(ctx)
		cancel()
		if !ok {
			return n
		}
		n++
	}
}

// noneWaits reports false: no call waits for an instance.
func noneWaits() bool { return false }

func TestSlots(t *testing.T) {
	t.Run("none while a call waits for an instance", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			waiting := true
			s := newSlots(0, func() bool { return waiting }, time.Now)
			equal(t, "slots", take(t, s), 0)
			waiting = false
			equal(t, "slots without a call", take(t, s), firstSlots+1)
		})
	})
	t.Run("a maximum", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := newSlots(7, noneWaits, time.Now)
			equal(t, "slots", take(t, s), firstSlots+1)
			after(slotEvery)
			equal(t, "one more", take(t, s), 1)
			after(time.Hour)
			equal(t, "more", take(t, s), 0)
			s.release()
			equal(t, "free again", take(t, s), 1)
		})
	})
	t.Run("none: 5, and 300 more a minute", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := newSlots(0, noneWaits, time.Now)
			equal(t, "slots", take(t, s), firstSlots+1)
			for range 60 * 5 {
				after(slotEvery)
				equal(t, "one more", take(t, s), 1)
			}
			for range maxConcurrency {
				after(slotEvery)
				take(t, s)
			}
			equal(t, "at most", s.busy, maxConcurrency)
		})
	})
	t.Run("fewer after failures, and as many as before when they are over", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := newSlots(8, noneWaits, time.Now)
			for range 8 { // of batches that began together
				s.shrink()
			}
			equal(t, "half", s.limit, firstSlots/2)
			for range 5 {
				after(calm)
				s.shrink()
			}
			equal(t, "at least", s.limit, 1)
			equal(t, "at once", take(t, s), 1)
			after(calm + 7*slotEvery)
			for range 7 {
				take(t, s)
				after(slotEvery)
			}
			equal(t, "as before", s.limit, 8)
		})
	})
	t.Run("waiting callers get free slots", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := newSlots(2, noneWaits, time.Now)
			take(t, s)
			got := make(chan bool, 5)
			ctx, cancel := context.WithCancel(t.Context())
			for range 5 {
				go func() { got <- s.acquire(ctx) }()
			}
			synctest.Wait()
			s.release()
			s.release()
			after(0)
			equal(t, "at once", len(got), 2)
			cancel()
			synctest.Wait()
			yes := 0
			for range 5 {
				if <-got {
					yes++
				}
			}
			equal(t, "in all", yes, 2)
		})
	})
}
