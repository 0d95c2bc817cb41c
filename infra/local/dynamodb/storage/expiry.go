package storage

import (
	"encoding/binary"
	"time"

	"devplatform/infra/local/datafolder"

	"devplatform/infra/local/dynamodb/catalog"
	"devplatform/infra/local/dynamodb/keyspace"
	"devplatform/infra/local/dynamodb/values"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// oldestExpiry is how long ago an item can have expired to be deleted. Like on AWS, this protects items with an
	// attribute that is not an expiry.
	oldestExpiry = 5 * 365 * 24 * time.Hour
	// MaxExpired is the number of items that one call of DeleteExpired deletes.
	MaxExpired = 256
)

// expiryOf returns the second since 1970 at which an item expires. Only a positive integer is an expiry.
func expiryOf(item values.Item, name string) (uint64, bool) {
	value, ok := item.Get(name)
	if !ok || value.Kind != values.N {
		return 0, false
	}
	second, ok := value.N.Int64()
	if !ok || second <= 0 {
		return 0, false
	}
	return uint64(second), true
}

// expiryKey orders a table's items by the second at which they expire.
func expiryKey(t *catalog.Table, second uint64, itemKey []byte) []byte {
	dst := binary.BigEndian.AppendUint64(keyspace.Key(datafolder.SpaceExpiry, t.ID), second)
	return append(dst, itemKey[keyspace.PrefixBytes:]...)
}

// AddExpiry adds the expiry of all items of a table to a batch. name is the attribute with the expiry.
func (s *Store) AddExpiry(batch *pebble.Batch, t *catalog.Table, name string) error {
	return s.eachItem(t, func(key []byte, item values.Item) error {
		if second, ok := expiryOf(item, name); ok {
			return batch.Set(expiryKey(t, second, key), nil, nil)
		}
		return nil
	})
}

// DropExpiry adds the deletion of the expiry of all items of a table to a batch.
func DropExpiry(batch *pebble.Batch, t *catalog.Table) error {
	return datafolder.DropRange(batch, keyspace.Key(datafolder.SpaceExpiry, t.ID))
}

// DeleteExpired deletes up to MaxExpired expired items of a table. It returns the number of items that it found. It
// does not read items that have not expired.
func (s *Store) DeleteExpired(t *catalog.Table, now time.Time) (int, error) {
	bound := func(at time.Time) []byte {
		return binary.BigEndian.AppendUint64(keyspace.Key(datafolder.SpaceExpiry, t.ID), uint64(max(0, at.Unix())))
	}
	var changes []Change
	err := datafolder.Range(s.DB, bound(now.Add(-oldestExpiry)), bound(now), func(key, _ []byte) (bool, error) {
		itemKey := append(keyspace.Key(datafolder.SpaceItem, t.ID), key[keyspace.PrefixBytes+8:]...)
		changes = append(changes, Change{Table: t, Key: itemKey, expired: true})
		return len(changes) < MaxExpired, nil
	})
	if err != nil || len(changes) == 0 {
		return 0, err
	}
	return len(changes), s.Write(changes, func() error {
		for i, c := range changes { // the expiry can have changed since
			if second, ok := expiryOf(c.Old, t.TTLAttribute); !ok || int64(second) >= now.Unix() {
				changes[i].New = c.Old
			}
		}
		return nil
	}, nil)
}
