package sqs

import (
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

// moveStep is how many messages one write moves, and how often a second a task
// with a rate makes a step, if the rate is that high.
const (
	moveStep       = 100
	stepsPerSecond = 10
)

// resumeMoves goes on with the tasks that ran when the store was last closed, or killed.
func (s *Store) resumeMoves() {
	for _, task := range s.moves {
		if task.Status == moveRunning {
			s.tasks.Go(func() { s.runMove(task) })
		}
	}
}

// runMove makes a task's steps until it is over, or the store drains.
func (s *Store) runMove(task *moveTask) {
	size, pause := int64(moveStep), time.Duration(0)
	if task.Rate > 0 {
		size = max(1, task.Rate/stepsPerSecond)
		pause = time.Duration(size) * time.Second / time.Duration(task.Rate)
	}
	for {
		running, err := s.stepMove(task, size)
		if err != nil {
			s.options.Logger.Error("sqs: moving messages", slog.String("task", task.ID), slog.Any("error", err))
			return
		}
		if !running || s.isDraining() {
			return
		}
		if pause > 0 && !s.sleep(pause) {
			return
		}
	}
}

// sleep waits, and says whether it was for the whole time: not when the store drains.
func (s *Store) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.draining:
		return false
	}
}

// stepMove moves some messages, and says whether there is more to do.
func (s *Store) stepMove(task *moveTask, size int64) (running bool, err error) {
	err = s.write(func(batch *pebble.Batch) (func(), error) {
		if task.Status != moveRunning {
			return nil, nil
		}
		source := s.queueOf(task.Source)
		if source == nil {
			task.Status, task.Reason = moveFailed, reasonNoQueue
			return nil, task.store(batch)
		}
		if err := s.advance(source); err != nil {
			return nil, err
		}
		for ; size > 0 && task.Status == moveRunning; size-- {
			if err := s.moveOne(batch, task, source); err != nil {
				return nil, err
			}
		}
		running = task.Status == moveRunning
		return nil, task.store(batch)
	})
	return running, err
}

// moveOne moves the next message of a task, or ends the task.
func (s *Store) moveOne(batch *pebble.Batch, task *moveTask, source *queue) error {
	m := source.serve()
	if m == nil || task.Moved >= task.ToMove {
		task.Status = moveCompleted
		return nil
	}
	destination := task.Destination
	if destination == "" {
		destination = m.source
	}
	if destination == "" {
		task.Status, task.Reason = moveFailed, reasonNoSource
		return nil
	}
	target := s.queueOf(destination)
	if target == nil {
		task.Status, task.Reason = moveFailed, reasonNoQueue
		return nil
	}
	if task.Moved++; task.Moved >= task.ToMove {
		task.Status = moveCompleted
	}
	return s.giveBack(batch, source, m, target)
}

// giveBack moves a message out of a dead-letter queue, as a new one: with a new
// id, sent now and never received.
func (s *Store) giveBack(batch *pebble.Batch, q *queue, m *message, target *queue) error {
	now := s.now()
	return s.move(batch, q, m, target, now, func() {
		m.id, m.sent, m.first, m.last, m.receives, m.source = uuid.New(), now, 0, 0, 0, ""
	})
}
