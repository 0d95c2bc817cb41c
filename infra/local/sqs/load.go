package sqs

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
)

// load reads queues and messages, and begins a new epoch.
func (s *Store) load() error {
	if err := s.scan(spaceQueue, s.loadQueue); err != nil {
		return err
	}
	if err := s.scan(spaceEntry, s.loadEntry); err != nil {
		return err
	}
	return s.beginEpoch()
}

// scan reads all keys of a space in order.
func (s *Store) scan(space byte, read func(key, value []byte) error) error {
	iterator, err := s.folder.DB.NewIter(&pebble.IterOptions{LowerBound: []byte{space}, UpperBound: []byte{space + 1}})
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	for valid := iterator.First(); valid && err == nil; valid = iterator.Next() {
		err = read(iterator.Key()[1:], iterator.Value())
	}
	if err := errors.Join(err, iterator.Close()); err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	return nil
}

func (s *Store) loadQueue(_, value []byte) error {
	q := &queue{index: newIndex()}
	if err := json.Unmarshal(value, &q.queueRecord); err != nil {
		return fmt.Errorf("reading a queue: %w", err)
	}
	s.add(q)
	s.nextQueue = max(s.nextQueue, q.ID+1)
	return nil
}

func (s *Store) loadEntry(key, value []byte) error {
	const queueBytes, numberBytes = 4, 8
	if len(key) != queueBytes+numberBytes {
		return errDamaged
	}
	q := s.byID[binary.BigEndian.Uint32(key)]
	if q == nil {
		return fmt.Errorf("reading a message without a queue: %w", errDamaged)
	}
	m, group, err := parseEntry(binary.BigEndian.Uint64(key[queueBytes:]), value)
	if err != nil {
		return err
	}
	q.add(m, group, s.now())
	return nil
}

// beginEpoch increments the epoch, so that no number of a message is used again.
func (s *Store) beginEpoch() error {
	var epoch uint64
	value, closer, err := s.folder.DB.Get([]byte{spaceEpoch})
	switch {
	case errors.Is(err, pebble.ErrNotFound):
	case err != nil:
		return fmt.Errorf("reading: %w", err)
	default:
		if len(value) != 2*8 {
			return errors.Join(errDamaged, closer.Close())
		}
		epoch = binary.BigEndian.Uint64(value)
		s.nextQueue = max(s.nextQueue, uint32(binary.BigEndian.Uint64(value[8:])))
		if err := closer.Close(); err != nil {
			return fmt.Errorf("reading: %w", err)
		}
	}
	epoch++
	s.nextEntry = epoch << counterBits
	batch := s.folder.DB.NewBatch()
	if err := s.storeNumbers(batch, epoch); err != nil {
		return err
	}
	write, err := s.folder.Commit(batch)
	if err != nil {
		return err
	}
	return write.Wait()
}

// storeNumbers adds the epoch and the number of the next queue to a batch.
func (s *Store) storeNumbers(batch *pebble.Batch, epoch uint64) error {
	value := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, epoch), uint64(s.nextQueue))
	if err := batch.Set([]byte{spaceEpoch}, value, nil); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}
