// Package keyspace is the layout of the keys in the store. Each key begins with a byte for its space. Tables, indexes
// and streams have numbers, which are never used again: so dropping a table is one range deletion, and a new table with
// the same name is empty.
package keyspace

import (
	"encoding/binary"
	"hash/crc32"

	"devplatform/infra/local/dynamodb/values"
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
