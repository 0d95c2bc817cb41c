package storage

import (
	"encoding/binary"
	"errors"
	"io"

	"devplatform/infra/local/dynamodb/catalog"
	"devplatform/infra/local/dynamodb/keyspace"
	"devplatform/infra/local/dynamodb/values"

	"github.com/cockroachdb/pebble/v2"
)

// counterMerger adds up counters. Each write merges its difference, so that it does not have to read them, and a crash
// loses none. Pebble adds differences when it compacts.
var counterMerger = &pebble.Merger{
	Name: "embedded-dynamodb.counter",
	Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		sum := &counterSum{}
		return sum, sum.add(value)
	},
}

type counterSum struct{ catalog.Counters }

func (s *counterSum) add(value []byte) error {
	delta, err := parseCounters(value)
	s.Items += delta.Items
	s.Bytes += delta.Bytes
	return err
}

func (s *counterSum) MergeNewer(value []byte) error { return s.add(value) }
func (s *counterSum) MergeOlder(value []byte) error { return s.add(value) }

func (s *counterSum) Finish(bool) ([]byte, io.Closer, error) {
	return encodeCounters(s.Counters), nil, nil
}

func encodeCounters(c catalog.Counters) []byte {
	return binary.AppendVarint(binary.AppendVarint(nil, c.Items), c.Bytes)
}

var errDamagedCounter = errors.New("damaged counter")

func parseCounters(value []byte) (catalog.Counters, error) {
	items, n := binary.Varint(value)
	if n <= 0 {
		return catalog.Counters{}, errDamagedCounter
	}
	size, m := binary.Varint(value[n:])
	if m <= 0 || n+m != len(value) {
		return catalog.Counters{}, errDamagedCounter
	}
	return catalog.Counters{Items: items, Bytes: size}, nil
}

// Counters returns the counters of a table or index.
func (s *Store) Counters(number uint32) (catalog.Counters, error) {
	value, err := keyspace.Read(s.DB, keyspace.Key(keyspace.Counters, number))
	if err != nil || value == nil {
		return catalog.Counters{}, err
	}
	return parseCounters(value)
}

// count adds the difference of a change to the counters of a table or index.
func count(batch *pebble.Batch, number uint32, before, after values.Item, oldSize, newSize int) error {
	delta := catalog.Counters{Bytes: int64(newSize - oldSize)}
	if before == nil {
		delta.Items++
	}
	if after == nil {
		delta.Items--
	}
	if delta == (catalog.Counters{}) {
		return nil
	}
	return batch.Merge(keyspace.Key(keyspace.Counters, number), encodeCounters(delta), nil)
}
