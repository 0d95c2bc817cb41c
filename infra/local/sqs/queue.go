package sqs

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/datafolder"
)

// queue is a queue with its messages and the receives that wait for them.
type queue struct {
	queueRecord
	index

	waiters []*waiter   // longest waiting first
	alarm   *time.Timer // wakes waiters when a hidden message becomes visible; may be nil
	alarmAt int64
}

// queueRecord is the stored part of a queue. Times are in seconds.
type queueRecord struct {
	ID       uint32   `json:"id"`
	Name     string   `json:"name"`
	Created  int64    `json:"created"`
	Modified int64    `json:"modified"`
	Settings settings `json:"settings"`
}

func (r *queueRecord) store(batch *pebble.Batch) error {
	value, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding queue %s: %w", r.Name, err)
	}
	if err := batch.Set(queueKey(r.ID), value, nil); err != nil {
		return fmt.Errorf("writing queue %s: %w", r.Name, err)
	}
	return nil
}

func (s *Store) arn(name string) string {
	return "arn:aws:sqs:" + s.options.Region + ":" + s.options.Account + ":" + name
}

func (s *Store) url(ctx context.Context, name string) string {
	return awsjson.BaseURL(ctx) + "/" + s.options.Account + "/" + name
}

// findQueue returns the queue of a URL. It ignores the host, because clients reach the service under different hosts.
// The caller holds the mutex.
func (s *Store) findQueue(address string) (*queue, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, errNoQueue
	}
	account, name, ok := strings.Cut(strings.Trim(parsed.Path, "/"), "/")
	if q := s.queues[name]; ok && q != nil && account == s.options.Account {
		return q, nil
	}
	return nil, errNoQueue
}

// findARN returns the queue of an ARN, or nil. The caller holds the mutex.
func (s *Store) findARN(arn string) *queue {
	name := arn[strings.LastIndexByte(arn, ':')+1:]
	if q := s.queues[name]; q != nil && s.arn(name) == arn {
		return q
	}
	return nil
}

// write runs an operation that changes something. decide fills the batch under the mutex, and returns a function that
// updates the memory when the batch was written. write returns when the batch is durable.
func (s *Store) write(decide func(*pebble.Batch) (func(), error)) error {
	write, err := s.commit(decide)
	if err != nil {
		return err
	}
	return write.Wait()
}

// commit is write without the wait for the disk.
func (s *Store) commit(decide func(*pebble.Batch) (func(), error)) (datafolder.Write, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	batch := s.folder.DB.NewBatch()
	apply, err := decide(batch)
	if err != nil {
		_ = batch.Close() // never written
		return datafolder.Write{}, err
	}
	write, err := s.folder.Commit(batch)
	if err == nil && apply != nil {
		apply()
	}
	return write, err
}

type createQueueInput struct {
	QueueName  string            `json:"QueueName"`
	Attributes map[string]string `json:"Attributes"`
}

type queueURLOutput struct {
	QueueURL string `json:"QueueUrl"`
}

type noOutput struct{}

var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

func (s *Store) createQueue(ctx context.Context, in *createQueueInput) (*queueURLOutput, error) {
	if !queueName.MatchString(in.QueueName) {
		return nil, invalid("QueueName must have 1 to 80 letters, digits, hyphens and underscores. " +
			"FIFO queues are not supported.")
	}
	err := s.write(func(batch *pebble.Batch) (func(), error) {
		if q, exists := s.queues[in.QueueName]; exists {
			return nil, s.checkSame(q, in.Attributes)
		}
		now := s.now() / secondMillis
		record := queueRecord{ID: s.nextQueue, Name: in.QueueName, Created: now, Modified: now, Settings: defaultSettings()}
		if err := s.set(in.QueueName, &record.Settings, in.Attributes); err != nil {
			return nil, err
		}
		return func() {
			s.nextQueue++
			s.add(&queue{queueRecord: record, index: newIndex()})
		}, record.store(batch)
	})
	if err != nil {
		return nil, err
	}
	return &queueURLOutput{s.url(ctx, in.QueueName)}, nil
}

func (s *Store) add(q *queue) {
	s.queues[q.Name] = q
	s.byID[q.ID] = q
}

// checkSame returns an error if an existing queue has other values of the attributes.
func (s *Store) checkSame(q *queue, values map[string]string) error {
	wanted := &queue{queueRecord: q.queueRecord}
	if err := s.set(q.Name, &wanted.Settings, values); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if a := attributes[name]; a.get(s, wanted) != a.get(s, q) {
			return kindQueueNameExists.error("A queue with this name exists and has another value of the attribute %s", name)
		}
	}
	return nil
}

type getQueueURLInput struct {
	QueueName string `json:"QueueName"`
}

func (s *Store) getQueueURL(ctx context.Context, in *getQueueURLInput) (*queueURLOutput, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.queues[in.QueueName] == nil {
		return nil, errNoQueue
	}
	return &queueURLOutput{s.url(ctx, in.QueueName)}, nil
}

// settings are the attributes of a queue that its owner sets. Times are in seconds.
type settings struct {
	VisibilityTimeout  int64          `json:"visibilityTimeout"`
	MaximumMessageSize int64          `json:"maximumMessageSize"` // bytes
	Retention          int64          `json:"retention"`
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
	"ApproximateNumberOfMessagesDelayed":    count(func(q *queue) int64 { return int64(q.delayedCount()) }),
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
