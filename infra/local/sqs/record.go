package sqs

import (
	"encoding/binary"
	"fmt"
)

// entryBytes is the approximate size of an entry without its texts.
const entryBytes = 64

// encode encodes the state of a message without its number.
func (m *message) encode(group string) []byte {
	dst := append(make([]byte, 0, entryBytes+len(group)+len(m.source)), m.id[:]...)
	for _, number := range []int64{m.sent, m.first, m.last, m.visible, int64(m.receives), int64(m.generation)} {
		dst = binary.AppendVarint(dst, number)
	}
	return appendString(appendString(dst, group), m.source)
}

// parseEntry decodes the state of a message.
func parseEntry(number uint64, value []byte) (m *message, group string, err error) {
	r := reader{rest: value}
	m = &message{number: number}
	copy(m.id[:], r.bytes(len(m.id)))
	m.sent, m.first, m.last, m.visible = r.varint(), r.varint(), r.varint(), r.varint()
	m.receives, m.generation = uint32(r.varint()), uint32(r.varint())
	group, m.source = r.string(), r.string()
	if r.damaged || len(r.rest) > 0 {
		return nil, "", fmt.Errorf("message %d: %w", number, errDamaged)
	}
	return m, group, nil
}

func appendString(dst []byte, text string) []byte {
	return append(binary.AppendVarint(dst, int64(len(text))), text...)
}

// reader reads encoded values. After an error, damaged stays true.
type reader struct {
	rest    []byte
	damaged bool
}

func (r *reader) varint() int64 {
	number, n := binary.Varint(r.rest)
	if n <= 0 {
		r.damaged = true
		return 0
	}
	r.rest = r.rest[n:]
	return number
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.damaged = true
		return nil
	}
	head := r.rest[:n]
	r.rest = r.rest[n:]
	return head
}

func (r *reader) string() string { return string(r.bytes(int(r.varint()))) }
