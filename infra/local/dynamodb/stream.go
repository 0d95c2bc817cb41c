package dynamodb

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb/values"
)

// retention is how long a change can be read, and how long a stream exists after its end.
const retention = 24 * time.Hour

// streamInfo is a stream as it is stored. It outlives its table.
type streamInfo struct {
	ID       uint32 // its number in the key space
	UUID     string
	Table    string
	Label    string
	View     string
	Keys     []keySchemaElement
	Created  float64 // seconds since 1970
	Shard    string
	Horizon  uint64 `json:",omitzero"` // the last sequence number whose change is deleted
	Disabled int64  `json:",omitzero"` // milliseconds since 1970; 0 while enabled
}

// pathOf returns the unique name of a stream: the end of its ARN.
func pathOf(table, label string) string { return table + "/stream/" + label }

func (i *streamInfo) path() string { return pathOf(i.Table, i.Label) }

// isExpired reports whether the stream ended longer ago than the retention.
func (i *streamInfo) isExpired(now time.Time) bool {
	return i.Disabled != 0 && i.Disabled <= now.Add(-retention).UnixMilli()
}

func (i *streamInfo) save(batch *pebble.Batch) error {
	value, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("encoding a stream of %s: %w", i.Table, err)
	}
	return batch.Set(numberedKey(datafolder.SpaceStream, i.ID), value, nil)
}

// stream is the log of a table's changes. It has one shard, because several would not increase the throughput of one
// process. Sequence numbers begin at 1 and have no gaps.
type stream struct {
	streamInfo // guarded by the lock of the caller's catalog, except Horizon

	// order is locked from the numbering of changes until their batch is visible in the store, so that no change appears
	// after a change with a larger number.
	order sync.Mutex
	last  uint64 // the last number; guarded by order

	// durable is the last number whose change is durable. Readers see no later changes, because a crash could revoke them.
	durable atomic.Uint64

	// changed is closed and removed when changes have become durable, or when the stream has ended. It is nil if no reader
	// waits.
	changed atomic.Pointer[chan struct{}]

	horizon atomic.Uint64 // the last number whose change has expired
	trimmed time.Time     // when the sweeper last deleted changes
}

// loadStream decodes a stored stream, and finds the end of its log.
func loadStream(reader pebble.Reader, value []byte) (*stream, error) {
	s := &stream{}
	if err := json.Unmarshal(value, &s.streamInfo); err != nil {
		return nil, fmt.Errorf("damaged stream record: %w", err)
	}
	s.last = s.Horizon
	s.horizon.Store(s.Horizon)
	prefix := numberedKey(datafolder.SpaceStreamRecord, s.ID)
	iterator, err := reader.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: datafolder.PrefixEnd(prefix)})
	if err != nil {
		return nil, fmt.Errorf("reading a stream: %w", err)
	}
	if iterator.Last() {
		s.last, _, err = placeOf(iterator.Key(), iterator.Value())
	}
	s.durable.Store(s.last)
	return s, errors.Join(err, iterator.Error(), iterator.Close())
}

// signal returns a channel that is closed when there are new changes, or when the stream has ended. A reader that gets
// the channel before it reads the stream misses no change.
func (s *stream) signal() <-chan struct{} {
	for {
		if changed := s.changed.Load(); changed != nil {
			return *changed
		}
		changed := make(chan struct{})
		if s.changed.CompareAndSwap(nil, &changed) {
			return changed
		}
	}
}

// wake closes the channel of signal.
func (s *stream) wake() {
	if changed := s.changed.Swap(nil); changed != nil {
		close(*changed)
	}
}

func (s *stream) recordKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64(numberedKey(datafolder.SpaceStreamRecord, s.ID), number)
}

// trimInterval is the time between two deletions of a stream's expired changes. Each leaves a marker in the store that
// slows reads down.
const trimInterval = time.Minute

// deleteExpired deletes the changes that are a day old, up to the first one that is not. Only the sweeper calls it. It
// stores the horizon, so that numbers are never used again.
func (s *stream) deleteExpired(folder *datafolder.Folder, now time.Time) error {
	if now.Sub(s.trimmed).Abs() < trimInterval {
		return nil
	}
	s.trimmed = now
	last, until := s.durable.Load(), now.Add(-retention).UnixMilli()
	horizon := last
	from, to := s.recordKey(s.Horizon+1), s.recordKey(last+1)
	err := datafolder.Range(folder.DB, from, to, func(key, value []byte) (older bool, err error) {
		number, written, err := placeOf(key, value)
		if err != nil || written <= until {
			return true, err
		}
		horizon = number - 1
		return false, nil
	})
	if err != nil || horizon == s.Horizon {
		return err
	}
	info := s.streamInfo
	info.Horizon = horizon
	err = folder.Update(func(batch *pebble.Batch) error {
		return errors.Join(batch.DeleteRange(s.recordKey(0), s.recordKey(horizon+1), nil), info.save(batch))
	})
	if err != nil {
		return fmt.Errorf("trimming a stream of %s: %w", s.Table, err)
	}
	s.Horizon = horizon
	s.horizon.Store(horizon)
	return nil
}

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
// after its length (4). A length of 0 means no image.
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

// placeOf returns the sequence number of a stored change, and its time in milliseconds since 1970.
func placeOf(key, value []byte) (number uint64, written int64, err error) {
	if len(key) != prefixBytes+sequenceBytes || len(value) < headBytes {
		return 0, 0, errDamaged
	}
	number = binary.BigEndian.Uint64(key[prefixBytes:])
	return number, int64(binary.BigEndian.Uint64(value)), nil
}

// decode returns a stored change for a response. The event ID of a change is unique, and the same in each response.
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

// pendingRecord is a stored change without its number and its time.
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

func (all streamAppends) index(s *stream) int {
	return slices.IndexFunc(all, func(a appended) bool { return a.stream == s })
}

// appendRecords numbers changes in their order and adds them to the batch. If it returns no error, the caller must
// commit the batch and then call publish.
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
func (all streamAppends) publish(committed bool) {
	for _, a := range all {
		if committed {
			a.stream.last = a.last
		}
		a.stream.order.Unlock()
	}
}

// acknowledge lets readers see the changes, and all changes before them. The batch must be durable. The log of the
// store has no gaps, so all earlier batches are durable too.
func (all streamAppends) acknowledge() {
	for _, a := range all {
		for seen := a.stream.durable.Load(); seen < a.last; seen = a.stream.durable.Load() {
			if a.stream.durable.CompareAndSwap(seen, a.last) {
				break
			}
		}
		a.stream.wake()
	}
}
