package datafolder

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// The key spaces: the first byte of each key. Tables, indexes, streams and queues have numbers, which are never used
// again, so that a new one with the same name is empty.
const (
	// DynamoDB.
	SpaceTable        = 0x01 // table name → table record (JSON)
	SpaceNextID       = 0x02 // → the next unused number of a table, an index or a stream
	SpaceItem         = 0x04 // table number, partition, hash key, range key → item
	SpaceIndex        = 0x05 // index number, partition, index keys, table keys → projected item
	SpaceExpiry       = 0x06 // table number, second, rest of the item's key → nothing
	SpaceToken        = 0x07 // client request token → expiry, fingerprint
	SpaceTokenAge     = 0x08 // second, token → nothing
	SpaceStream       = 0x09 // stream number → stream record (JSON)
	SpaceStreamRecord = 0x0a // stream number, sequence number → change

	// SQS.
	SpaceQueue   = 0x10 // queue number → queue record (JSON)
	SpaceMessage = 0x11 // queue number, message number → state of the message
	SpaceBody    = 0x12 // message number → body
	SpaceEpoch   = 0x13 // → how often the folder was opened

	// S3.
	SpaceBucket = 0x20 // bucket name → bucket (JSON)
	SpaceObject = 0x21 // bucket name, 0, object key → object (JSON)

	// Secrets Manager.
	SpaceSecret = 0x30 // → all secrets (JSON)

	// Event source mappings.
	SpacePosition = 0x40 // endpoint, 0, mapping → position (JSON)

	// SES.
	SpaceMail = 0x50 // mail number → mail (JSON)
)

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

// Range calls visit for the keys from lower to before upper, in order, until visit returns false or an error.
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
