package dynamodb

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// trimInterval is the time between two deletions of a stream's old records:
// each leaves a mark in the store that reading has to pass.
const trimInterval = time.Minute

// horizon is the last number of a stream whose record is too old to be read.
// It looks at the store only when the oldest record has just become so.
func (db *DB) horizon(s *stream, now time.Time) (uint64, error) {
	s.trim.Lock()
	defer s.trim.Unlock()
	last := s.durable.Load()
	if s.horizon >= last {
		return s.horizon, nil
	}
	if s.oldest != 0 && s.oldest > trimmedUntil(now) {
		return s.horizon, nil
	}
	first, when, err := db.firstSince(s, s.horizon, last, trimmedUntil(now)+1)
	if err != nil {
		return 0, err
	}
	s.horizon, s.oldest = first-1, when
	s.steps = slices.DeleteFunc(s.steps, func(step uint64) bool { return step <= first })
	return s.horizon, nil
}

// firstSince finds the first record behind a number, up to another, that is not
// older than a time: its number and time, or the number behind the last and 0.
// A record counts as no younger than those behind it, so that there is an order
// of time also where the clock was put back; s.trim must be held.
func (db *DB) firstSince(s *stream, after, last uint64, at int64) (number uint64, when int64, err error) {
	number = last + 1
	for i := len(s.steps) - 1; i >= -1; i-- { // from the last run of records in the order of their times
		start := after + 1
		if i >= 0 {
			start = max(start, s.steps[i])
		}
		if start >= number {
			continue
		}
		first, its, err := db.firstOfRun(s, start-1, number-1, at)
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

// firstOfRun is [DB.firstSince] among records that are in the order of time.
func (db *DB) firstOfRun(s *stream, after, last uint64, at int64) (number uint64, when int64, err error) {
	low, high := after+1, last+1
	if low >= high {
		return high, 0, nil
	}
	iterator, err := db.folder.DB.NewIter(&pebble.IterOptions{LowerBound: s.recordKey(low), UpperBound: s.recordKey(high)})
	if err != nil {
		return 0, 0, fmt.Errorf("reading a stream: %w", err)
	}
	for middle := low; low < high && err == nil; middle = low + (high-low)/2 { // the first is the likeliest
		if !iterator.SeekGE(s.recordKey(middle)) {
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
	if err := errors.Join(err, iterator.Error(), iterator.Close()); err != nil {
		return 0, 0, fmt.Errorf("reading a stream: %w", err)
	}
	return high, when, nil
}

// sweepStreams deletes the records that are too old, and the streams that ended
// that long ago.
func (db *DB) sweepStreams(now time.Time) error {
	db.catalog.RLock()
	var forgotten bool
	var errs []error
	for _, s := range db.streams {
		if s.forgotten(now) {
			forgotten = true
			continue
		}
		errs = append(errs, db.trimStream(s, now))
	}
	db.catalog.RUnlock()
	if forgotten {
		errs = append(errs, db.forgetStreams(now))
	}
	return errors.Join(errs...)
}

// trimStream deletes what lies behind a stream's horizon with one range deletion.
// The horizon is written with it: numbers that were given stay given.
func (db *DB) trimStream(s *stream, now time.Time) error {
	horizon, err := db.horizon(s, now)
	if err != nil {
		return err
	}
	s.trim.Lock()
	defer s.trim.Unlock()
	if s.Horizon >= horizon || now.Sub(s.trimmed) < trimInterval {
		return nil
	}
	record := s.streamRecord
	record.Horizon = horizon
	batch := db.folder.DB.NewBatch()
	defer discard(batch)
	err = errors.Join(
		batch.DeleteRange(s.recordKey(0), s.recordKey(horizon+1), nil),
		batch.DeleteRange(s.stepKey(0), s.stepKey(horizon+2), nil), // the first record has none before it
		saveStream(batch, record),
	)
	if err = errors.Join(err, db.folder.CommitSync(batch)); err != nil {
		return fmt.Errorf("trimming a stream of %s: %w", s.Table, err)
	}
	s.Horizon, s.trimmed = horizon, now
	return nil
}

// forgetStreams drops the streams that ended too long ago.
func (db *DB) forgetStreams(now time.Time) error {
	db.catalog.Lock()
	defer db.catalog.Unlock()
	batch := db.folder.DB.NewBatch()
	defer discard(batch)
	var paths []string
	var err error
	for path, s := range db.streams {
		if s.forgotten(now) {
			paths = append(paths, path)
			err = errors.Join(err, batch.Delete(streamKey(s.ID), nil),
				dropRange(batch, spaceKey(spaceRecord, s.ID)), dropRange(batch, spaceKey(spaceStep, s.ID)))
		}
	}
	if err = errors.Join(err, db.folder.CommitSync(batch)); err != nil {
		return fmt.Errorf("forgetting ended streams: %w", err)
	}
	for _, path := range paths {
		delete(db.streams, path)
	}
	return nil
}
