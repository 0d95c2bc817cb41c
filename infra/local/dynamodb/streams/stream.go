// Package streams is the storage of DynamoDB Streams: for each stream a log of changes, which are numbered in the order
// in which they become visible. Readers see a change once it is durable. Changes stay for 24 hours by the clock, also
// while no process runs. Tables, items and requests do not belong here.
package streams

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"devplatform/infra/local/datafolder"

	"devplatform/infra/local/dynamodb/keyspace"
	"devplatform/infra/local/dynamodb/wire"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// retention is how long a change can be read, and how long a stream exists after its end.
const retention = 24 * time.Hour

// Info is a stream as it is stored. It outlives its table.
type Info struct {
	ID       uint32 // its number in the key space
	UUID     string
	Table    string
	Label    string
	View     string
	Keys     []wire.KeySchemaElement
	Created  float64 // seconds since 1970
	Shard    string
	Horizon  uint64 `json:",omitzero"` // the last sequence number whose change is deleted
	Disabled int64  `json:",omitzero"` // milliseconds since 1970; 0 while enabled
}

// NewInfo returns a stream that begins now.
func NewInfo(id uint32, table, label, view string, keys []wire.KeySchemaElement, now time.Time) Info {
	const milliseconds = 1000
	unique := uuid.NewString()
	return Info{
		ID: id, UUID: unique, Table: table, Label: label, View: view, Keys: keys,
		Created: float64(now.UnixMilli()) / milliseconds, Shard: fmt.Sprintf("shardId-%020d-%s", now.UnixMilli(), unique[:8]),
	}
}

// Path returns the unique name of a stream: the end of its ARN.
func Path(table, label string) string { return table + "/stream/" + label }

// Path returns the unique name of the stream.
func (i *Info) Path() string { return Path(i.Table, i.Label) }

// Status returns the stream's status for the API.
func (i *Info) Status() string {
	if i.Disabled != 0 {
		return "DISABLED"
	}
	return "ENABLED"
}

// IsExpired reports whether the stream ended longer ago than the retention.
func (i *Info) IsExpired(now time.Time) bool { return i.Disabled != 0 && i.Disabled <= trimTime(now) }

// trimTime returns the time, in milliseconds, of changes that have just expired.
func trimTime(now time.Time) int64 { return now.Add(-retention).UnixMilli() }

// Save adds the stream to a batch.
func (i *Info) Save(batch *pebble.Batch) error {
	value, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("encoding a stream of %s: %w", i.Table, err)
	}
	return batch.Set(keyspace.Key(datafolder.SpaceStream, i.ID), value, nil)
}

// Drop adds the deletion of the stream and its changes to a batch.
func (i *Info) Drop(batch *pebble.Batch) error {
	return errors.Join(
		batch.Delete(keyspace.Key(datafolder.SpaceStream, i.ID), nil),
		datafolder.DropRange(batch, keyspace.Key(datafolder.SpaceStreamRecord, i.ID)),
	)
}

// Stream is the log of a table's changes. It has one shard. (AWS has several for throughput, which one process would
// not gain.) Sequence numbers begin at 1 and have no gaps.
type Stream struct {
	Info // guarded by the lock of the caller's catalog, except Horizon

	// order is locked from the numbering of changes until readers could see them, so that no change appears after a change
	// with a larger number.
	order sync.Mutex
	last  uint64 // the last number; guarded by order

	// durable is the last number whose change is durable. Readers see no later changes, because a crash could revoke them.
	durable atomic.Uint64

	// changed is closed and removed when changes have become durable, or when the stream has ended. It is nil if no reader
	// waits.
	changed atomic.Pointer[chan struct{}]

	trim    sync.Mutex
	horizon uint64    // the last number whose change has expired; guarded by trim
	oldest  int64     // the time of the change after horizon, 0 if it is not known; guarded by trim
	trimmed time.Time // when changes were last deleted; guarded by trim
}

// Load decodes a stored stream, and finds the end of its log.
func Load(reader pebble.Reader, value []byte) (*Stream, error) {
	s := &Stream{}
	if err := json.Unmarshal(value, &s.Info); err != nil {
		return nil, fmt.Errorf("damaged stream record: %w", err)
	}
	s.last, s.horizon = s.Horizon, s.Horizon
	prefix := keyspace.Key(datafolder.SpaceStreamRecord, s.ID)
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

// Durable returns the last number whose change readers can see.
func (s *Stream) Durable() uint64 { return s.durable.Load() }

// Changed returns a channel that is closed when there are new changes, or when the stream has ended. A reader that gets
// the channel before it reads the stream misses no change.
func (s *Stream) Changed() <-chan struct{} {
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

// Wake closes the channel of Changed.
func (s *Stream) Wake() {
	if changed := s.changed.Swap(nil); changed != nil {
		close(*changed)
	}
}
