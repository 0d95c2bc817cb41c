package sqs

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc64"
)

// receipt is the content of a receipt handle, which identifies one receive of one message. Handles are not stored: they
// remain valid after a restart, and can be parsed when the message was deleted or received again.
type receipt struct {
	queue      uint32
	message    uint64
	generation uint32
}

const (
	receiptVersion = 1
	receiptBytes   = 1 + 4 + 8 + 4 + 8
)

var receiptSums = crc64.MakeTable(crc64.ECMA)

func (r receipt) String() string {
	dst := append(make([]byte, 0, receiptBytes), receiptVersion)
	dst = binary.BigEndian.AppendUint32(dst, r.queue)
	dst = binary.BigEndian.AppendUint64(dst, r.message)
	dst = binary.BigEndian.AppendUint32(dst, r.generation)
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(dst, crc64.Checksum(dst, receiptSums)))
}

// parseReceipt parses a receipt handle of this queue.
func (q *queue) parseReceipt(handle string) (receipt, error) {
	const sumAt = receiptBytes - 8
	raw, err := base64.StdEncoding.DecodeString(handle)
	if err != nil || len(raw) != receiptBytes || raw[0] != receiptVersion ||
		binary.BigEndian.Uint64(raw[sumAt:]) != crc64.Checksum(raw[:sumAt], receiptSums) {
		return receipt{}, errReceipt
	}
	r := receipt{
		queue:      binary.BigEndian.Uint32(raw[1:]),
		message:    binary.BigEndian.Uint64(raw[5:]),
		generation: binary.BigEndian.Uint32(raw[13:]),
	}
	if r.queue != q.ID || r.String() != handle { // the decoder ignores line breaks
		return receipt{}, errReceipt
	}
	return r, nil
}

var errReceipt = kindReceiptHandle.error("ReceiptHandle is not valid for this queue.")

// received returns the message of a handle. It returns nil if the message was deleted, or if the handle is not that of
// its last receive.
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
