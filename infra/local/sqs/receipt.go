package sqs

import (
	"encoding/binary"
	"encoding/hex"
)

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

// parseReceipt parses a receipt handle of this queue.
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

// received returns the message of a handle. It returns nil if the message was deleted, or if the handle is not the
// handle of its last receive.
func (q *queue) received(handle string) (*message, error) {
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
