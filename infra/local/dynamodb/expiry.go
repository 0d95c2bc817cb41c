package dynamodb

import (
	"encoding/binary"
	"time"

	"devplatform/infra/local/datafolder"

	"devplatform/infra/local/dynamodb/values"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// oldestExpiry is how long ago an item can have expired to be deleted. Like on AWS, this protects items with an
	// attribute that is not an expiry.
	oldestExpiry = 5 * 365 * 24 * time.Hour
	// maxExpired is the number of items that one call of deleteExpired deletes.
	maxExpired = 256
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
func expiryKey(t *table, second uint64, itemKey []byte) []byte {
	dst := binary.BigEndian.AppendUint64(numberedKey(datafolder.SpaceExpiry, t.ID), second)
	return append(dst, itemKey[prefixBytes:]...)
}

// addExpiry adds the expiry of all items of a table to a batch. name is the attribute with the expiry.
func (s *store) addExpiry(batch *pebble.Batch, t *table, name string) error {
	return s.eachItem(t, func(key []byte, item values.Item) error {
		if second, ok := expiryOf(item, name); ok {
			return batch.Set(expiryKey(t, second, key), nil, nil)
		}
		return nil
	})
}

// dropExpiry adds the deletion of the expiry of all items of a table to a batch.
func dropExpiry(batch *pebble.Batch, t *table) error {
	return datafolder.DropRange(batch, numberedKey(datafolder.SpaceExpiry, t.ID))
}

// deleteExpired deletes up to maxExpired expired items of a table. It returns the number of items that it found. It
// does not read items that have not expired.
func (s *store) deleteExpired(t *table, now time.Time) (int, error) {
	bound := func(at time.Time) []byte {
		return binary.BigEndian.AppendUint64(numberedKey(datafolder.SpaceExpiry, t.ID), uint64(max(0, at.Unix())))
	}
	var changes []change
	err := datafolder.Range(s.DB, bound(now.Add(-oldestExpiry)), bound(now), func(key, _ []byte) (bool, error) {
		itemKey := append(numberedKey(datafolder.SpaceItem, t.ID), key[prefixBytes+8:]...)
		changes = append(changes, change{Table: t, Key: itemKey, expired: true})
		return len(changes) < maxExpired, nil
	})
	if err != nil || len(changes) == 0 {
		return 0, err
	}
	return len(changes), s.write(changes, func() error {
		for i, c := range changes { // the expiry can have changed since
			if second, ok := expiryOf(c.Old, t.TTLAttribute); !ok || int64(second) >= now.Unix() {
				changes[i].New = c.Old
			}
		}
		return nil
	})
}
