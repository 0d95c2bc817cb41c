package sqs

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/cockroachdb/pebble/v2"
)

// settings are the attributes of a queue that its owner sets. Times are in seconds.
type settings struct {
	VisibilityTimeout  int64          `json:"visibilityTimeout"`
	MaximumMessageSize int64          `json:"maximumMessageSize"` // bytes
	Retention          int64          `json:"retention"`
	Delay              int64          `json:"delay"`
	Wait               int64          `json:"wait"` // of receives without WaitTimeSeconds
	Redrive            *redrivePolicy `json:"redrive,omitzero"`
}

// Limits and defaults of AWS.
const (
	maxMessageBytes   = 1 << 20
	minMessageBytes   = 1 << 10
	maxVisibility     = 43_200
	maxDelay          = 900
	maxWait           = 20
	minRetention      = 60
	maxRetention      = 1_209_600
	defaultVisibility = 30
	defaultRetention  = 345_600

	secondMillis = 1000
	attributeAll = "All"
)

func defaultSettings() settings {
	return settings{
		VisibilityTimeout: defaultVisibility, MaximumMessageSize: maxMessageBytes, Retention: defaultRetention,
	}
}

// attribute is an attribute of queues.
type attribute struct {
	// get returns the value, "" if the queue has none.
	get func(*Store, *queue) string
	// set is nil if only SQS sets the attribute. owner is the queue's name.
	set func(s *Store, owner string, to *settings, value string) error
}

var attributes = map[string]attribute{
	"VisibilityTimeout": number("VisibilityTimeout", 0, maxVisibility,
		func(to *settings) *int64 { return &to.VisibilityTimeout }),
	"MaximumMessageSize": number("MaximumMessageSize", minMessageBytes, maxMessageBytes,
		func(to *settings) *int64 { return &to.MaximumMessageSize }),
	"MessageRetentionPeriod": number("MessageRetentionPeriod", minRetention, maxRetention,
		func(to *settings) *int64 { return &to.Retention }),
	"DelaySeconds": number("DelaySeconds", 0, maxDelay,
		func(to *settings) *int64 { return &to.Delay }),
	"ReceiveMessageWaitTimeSeconds": number("ReceiveMessageWaitTimeSeconds", 0, maxWait,
		func(to *settings) *int64 { return &to.Wait }),
	"RedrivePolicy": {
		get: func(_ *Store, q *queue) string { return q.Settings.Redrive.String() }, set: setRedrivePolicy,
	},
	"QueueArn":                              {get: func(s *Store, q *queue) string { return s.arn(q.Name) }},
	"CreatedTimestamp":                      count(func(q *queue) int64 { return q.Created }),
	"LastModifiedTimestamp":                 count(func(q *queue) int64 { return q.Modified }),
	"ApproximateNumberOfMessages":           count(func(q *queue) int64 { return int64(q.visible) }),
	"ApproximateNumberOfMessagesNotVisible": count(func(q *queue) int64 { return int64(q.inFlight) }),
	"ApproximateNumberOfMessagesDelayed":    count(func(q *queue) int64 { return int64(q.delayed()) }),
}

// number returns an attribute that is an integer in a range.
func number(name string, lowest, highest int64, field func(*settings) *int64) attribute {
	return attribute{
		get: func(_ *Store, q *queue) string { return strconv.FormatInt(*field(&q.Settings), 10) },
		set: func(_ *Store, _ string, to *settings, value string) error {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < lowest || n > highest {
				return kindAttributeValue.error("%s must be from %d to %d.", name, lowest, highest)
			}
			*field(to) = n
			return nil
		},
	}
}

// count returns an attribute that is a number that SQS sets.
func count(value func(*queue) int64) attribute {
	return attribute{get: func(_ *Store, q *queue) string { return strconv.FormatInt(value(q), 10) }}
}

// set changes settings.
func (s *Store) set(owner string, to *settings, values map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		a := attributes[name]
		if a.set == nil {
			return unknownAttribute(name)
		}
		if err := a.set(s, owner, to, values[name]); err != nil {
			return err
		}
	}
	return nil
}

type getQueueAttributesInput struct {
	QueueURL       string   `json:"QueueUrl"`
	AttributeNames []string `json:"AttributeNames"`
}

type getQueueAttributesOutput struct {
	Attributes map[string]string `json:"Attributes,omitempty"`
}

func (s *Store) getQueueAttributes(_ context.Context, in *getQueueAttributesInput) (*getQueueAttributesOutput, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	q, err := s.findQueue(in.QueueURL)
	if err != nil {
		return nil, err
	}
	if err := s.advance(q); err != nil {
		return nil, err
	}
	names := in.AttributeNames
	if slices.Contains(names, attributeAll) {
		names = slices.Collect(maps.Keys(attributes))
	}
	out := &getQueueAttributesOutput{Attributes: map[string]string{}}
	for _, name := range names {
		a, ok := attributes[name]
		if !ok {
			return nil, unknownAttribute(name)
		}
		if value := a.get(s, q); value != "" {
			out.Attributes[name] = value
		}
	}
	return out, nil
}

type setQueueAttributesInput struct {
	QueueURL   string            `json:"QueueUrl"`
	Attributes map[string]string `json:"Attributes"`
}

func (s *Store) setQueueAttributes(_ context.Context, in *setQueueAttributesInput) (*noOutput, error) {
	return &noOutput{}, s.write(func(batch *pebble.Batch) (func(), error) {
		q, err := s.findQueue(in.QueueURL)
		if err != nil {
			return nil, err
		}
		record := q.queueRecord
		record.Modified = s.now() / secondMillis
		if err := s.set(q.Name, &record.Settings, in.Attributes); err != nil {
			return nil, err
		}
		return func() { q.queueRecord = record }, record.store(batch)
	})
}
