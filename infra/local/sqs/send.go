package sqs

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

type sendInput struct {
	QueueURL         string                    `json:"QueueUrl"`
	Body             string                    `json:"MessageBody"`
	DelaySeconds     *int64                    `json:"DelaySeconds"`
	Attributes       map[string]wireAttribute  `json:"MessageAttributes"`
	SystemAttributes map[string]*wireAttribute `json:"MessageSystemAttributes"`
	Deduplication    *string                   `json:"MessageDeduplicationId"`
	Group            *string                   `json:"MessageGroupId"`
}

type sendOutput struct {
	MD5OfBody             string `json:"MD5OfMessageBody"`
	MD5OfAttributes       string `json:"MD5OfMessageAttributes,omitzero"`
	MD5OfSystemAttributes string `json:"MD5OfMessageSystemAttributes,omitzero"`
	MessageID             string `json:"MessageId"`
}

// draft is a message that was found good and is not in a queue yet.
type draft struct {
	content []byte // encoded
	id      uuid.UUID
	group   string
	delay   *int64 // seconds; nil: the queue's
	size    int64
	sums    sendOutput
}

// draftOf checks all of a message that does not depend on its queue.
func draftOf(in *sendInput) (*draft, error) {
	if in.Body == "" {
		return nil, missing("MessageBody")
	}
	if err := checkText(in.Body); err != nil {
		return nil, err
	}
	d := &draft{id: uuid.New(), delay: in.DelaySeconds}
	if d.delay != nil && (*d.delay < 0 || *d.delay > maxDelay) {
		return nil, invalidValue(*d.delay, "DelaySeconds", "DelaySeconds must be >= 0 and <= 900.")
	}
	if in.Deduplication != nil {
		return nil, invalidValue(*in.Deduplication, "MessageDeduplicationId", notThisType)
	}
	if in.Group != nil {
		if !isGroup(*in.Group) {
			return nil, invalidValue(*in.Group, "MessageGroupId",
				"MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.")
		}
		d.group = *in.Group
	}
	values, err := checkAttributes(in.Attributes)
	if err != nil {
		return nil, err
	}
	trace, err := checkSystemAttributes(in.SystemAttributes)
	if err != nil {
		return nil, err
	}
	d.content = (&content{Body: in.Body, Trace: trace, Attributes: values}).encode()
	d.size = sizeOf(in)
	d.sums = sendOutput{MD5OfBody: sumOf(in.Body), MD5OfAttributes: sumOfAttributes(values), MessageID: d.id.String()}
	if trace != "" {
		d.sums.MD5OfSystemAttributes = sumOfAttributes([]attributeValue{{Name: attributeTrace, Type: typeString, Value: trace}})
	}
	return d, nil
}

// notThisType is AWS's reason, in its grammar, against what only FIFO queues take.
const notThisType = "The request include parameter that is not valid for this queue type."

// sizeOf is what counts towards the limits of a message: its body, and the names, types and values of its attributes.
func sizeOf(in *sendInput) int64 {
	size := len(in.Body)
	for name, a := range in.Attributes {
		size += len(name) + len(a.DataType) + len(a.Binary)
		if a.String != nil {
			size += len(*a.String)
		}
	}
	return int64(size)
}

func (s *Store) sendMessage(_ call, in *sendInput) (*sendOutput, error) {
	results, err := s.send(in.QueueURL, []*sendInput{in})
	if err != nil {
		return nil, err
	}
	if results[0].err != nil {
		return nil, results[0].err
	}
	return &results[0].draft.sums, nil
}

// sent is what became of one message.
type sent struct {
	draft *draft
	err   error
}

// send puts messages into a queue in one write. Those that the queue doesn't
// take have an error each, and don't hinder the others.
func (s *Store) send(address string, inputs []*sendInput) ([]sent, error) {
	results := make([]sent, len(inputs))
	for i, in := range inputs {
		results[i].draft, results[i].err = draftOf(in)
	}
	err := s.write(func(batch *pebble.Batch) (func(), error) {
		q, err := s.queueAt(address)
		if err != nil {
			return nil, err
		}
		now := s.now()
		added := make([]*message, 0, len(results))
		groups := make([]string, 0, len(results))
		for i := range results {
			r := &results[i]
			if r.err == nil && r.draft.size > q.Settings.MaximumMessageSize {
				r.err = invalid("One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", q.Settings.MaximumMessageSize)
			}
			if r.err != nil {
				continue
			}
			m, err := s.enter(batch, q, r.draft, now)
			if err != nil {
				return nil, err
			}
			added, groups = append(added, m), append(groups, r.draft.group)
		}
		return func() {
			for i, m := range added {
				q.add(m, groups[i], now)
			}
			q.notify(s, now)
		}, nil
	})
	return results, err
}

// enter adds a new message to a batch.
func (s *Store) enter(batch *pebble.Batch, q *queue, d *draft, now int64) (*message, error) {
	s.nextEntry++
	delay := q.Settings.Delay
	if d.delay != nil {
		delay = *d.delay
	}
	m := &message{number: s.nextEntry, id: d.id, sent: now, visible: now + delay*millisecondsOf}
	err := batch.Set(bodyKey(m.number), d.content, nil)
	if err == nil {
		err = batch.Set(entryKey(q.ID, m.number), m.encode(d.group), nil)
	}
	if err != nil {
		return nil, fmt.Errorf("writing a message: %w", err)
	}
	return m, nil
}

type sendBatchInput struct {
	QueueURL string           `json:"QueueUrl"`
	Entries  []sendBatchEntry `json:"Entries"`
}

type sendBatchEntry struct {
	ID               string                    `json:"Id"`
	Body             string                    `json:"MessageBody"`
	DelaySeconds     *int64                    `json:"DelaySeconds"`
	Attributes       map[string]wireAttribute  `json:"MessageAttributes"`
	SystemAttributes map[string]*wireAttribute `json:"MessageSystemAttributes"`
	Deduplication    *string                   `json:"MessageDeduplicationId"`
	Group            *string                   `json:"MessageGroupId"`
}

func (e sendBatchEntry) entryID() string { return e.ID }

type sendBatchResult struct {
	ID string `json:"Id"`
	sendOutput
}

func (s *Store) sendMessageBatch(_ call, in *sendBatchInput) (*batchOutput[sendBatchResult], error) {
	if err := s.checkBatchOf(in.QueueURL, func() error { return checkBatch("SendMessageBatchRequestEntry", in.Entries) }); err != nil {
		return nil, err
	}
	inputs, size := make([]*sendInput, len(in.Entries)), int64(0)
	for i, e := range in.Entries {
		inputs[i] = &sendInput{
			Body: e.Body, DelaySeconds: e.DelaySeconds, Attributes: e.Attributes, SystemAttributes: e.SystemAttributes,
			Deduplication: e.Deduplication, Group: e.Group,
		}
		size += sizeOf(inputs[i])
	}
	if size > maxMessageBytes {
		return nil, refuse(typeBatchTooLong, "Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxMessageBytes, size)
	}
	results, err := s.send(in.QueueURL, inputs)
	if err != nil {
		return nil, err
	}
	out := newBatchOutput[sendBatchResult](len(results))
	for i, r := range results {
		if r.err != nil {
			out.fail(in.Entries[i].ID, r.err)
			continue
		}
		out.Successful = append(out.Successful, sendBatchResult{in.Entries[i].ID, r.draft.sums})
	}
	return out, nil
}
