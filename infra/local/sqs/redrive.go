package sqs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// deadLetterQueue returns the queue to which a message must be moved, because it was received too often. It returns nil
// if the message stays in its queue. The policy can name a queue that does not exist: an ARN has the region of the
// start at which the policy was set.
func (s *Store) deadLetterQueue(q *queue, m *message) *queue {
	policy := q.Settings.Redrive
	if policy == nil || int64(m.receives) < policy.MaxReceives {
		return nil
	}
	return s.findARN(policy.Target)
}

// moveToDead moves a message to the dead-letter queue, where it is visible. The message keeps its ID, its receive count
// and the time at which it was sent, from which the retention is computed.
func (s *Store) moveToDead(batch *pebble.Batch, q *queue, m *message, dead *queue, now int64) error {
	if err := batch.Delete(messageKey(q.ID, m.number), nil); err != nil {
		return fmt.Errorf("moving a message: %w", err)
	}
	group := m.group.name
	q.remove(m)
	m.source, m.visible = s.arn(q.Name), now
	dead.add(m, group, now)
	if err := dead.put(batch, m); err != nil {
		return err
	}
	dead.notify(s, now)
	return nil
}
