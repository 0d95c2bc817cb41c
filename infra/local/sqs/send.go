package sqs

import (
	"context"
	"crypto/md5" //nolint:gosec // SQS's checksum, not a secret
	"encoding/hex"
	"fmt"
	"regexp"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

// messageInput is a message in SendMessage and in an entry of SendMessageBatch.
type messageInput struct {
	Body         string  `json:"MessageBody"`
	DelaySeconds *int64  `json:"DelaySeconds"`
	Group        *string `json:"MessageGroupId"`
}

type sendOutput struct {
	MD5OfBody string `json:"MD5OfMessageBody"`
	MessageID string `json:"MessageId"`
}

// newMessage is a checked message that is not in a queue yet.
type newMessage struct {
	body   []byte
	id     uuid.UUID
	group  string
	delay  int64 // milliseconds
	output sendOutput
}

var groupName = regexp.MustCompile("^[A-Za-z0-9!-/:-@\\[-`{-~]{1,128}$")

// check checks everything that does not depend on the queue.
func (in *messageInput) check() (*newMessage, error) {
	if in.Body == "" {
		return nil, missing("MessageBody")
	}
	if !isText(in.Body) {
		return nil, kindMessageContents.error("MessageBody has characters that are not allowed.")
	}
	if err := checkRange("DelaySeconds", in.DelaySeconds, 0, maxDelay); err != nil {
		return nil, err
	}
	m := &newMessage{id: uuid.New(), body: []byte(in.Body)}
	if in.DelaySeconds != nil {
		m.delay = *in.DelaySeconds * secondMillis
	}
	if in.Group != nil {
		m.group = *in.Group
		if !groupName.MatchString(m.group) {
			return nil, invalid("MessageGroupId must have 1 to 128 letters, digits and punctuation characters.")
		}
	}
	m.output = sendOutput{MD5OfBody: sumOf(m.body), MessageID: m.id.String()}
	return m, nil
}

// isText reports whether XML 1.0 can represent a text.
func isText(text string) bool {
	for _, r := range text {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return false
		}
	}
	return true
}

func sumOf(body []byte) string {
	sum := md5.Sum(body) //nolint:gosec // SQS's checksum, not a secret
	return hex.EncodeToString(sum[:])
}

// send adds messages to a queue in one write. Each message has an error, or nil.
func (s *Store) send(address string, inputs []*messageInput) ([]*newMessage, []error, error) {
	messages, errs := make([]*newMessage, len(inputs)), make([]error, len(inputs))
	for i, in := range inputs {
		messages[i], errs[i] = in.check()
	}
	return messages, errs, s.write(func(batch *pebble.Batch) (func(), error) {
		q, err := s.findQueue(address)
		if err != nil {
			return nil, err
		}
		now := s.now()
		added := make([]*message, len(messages))
		for i, m := range messages {
			if errs[i] == nil && int64(len(m.body)) > q.Settings.MaximumMessageSize {
				errs[i] = invalid("The message must have at most %d bytes.", q.Settings.MaximumMessageSize)
			}
			if errs[i] != nil {
				continue
			}
			if added[i], err = s.storeNew(batch, q, m, now); err != nil {
				return nil, err
			}
		}
		return func() {
			for i, m := range added {
				if m != nil {
					q.add(m, messages[i].group, now)
				}
			}
			q.notify(s, now)
		}, nil
	})
}

func (s *Store) storeNew(batch *pebble.Batch, q *queue, in *newMessage, now int64) (*message, error) {
	s.lastMessage++
	m := &message{number: s.lastMessage, id: in.id, sent: now, visible: now + in.delay}
	err := batch.Set(bodyKey(m.number), in.body, nil)
	if err == nil {
		err = batch.Set(messageKey(q.ID, m.number), m.encode(in.group), nil)
	}
	if err != nil {
		return nil, fmt.Errorf("writing a message: %w", err)
	}
	return m, nil
}

type sendInput struct {
	messageInput

	QueueURL string `json:"QueueUrl"`
}

func (s *Store) sendMessage(_ context.Context, in *sendInput) (*sendOutput, error) {
	messages, errs, err := s.send(in.QueueURL, []*messageInput{&in.messageInput})
	if err != nil {
		return nil, err
	}
	if errs[0] != nil {
		return nil, errs[0]
	}
	return &messages[0].output, nil
}

type sendBatchInput struct {
	QueueURL string           `json:"QueueUrl"`
	Entries  []sendBatchEntry `json:"Entries"`
}

type sendBatchEntry struct {
	entry
	messageInput
}

type sendBatchResult struct {
	entry
	sendOutput
}

func (s *Store) sendMessageBatch(_ context.Context, in *sendBatchInput) (*batchOutput[sendBatchResult], error) {
	if err := checkBatch(in.Entries); err != nil {
		return nil, err
	}
	inputs, size := make([]*messageInput, len(in.Entries)), 0
	for i := range in.Entries {
		inputs[i] = &in.Entries[i].messageInput
		size += len(inputs[i].Body)
	}
	if size > maxMessageBytes {
		return nil, kindBatchTooLong.error("The messages of a batch must have at most %d bytes in total.", maxMessageBytes)
	}
	messages, errs, err := s.send(in.QueueURL, inputs)
	if err != nil {
		return nil, err
	}
	return newBatchOutput(in.Entries, errs, func(i int, id entry) sendBatchResult {
		return sendBatchResult{id, messages[i].output}
	}), nil
}
