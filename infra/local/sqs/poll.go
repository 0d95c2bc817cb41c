package sqs

import (
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// waiter is a receive that waits for messages.
type waiter struct {
	queue   *queue
	woken   chan struct{} // buffered
	timeout time.Duration
}

// wait adds a waiter. The caller of this and all other methods of queue holds the mutex.
func (q *queue) wait(s *Store, timeout time.Duration) *waiter {
	w := &waiter{queue: q, woken: make(chan struct{}, 1), timeout: timeout}
	q.waiters = append(q.waiters, w)
	q.setAlarm(s)
	return w
}

// leave removes a waiter. If the waiter was woken, it wakes the next one instead.
func (s *Store) leave(w *waiter) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	q := w.queue
	if i := slices.Index(q.waiters, w); i >= 0 {
		q.waiters = slices.Delete(q.waiters, i, i+1)
		return
	}
	q.offer()
}

// offer wakes one waiter for each visible message.
func (q *queue) offer() {
	n := min(q.visible, len(q.waiters))
	for _, w := range q.waiters[:n] {
		w.woken <- struct{}{}
	}
	q.waiters = slices.Delete(q.waiters, 0, n)
}

// notify is called after every change that makes messages visible, now or later.
func (q *queue) notify(s *Store, now int64) {
	if len(q.waiters) == 0 {
		return
	}
	q.promote(now)
	q.offer()
	q.setAlarm(s)
}

// setAlarm sets the alarm to when the next hidden message becomes visible, if there are waiters.
func (q *queue) setAlarm(s *Store) {
	next, ok := q.hidden.first()
	if !ok || len(q.waiters) == 0 || q.alarm != nil && q.alarmAt <= next.visible {
		return
	}
	if q.alarm != nil {
		q.alarm.Stop()
	}
	q.alarmAt = next.visible
	after := max(time.Duration(next.visible-s.now())*time.Millisecond, time.Millisecond)
	var alarm *time.Timer
	alarm = time.AfterFunc(after, func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if q.alarm == alarm { // it was not replaced or stopped while it waited for the mutex
			q.alarm = nil
			q.notify(s, s.now())
		}
	})
	q.alarm = alarm
}

// maxExpired is the maximum number of expired messages that one write deletes.
const maxExpired = 1000

// advance makes messages visible whose time has come, deletes expired messages, and notifies waiters.
func (s *Store) advance(q *queue) error {
	if err := s.settle(q); err != nil {
		return err
	}
	q.notify(s, s.now())
	return nil
}

// settle is advance without notifying waiters. Receives call it: if they notified others, two of them that can take
// nothing would wake each other forever.
func (s *Store) settle(q *queue) error {
	now := s.now()
	if err := s.deleteExpired(q, now); err != nil {
		return err
	}
	q.promote(now)
	return nil
}

// deleteExpired deletes messages that are older than the queue's retention. It does not wait until this is durable.
func (s *Store) deleteExpired(q *queue, now int64) error {
	expired := func() *message {
		m, ok := q.aged.first()
		if !ok || m.sent+q.Settings.Retention*secondMillis > now {
			return nil
		}
		return m
	}
	for expired() != nil {
		batch := s.folder.DB.NewBatch()
		for range maxExpired {
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

func (q *queue) erase(batch *pebble.Batch, m *message) error {
	err := batch.Delete(bodyKey(m.number), nil)
	if err == nil {
		err = batch.Delete(messageKey(q.ID, m.number), nil)
	}
	if err != nil {
		return fmt.Errorf("deleting a message: %w", err)
	}
	return nil
}

func (q *queue) put(batch *pebble.Batch, m *message) error {
	if err := batch.Set(messageKey(q.ID, m.number), m.encode(m.group.name), nil); err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return nil
}
