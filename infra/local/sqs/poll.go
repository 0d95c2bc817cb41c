package sqs

import (
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// waiter is a receive that waits for messages.
type waiter struct {
	queue    *queue
	woken    chan struct{} // has room for one
	patience time.Duration
}

// wait puts a receive at the end of the line. The mutex is held, as for all of queue's methods here.
func (q *queue) wait(s *Store, patience time.Duration) *waiter {
	w := &waiter{queue: q, woken: make(chan struct{}, 1), patience: patience}
	q.waiters = append(q.waiters, w)
	q.setAlarm(s)
	return w
}

// leave ends a wait. A waiter that was woken and takes nothing passes that on.
func (s *Store) leave(w *waiter) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	q := w.queue
	if at := slices.Index(q.waiters, w); at >= 0 {
		q.waiters = slices.Delete(q.waiters, at, at+1)
		return
	}
	q.offer(s)
}

// offer wakes as many waiters as may get something: a message each that is
// visible, and that there is room for in flight.
func (q *queue) offer(s *Store) { q.wake(max(0, min(q.visible, s.options.inFlightLimit-q.inFlight))) }

// wake lets the first n waiters look.
func (q *queue) wake(n int) {
	n = min(n, len(q.waiters))
	for _, w := range q.waiters[:n] {
		w.woken <- struct{}{}
	}
	q.waiters = slices.Delete(q.waiters, 0, n)
}

// notify follows every change that can make messages visible, now or later.
func (q *queue) notify(s *Store, now int64) {
	if len(q.waiters) == 0 {
		return
	}
	q.promote(now)
	q.offer(s)
	q.setAlarm(s)
}

// setAlarm sets the alarm to when the next hidden message becomes visible, as
// long as somebody waits.
func (q *queue) setAlarm(s *Store) {
	next, ok := q.hidden.first()
	if !ok || len(q.waiters) == 0 || q.alarm != nil && q.alarmAt <= next.visible {
		return
	}
	q.silence()
	q.alarmAt = next.visible
	after := max(time.Duration(next.visible-s.now())*time.Millisecond, time.Millisecond)
	var alarm *time.Timer
	alarm = time.AfterFunc(after, func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if q.alarm == alarm { // else it was replaced or silenced while it waited for the mutex
			q.alarm = nil
			q.notify(s, s.now())
		}
	})
	q.alarm = alarm
}

// silence ends the alarm.
func (q *queue) silence() {
	if q.alarm != nil {
		q.alarm.Stop()
		q.alarm = nil
	}
}

// mostExpired is how many messages one batch buries.
const mostExpired = 1000

// advance brings a queue to the present: messages become visible, and those that
// were kept for their time vanish. Nobody waits for the latter to be written.
func (s *Store) advance(q *queue) error {
	if err := s.settle(q); err != nil {
		return err
	}
	q.notify(s, s.now())
	return nil
}

// settle is advance without a word to those who wait: a receive looks for itself,
// and if it told others each time, two that may take nothing would wake each other
// without end.
func (s *Store) settle(q *queue) error {
	now := s.now()
	if err := s.bury(q, now); err != nil {
		return err
	}
	q.promote(now)
	return nil
}

// bury deletes messages that are older than the queue's retention.
func (s *Store) bury(q *queue, now int64) error {
	expired := func() *message {
		m, ok := q.aged.first()
		if !ok || m.sent+q.Settings.Retention*millisecondsOf > now {
			return nil
		}
		return m
	}
	for expired() != nil && s.folder.Room() == nil {
		batch := s.folder.DB.NewBatch()
		for range mostExpired {
			m := expired()
			if m == nil {
				break
			}
			if err := q.erase(batch, m); err != nil {
				_ = batch.Close() // never written
				return err
			}
			q.remove(m)
		}
		if err := s.folder.CommitLater(batch); err != nil {
			return err
		}
	}
	return nil
}

// erase adds a message's end to a batch.
func (q *queue) erase(batch *pebble.Batch, m *message) error {
	err := batch.Delete(bodyKey(m.number), nil)
	if err == nil {
		err = batch.Delete(entryKey(q.ID, m.number), nil)
	}
	if err != nil {
		return fmt.Errorf("deleting a message: %w", err)
	}
	return nil
}

// put adds where a message stands to a batch.
func (q *queue) put(batch *pebble.Batch, m *message) error {
	if err := batch.Set(entryKey(q.ID, m.number), m.encode(m.group.name), nil); err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return nil
}
