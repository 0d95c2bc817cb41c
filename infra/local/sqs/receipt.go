package sqs

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc64"
)

// A receipt handle names one receive of one message. It is self-contained, so
// that it is good after a restart, for a message that is gone, and for one that
// somebody else received since.
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

// receiptOf reads a handle that this queue gave out.
func (q *queue) receiptOf(handle string) (receipt, error) {
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
	if r.queue != q.ID || r.String() != handle { // the decoder skips line breaks
		return receipt{}, errReceipt
	}
	return r, nil
}

var errReceipt = &apiError{Type: typeReceiptHandle, Message: "The input receipt handle is invalid."}

// received finds the message of a handle; nil when it is gone, or when the
// handle is not of its last receive.
func (q *queue) received(handle string) (*message, error) {
	r, err := q.receiptOf(handle)
	if err != nil {
		return nil, err
	}
	m := q.messages[r.message]
	if m == nil || m.generation != r.generation {
		return nil, nil
	}
	return m, nil
}
