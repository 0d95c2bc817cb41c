package sqs

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
)

// queue is one queue: what is stored of it, its messages and who waits for them.
type queue struct {
	queueRecord
	index
	waiters []*waiter   // the one that waits longest first
	alarm   *time.Timer // wakes waiters when a hidden message becomes visible; nil when nothing is to come
	alarmAt int64
}

// queueRecord is what is stored of a queue. Times are in seconds but Purged.
type queueRecord struct {
	ID       uint32            `json:"id"`
	Name     string            `json:"name"`
	Created  int64             `json:"created"`
	Modified int64             `json:"modified"`
	Purged   int64             `json:"purged,omitzero"` // milliseconds
	Settings settings          `json:"settings"`
	Tags     map[string]string `json:"tags,omitempty"`
}

// store adds the queue's record to a batch.
func (r *queueRecord) store(batch *pebble.Batch) error {
	value, err := json.Marshal(r, json.Deterministic(true))
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

func (s *Store) url(c call, name string) string {
	return c.base + "/" + s.options.Account + "/" + name
}

// queueAt finds the queue of a URL, of which only the path counts: containers,
// tests and tunnels reach one service under many hosts. The mutex is held.
func (s *Store) queueAt(address string) (*queue, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, errNoQueue
	}
	account, name, ok := strings.Cut(strings.Trim(parsed.Path, "/"), "/")
	if !ok || account != s.options.Account {
		return nil, errNoQueue
	}
	q, ok := s.queues[name]
	if !ok {
		return nil, errNoQueue
	}
	return q, nil
}

// queueOf finds the queue of an ARN; nil when there is none. The mutex is held.
func (s *Store) queueOf(arn string) *queue {
	name := arn[strings.LastIndexByte(arn, ':')+1:]
	if q := s.queues[name]; q != nil && s.arn(name) == arn {
		return q
	}
	return nil
}

// update changes a queue's record and waits until that is durable. change works
// on a copy of the record, whose maps it must not write to; the queue has it
// when change and the write succeed.
func (s *Store) update(address string, change func(*queueRecord) error) error {
	return s.write(func(batch *pebble.Batch) (func(), error) {
		q, err := s.queueAt(address)
		if err != nil {
			return nil, err
		}
		record := q.queueRecord
		if err := change(&record); err != nil {
			return nil, err
		}
		return func() { q.queueRecord = record }, record.store(batch)
	})
}

// write runs an operation that changes something: decide looks and fills the
// batch under the mutex, and returns what makes the index agree once the batch
// is written; write returns when it is durable.
func (s *Store) write(decide func(*pebble.Batch) (func(), error)) error {
	if err := s.folder.Room(); err != nil {
		return err
	}
	s.mutex.Lock()
	batch := s.folder.DB.NewBatch()
	done, err := decide(batch)
	if err != nil {
		s.mutex.Unlock()
		_ = batch.Close() // never written
		return err
	}
	write, err := s.folder.Commit(batch)
	if err == nil && done != nil {
		done()
	}
	s.mutex.Unlock()
	if err != nil {
		return err
	}
	return write.Wait()
}

var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

func checkQueueName(name string) error {
	if name == "" {
		return invalid("Value for parameter QueueName is invalid. Reason: Must specify a queue name.")
	}
	if !queueName.MatchString(name) {
		return invalid("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	return nil
}
