package streams

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb/keyspace"

	"github.com/cockroachdb/pebble/v2"
)

// trimInterval is the time between two deletions of a stream's expired changes. Each leaves a marker in the store that
// slows reads down.
const trimInterval = time.Minute

// TrimHorizon returns the last number whose change has expired. It reads the store only if the oldest change has just
// expired.
func (s *Stream) TrimHorizon(reader pebble.Reader, now time.Time) (uint64, error) {
	s.trim.Lock()
	defer s.trim.Unlock()
	last := s.durable.Load()
	if s.horizon >= last || s.oldest > trimTime(now) {
		return s.horizon, nil
	}
	first, when, err := s.firstSince(reader, s.horizon, last, trimTime(now)+1)
	if err != nil {
		return 0, err
	}
	s.horizon, s.oldest = first-1, when
	s.steps = slices.DeleteFunc(s.steps, func(step uint64) bool { return step <= first })
	return s.horizon, nil
}

// firstSince finds the first change after a number, up to last, that is not older than a time. It returns the change's
// number and time, or last+1 and 0. A change is never younger than the changes after it, so that there is an order of
// time even if the clock was set back. The caller must have locked s.trim.
func (s *Stream) firstSince(reader pebble.Reader, after, last uint64, at int64) (number uint64, when int64, err error) {
	number = last + 1
	for i := len(s.steps) - 1; i >= -1; i-- { // each run of changes between two steps is in the order of time
		start := after + 1
		if i >= 0 {
			start = max(start, s.steps[i])
		}
		if start >= number {
			continue
		}
		first, its, err := s.firstOfRun(reader, start, number, at)
		switch {
		case err != nil:
			return 0, 0, err
		case its != 0 && (when == 0 || its < when):
			when = its
		}
		number = first
		if first > start || start == after+1 {
			break
		}
	}
	return number, when, nil
}

// firstOfRun is like firstSince for the changes from low to before high, which must be in the order of time.
func (s *Stream) firstOfRun(reader pebble.Reader, low, high uint64, at int64) (number uint64, when int64, err error) {
	iterator, err := reader.NewIter(&pebble.IterOptions{
		LowerBound: keyspace.SequenceKey(keyspace.Record, s.ID, low),
		UpperBound: keyspace.SequenceKey(keyspace.Record, s.ID, high),
	})
	if err != nil {
		return 0, 0, fmt.Errorf("reading a stream: %w", err)
	}
	// The search begins with the first change, which is the most likely result.
	for middle := low; low < high && err == nil; middle = low + (high-low)/2 {
		if !iterator.SeekGE(keyspace.SequenceKey(keyspace.Record, s.ID, middle)) {
			high = middle
			continue
		}
		var found uint64
		var written int64
		if found, written, err = placeOf(iterator.Key(), iterator.Value()); written >= at {
			high, when = middle, written
		} else {
			low = found + 1
		}
	}
	return high, when, errors.Join(err, iterator.Error(), iterator.Close())
}

// Trim deletes the expired changes with one range deletion. It saves the horizon with it, so that numbers are never
// used again.
func (s *Stream) Trim(folder *datafolder.Folder, now time.Time) error {
	horizon, err := s.TrimHorizon(folder.DB, now)
	if err != nil {
		return err
	}
	s.trim.Lock()
	defer s.trim.Unlock()
	if s.Horizon >= horizon || now.Sub(s.trimmed) < trimInterval {
		return nil
	}
	info := s.Info
	info.Horizon = horizon
	batch := folder.DB.NewBatch()
	defer func() { _ = batch.Close() }()
	sequence := func(space byte, number uint64) []byte { return keyspace.SequenceKey(space, s.ID, number) }
	err = errors.Join(
		batch.DeleteRange(sequence(keyspace.Record, 0), sequence(keyspace.Record, horizon+1), nil),
		// The first change cannot be older than one before it.
		batch.DeleteRange(sequence(keyspace.Step, 0), sequence(keyspace.Step, horizon+2), nil),
		info.Save(batch),
	)
	if err = errors.Join(err, folder.CommitSync(batch)); err != nil {
		return fmt.Errorf("trimming a stream of %s: %w", s.Table, err)
	}
	s.Horizon, s.trimmed = horizon, now
	return nil
}
