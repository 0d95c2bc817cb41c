package dynamodb

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"devplatform/infra/local/dynamodb/attr"

	"github.com/cockroachdb/pebble/v2"
)

// What a record of a stream says happened to its item; the names are the wire's.
type streamEvent byte

const (
	eventInsert streamEvent = iota
	eventModify
	eventRemove
	eventExpire // removed because its time was over
)

func (c *change) event() streamEvent {
	switch {
	case c.old == nil:
		return eventInsert
	case c.new != nil:
		return eventModify
	case c.expired:
		return eventExpire
	}
	return eventRemove
}

// A stored record: time in milliseconds (8 bytes), event (1), then keys, old and
// new image, each with its length in front (4); no image has the length 0. The
// time is that by which records are trimmed; where the clock said another one,
// that follows (8).
const (
	recordEventAt = 8
	recordHead    = recordEventAt + 1
	imageHead     = 4
	clockBytes    = 8
)

// encodeRecord makes the record of a change for a stream, whose time is set when
// it is numbered. stored is the new item as it is stored.
func (s *stream) encodeRecord(c *change, stored []byte) []byte {
	some := c.new
	if some == nil {
		some = c.old
	}
	record := make([]byte, recordHead, recordHead+3*imageHead+2*len(stored)+64)
	record[recordEventAt] = byte(c.event())
	record = appendImage(record, c.table.keys.of(some))
	var before attr.Item
	if s.View == viewOld || s.View == viewBoth {
		before = c.old
	}
	record = appendImage(record, before)
	if s.View != viewNew && s.View != viewBoth {
		stored = nil
	}
	record = binary.BigEndian.AppendUint32(record, uint32(len(stored))) //nolint:gosec // an item's size
	return append(record, stored...)
}

func appendImage(record []byte, item attr.Item) []byte {
	start := len(record)
	record = append(record, make([]byte, imageHead)...)
	if item == nil {
		return record
	}
	record = attr.AppendItem(record, item)
	binary.BigEndian.PutUint32(record[start:], uint32(len(record)-start-imageHead)) //nolint:gosec // an item's size
	return record
}

// storedRecord is a record as it is read.
type storedRecord struct {
	number         uint64
	time           int64 // the clock's, in milliseconds since 1970
	event          streamEvent
	keys, old, new attr.Item
}

var errDamagedRecord = errors.New("damaged stream record")

// placeOf reads number and time (of trimming) of a record from where and how it is stored.
func placeOf(key, value []byte) (number uint64, time int64, err error) {
	if len(key) != itemPrefix+8 || len(value) < recordHead {
		return 0, 0, errDamagedRecord
	}
	return binary.BigEndian.Uint64(key[itemPrefix:]), int64(binary.BigEndian.Uint64(value)), nil //nolint:gosec // written from an int64
}

func decodeRecord(key, value []byte) (r storedRecord, err error) {
	if r.number, r.time, err = placeOf(key, value); err != nil {
		return r, err
	}
	r.event = streamEvent(value[recordEventAt])
	rest := value[recordHead:]
	for _, item := range []*attr.Item{&r.keys, &r.old, &r.new} {
		if len(rest) < imageHead || len(rest)-imageHead < int(binary.BigEndian.Uint32(rest)) {
			return r, errDamagedRecord
		}
		n := imageHead + int(binary.BigEndian.Uint32(rest))
		if n > imageHead {
			if *item, err = attr.DecodeStoredItem(rest[imageHead:n]); err != nil {
				return r, fmt.Errorf("reading a stream: %w", err)
			}
		}
		rest = rest[n:]
	}
	if len(rest) == clockBytes {
		r.time, rest = int64(binary.BigEndian.Uint64(rest)), nil //nolint:gosec // written from an int64
	}
	if len(rest) > 0 || r.event > eventExpire || r.keys == nil {
		return r, errDamagedRecord
	}
	return r, nil
}

// size is what AWS counts as the bytes of a record.
func (r *storedRecord) size() int { return r.keys.Size() + r.old.Size() + r.new.Size() }

// appended says how far a batch has brought a stream.
type appended struct {
	stream *stream
	last   uint64
	time   int64
	step   uint64 // the first record of the batch if time steps back there, else 0
}

// maxAhead is how far, in milliseconds, the records of a stream may be ahead of
// the clock to stay in the order of time. A clock that went back by more was
// wrong before: records would be kept that much too long, and all to come.
const maxAhead = int64(time.Hour / time.Millisecond)

// begin sets the time of what a batch adds to a stream, whose order it holds.
func (a *appended) begin(now int64) {
	a.last, a.time = a.stream.last, max(now, a.stream.lastTime)
	if a.time-now > maxAhead {
		a.time, a.step = now, a.last+1
	}
}

// appendRecords numbers the records of changes, in their order, and adds them to
// the batch, which must then be committed and published. Until then it keeps
// others from the streams; there are none for tables without a stream.
func (db *DB) appendRecords(batch *pebble.Batch, changes []change) ([]appended, error) {
	var streams []appended
	for i := range changes {
		s := changes[i].table.stream
		if changes[i].record != nil && !slices.ContainsFunc(streams, func(a appended) bool { return a.stream == s }) {
			streams = append(streams, appended{stream: s})
		}
	}
	if len(streams) == 0 {
		return nil, nil
	}
	// Always in the same order: transactions over several tables never deadlock.
	slices.SortFunc(streams, func(a, b appended) int { return cmp.Compare(a.stream.ID, b.stream.ID) })
	for i := range streams {
		streams[i].stream.order.Lock()
	}
	now := db.options.Now().UnixMilli()
	for i := range streams {
		a := &streams[i]
		a.begin(now)
		if a.step != 0 {
			if err := batch.Set(a.stream.stepKey(a.step), nil, nil); err != nil {
				publish(streams, false)
				return nil, fmt.Errorf("writing to a stream: %w", err)
			}
		}
		for j := range changes {
			record := changes[j].record
			if record == nil || changes[j].table.stream != a.stream {
				continue
			}
			a.last++
			binary.BigEndian.PutUint64(record, uint64(a.time)) //nolint:gosec // after 1970
			if a.time != now {
				record = binary.BigEndian.AppendUint64(record, uint64(now))
			}
			if err := batch.Set(a.stream.recordKey(a.last), record, nil); err != nil {
				publish(streams, false)
				return nil, fmt.Errorf("writing to a stream: %w", err)
			}
		}
	}
	return streams, nil
}

// publish lets others at the streams again. If the batch was not written its
// numbers are free.
func publish(streams []appended, written bool) {
	for _, a := range streams {
		if written {
			a.stream.last, a.stream.lastTime = a.last, a.time
		}
		a.stream.order.Unlock()
	}
}

// acknowledge lets readers see what has become durable, and with it everything
// before: the log of the store has no holes.
func acknowledge(streams []appended) {
	for _, a := range streams {
		for seen := a.stream.durable.Load(); seen < a.last; seen = a.stream.durable.Load() {
			if a.stream.durable.CompareAndSwap(seen, a.last) {
				break
			}
		}
		if a.step != 0 {
			a.stream.stepped(a.step)
		}
		a.stream.wakeReaders()
	}
}

// stepped notes that time steps back at a record that readers can see by now:
// what was known of the time of the oldest holds no more.
func (s *stream) stepped(number uint64) {
	s.trim.Lock()
	defer s.trim.Unlock()
	at, _ := slices.BinarySearch(s.steps, number)
	s.steps = slices.Insert(s.steps, at, number)
	s.oldest = 0
}
