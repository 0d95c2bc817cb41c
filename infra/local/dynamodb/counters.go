package dynamodb

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// Counters (items and bytes of a table or index) are sums of deltas: every
// write adds its own with a merge, nobody reads before writing, and a crash
// loses none. Pebble folds them together when it compacts.
var counterMerger = &pebble.Merger{
	Name: "embedded-dynamodb.counter",
	Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		sum := &counterSum{}
		return sum, sum.add(value)
	},
}

// counters are the number of items and the sum of their sizes in bytes.
type counters struct{ items, bytes int64 }

func (c counters) encode() []byte {
	return binary.AppendVarint(binary.AppendVarint(nil, c.items), c.bytes)
}

func parseCounters(value []byte) (counters, error) {
	items, n := binary.Varint(value)
	if n <= 0 {
		return counters{}, errDamagedCounter
	}
	size, m := binary.Varint(value[n:])
	if m <= 0 || n+m != len(value) {
		return counters{}, errDamagedCounter
	}
	return counters{items, size}, nil
}

var errDamagedCounter = errors.New("damaged counter")

type counterSum struct{ counters }

func (s *counterSum) add(value []byte) error {
	delta, err := parseCounters(value)
	s.items += delta.items
	s.bytes += delta.bytes
	return err
}

func (s *counterSum) MergeNewer(value []byte) error { return s.add(value) }
func (s *counterSum) MergeOlder(value []byte) error { return s.add(value) }

func (s *counterSum) Finish(bool) ([]byte, io.Closer, error) { return s.encode(), nil, nil }
