package dynamodb

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"devplatform/infra/local/dynamodb/values"
)

// changeEvent is the kind of a change of an item.
type changeEvent byte

// The events.
const (
	eventInsert changeEvent = iota
	eventModify
	eventRemove
	eventExpire // the item's time to live was over
)

var eventNames = [...]string{eventInsert: "INSERT", eventModify: "MODIFY", eventRemove: "REMOVE", eventExpire: "REMOVE"}

// A stored change has the time in milliseconds (8 bytes), the event (1), then the keys, the old and the new image, each
// after its length (4). A length of 0 means no image. Changes of earlier versions can end with another time (8), which
// is ignored.
const (
	eventOffset   = 8
	headBytes     = eventOffset + 1
	lengthBytes   = 4
	sequenceBytes = 8
)

var (
	errDamaged     = errors.New("damaged stream record")
	expiryIdentity = &userIdentity{PrincipalID: "dynamodb.amazonaws.com", Type: "Service"}
)

// encode returns the stored form of a change. appendRecords sets its time. stored is the stored form of the new item.
func (s *stream) encode(event changeEvent, keys, old values.Item, stored []byte) []byte {
	record := make([]byte, headBytes, headBytes+3*lengthBytes+2*len(stored)+64)
	record[eventOffset] = byte(event)
	record = appendImage(record, keys)
	if s.View != viewOld && s.View != viewBoth {
		old = nil
	}
	record = appendImage(record, old)
	if s.View != viewNew && s.View != viewBoth {
		stored = nil
	}
	record = binary.BigEndian.AppendUint32(record, uint32(len(stored)))
	return append(record, stored...)
}

func appendImage(record []byte, item values.Item) []byte {
	start := len(record)
	record = append(record, make([]byte, lengthBytes)...)
	if item == nil {
		return record
	}
	record = values.AppendItem(record, item)
	binary.BigEndian.PutUint32(record[start:], uint32(len(record)-start-lengthBytes))
	return record
}

// placeOf decodes the number and the time of a stored change.
func placeOf(key, value []byte) (number uint64, time int64, err error) {
	if len(key) != prefixBytes+sequenceBytes || len(value) < headBytes {
		return 0, 0, errDamaged
	}
	number = binary.BigEndian.Uint64(key[prefixBytes:])
	return number, int64(binary.BigEndian.Uint64(value)), nil
}

// decode returns a stored change for a response. Its event ID is the same whenever it is read, and different from all
// others.
func (s *stream) decode(key, value []byte) (record streamRecord, err error) {
	number, at, err := placeOf(key, value)
	if err != nil {
		return record, err
	}
	event := changeEvent(value[eventOffset])
	if event > eventExpire {
		return record, errDamaged
	}
	const milliseconds = 1000
	id := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(s.UUID), number))
	record = streamRecord{
		EventID: hex.EncodeToString(id[:16]), EventName: eventNames[event], EventVersion: "1.1", EventSource: "aws:dynamodb",
		DynamoDB: streamChange{
			ApproximateCreationDateTime: at / milliseconds,
			SequenceNumber:              sequenceNumber(number), StreamViewType: s.View,
		},
	}
	if event == eventExpire {
		record.UserIdentity = expiryIdentity
	}
	change := &record.DynamoDB
	rest := value[headBytes:]
	for _, item := range []*values.Item{&change.Keys, &change.OldImage, &change.NewImage} {
		if len(rest) < lengthBytes || len(rest)-lengthBytes < int(binary.BigEndian.Uint32(rest)) {
			return record, errDamaged
		}
		n := lengthBytes + int(binary.BigEndian.Uint32(rest))
		if n > lengthBytes {
			if *item, err = values.DecodeStoredItem(rest[lengthBytes:n]); err != nil {
				return record, fmt.Errorf("reading a stream: %w", err)
			}
		}
		rest = rest[n:]
		change.SizeBytes += item.Size()
	}
	if change.Keys == nil {
		return record, errDamaged
	}
	return record, nil
}
