package delivery

import (
	"math/rand/v2"
	"time"
)

// The times of the parts around the decision code in the simulation.
const (
	storageTime  = 5 * time.Millisecond  // of a call to DynamoDB or SQS
	indexLag     = 50 * time.Millisecond // until the index shows a write
	functionTime = 30 * time.Second      // the time limit of a function
	visibility   = 180 * time.Second     // of a message that was received and not hidden for another time
	batchSize    = 10
)

// simulator runs steps in the order of their times, and in the order in which they were added if the times are equal.
type simulator struct {
	at      time.Duration // since midnight
	steps   simHeap[simStep]
	number  uint64
	random  *rand.Rand
	stopped bool
}

// simStep is a function that runs at a time.
type simStep struct {
	at     time.Duration
	number uint64
	do     func()
}

func newSimulator(seed uint64) *simulator {
	s := &simulator{random: rand.New(rand.NewPCG(seed, seed))}
	s.steps.before = func(a, b *simStep) bool { return a.at < b.at || a.at == b.at && a.number < b.number }
	return s
}

func (s *simulator) now() time.Time  { return midnight.Add(s.at) }
func (s *simulator) jitter() float64 { return 2*s.random.Float64() - 1 }

// after runs a step after a time.
func (s *simulator) after(d time.Duration, do func()) {
	s.number++
	s.steps.push(simStep{s.at + d, s.number, do})
}

// runUntil runs all steps until a time, or until stopped is set.
func (s *simulator) runUntil(end time.Duration) {
	for len(s.steps.items) > 0 && s.steps.items[0].at <= end && !s.stopped {
		step := s.steps.pop()
		s.at = step.at
		step.do()
	}
}

// simHeap is a binary heap.
type simHeap[T any] struct {
	items  []T
	before func(a, b *T) bool
}

func (h *simHeap[T]) push(item T) {
	h.items = append(h.items, item)
	for i := len(h.items) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.before(&h.items[i], &h.items[parent]) {
			return
		}
		h.items[i], h.items[parent] = h.items[parent], h.items[i]
		i = parent
	}
}

func (h *simHeap[T]) pop() T {
	first, last := h.items[0], len(h.items)-1
	h.items[0] = h.items[last]
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return first
		}
		if child+1 < last && h.before(&h.items[child+1], &h.items[child]) {
			child++
		}
		if !h.before(&h.items[child], &h.items[i]) {
			return first
		}
		h.items[i], h.items[child] = h.items[child], h.items[i]
		i = child
	}
}

// simFIFO is a first-in, first-out list.
type simFIFO[T any] struct {
	items []T
	head  int
}

func (f *simFIFO[T]) len() int    { return len(f.items) - f.head }
func (f *simFIFO[T]) first() T    { return f.items[f.head] }
func (f *simFIFO[T]) push(item T) { f.items = append(f.items, item) }

func (f *simFIFO[T]) pop() T {
	var none T
	item := f.items[f.head]
	f.items[f.head] = none
	if f.head++; f.head > 1024 && f.head > len(f.items)/2 {
		f.items = append(f.items[:0:0], f.items[f.head:]...)
		f.head = 0
	}
	return item
}

// simMessage is a message in a queue.
type simMessage struct {
	message
	group    *simGroup
	record   *simRecord // in the fast lane
	endpoint *simEndpoint
	births   []*simBirth  // of the events of a message that creates deliveries
	events   []occurrence // the same
	receives int
	number   uint64        // order in the queue
	shown    time.Duration // when it became visible
	hidden   bool          // it returns to the queue after this receive
}

// simGroup are the messages of an account in a queue.
type simGroup struct {
	inFlight int
	held     simFIFO[*simMessage] // visible messages that were passed over because the group was noisy
	isHeld   bool
}

// simQueue is an SQS queue with fair groups and the event source mapping of its function. A group is noisy while it has
// at least 30 messages and more than a tenth of the messages in flight: then it is served last. SQS also limits the
// share of the processing time of a group. The simulation does not, so it has less protection than SQS.
type simQueue struct {
	*simulator
	handle   func(batch []*simMessage, done func())
	workers  int
	busy     int
	visible  simFIFO[*simMessage]
	held     []*simGroup // with visible messages in simGroup.held
	waiting  int         // number of visible messages
	inFlight int
	number   uint64
	stats    simQueueStats
}

// simQueueStats describe a queue in a phase of the simulation.
type simQueueStats struct {
	received   int
	batches    int
	busyTime   time.Duration // of all workers
	maxWaiting int
	maxAge     time.Duration // that a visible message waited until it was received
}

// wholeSeconds rounds a delay up, as package queue does.
func wholeSeconds(d time.Duration) time.Duration {
	return max(d+time.Second-1, 0).Truncate(time.Second)
}

// send sends a message.
func (q *simQueue) send(m *simMessage, delay time.Duration) {
	if delay = wholeSeconds(delay); delay == 0 {
		q.show(m)
		return
	}
	q.after(delay, func() { q.show(m) })
}

// show makes a message visible.
func (q *simQueue) show(m *simMessage) {
	q.number++
	m.number, m.shown, m.hidden = q.number, q.at, false
	q.visible.push(m)
	q.waiting++
	q.stats.maxWaiting = max(q.stats.maxWaiting, q.waiting)
	q.dispatch()
}

// hide returns a received message to the queue after a wait. It stays in flight until then. The message that becomes
// visible is a copy, because the worker that returned the message still uses it.
func (q *simQueue) hide(m *simMessage, wait time.Duration) {
	if m.hidden {
		panic("simulation: a message was returned twice")
	}
	m.hidden = true
	again := *m
	q.after(wholeSeconds(wait), func() {
		q.inFlight--
		again.group.inFlight--
		q.show(&again)
	})
}

func (q *simQueue) isNoisy(g *simGroup) bool { return g.inFlight >= 30 && 10*g.inFlight > q.inFlight }

// take takes the next visible message: the oldest one of the groups that are not noisy, otherwise the oldest one.
func (q *simQueue) take() *simMessage {
	for q.visible.len() > 0 && q.isNoisy(q.visible.first().group) {
		m := q.visible.pop()
		m.group.held.push(m)
		if !m.group.isHeld {
			m.group.isHeld = true
			q.held = append(q.held, m.group)
		}
	}
	var best *simGroup
	for _, g := range q.held {
		if best == nil || q.isNoisy(best) != q.isNoisy(g) && q.isNoisy(best) ||
			q.isNoisy(best) == q.isNoisy(g) && g.held.first().number < best.held.first().number {
			best = g
		}
	}
	if q.visible.len() > 0 && (best == nil || q.isNoisy(best) ||
		q.visible.first().number < best.held.first().number) {
		return q.visible.pop()
	}
	m := best.held.pop()
	if best.held.len() == 0 {
		best.isHeld = false
		for i, g := range q.held {
			if g == best {
				q.held = append(q.held[:i], q.held[i+1:]...)
				break
			}
		}
	}
	return m
}

// dispatch invokes the function while there are visible messages and workers that are not busy.
func (q *simQueue) dispatch() {
	for q.busy < q.workers && q.waiting > 0 {
		batch := make([]*simMessage, 0, min(batchSize, q.waiting))
		for len(batch) < batchSize && q.waiting > 0 {
			m := q.take()
			q.waiting--
			q.inFlight++
			m.group.inFlight++
			m.receives++
			q.stats.maxAge = max(q.stats.maxAge, q.at-m.shown)
			batch = append(batch, m)
		}
		q.busy++
		q.stats.batches++
		q.stats.received += len(batch)
		begin := q.at
		q.after(storageTime, func() { q.handle(batch, func() { q.finish(batch, begin) }) })
	}
}

// finish deletes the messages of a batch, except those that return to the queue.
func (q *simQueue) finish(batch []*simMessage, begin time.Duration) {
	for _, m := range batch {
		if !m.hidden {
			q.inFlight--
			m.group.inFlight--
		}
	}
	q.busy--
	q.stats.busyTime += q.at - begin
	q.dispatch()
}
