package dynamodb

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

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

// pendingRecord is a change for a stream, from [stream.encode].
type pendingRecord struct {
	Stream *stream
	Record []byte
}

// streamAppends are the changes of one batch. The streams are locked until publish is called.
type streamAppends []appended

type appended struct {
	stream *stream
	last   uint64
}

// index returns the index of a stream, or -1.
func (a streamAppends) index(s *stream) int {
	return slices.IndexFunc(a, func(a appended) bool { return a.stream == s })
}

// appendRecords numbers changes in their order and adds them to the batch. If it returns no error, the caller must commit the
// batch and then call publish.
func appendRecords(batch *pebble.Batch, now time.Time, pending []pendingRecord) (streamAppends, error) {
	var appends streamAppends
	for _, p := range pending {
		if appends.index(p.Stream) < 0 {
			appends = append(appends, appended{stream: p.Stream})
		}
	}
	// All batches lock streams in the same order, so that they cannot deadlock.
	slices.SortFunc(appends, func(a, b appended) int { return cmp.Compare(a.stream.ID, b.stream.ID) })
	for i, a := range appends {
		a.stream.order.Lock()
		appends[i].last = a.stream.last
	}
	for _, p := range pending {
		a := &appends[appends.index(p.Stream)]
		a.last++
		binary.BigEndian.PutUint64(p.Record, uint64(now.UnixMilli()))
		if err := batch.Set(a.stream.recordKey(a.last), p.Record, nil); err != nil {
			appends.publish(false)
			return nil, fmt.Errorf("writing to a stream: %w", err)
		}
	}
	return appends, nil
}

// publish unlocks the streams. If the batch was not committed, its numbers are used again.
func (a streamAppends) publish(committed bool) {
	for _, a := range a {
		if committed {
			a.stream.last = a.last
		}
		a.stream.order.Unlock()
	}
}

// acknowledge lets readers see the changes, and all changes before them. The batch must be durable. The log of the
// store has no gaps, so all earlier batches are durable too.
func (a streamAppends) acknowledge() {
	for _, a := range a {
		for seen := a.stream.durable.Load(); seen < a.last; seen = a.stream.durable.Load() {
			if a.stream.durable.CompareAndSwap(seen, a.last) {
				break
			}
		}
		a.stream.wake()
	}
}
