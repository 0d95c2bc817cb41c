package dynamodb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb/values"
)

// store is the storage of one database. Its methods are safe for concurrent use, but a table must not change during an
// operation on its items. Methods with a batch need a lock of the caller's catalog.
type store struct {
	*datafolder.Folder

	now    func() time.Time
	nextID uint32 // the next unused number of a table, an index or a stream
	locks  *lockTable
}

func openStore(folder *datafolder.Folder, now func() time.Time) (*store, error) {
	s := &store{Folder: folder, now: now, nextID: 1, locks: newLockTable()}
	value, err := datafolder.Read(folder.DB, []byte{datafolder.SpaceNextID})
	if err == nil && len(value) == 4 {
		s.nextID = binary.BigEndian.Uint32(value)
	} else if err == nil && len(value) > 0 {
		err = errors.New("damaged table counter")
	}
	if err != nil {
		return nil, folder.DamagedError(err)
	}
	return s, nil
}

// newNumber returns the next number of the key space. It is unique if the batch is committed.
func (s *store) newNumber(batch *pebble.Batch) (uint32, error) {
	number := s.nextID
	s.nextID++
	return number, batch.Set([]byte{datafolder.SpaceNextID}, binary.BigEndian.AppendUint32(nil, s.nextID), nil)
}

func saveTable(batch *pebble.Batch, record *tableRecord) error {
	value, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encoding table %s: %w", record.Name, err)
	}
	return batch.Set(tableKey(record.Name), value, nil)
}

func tableKey(name string) []byte { return append([]byte{datafolder.SpaceTable}, name...) }

func (s *store) tables(visit func(record tableRecord) error) error {
	return datafolder.Each(s.DB, []byte{datafolder.SpaceTable}, func(_, value []byte) error {
		var record tableRecord
		if err := json.Unmarshal(value, &record); err != nil {
			return fmt.Errorf("damaged table record: %w", err)
		}
		return visit(record)
	})
}

// dropTable adds the deletion of a table, its items and its indexes to a batch. It takes the same time for all sizes.
func dropTable(batch *pebble.Batch, t *table) error {
	err := errors.Join(
		batch.Delete(tableKey(t.Name), nil),
		datafolder.DropRange(batch, numberedKey(datafolder.SpaceItem, t.ID)),
		dropExpiry(batch, t),
	)
	for _, x := range t.Indexes {
		err = errors.Join(err, dropIndex(batch, x.ID))
	}
	return err
}

func dropIndex(batch *pebble.Batch, number uint32) error {
	return datafolder.DropRange(batch, numberedKey(datafolder.SpaceIndex, number))
}

// fillIndex adds the entries of a new index to a batch. As on AWS, an index does not contain items whose attributes
// have other types than its keys.
func (s *store) fillIndex(batch *pebble.Batch, t *table, x *index) error {
	return s.eachItem(t, func(key []byte, item values.Item) error {
		_, err := updateIndex(batch, x, &change{Table: t, Key: key, New: item})
		return err
	})
}

func (s *store) eachItem(t *table, visit func(key []byte, item values.Item) error) error {
	return datafolder.Each(s.DB, numberedKey(datafolder.SpaceItem, t.ID), func(key, value []byte) error {
		item, err := values.DecodeStoredItem(value)
		if err != nil {
			return err
		}
		return visit(key, item)
	})
}

func appendKeys(dst []byte, keys keySchema, item values.Item) []byte {
	hash, _ := item.Get(keys[0].Name)
	return appendValues(appendPartition(dst, hash), keys[1:], item)
}

func appendValues(dst []byte, keys keySchema, item values.Item) []byte {
	for _, key := range keys {
		value, _ := item.Get(key.Name)
		dst = value.AppendKey(dst)
	}
	return dst
}

// itemKey returns the key of the item with these key attributes.
func itemKey(t *table, item values.Item) []byte {
	return appendKeys(numberedKey(datafolder.SpaceItem, t.ID), t.Key, item)
}

// indexKey returns the key of an item's entry in an index. It ends with the table's keys, because the index's keys are
// not unique.
func indexKey(t *table, x *index, item values.Item) []byte {
	return appendValues(appendKeys(numberedKey(datafolder.SpaceIndex, x.ID), x.Key, item), t.Key, item)
}

// get returns an item, or nil if it does not exist.
func (s *store) get(key []byte) (values.Item, error) { return get(s.DB, key) }

// getAll sets the Old items of changes, as of one moment.
func (s *store) getAll(changes []change) error {
	snapshot := s.DB.NewSnapshot()
	for i := range changes {
		var err error
		if changes[i].Old, err = get(snapshot, changes[i].Key); err != nil {
			return errors.Join(err, snapshot.Close())
		}
	}
	return snapshot.Close()
}

func get(reader pebble.Reader, key []byte) (values.Item, error) {
	value, closer, err := reader.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading an item: %w", err)
	}
	item, err := values.DecodeStoredItem(value)
	if err = errors.Join(err, closer.Close()); err != nil {
		return nil, fmt.Errorf("reading an item: %w", err)
	}
	return item, nil
}

// prefixBytes is the length of a space and a number.
const prefixBytes = 1 + 4

// partitionBytes is the length of the checksum of a hash key.
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

const (
	// oldestExpiry is the age of an expiry above which an item is not deleted. As on AWS, this protects items with an
	// attribute that is not an expiry.
	oldestExpiry = 5 * 365 * 24 * time.Hour
	// maxExpired is the maximum number of items that one call of deleteExpired deletes.
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
