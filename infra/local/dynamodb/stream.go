package dynamodb

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"devplatform/infra/local/datafolder"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
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

// newStreamInfo returns a stream that begins now.
func newStreamInfo(id uint32, table, label, view string, keys []keySchemaElement, now time.Time) streamInfo {
	const milliseconds = 1000
	unique := uuid.NewString()
	return streamInfo{
		ID: id, UUID: unique, Table: table, Label: label, View: view, Keys: keys,
		Created: float64(now.UnixMilli()) / milliseconds, Shard: fmt.Sprintf("shardId-%020d-%s", now.UnixMilli(), unique[:8]),
	}
}

// pathOf returns the unique name of a stream: the end of its ARN.
func pathOf(table, label string) string { return table + "/stream/" + label }

// path returns the unique name of the stream.
func (i *streamInfo) path() string { return pathOf(i.Table, i.Label) }

// status returns the stream's status for the API.
func (i *streamInfo) status() string {
	if i.Disabled != 0 {
		return "DISABLED"
	}
	return "ENABLED"
}

// isExpired reports whether the stream ended longer ago than the retention.
func (i *streamInfo) isExpired(now time.Time) bool {
	return i.Disabled != 0 && i.Disabled <= trimTime(now)
}

// trimTime returns the time, in milliseconds, of changes that have just expired.
func trimTime(now time.Time) int64 { return now.Add(-retention).UnixMilli() }

// save adds the stream to a batch.
func (i *streamInfo) save(batch *pebble.Batch) error {
	value, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("encoding a stream of %s: %w", i.Table, err)
	}
	return batch.Set(numberedKey(datafolder.SpaceStream, i.ID), value, nil)
}

// drop adds the deletion of the stream and its changes to a batch.
func (i *streamInfo) drop(batch *pebble.Batch) error {
	return errors.Join(
		batch.Delete(numberedKey(datafolder.SpaceStream, i.ID), nil),
		datafolder.DropRange(batch, numberedKey(datafolder.SpaceStreamRecord, i.ID)),
	)
}

// stream is the log of a table's changes. It has one shard. (AWS has several for throughput, which one process would
// not gain.) Sequence numbers begin at 1 and have no gaps.
type stream struct {
	streamInfo // guarded by the lock of the caller's catalog, except Horizon

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

// loadStream decodes a stored stream, and finds the end of its log.
func loadStream(reader pebble.Reader, value []byte) (*stream, error) {
	s := &stream{}
	if err := json.Unmarshal(value, &s.streamInfo); err != nil {
		return nil, fmt.Errorf("damaged stream record: %w", err)
	}
	s.last, s.horizon = s.Horizon, s.Horizon
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
