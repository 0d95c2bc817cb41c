package sqs

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

type redrivePolicy struct {
	Target      string `json:"deadLetterTargetArn"`
	MaxReceives int64  `json:"maxReceiveCount"`
}

// String returns the policy as JSON, "" for nil.
func (p *redrivePolicy) String() string {
	if p == nil {
		return ""
	}
	text, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("sqs: encoding a redrive policy: %v", err)) // it has only a string and a number
	}
	return string(text)
}

const maxReceives = 1000

func setRedrivePolicy(s *Store, owner string, to *settings, value string) error {
	if text := jsontext.Value(value); strings.TrimSpace(value) == "" || text.Compact() == nil && string(text) == "{}" {
		to.Redrive = nil
		return nil
	}
	var given struct {
		Target      string         `json:"deadLetterTargetArn"`
		MaxReceives jsontext.Value `json:"maxReceiveCount"`
	}
	if err := json.Unmarshal([]byte(value), &given); err != nil {
		return invalid("RedrivePolicy must be a JSON object with deadLetterTargetArn and maxReceiveCount.")
	}
	receives, err := strconv.ParseInt(strings.Trim(string(given.MaxReceives), `"`), 10, 64) // SQS accepts a string
	if err != nil || receives < 1 || receives > maxReceives {
		return invalid("maxReceiveCount of RedrivePolicy must be from 1 to %d.", maxReceives)
	}
	if given.Target == s.arn(owner) || s.findARN(given.Target) == nil {
		return invalid("deadLetterTargetArn of RedrivePolicy must be the ARN of another existing queue.")
	}
	to.Redrive = &redrivePolicy{Target: given.Target, MaxReceives: receives}
	return nil
}

// move moves a message to another queue, where it is visible. change changes the message before it is added there.
func (s *Store) move(batch *pebble.Batch, q *queue, m *message, target *queue, now int64, change func()) error {
	if err := batch.Delete(messageKey(q.ID, m.number), nil); err != nil {
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
	target.notify(s, now)
	return nil
}

type startMoveInput struct {
	Source string `json:"SourceArn"`
}

type startMoveOutput struct {
	TaskHandle string `json:"TaskHandle"`
}

// startMoveTask moves the visible messages of a dead-letter queue back to the queues that they came from, where they
// are new messages. In contrast to SQS, all messages have moved when it returns, and if one of them cannot be moved,
// none is.
func (s *Store) startMoveTask(_ context.Context, in *startMoveInput) (*startMoveOutput, error) {
	return &startMoveOutput{uuid.NewString()}, s.write(func(batch *pebble.Batch) (func(), error) {
		q := s.findARN(in.Source)
		if q == nil {
			return nil, kindResourceNotFound.error("SourceArn must be the ARN of an existing queue.")
		}
		if err := s.advance(q); err != nil {
			return nil, err
		}
		for _, m := range q.messages {
			if from := s.findARN(m.source); m.hiddenAt == notInHeap && from == nil {
				return nil, invalid("A message of %s was not moved there from a queue that exists. "+
					"Delete it, or hide it with ReceiveMessage, and try again.", q.Name)
			}
		}
		now := s.now()
		for n := q.visible; n > 0; n-- {
			m := q.next()
			err := s.move(batch, q, m, s.findARN(m.source), now, func() {
				m.id, m.sent, m.first, m.last, m.receives, m.source = uuid.New(), now, 0, 0, 0, ""
				m.generation++ // handles from before the message was moved here are not valid
			})
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}
