package sqs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// redrivePolicy configures the dead-letter queue of a queue.
type redrivePolicy struct {
	Target      string `json:"deadLetterTargetArn"`
	MaxReceives int64  `json:"maxReceiveCount"`
}

// redriveAllowPolicy configures which queues may use a queue as their dead-letter queue.
type redriveAllowPolicy struct {
	Permission string   `json:"redrivePermission"`
	Sources    []string `json:"sourceQueueArns,omitempty"`
}

// String returns the policy as JSON, "" for nil.
func (p *redrivePolicy) String() string { return policyText(p) }

// String returns the policy as JSON, "" for nil.
func (p *redriveAllowPolicy) String() string { return policyText(p) }

func policyText[P any](policy *P) string {
	if policy == nil {
		return ""
	}
	text, err := json.Marshal(policy)
	if err != nil {
		panic(fmt.Sprintf("sqs: encoding %T: %v", policy, err)) // the policies have only strings and numbers
	}
	return string(text)
}

const (
	maxReceives = 1000
	maxSources  = 10

	permitAll     = "allowAll"
	permitNone    = "denyAll"
	permitByQueue = "byQueue"
)

func setRedrivePolicy(s *Store, owner string, to *settings, value string) error {
	if isEmptyPolicy(value) {
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
	if given.Target != s.arn(owner) { // SQS accepts that a queue is its own dead-letter queue
		target := s.findARN(given.Target)
		if target == nil {
			return invalid("deadLetterTargetArn of RedrivePolicy must be the ARN of an existing queue.")
		}
		if allow := target.Settings.RedriveAllow; allow != nil && !allow.permits(s.arn(owner)) {
			return invalid("The RedriveAllowPolicy of %s does not allow the queue %s to use it.", target.Name, owner)
		}
	}
	to.Redrive = &redrivePolicy{Target: given.Target, MaxReceives: receives}
	return nil
}

func (p *redriveAllowPolicy) permits(source string) bool {
	return p.Permission == permitAll || p.Permission == permitByQueue && slices.Contains(p.Sources, source)
}

func setRedriveAllowPolicy(_ *Store, _ string, to *settings, value string) error {
	if isEmptyPolicy(value) {
		to.RedriveAllow = nil
		return nil
	}
	var policy redriveAllowPolicy
	if err := json.Unmarshal([]byte(value), &policy); err != nil {
		return invalid("RedriveAllowPolicy must be a JSON object.")
	}
	switch n := len(policy.Sources); policy.Permission {
	case permitAll, permitNone:
		if n > 0 {
			return invalid("RedriveAllowPolicy can have sourceQueueArns only if redrivePermission is byQueue.")
		}
	case permitByQueue:
		if n < 1 || n > maxSources {
			return invalid("RedriveAllowPolicy must have 1 to %d sourceQueueArns.", maxSources)
		}
	default:
		return invalid("redrivePermission of RedriveAllowPolicy must be allowAll, denyAll or byQueue.")
	}
	to.RedriveAllow = &policy
	return nil
}

// isEmptyPolicy reports whether a value removes a policy.
func isEmptyPolicy(value string) bool {
	text := jsontext.Value(value)
	return strings.TrimSpace(value) == "" || text.Compact() == nil && string(text) == "{}"
}

// deadLetterQueue returns the queue to move a message to because it was received too often. It returns nil if the
// message can be received again.
func (s *Store) deadLetterQueue(q *queue, m *message) *queue {
	policy := q.Settings.Redrive
	if policy == nil || int64(m.receives) < policy.MaxReceives {
		return nil
	}
	return s.findARN(policy.Target)
}

// moveToDeadLetterQueue moves a message to its dead-letter queue. It keeps its ID, its receive count and the time at
// which it was sent, from which the retention is computed there as well.
func (s *Store) moveToDeadLetterQueue(batch *pebble.Batch, q *queue, m *message, target *queue, now int64) error {
	return s.move(batch, q, m, target, now, func() { m.source = s.arn(q.Name) })
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
	if target != q {
		target.notify(s, now)
	}
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
			if from := s.findARN(m.source); m.hiddenAt == notInHeap && (from == nil || from == q) {
				return nil, invalid("A message of %s was not moved there from another queue that exists. "+
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
