// Package keyspace is the layout of the keys in the store. Each key begins with a byte for its space. Tables, indexes
// and streams have numbers, which are never used again: so dropping a table is one range deletion, and a new table with
// the same name is empty.
package keyspace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"devplatform/infra/local/dynamodb/values"

	"github.com/cockroachdb/pebble/v2"
)

// The spaces.
const (
	Catalog  = 0x01 // table name → table record (JSON)
	NextID   = 0x02 // → the next unused number
	Counters = 0x03 // number → counters
	Items    = 0x04 // table number, partition, hash key, range key → item
	Index    = 0x05 // index number, partition, index keys, table keys → projected item
	Expiry   = 0x06 // table number, second, rest of the item's key → nothing
	Token    = 0x07 // client request token → expiry, fingerprint, cost of a replay
	TokenAge = 0x08 // second, token → nothing
	Stream   = 0x09 // stream number → stream record (JSON)
	Record   = 0x0a // stream number, sequence number → change
	// Do not use 0x0b: folders of earlier versions have keys in it.
)

// PrefixBytes is the length of a space and a number.
const PrefixBytes = 1 + 4

const partitionBytes = 4

// Key returns the space and the number, with room for the rest of a key.
func Key(space byte, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, 96), space), number)
}

// SequenceKey returns the key of a sequence number of a stream.
func SequenceKey(space byte, number uint32, sequence uint64) []byte {
	return binary.BigEndian.AppendUint64(Key(space, number), sequence)
}

// PrefixEnd returns the first key after all keys that begin with prefix.
func PrefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendPartition appends the place of a hash key's items. The place begins with a checksum, which spreads hash keys
// over the 32-bit space that Scan walks and that segments divide. The items follow each other in the order of their
// range keys.
func AppendPartition(dst []byte, hash values.Value) []byte {
	start := len(dst)
	dst = hash.AppendKey(append(dst, 0, 0, 0, 0))
	binary.BigEndian.PutUint32(dst[start:], crc32.Checksum(dst[start+partitionBytes:], castagnoli))
	return dst
}

// Read returns a copy of a key's value, or nil if the key does not exist.
func Read(reader pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := reader.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	return append([]byte{}, value...), closer.Close()
}

// Each calls visit for all keys that begin with prefix, in order. The key and the value are valid during the call.
func Each(reader pebble.Reader, prefix []byte, visit func(key, value []byte) error) error {
	return Range(reader, prefix, PrefixEnd(prefix), func(key, value []byte) (bool, error) {
		return true, visit(key, value)
	})
}

// Range calls visit for the keys from lower to before upper, in order, until it returns false or an error.
func Range(reader pebble.Reader, lower, upper []byte, visit func(key, value []byte) (more bool, err error)) error {
	iterator, err := reader.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	more := true
	for valid := iterator.First(); valid && more && err == nil; valid = iterator.Next() {
		more, err = visit(iterator.Key(), iterator.Value())
	}
	return errors.Join(err, iterator.Error(), iterator.Close())
}

// DropRange adds the deletion of all keys that begin with prefix to a batch.
func DropRange(batch *pebble.Batch, prefix []byte) error {
	return batch.DeleteRange(prefix, PrefixEnd(prefix), nil)
}
