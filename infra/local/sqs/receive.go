package sqs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"devplatform/infra/local/datafolder"
)

type receiveInput struct {
	QueueURL       string   `json:"QueueUrl"`
	AttributeNames []string `json:"AttributeNames"` // the older form of SystemNames
	SystemNames    []string `json:"MessageSystemAttributeNames"`
	MessageNames   []string `json:"MessageAttributeNames"` // ignored, because messages have no attributes
	MaxMessages    *int64   `json:"MaxNumberOfMessages"`
	Visibility     *int64   `json:"VisibilityTimeout"`
	Wait           *int64   `json:"WaitTimeSeconds"`
}

type receiveOutput struct {
	Messages []*receivedMessage `json:"Messages,omitempty"`
}

type receivedMessage struct {
	MessageID     string            `json:"MessageId"`
	ReceiptHandle string            `json:"ReceiptHandle"`
	MD5OfBody     string            `json:"MD5OfBody"`
	Body          string            `json:"Body"`
	System        map[string]string `json:"Attributes,omitempty"`
}

const maxReceived = 10

// systemAttributes are the attributes that SQS adds to a message. They are "" if the message does not have them.
var systemAttributes = map[string]func(s *Store, t *taken) string{
	"SenderId":                         func(s *Store, _ *taken) string { return s.options.Account },
	"SentTimestamp":                    func(_ *Store, t *taken) string { return fmt.Sprint(t.sent) },
	"ApproximateReceiveCount":          func(_ *Store, t *taken) string { return fmt.Sprint(t.receives) },
	"ApproximateFirstReceiveTimestamp": func(_ *Store, t *taken) string { return fmt.Sprint(t.first) },
	"MessageGroupId":                   func(_ *Store, t *taken) string { return t.group },
	"DeadLetterQueueSourceArn":         func(_ *Store, t *taken) string { return t.source },
}

func (in *receiveInput) check() error {
	in.SystemNames = slices.Concat(in.SystemNames, in.AttributeNames)
	for _, name := range in.SystemNames {
		if systemAttributes[name] == nil && name != attributeAll {
			return unknownAttribute(name)
		}
	}
	return errors.Join(
		checkRange("MaxNumberOfMessages", in.MaxMessages, 1, maxReceived),
		checkRange("VisibilityTimeout", in.Visibility, 0, maxVisibility),
		checkRange("WaitTimeSeconds", in.Wait, 0, maxWait),
	)
}

func (s *Store) receiveMessage(ctx context.Context, in *receiveInput) (*receiveOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	messages, err := s.receive(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &receiveOutput{}
	for _, t := range messages {
		received, err := s.read(in, t)
		if err != nil {
			return nil, err
		}
		if received != nil {
			out.Messages = append(out.Messages, received)
		}
	}
	return out, nil
}

// taken is a copy of a message as it was when it was received.
type taken struct {
	message

	group   string
	receipt receipt
}

// receive takes messages. If there are none, it waits for some.
func (s *Store) receive(ctx context.Context, in *receiveInput) ([]taken, error) {
	var timeout *time.Timer
	for mayWait := true; ; {
		messages, w, err := s.tryReceive(in, mayWait)
		if err != nil || w == nil {
			return messages, err
		}
		if timeout == nil {
			timeout = time.NewTimer(w.timeout)
			defer timeout.Stop()
		}
		select {
		case <-w.woken:
			continue
		case <-timeout.C:
		case <-s.draining:
		case <-ctx.Done():
			s.leave(w)
			return nil, fmt.Errorf("waiting for messages: %w", ctx.Err())
		}
		s.leave(w)
		mayWait = false
	}
}

// tryReceive takes messages. If there are none, and it may wait, it returns a waiter.
func (s *Store) tryReceive(in *receiveInput, mayWait bool) ([]taken, *waiter, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	q, err := s.findQueue(in.QueueURL)
	if err != nil {
		return nil, nil, err
	}
	if err := s.settle(q); err != nil {
		return nil, nil, err
	}
	wait := q.Settings.Wait
	if in.Wait != nil {
		wait = *in.Wait
	}
	batch := s.folder.DB.NewBatch()
	messages, err := s.take(batch, q, in)
	if err != nil {
		_ = batch.Close() // never written
		return nil, nil, err
	}
	var w *waiter
	if len(messages) == 0 && mayWait && wait > 0 && !s.isDraining() {
		w = q.wait(s, time.Duration(wait)*time.Second)
	}
	if batch.Empty() {
		return nil, w, batch.Close()
	}
	write, err := s.folder.Commit(batch)
	if err != nil {
		return nil, nil, err
	}
	s.mutex.Unlock()
	defer s.mutex.Lock()
	return messages, w, write.Wait()
}

// take takes the next visible messages and adds their receive to a batch. It moves messages that were received too
// often to the dead-letter queue instead.
func (s *Store) take(batch *pebble.Batch, q *queue, in *receiveInput) ([]taken, error) {
	limit, visibility, now := int64(1), q.Settings.VisibilityTimeout, s.now()
	if in.MaxMessages != nil {
		limit = *in.MaxMessages
	}
	if in.Visibility != nil {
		visibility = *in.Visibility
	}
	var messages []taken
	var stillVisible []*message // received with a visibility timeout of 0; this receive must not take them again
	for int64(len(messages)) < limit {
		m := q.next()
		if m == nil {
			break
		}
		if dead := s.deadLetterQueue(q, m); dead != nil {
			if err := s.moveToDead(batch, q, m, dead, now); err != nil {
				return nil, err
			}
			continue
		}
		q.detach(m)
		m.receives++
		m.generation++
		m.last, m.visible = now, now+visibility*secondMillis
		if m.first == 0 {
			m.first = now
		}
		if visibility > 0 {
			q.hide(m)
		} else {
			stillVisible = append(stillVisible, m)
		}
		if err := q.put(batch, m); err != nil {
			return nil, err
		}
		messages = append(messages, taken{*m, m.group.name, receipt{q.ID, m.number, m.generation}})
	}
	for _, m := range stillVisible {
		q.show(m)
	}
	if len(messages) > 0 {
		q.notify(s, now) // other receives may take the rest
	}
	return messages, nil
}

// read reads the content of a taken message. It returns nil if the message was deleted meanwhile.
func (s *Store) read(in *receiveInput, t taken) (*receivedMessage, error) {
	value, err := datafolder.Read(s.folder.DB, bodyKey(t.number))
	if err != nil || value == nil {
		return nil, err
	}
	received := &receivedMessage{
		MessageID: uuid.UUID(t.id).String(), ReceiptHandle: t.receipt.String(), Body: string(value),
		MD5OfBody: sumOf(value), System: map[string]string{},
	}
	all := slices.Contains(in.SystemNames, attributeAll)
	for name, get := range systemAttributes {
		if all || slices.Contains(in.SystemNames, name) {
			if value := get(s, &t); value != "" {
				received.System[name] = value
			}
		}
	}
	return received, nil
}
