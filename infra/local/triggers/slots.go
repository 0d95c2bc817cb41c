package triggers

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// How Lambda scales the mapping of a queue: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html. It
// begins with five concurrent batches. While messages wait, it adds up to 300 batches a minute. It takes fewer if the
// function throttles or fails.
const (
	firstSlots = 5
	slotEvery  = time.Minute / 300
	calm       = time.Second // between two reductions, and from a failure until the limit grows again
	// waitPause is the time until the next attempt to acquire a slot while a call waits for an instance.
	waitPause = 3 * time.Millisecond
)

// slots limits the batches of a queue that are in flight.
type slots struct {
	now   func() time.Time
	waits func() bool // whether a call of the function waits for an instance
	most  int
	free  chan struct{} // receives when there may be a free slot

	mu          sync.Mutex
	limit, busy int
	grow, cut   time.Time // earliest times of the next increase and reduction of the limit
}

// newSlots returns the slots of a mapping. maximum is its maximum number of concurrent batches; 0 means that it has no
// maximum. No slot is free while waits reports true.
func newSlots(maximum int, waits func() bool, now func() time.Time) *slots {
	most := cmp.Or(maximum, maxConcurrency)
	return &slots{now: now, waits: waits, most: most, limit: min(firstSlots, most), free: make(chan struct{}, 1)}
}

// acquire waits for a slot. It returns false if ctx ends before. The limit grows while callers wait.
func (s *slots) acquire(ctx context.Context) bool {
	for ctx.Err() == nil {
		wait, ok := s.try()
		if ok {
			return true
		}
		timer := time.NewTimer(wait)
		select {
		case <-s.free:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return false
}

// try acquires a slot if one is free, or returns the time until the next attempt.
func (s *slots) try() (wait time.Duration, ok bool) {
	if s.waits() {
		return waitPause, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.busy >= s.limit && s.limit < s.most && !now.Before(s.grow) {
		s.limit++
		s.grow = now.Add(slotEvery)
	}
	if s.busy >= s.limit {
		return max(s.grow.Sub(now), slotEvery), false
	}
	s.busy++
	if s.busy < s.limit {
		notify(s.free) // for another caller
	}
	return 0, true
}

func (s *slots) release() {
	s.mu.Lock()
	s.busy--
	s.mu.Unlock()
	notify(s.free)
}

// shrink halves the limit because the function throttled or failed. Batches that fail soon after a reduction began
// before it, so they only delay the growth.
func (s *slots) shrink() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.grow = now.Add(calm)
	if now.Before(s.cut) {
		return
	}
	s.cut = now.Add(calm)
	s.limit = max(s.limit/2, 1)
}
