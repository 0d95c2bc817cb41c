package sqs

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"

	"devplatform/infra/local/datafolder"
)

// counterBits is the size of the counter in a message number. The bits above it are the epoch, so that the counter does
// not have to be stored. No number of a message is used twice, so that a receipt handle of a deleted message
// never refers to another one.
const counterBits = 40

func queueKey(queue uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{datafolder.SpaceQueue}, queue)
}

func bodyKey(message uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{datafolder.SpaceBody}, message)
}

func messageKey(queue uint32, message uint64) []byte {
	key := binary.BigEndian.AppendUint32([]byte{datafolder.SpaceMessage}, queue)
	return binary.BigEndian.AppendUint64(key, message)
}

// load reads queues and messages, and begins a new epoch.
func (s *Store) load() error {
	if err := datafolder.Each(s.folder.DB, []byte{datafolder.SpaceQueue}, s.loadQueue); err != nil {
		return err
	}
	if err := datafolder.Each(s.folder.DB, []byte{datafolder.SpaceMessage}, s.loadMessage); err != nil {
		return err
	}
	return s.beginEpoch()
}

func (s *Store) loadQueue(_, value []byte) error {
	q := &queue{index: newIndex()}
	if err := json.Unmarshal(value, &q.queueRecord); err != nil {
		return fmt.Errorf("reading a queue: %w", err)
	}
	s.add(q)
	s.nextQueue = max(s.nextQueue, q.ID+1)
	return nil
}

func (s *Store) loadMessage(key, value []byte) error {
	const queueEnd, keyBytes = 1 + 4, 1 + 4 + 8
	if len(key) != keyBytes {
		return errDamaged
	}
	q := s.byID[binary.BigEndian.Uint32(key[1:])]
	if q == nil {
		return fmt.Errorf("reading a message without a queue: %w", errDamaged)
	}
	m, group, err := parseEntry(binary.BigEndian.Uint64(key[queueEnd:]), value)
	if err != nil {
		return err
	}
	q.add(m, group, s.now())
	return nil
}

// beginEpoch increments the epoch, so that no number of a message is used again.
func (s *Store) beginEpoch() error {
	var epoch uint64
	value, err := datafolder.Read(s.folder.DB, []byte{datafolder.SpaceEpoch})
	switch {
	case err != nil:
		return err
	case len(value) == 8:
		epoch = binary.BigEndian.Uint64(value)
	case value != nil:
		return errDamaged
	}
	epoch++
	s.nextEntry = epoch << counterBits
	return s.folder.Update(func(batch *pebble.Batch) error {
		return batch.Set([]byte{datafolder.SpaceEpoch}, binary.BigEndian.AppendUint64(nil, epoch), nil)
	})
}

const entryBytes = 64

// encode encodes the state of a message without its number.
func (m *message) encode(group string) []byte {
	dst := append(make([]byte, 0, entryBytes+len(group)+len(m.source)), m.id[:]...)
	for _, number := range []int64{m.sent, m.first, m.last, m.visible, int64(m.receives), int64(m.generation)} {
		dst = binary.AppendVarint(dst, number)
	}
	return appendString(appendString(dst, group), m.source)
}

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
