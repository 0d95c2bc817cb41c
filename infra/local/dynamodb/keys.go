package dynamodb

import (
	"encoding/binary"
	"hash/crc32"

	"devplatform/infra/local/dynamodb/values"
)

// prefixBytes is the length of a space and a number.
const prefixBytes = 1 + 4

const partitionBytes = 4

// numberedKey returns the space and the number, with room for the rest of a key.
func numberedKey(space byte, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, 96), space), number)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendPartition appends the place of a hash key's items. The place begins with a checksum, which spreads hash keys
// over the 32-bit space that Scan walks and that segments divide. The items follow each other in the order of their
// range keys.
func appendPartition(dst []byte, hash values.Value) []byte {
	start := len(dst)
	dst = hash.AppendKey(append(dst, 0, 0, 0, 0))
	binary.BigEndian.PutUint32(dst[start:], crc32.Checksum(dst[start+partitionBytes:], castagnoli))
	return dst
}
