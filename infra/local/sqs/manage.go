package sqs

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

type createQueueInput struct {
	QueueName  string            `json:"QueueName"`
	Attributes map[string]string `json:"Attributes"`
	Tags       map[string]string `json:"tags"`
}

type queueURLOutput struct {
	QueueURL string `json:"QueueUrl"`
}

const fifoSuffix = ".fifo"

func (s *Store) createQueue(c call, in *createQueueInput) (*queueURLOutput, error) {
	if strings.HasSuffix(in.QueueName, fifoSuffix) && in.Attributes["FifoQueue"] == "true" {
		return nil, refuse(typeUnsupported, "FIFO queues are not supported by the embedded SQS")
	}
	if err := checkQueueName(in.QueueName); err != nil {
		return nil, err
	}
	if err := checkTags(in.QueueName, in.Tags); err != nil {
		return nil, err
	}
	err := s.write(func(batch *pebble.Batch) (func(), error) {
		if q, exists := s.queues[in.QueueName]; exists {
			return nil, s.checkSame(q, in.Attributes)
		}
		now := s.now() / millisecondsOf
		record := queueRecord{
			ID: s.nextQueue, Name: in.QueueName, Created: now, Modified: now, Settings: defaultSettings(), Tags: in.Tags,
		}
		if err := s.set(in.QueueName, &record.Settings, in.Attributes); err != nil {
			return nil, err
		}
		return func() {
			s.nextQueue++
			s.keep(&queue{queueRecord: record, index: newIndex()})
		}, record.store(batch)
	})
	if err != nil {
		return nil, err
	}
	return &queueURLOutput{s.url(c, in.QueueName)}, nil
}

// checkSame accepts that a queue is created again with what it has.
func (s *Store) checkSame(q *queue, values map[string]string) error {
	wanted := &queue{queueRecord: q.queueRecord, index: q.index}
	if err := s.set(q.Name, &wanted.Settings, values); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if a := attributes[name]; a.get(s, wanted) != a.get(s, q) {
			return refuse(typeQueueNameExists,
				"A queue already exists with the same name and a different value for attribute %s", name)
		}
	}
	return nil
}

type queueInput struct {
	QueueURL string `json:"QueueUrl"`
}

// deleteQueue ends a queue and all its messages. Its number in the catalog stays
// taken, so that receipt handles of it fit no queue of the same name.
func (s *Store) deleteQueue(_ call, in *queueInput) (*nothing, error) {
	return &nothing{}, s.write(func(batch *pebble.Batch) (func(), error) {
		q, err := s.queueAt(in.QueueURL)
		if err != nil {
			return nil, err
		}
		if err := batch.Delete(queueKey(q.ID), nil); err != nil {
			return nil, fmt.Errorf("deleting queue %s: %w", q.Name, err)
		}
		if err := s.storeNumbers(batch, s.nextEntry>>counterBits); err != nil {
			return nil, err
		}
		return func() {
			delete(s.queues, q.Name)
			delete(s.byID, q.ID)
			q.silence()
			q.wake(len(q.waiters))
		}, q.clear(batch)
	})
}

// clear adds the end of all messages to a batch.
func (q *queue) clear(batch *pebble.Batch) error {
	err := batch.DeleteRange(entryKey(q.ID, 0), queueEnd(q.ID), nil)
	for number := range q.messages {
		if err != nil {
			break
		}
		err = batch.Delete(bodyKey(number), nil)
	}
	if err != nil {
		return fmt.Errorf("clearing queue %s: %w", q.Name, err)
	}
	return nil
}

// purgeEvery is how far apart two purges of a queue are, in milliseconds.
const purgeEvery = 60 * millisecondsOf

func (s *Store) purgeQueue(_ call, in *queueInput) (*nothing, error) {
	return &nothing{}, s.write(func(batch *pebble.Batch) (func(), error) {
		q, err := s.queueAt(in.QueueURL)
		if err != nil {
			return nil, err
		}
		record, now := q.queueRecord, s.now()
		if record.Purged != 0 && now-record.Purged < purgeEvery {
			return nil, refuse(typePurgeInProgress, "Only one PurgeQueue operation on %s is allowed every 60 seconds.", q.Name)
		}
		record.Purged = now
		if err := record.store(batch); err != nil {
			return nil, err
		}
		return func() { q.queueRecord, q.index = record, newIndex() }, q.clear(batch)
	})
}

type getQueueURLInput struct {
	QueueName string `json:"QueueName"`
	Owner     string `json:"QueueOwnerAWSAccountId"`
}

func (s *Store) getQueueURL(c call, in *getQueueURLInput) (*queueURLOutput, error) {
	if err := checkQueueName(strings.TrimSuffix(in.QueueName, fifoSuffix)); err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.queues[in.QueueName] == nil || in.Owner != "" && in.Owner != s.options.Account {
		return nil, errNoQueue
	}
	return &queueURLOutput{s.url(c, in.QueueName)}, nil
}

type listQueuesInput struct {
	Prefix     string `json:"QueueNamePrefix"`
	NextToken  string `json:"NextToken"`
	MaxResults *int64 `json:"MaxResults"`
}

type listQueuesOutput struct {
	QueueURLs []string `json:"QueueUrls,omitempty"`
	NextToken string   `json:"NextToken,omitzero"`
}

func (s *Store) listQueues(c call, in *listQueuesInput) (*listQueuesOutput, error) {
	names, next, err := s.page(in.MaxResults, in.NextToken, func(q *queue) bool { return strings.HasPrefix(q.Name, in.Prefix) })
	if err != nil {
		return nil, err
	}
	out := &listQueuesOutput{NextToken: next}
	for _, name := range names {
		out.QueueURLs = append(out.QueueURLs, s.url(c, name))
	}
	return out, nil
}

type listSourcesInput struct {
	QueueURL   string `json:"QueueUrl"`
	NextToken  string `json:"NextToken"`
	MaxResults *int64 `json:"MaxResults"`
}

type listSourcesOutput struct {
	QueueURLs []string `json:"queueUrls"`
	NextToken string   `json:"NextToken,omitzero"`
}

func (s *Store) listDeadLetterSourceQueues(c call, in *listSourcesInput) (*listSourcesOutput, error) {
	s.mutex.Lock()
	target, err := s.queueAt(in.QueueURL)
	s.mutex.Unlock()
	if err != nil {
		return nil, err
	}
	arn := s.arn(target.Name)
	names, next, err := s.page(in.MaxResults, in.NextToken, func(q *queue) bool {
		return q.Settings.Redrive != nil && q.Settings.Redrive.Target == arn
	})
	if err != nil {
		return nil, err
	}
	out := &listSourcesOutput{NextToken: next, QueueURLs: []string{}}
	for _, name := range names {
		out.QueueURLs = append(out.QueueURLs, s.url(c, name))
	}
	return out, nil
}

// mostResults is how many queues one page of a list has at most.
const mostResults = 1000

// page lists the names of the queues that are wanted, in their order. A token is
// the last name of the page before.
func (s *Store) page(most *int64, token string, wanted func(*queue) bool) (names []string, next string, err error) {
	if most != nil && (*most < 1 || *most > mostResults) {
		return nil, "", invalidValue(*most, "MaxResults", "Must be between 1 and 1000, if provided.")
	}
	after, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return nil, "", invalid("Invalid or expired next token.")
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for name, q := range s.queues {
		if name > string(after) && wanted(q) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	size := mostResults
	if most != nil {
		size = int(*most)
	}
	if len(names) <= size {
		return names, "", nil
	}
	names = names[:size]
	if most == nil {
		return names, "", nil // AWS pages only for who asks for pages
	}
	return names, base64.StdEncoding.EncodeToString([]byte(names[size-1])), nil
}
