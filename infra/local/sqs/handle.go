package sqs

import (
	"context"
	"encoding/binary"
	"encoding/hex"

	"github.com/cockroachdb/pebble/v2"

	"devplatform/infra/local/awsjson"
)

// handleInput identifies the message of a deletion or of a change of visibility.
type handleInput struct {
	ReceiptHandle string `json:"ReceiptHandle"`
	Visibility    *int64 `json:"VisibilityTimeout"` // seconds from now; nil in deletions
}

type handleRequest struct {
	handleInput

	QueueURL string `json:"QueueUrl"`
}

type handleBatchRequest struct {
	QueueURL string             `json:"QueueUrl"`
	Entries  []handleBatchEntry `json:"Entries"`
}

type handleBatchEntry struct {
	entry
	handleInput
}

// handleOperation changes messages in one write. Each message has an error, or nil.
type handleOperation func(address string, inputs []handleInput) ([]error, error)

// forOne returns the operation for one message.
func forOne(change handleOperation) awsjson.Operation {
	return awsjson.Handle(func(_ context.Context, in *handleRequest) (*noOutput, error) {
		errs, err := change(in.QueueURL, []handleInput{in.handleInput})
		if err != nil {
			return nil, err
		}
		return &noOutput{}, errs[0]
	})
}

// forEach returns the operation for a batch of messages.
func forEach(change handleOperation) awsjson.Operation {
	return awsjson.Handle(func(_ context.Context, in *handleBatchRequest) (*batchOutput[entry], error) {
		if err := checkBatch(in.Entries); err != nil {
			return nil, err
		}
		inputs := make([]handleInput, len(in.Entries))
		for i, e := range in.Entries {
			inputs[i] = e.handleInput
		}
		errs, err := change(in.QueueURL, inputs)
		if err != nil {
			return nil, err
		}
		return newBatchOutput(in.Entries, errs, func(_ int, id entry) entry { return id }), nil
	})
}

// delete deletes messages. It deletes nothing, and returns no error, if a message no longer exists, or if the handle is
// not the handle of its last receive.
func (s *Store) delete(address string, inputs []handleInput) ([]error, error) {
	errs := make([]error, len(inputs))
	return errs, s.write(func(batch *pebble.Batch) (func(), error) {
		q, err := s.findQueue(address)
		if err != nil {
			return nil, err
		}
		found := map[*message]bool{}
		for i, in := range inputs {
			m, err := q.messageOf(in.ReceiptHandle)
			errs[i] = err
			if m == nil || found[m] {
				continue
			}
			found[m] = true
			if err := q.erase(batch, m); err != nil {
				return nil, err
			}
		}
		return func() {
			for m := range found {
				q.remove(m)
			}
			q.notify(s, s.now()) // more messages may be in flight now
		}, nil
	})
}

// changeVisibility changes when messages in flight become visible.
func (s *Store) changeVisibility(address string, inputs []handleInput) ([]error, error) {
	errs := make([]error, len(inputs))
	return errs, s.write(func(batch *pebble.Batch) (func(), error) {
		q, err := s.findQueue(address)
		if err != nil {
			return nil, err
		}
		if err := s.advance(q); err != nil {
			return nil, err
		}
		now := s.now()
		for i, in := range inputs {
			m, err := q.findInFlight(in, now)
			errs[i] = err
			if err != nil {
				continue
			}
			q.detach(m)
			m.visible = now + *in.Visibility*secondMillis
			if *in.Visibility > 0 {
				q.hide(m)
			} else {
				q.show(m)
			}
			if err := q.put(batch, m); err != nil {
				return nil, err
			}
		}
		return func() { q.notify(s, now) }, nil
	})
}

// findInFlight returns the message whose visibility the request changes.
func (q *queue) findInFlight(in handleInput, now int64) (*message, error) {
	if in.Visibility == nil {
		return nil, missing("VisibilityTimeout")
	}
	if err := checkRange("VisibilityTimeout", in.Visibility, 0, maxVisibility); err != nil {
		return nil, err
	}
	m, err := q.messageOf(in.ReceiptHandle)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, invalid("ReceiptHandle must be the handle of the last receive of a message that exists.")
	case !m.isInFlight():
		return nil, kindNotInFlight.error("The message is not in flight.")
	case now+*in.Visibility*secondMillis > m.last+maxVisibility*secondMillis:
		return nil, invalid("VisibilityTimeout must end at most %d seconds after the message was received.", maxVisibility)
	}
	return m, nil
}

// receipt is the content of a receipt handle, which identifies one receive of one message. Handles are not stored: they
// remain valid after a restart, and can be parsed when the message was deleted or received again.
type receipt struct {
	queue      uint32
	message    uint64
	generation uint32
}

const receiptBytes = 4 + 8 + 4

func (r receipt) String() string {
	raw := binary.BigEndian.AppendUint32(make([]byte, 0, receiptBytes), r.queue)
	raw = binary.BigEndian.AppendUint64(raw, r.message)
	return hex.EncodeToString(binary.BigEndian.AppendUint32(raw, r.generation))
}

var errReceipt = kindReceiptHandle.error("ReceiptHandle is not valid for this queue.")

func (q *queue) parseReceipt(handle string) (receipt, error) {
	raw, err := hex.DecodeString(handle)
	if err != nil || len(raw) != receiptBytes {
		return receipt{}, errReceipt
	}
	r := receipt{
		queue:      binary.BigEndian.Uint32(raw),
		message:    binary.BigEndian.Uint64(raw[4:]),
		generation: binary.BigEndian.Uint32(raw[12:]),
	}
	if r.queue != q.ID || r.String() != handle { // the decoder accepts capital letters
		return receipt{}, errReceipt
	}
	return r, nil
}

// messageOf returns the message of a receipt handle. It returns nil if the message was deleted, or if the handle is not
// the handle of its last receive.
func (q *queue) messageOf(handle string) (*message, error) {
	if handle == "" {
		return nil, missing("ReceiptHandle")
	}
	r, err := q.parseReceipt(handle)
	if err != nil {
		return nil, err
	}
	m := q.messages[r.message]
	if m == nil || m.generation != r.generation {
		return nil, nil
	}
	return m, nil
}
