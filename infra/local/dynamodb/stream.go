package dynamodb

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
)

// streamRetention is how long a record can be read, and a stream after its end.
const streamRetention = 24 * time.Hour

// streamRecord is a stream as the catalog keeps it. It outlives its table.
type streamRecord struct {
	ID       uint32 // its number in the key space
	UUID     string
	Table    string
	Label    string
	View     string
	Keys     []keySchemaElement
	Created  float64 // seconds since 1970
	Shard    string
	Horizon  uint64 `json:",omitzero"` // the last number whose record is deleted
	Disabled int64  `json:",omitzero"` // milliseconds since 1970; 0 while enabled
}

// stream is the log of a table's changes. It has one shard: AWS has several for
// throughput, and one process has no more of that by dividing its log. Records
// are numbered from 1, without a gap.
type stream struct {
	streamRecord // but for Horizon, guarded by the catalog

	// order is held from the numbering of records until a reader could see
	// them, so that none ever appears before a smaller one.
	order    sync.Mutex
	last     uint64 // the last number given; guarded by order
	lastTime int64  // its time in the order of trimming; guarded by order

	// durable is the last number whose record is on the disk. Readers see no
	// further: what a crash may take back was never given to anyone.
	durable atomic.Uint64

	// changed is closed and taken away when records have become durable, or when the stream has ended. It is nil until
	// a reader waits.
	changed atomic.Pointer[chan struct{}]

	trim    sync.Mutex
	steps   []uint64  // the records where time steps back, in their order; guarded by trim
	horizon uint64    // the last number whose record is too old; guarded by trim
	oldest  int64     // the time of the record behind it, 0 when not known; guarded by trim
	trimmed time.Time // when records were last deleted; guarded by trim
}

// path is the end of the stream's ARN, by which it is found.
func (r *streamRecord) path() string { return streamPath(r.Table, r.Label) }

func streamPath(table, label string) string { return table + "/stream/" + label }

// forgotten says whether the stream has ended so long ago that it is no more.
func (r *streamRecord) forgotten(now time.Time) bool {
	return r.Disabled != 0 && r.Disabled <= trimmedUntil(now)
}

// trimmedUntil is the time, in milliseconds, of what has just become too old.
func trimmedUntil(now time.Time) int64 { return now.Add(-streamRetention).UnixMilli() }

func (db *DB) streamARN(table, label string) string { return db.tableARN(table) + "/stream/" + label }

func streamKey(number uint32) []byte { return spaceKey(spaceStream, number) }

// recordKey is where the record with a number lies.
func (r *streamRecord) recordKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64(spaceKey(spaceRecord, r.ID), number)
}

// stepKey is where it is kept that time steps back at a record.
func (r *streamRecord) stepKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64(spaceKey(spaceStep, r.ID), number)
}

// Sequence numbers are 21 digits, AWS's shortest. The first says nothing and
// keeps the others in place, so that they have the same order as texts.
const (
	sequencePrefix = "1"
	sequenceDigits = 20
)

func sequenceText(number uint64) string {
	return fmt.Sprintf("%s%0*d", sequencePrefix, sequenceDigits, number)
}

// eventID is the same for a record whenever it is read, and for no other one.
func (r *streamRecord) eventID(number uint64) string {
	digest := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(r.UUID), number))
	return hex.EncodeToString(digest[:16])
}

// newStream makes the record of a stream that begins now.
func (db *DB) newStream(batch *pebble.Batch, t *tableRecord, view string) (streamRecord, error) {
	id, err := db.newNumber(batch)
	now, label := db.options.Now().UTC(), ""
	for at := now; ; at = at.Add(time.Millisecond) { // two streams of a table within a millisecond
		label = at.Format("2006-01-02T15:04:05.000")
		if db.streams[streamPath(t.Name, label)] == nil {
			break
		}
	}
	uuid := newUUID()
	return streamRecord{
		ID: id, UUID: uuid, Table: t.Name, Label: label, View: view, Keys: t.Keys,
		Created: db.nowSeconds(), Shard: fmt.Sprintf("shardId-%020d-%s", now.UnixMilli(), uuid[:8]),
	}, err
}

func saveStream(batch *pebble.Batch, record streamRecord) error {
	value, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encoding a stream of %s: %w", record.Table, err)
	}
	return batch.Set(streamKey(record.ID), value, nil) //nolint:wrapcheck // in memory; callers name the operation
}

// streamChange is the beginning or the end of a stream; nil is none.
type streamChange struct {
	stream *stream
	record streamRecord // as it will be
}

// made is called when the change is on the disk; the catalog must be held for
// writing.
func (c *streamChange) made(db *DB) {
	if c == nil {
		return
	}
	c.stream.streamRecord = c.record
	db.streams[c.record.path()] = c.stream
	c.stream.wakeReaders()
}

// startStream gives a table without a stream one.
func (db *DB) startStream(batch *pebble.Batch, t *tableRecord, view string) (*streamChange, error) {
	record, err := db.newStream(batch, t, view)
	if err != nil {
		return nil, err
	}
	t.StreamView, t.StreamLabel = view, record.Label
	return &streamChange{&stream{}, record}, saveStream(batch, record)
}

// endStream closes a table's stream, if it has one. No write is in flight while
// the catalog is held for writing, so that its last record is the last.
func (db *DB) endStream(batch *pebble.Batch, t *tableRecord) (*streamChange, error) {
	if t.StreamView == "" {
		return nil, nil
	}
	ended := db.streams[streamPath(t.Name, t.StreamLabel)]
	record := ended.streamRecord
	record.Disabled = db.options.Now().UnixMilli()
	t.StreamView = ""
	return &streamChange{ended, record}, saveStream(batch, record)
}

// loadStreams reads all streams and how far their logs go.
func (db *DB) loadStreams() error {
	return db.each([]byte{spaceStream}, func(_, value []byte) error {
		s := &stream{}
		if err := json.Unmarshal(value, &s.streamRecord); err != nil {
			return fmt.Errorf("damaged stream record: %w", err)
		}
		s.last, s.horizon = s.Horizon, s.Horizon
		if err := db.loadEnd(s); err != nil {
			return err
		}
		s.durable.Store(s.last)
		db.streams[s.path()] = s
		return nil
	})
}

// loadEnd finds the last record of a stream, and where time steps back in it.
func (db *DB) loadEnd(s *stream) error {
	prefix := spaceKey(spaceRecord, s.ID)
	iterator, err := db.folder.DB.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: prefixEnd(prefix)})
	if err != nil {
		return fmt.Errorf("reading a stream: %w", err)
	}
	if iterator.Last() {
		s.last, s.lastTime, err = placeOf(iterator.Key(), iterator.Value())
	}
	err = errors.Join(err, iterator.Error(), iterator.Close())
	return errors.Join(err, db.each(spaceKey(spaceStep, s.ID), func(key, _ []byte) error {
		if len(key) != itemPrefix+8 {
			return errDamagedRecord
		}
		s.steps = append(s.steps, binary.BigEndian.Uint64(key[itemPrefix:]))
		return nil
	}))
}

// linkStream finds the stream of a table that says that it has one.
func (db *DB) linkStream(t *table) error {
	if t.StreamView == "" {
		return nil
	}
	if t.stream = db.streams[streamPath(t.Name, t.StreamLabel)]; t.stream == nil {
		return fmt.Errorf("table %s: its stream is missing", t.Name)
	}
	return nil
}

var errInvalidStreamARN = invalid("Invalid StreamArn")

const (
	minStreamARN = 37
	maxStreamARN = 1024
)

// parseStreamARN finds the path in a stream's ARN.
func parseStreamARN(arn string) (path string, err error) {
	_, path, found := strings.Cut(arn, ":table/")
	table, label, whole := strings.Cut(path, "/stream/")
	if !strings.HasPrefix(arn, arnPrefix) || !found || !whole || table == "" || label == "" {
		return "", errInvalidStreamARN
	}
	return path, nil
}

// findStream finds a stream by its ARN; the catalog must be held.
func (db *DB) findStream(arn string, now time.Time) (*stream, error) {
	path, err := parseStreamARN(arn)
	if err != nil {
		return nil, err
	}
	s := db.streams[path]
	if s == nil || db.streamARN(s.Table, s.Label) != arn || s.forgotten(now) {
		return nil, &apiError{Type: typeNotFound, Message: "Requested resource not found: Stream: " + arn + " not found"}
	}
	return s, nil
}

// byPath orders streams as lists of them are ordered.
func byPath(a, b *stream) int { return cmp.Compare(a.path(), b.path()) }
