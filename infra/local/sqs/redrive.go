package sqs

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// deadLetterQueue is where a message goes that was received as often as its
// queue allows; nil when it can be received once more, or the target has gone.
func (s *Store) deadLetterQueue(q *queue, m *message) *queue {
	policy := q.Settings.Redrive
	if policy == nil || int64(m.receives) < policy.MaxReceives {
		return nil
	}
	return s.queueOf(policy.Target)
}

// giveUp moves a message to a dead-letter queue. It stays the message that was
// sent: with its id, the time at which it was sent, by which it grows old there
// as well, and its receive count.
func (s *Store) giveUp(batch *pebble.Batch, q *queue, m *message, target *queue, now int64) error {
	return s.move(batch, q, m, target, now, func() { m.source = s.arn(q.Name) })
}

// move puts a message into another queue, where it is visible at once. change
// changes what it is there; its content stays where it is.
func (s *Store) move(batch *pebble.Batch, q *queue, m *message, target *queue, now int64, change func()) error {
	if err := batch.Delete(entryKey(q.ID, m.number), nil); err != nil {
		return fmt.Errorf("moving a message: %w", err)
	}
	group := m.group.name
	q.remove(m)
	change()
	m.visible = now
	target.add(m, group, now)
	if err := target.put(batch, m); err != nil {
		return err
	}
	if target != q { // else nothing has become visible that was not
		target.notify(s, now)
	}
	return nil
}
