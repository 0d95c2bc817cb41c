package dynamodb

import (
	"errors"
	"fmt"
	"time"

	"devplatform/infra/local/datafolder"

	"github.com/cockroachdb/pebble/v2"
)

// trimInterval is the time between two deletions of a stream's expired changes. Each leaves a marker in the store that
// slows reads down.
const trimInterval = time.Minute

// trimHorizon returns the last number whose change has expired. It reads the store only if the oldest change has just
// expired. If the clock was set back, changes stay until the changes before them have expired.
func (s *stream) trimHorizon(reader pebble.Reader, now time.Time) (uint64, error) {
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
	return s.horizon, nil
}

// firstSince finds the first change after a number, up to last, that is not older than a time. It returns the change's
// number and time, or last+1 and 0.
func (s *stream) firstSince(reader pebble.Reader, after, last uint64, at int64) (number uint64, when int64, err error) {
	number = last + 1
	from, to := sequenceKey(datafolder.SpaceStreamRecord, s.ID, after+1), sequenceKey(datafolder.SpaceStreamRecord, s.ID, last+1)
	err = datafolder.Range(reader, from, to, func(key, value []byte) (older bool, err error) {
		found, written, err := placeOf(key, value)
		if err != nil || written < at {
			return true, err
		}
		number, when = found, written
		return false, nil
	})
	return number, when, err
}

// deleteExpired deletes the expired changes with one range deletion. It saves the horizon with it, so that numbers are never
// used again.
func (s *stream) deleteExpired(folder *datafolder.Folder, now time.Time) error {
	horizon, err := s.trimHorizon(folder.DB, now)
	if err != nil {
		return err
	}
	s.trim.Lock()
	defer s.trim.Unlock()
	if s.Horizon >= horizon || now.Sub(s.trimmed) < trimInterval {
		return nil
	}
	info := s.streamInfo
	info.Horizon = horizon
	from, to := sequenceKey(datafolder.SpaceStreamRecord, s.ID, 0), sequenceKey(datafolder.SpaceStreamRecord, s.ID, horizon+1)
	err = folder.Update(func(batch *pebble.Batch) error {
		return errors.Join(batch.DeleteRange(from, to, nil), info.save(batch))
	})
	if err != nil {
		return fmt.Errorf("trimming a stream of %s: %w", s.Table, err)
	}
	s.Horizon, s.trimmed = horizon, now
	return nil
}
