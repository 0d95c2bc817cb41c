package delivery

import (
	"container/heap"
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

// simHeap is a priority queue. Its embedded items implement heap.Interface.
type simHeap[T any] struct{ simItems[T] }

func (h *simHeap[T]) push(item T) { heap.Push(&h.simItems, item) }
func (h *simHeap[T]) pop() T      { return heap.Pop(&h.simItems).(T) }

type simItems[T any] struct {
	items  []T
	before func(a, b *T) bool
}

func (s *simItems[T]) Len() int           { return len(s.items) }
func (s *simItems[T]) Less(i, j int) bool { return s.before(&s.items[i], &s.items[j]) }
func (s *simItems[T]) Swap(i, j int)      { s.items[i], s.items[j] = s.items[j], s.items[i] }
func (s *simItems[T]) Push(item any)      { s.items = append(s.items, item.(T)) }

func (s *simItems[T]) Pop() any {
	var none T
	last := len(s.items) - 1
	item := s.items[last]
	s.items[last] = none
	s.items = s.items[:last]
	return item
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
	record   *simRecord // in the fast lane
	endpoint *simEndpoint
	births   []*simBirth  // of the events of a message that creates deliveries
	events   []occurrence // the same
	receives int
	shown    time.Duration // when it became visible
	hidden   bool          // it returns to the queue after this receive
}

// simQueue is an SQS queue and the event source mapping of its function. It has no fair groups, so it has less
// protection than SQS.
type simQueue struct {
	*simulator
	handle  func(batch []*simMessage, done func())
	workers int
	busy    int
	visible simFIFO[*simMessage]
	stats   simQueueStats
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
	m.shown, m.hidden = q.at, false
	q.visible.push(m)
	q.stats.maxWaiting = max(q.stats.maxWaiting, q.visible.len())
	q.dispatch()
}

// hide returns a received message to the queue after a wait. The message that becomes visible is a copy, because the
// worker that returned the message still uses it.
func (q *simQueue) hide(m *simMessage, wait time.Duration) {
	if m.hidden {
		panic("simulation: a message was returned twice")
	}
	m.hidden = true
	again := *m
	q.after(wholeSeconds(wait), func() { q.show(&again) })
}

// dispatch invokes the function while there are visible messages and workers that are not busy.
func (q *simQueue) dispatch() {
	for q.busy < q.workers && q.visible.len() > 0 {
		var batch []*simMessage
		for len(batch) < batchSize && q.visible.len() > 0 {
			m := q.visible.pop()
			m.receives++
			q.stats.maxAge = max(q.stats.maxAge, q.at-m.shown)
			batch = append(batch, m)
		}
		q.busy++
		q.stats.batches++
		q.stats.received += len(batch)
		begin := q.at
		q.after(storageTime, func() {
			q.handle(batch, func() { // the messages that were not hidden are deleted
				q.busy--
				q.stats.busyTime += q.at - begin
				q.dispatch()
			})
		})
	}
}
