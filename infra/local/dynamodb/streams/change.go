package streams

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"devplatform/infra/local/dynamodb/keyspace"
	"devplatform/infra/local/dynamodb/values"
	"devplatform/infra/local/dynamodb/wire"
)

// Event is what happened to an item.
type Event byte

// The events.
const (
	Insert Event = iota
	Modify
	Remove
	Expire // the item's time to live was over
)

var eventNames = [...]string{Insert: "INSERT", Modify: "MODIFY", Remove: "REMOVE", Expire: "REMOVE"}

// A stored change has the time in milliseconds (8 bytes), the event (1), then the keys, the old and the new image, each
// after its length (4). A length of 0 means no image. Earlier versions added another time (8).
const (
	eventOffset   = 8
	headBytes     = eventOffset + 1
	lengthBytes   = 4
	sequenceBytes = 8
)

// Change is a change of an item. Old and New are nil if the item does not exist or the stream's view does not have
// them.
type Change struct {
	Number         uint64
	Time           int64 // in milliseconds since 1970
	Event          Event
	Keys, Old, New values.Item
}

var errDamaged = errors.New("damaged stream record")

// Encode returns the stored form of a change. Append sets its time. stored is the stored form of the new item.
func (s *Stream) Encode(event Event, keys, old values.Item, stored []byte) []byte {
	record := make([]byte, headBytes, headBytes+3*lengthBytes+2*len(stored)+64)
	record[eventOffset] = byte(event)
	record = appendImage(record, keys)
	if s.View != wire.ViewOld && s.View != wire.ViewBoth {
		old = nil
	}
	record = appendImage(record, old)
	if s.View != wire.ViewNew && s.View != wire.ViewBoth {
		stored = nil
	}
	record = binary.BigEndian.AppendUint32(record, uint32(len(stored))) //nolint:gosec // an item's size
	return append(record, stored...)
}

func appendImage(record []byte, item values.Item) []byte {
	start := len(record)
	record = append(record, make([]byte, lengthBytes)...)
	if item == nil {
		return record
	}
	record = values.AppendItem(record, item)
	binary.BigEndian.PutUint32(record[start:], uint32(len(record)-start-lengthBytes)) //nolint:gosec // an item's size
	return record
}

// placeOf decodes the number and the time of a stored change.
func placeOf(key, value []byte) (number uint64, time int64, err error) {
	if len(key) != keyspace.PrefixBytes+sequenceBytes || len(value) < headBytes {
		return 0, 0, errDamaged
	}
	number = binary.BigEndian.Uint64(key[keyspace.PrefixBytes:])
	return number, int64(binary.BigEndian.Uint64(value)), nil //nolint:gosec // encoded from an int64
}

func decode(key, value []byte) (c Change, err error) {
	if c.Number, c.Time, err = placeOf(key, value); err != nil {
		return c, err
	}
	c.Event = Event(value[eventOffset])
	rest := value[headBytes:]
	for _, item := range []*values.Item{&c.Keys, &c.Old, &c.New} {
		if len(rest) < lengthBytes || len(rest)-lengthBytes < int(binary.BigEndian.Uint32(rest)) {
			return c, errDamaged
		}
		n := lengthBytes + int(binary.BigEndian.Uint32(rest))
		if n > lengthBytes {
			if *item, err = values.DecodeStoredItem(rest[lengthBytes:n]); err != nil {
				return c, fmt.Errorf("reading a stream: %w", err)
			}
		}
		rest = rest[n:]
	}
	if c.Event > Expire || c.Keys == nil {
		return c, errDamaged
	}
	return c, nil
}

func (c *Change) size() int { return c.Keys.Size() + c.Old.Size() + c.New.Size() }

var expiryIdentity = &wire.UserIdentity{PrincipalID: "dynamodb.amazonaws.com", Type: "Service"}

// Wire returns the change for a response. Its event ID is the same whenever it is read, and different from all others.
func (s *Stream) Wire(c *Change, region string) wire.StreamRecord {
	const milliseconds = 1000
	id := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(s.UUID), c.Number))
	record := wire.StreamRecord{
		EventID: hex.EncodeToString(id[:16]), EventName: eventNames[c.Event], EventVersion: "1.1",
		EventSource: "aws:dynamodb", AWSRegion: region,
		DynamoDB: wire.StreamChange{
			ApproximateCreationDateTime: c.Time / milliseconds,
			Keys:                        c.Keys, NewImage: c.New, OldImage: c.Old,
			SequenceNumber: SequenceNumber(c.Number), SizeBytes: c.size(), StreamViewType: s.View,
		},
	}
	if c.Event == Expire {
		record.UserIdentity = expiryIdentity
	}
	return record
}
