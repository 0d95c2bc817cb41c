package sqs

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/datafolder"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
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

// store adds the record to a batch.
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

// noOutput is the output of operations that return nothing.
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
