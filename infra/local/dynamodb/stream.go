package dynamodb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"

	"devplatform/infra/local/datafolder"
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

// save adds the stream to a batch.
func (i *streamInfo) save(batch *pebble.Batch) error {
	value, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("encoding a stream of %s: %w", i.Table, err)
	}
	return batch.Set(numberedKey(datafolder.SpaceStream, i.ID), value, nil)
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

// recordKey returns the key of the change with a number.
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
