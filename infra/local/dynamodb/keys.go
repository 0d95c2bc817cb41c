package dynamodb

import (
	"encoding/binary"
	"hash/crc32"

	"devplatform/infra/local/dynamodb/attr"
)

// The key space. Every key begins with a byte for its kind; tables, indexes
// and streams have a number each, never used twice, so that a dropped table is one range
// deletion and a table of the same name begins empty.
const (
	spaceCatalog  = 0x01 // table name → table record (JSON)
	spaceNextID   = 0x02 // → the next free number
	spaceCounters = 0x03 // number → counters
	spaceItems    = 0x04 // number, partition, hash key, range key → item
	spaceIndex    = 0x05 // number, partition, index keys, table keys → projected item
	spaceExpiry   = 0x06 // table number, second, rest of the item's key → nothing
	spaceToken    = 0x07 // client request token → expiry, fingerprint, cost of a replay
	spaceTokenAge = 0x08 // second, token → nothing
	spaceStream   = 0x09 // stream number → stream record (JSON)
	spaceRecord   = 0x0a // stream number, sequence number → change
	spaceStep     = 0x0b // stream number, sequence number of a record that is older than the one before → nothing
)

const (
	numberBytes    = 4
	partitionBytes = 4
	itemPrefix     = 1 + numberBytes
)

var partitionTable = crc32.MakeTable(crc32.Castagnoli)

// partitionOf spreads hash keys over the 32-bit space in which Scan walks and
// segments divide a table, as DynamoDB's own partitions do.
func partitionOf(hashKey []byte) uint32 { return crc32.Checksum(hashKey, partitionTable) }

func spaceKey(space byte, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, 96), space), number)
}

// appendPartition appends the place of one hash key's items: they stand
// together, in the order of their range keys.
func appendPartition(dst []byte, hash attr.Value) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = hash.AppendKey(dst)
	binary.BigEndian.PutUint32(dst[start:], partitionOf(dst[start+partitionBytes:]))
	return dst
}

// appendKeys appends the place of one item among those of a key schema.
func appendKeys(dst []byte, keys keySchema, item attr.Item) []byte {
	dst = appendPartition(dst, item[keys[0].Name])
	for _, key := range keys[1:] {
		dst = item[key.Name].AppendKey(dst)
	}
	return dst
}

// itemKey is where the item with these key attributes lies.
func (t *table) itemKey(item attr.Item) []byte {
	return appendKeys(spaceKey(spaceItems, t.ID), t.keys, item)
}

// key is where an item's entry in the index lies: the table's keys follow the
// index's, which need not be unique.
func (x *index) key(t *table, item attr.Item) []byte {
	dst := appendKeys(spaceKey(spaceIndex, x.ID), x.keys, item)
	for _, key := range t.keys {
		dst = item[key.Name].AppendKey(dst)
	}
	return dst
}

// expiryKey orders a table's items by the second at which they expire.
func (t *table) expiryKey(second uint64, itemKey []byte) []byte {
	dst := binary.BigEndian.AppendUint64(spaceKey(spaceExpiry, t.ID), second)
	return append(dst, itemKey[itemPrefix:]...)
}

// prefixEnd is the first key behind all those that begin with prefix.
func prefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
