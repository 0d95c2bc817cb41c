package sqs

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"devplatform/infra/local/datafolder"
)

// counterBits is the size of the counter in a message number. The bits above it are the epoch, so that the counter does
// not have to be stored. No message number is used twice, so that a receipt handle of a deleted message never refers to
// another message.
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
	m, group, err := decodeMessage(binary.BigEndian.Uint64(key[queueEnd:]), value)
	if err != nil {
		return err
	}
	q.add(m, group, s.now())
	return nil
}

// beginEpoch increments the epoch, so that no message number is used again.
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
	s.lastMessage = epoch << counterBits
	return s.folder.Update(func(batch *pebble.Batch) error {
		return batch.Set([]byte{datafolder.SpaceEpoch}, binary.BigEndian.AppendUint64(nil, epoch), nil)
	})
}

// messageRecord is the stored state of a message. Its number is in the key.
type messageRecord struct {
	ID         uuid.UUID `json:"id"`
	Sent       int64     `json:"sent"`
	First      int64     `json:"first,omitzero"`
	Last       int64     `json:"last,omitzero"`
	Visible    int64     `json:"visible"`
	Receives   uint32    `json:"receives,omitzero"`
	Generation uint32    `json:"generation,omitzero"`
	Group      string    `json:"group,omitzero"`
	Source     string    `json:"source,omitzero"`
}

func (m *message) encode(group string) []byte {
	value, err := json.Marshal(messageRecord{
		m.id, m.sent, m.first, m.last, m.visible, m.receives, m.generation, group, m.source,
	})
	if err != nil {
		panic(fmt.Sprintf("sqs: encoding a message: %v", err)) // it has only numbers and valid texts
	}
	return value
}

func decodeMessage(number uint64, value []byte) (m *message, group string, err error) {
	var r messageRecord
	if err := json.Unmarshal(value, &r, json.RejectUnknownMembers(true)); err != nil {
		return nil, "", fmt.Errorf("message %d: %w: %w", number, errDamaged, err)
	}
	return &message{
		number: number, id: r.ID, sent: r.Sent, first: r.First, last: r.Last, visible: r.Visible, receives: r.Receives,
		generation: r.Generation, source: r.Source,
	}, r.Group, nil
}
