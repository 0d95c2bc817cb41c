package sqs

import (
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

type receiveInput struct {
	QueueURL         string   `json:"QueueUrl"`
	AttributeNames   []string `json:"AttributeNames"`
	SystemNames      []string `json:"MessageSystemAttributeNames"`
	MessageNames     []string `json:"MessageAttributeNames"`
	MaxMessages      *int64   `json:"MaxNumberOfMessages"`
	Visibility       *int64   `json:"VisibilityTimeout"`
	Wait             *int64   `json:"WaitTimeSeconds"`
	ReceiveAttemptID *string  `json:"ReceiveRequestAttemptId"`
}

const (
	mostReceived    = 10
	defaultReceived = 1
)

func (in *receiveInput) check() error {
	if n := in.MaxMessages; n != nil && (*n < 1 || *n > mostReceived) {
		return invalidValue(*n, "MaxNumberOfMessages", "Must be between 1 and 10, if provided.")
	}
	if n := in.Wait; n != nil && (*n < 0 || *n > maxWait) {
		return invalidValue(*n, "WaitTimeSeconds", "Must be >= 0 and <= 20, if provided.")
	}
	if n := in.Visibility; n != nil && (*n < 0 || *n > maxVisibility) {
		return invalidValue(*n, "VisibilityTimeout", "Must be >= 0 and <= 43200, if provided.")
	}
	if in.ReceiveAttemptID != nil {
		return invalidValue(*in.ReceiveAttemptID, "ReceiveRequestAttemptId", notThisType)
	}
	return in.checkNames()
}

func (s *Store) receiveMessage(c call, in *receiveInput) (*receiveOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	got, err := s.receive(c, in)
	if err != nil {
		return nil, err
	}
	out := &receiveOutput{}
	for _, t := range got {
		shown, err := s.show(in, t)
		if err != nil {
			return nil, err
		}
		if shown != nil {
			out.Messages = append(out.Messages, shown)
		}
	}
	return out, nil
}

// taken is a message as a receive took it: others may change it since.
type taken struct {
	message
	group   string
	receipt receipt
}

// receive takes messages, and waits for some when there are none.
func (s *Store) receive(c call, in *receiveInput) ([]taken, error) {
	var patience *time.Timer
	for waits := true; ; {
		got, w, err := s.tryReceive(in, waits)
		if err != nil || w == nil {
			return got, err
		}
		if patience == nil {
			patience = time.NewTimer(w.patience)
			defer patience.Stop()
		}
		select {
		case <-w.woken:
			continue
		case <-patience.C:
		case <-s.draining:
		case <-c.ctx.Done():
			s.leave(w)
			return nil, c.ctx.Err() //nolint:wrapcheck // nobody reads it
		}
		s.leave(w)
		waits = false
	}
}

// tryReceive takes messages, or joins the line of those that wait for some.
func (s *Store) tryReceive(in *receiveInput, waits bool) ([]taken, *waiter, error) {
	if err := s.folder.Room(); err != nil { // it is written down who has a message
		return nil, nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	q, err := s.queueAt(in.QueueURL)
	if err != nil {
		return nil, nil, err
	}
	if err := s.settle(q); err != nil {
		return nil, nil, err
	}
	patience := q.Settings.Wait
	if in.Wait != nil {
		patience = *in.Wait
	}
	full := q.inFlight >= s.options.inFlightLimit
	batch := s.folder.DB.NewBatch()
	got, err := s.take(batch, q, in)
	if err != nil {
		_ = batch.Close() // never written
		return nil, nil, err
	}
	var w *waiter
	if len(got) == 0 && waits && patience > 0 && !s.isDraining() {
		w = q.wait(s, time.Duration(patience)*time.Second)
	}
	if full && patience == 0 {
		err = refuse(typeOverLimit, "Too many messages are in flight on the queue %s: at most %d can be.", q.Name, s.options.inFlightLimit)
	}
	if batch.Empty() {
		return nil, w, errors.Join(err, batch.Close())
	}
	return got, w, errors.Join(err, s.commitUnlocked(batch))
}

// commitUnlocked commits a batch and gives up the mutex until that is durable.
func (s *Store) commitUnlocked(batch *pebble.Batch) error {
	write, err := s.folder.Commit(batch)
	if err != nil {
		return err
	}
	s.mutex.Unlock()
	defer s.mutex.Lock()
	return write.Wait()
}

func (s *Store) isDraining() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}

// take takes the visible messages that are next, as many as are asked for, and
// adds to a batch that they are received. Those that were received too often go
// to the dead-letter queue instead.
func (s *Store) take(batch *pebble.Batch, q *queue, in *receiveInput) ([]taken, error) {
	most, visibility, now := int64(defaultReceived), q.Settings.VisibilityTimeout, s.now()
	if in.MaxMessages != nil {
		most = *in.MaxMessages
	}
	if in.Visibility != nil {
		visibility = *in.Visibility
	}
	var got []taken
	var again []*message // received without a timeout: visible as before, but not to this receive
	for giveUps := q.visible; int64(len(got)) < most && q.inFlight < s.options.inFlightLimit; {
		m := q.serve()
		if m == nil {
			break
		}
		if target := s.deadLetterQueue(q, m); target != nil {
			if giveUps--; giveUps < 0 {
				break // the queue is its own dead-letter queue: once around is enough
			}
			if err := s.giveUp(batch, q, m, target, now); err != nil {
				return nil, err
			}
			continue
		}
		q.detach(m)
		m.receives++
		m.generation++
		m.last, m.visible = now, now+visibility*millisecondsOf
		if m.first == 0 {
			m.first = now
		}
		if visibility > 0 {
			q.hide(m)
		} else {
			again = append(again, m)
		}
		if err := q.put(batch, m); err != nil {
			return nil, err
		}
		got = append(got, taken{*m, m.group.name, receipt{q.ID, m.number, m.generation}})
	}
	for _, m := range again {
		q.show(m)
	}
	if len(got) > 0 {
		q.notify(s, now) // there may be more, for others
	}
	return got, nil
}
