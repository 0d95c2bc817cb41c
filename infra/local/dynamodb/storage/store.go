// Package storage is the storage of items on Pebble: durable and atomic writes with their index entries, counters,
// expiry and stream records, reads of items and pages, and the tokens of idempotent transactions. The API's requests
// and responses do not belong here.
package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb/catalog"
	"devplatform/infra/local/dynamodb/keyspace"
	"devplatform/infra/local/dynamodb/values"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
)

// Store is the storage of one database. Its methods are safe for concurrent use, but a table must not change during an
// operation on its items. Methods with a batch need a lock of the caller's catalog.
type Store struct {
	*datafolder.Folder

	now    func() time.Time
	nextID uint32 // the next unused number of a table, an index or a stream
	locks  *lockTable
	tokens tokenTable
}

// Open opens the store of a folder.
func Open(folder *datafolder.Folder, now func() time.Time) (*Store, error) {
	s := &Store{Folder: folder, now: now, nextID: 1, locks: newLockTable(), tokens: tokenTable{running: map[string]bool{}}}
	value, err := datafolder.Read(folder.DB, []byte{datafolder.SpaceNextID})
	if err == nil && len(value) == 4 {
		s.nextID = binary.BigEndian.Uint32(value)
	} else if err == nil && len(value) > 0 {
		err = errors.New("damaged table counter")
	}
	if err != nil {
		return nil, folder.Damaged(err)
	}
	return s, nil
}

// NewNumber returns the next number of the key space. It is unique if the batch is committed.
func (s *Store) NewNumber(batch *pebble.Batch) (uint32, error) {
	number := s.nextID
	s.nextID++
	return number, batch.Set([]byte{datafolder.SpaceNextID}, binary.BigEndian.AppendUint32(nil, s.nextID), nil)
}

// SaveTable adds a table's record to a batch.
func SaveTable(batch *pebble.Batch, record *catalog.Record) error {
	value, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encoding table %s: %w", record.Name, err)
	}
	return batch.Set(TableKey(record.Name), value, nil)
}

// TableKey returns the key of a table's record.
func TableKey(name string) []byte { return append([]byte{datafolder.SpaceTable}, name...) }

// Tables calls visit for all stored tables.
func (s *Store) Tables(visit func(record catalog.Record) error) error {
	return datafolder.Each(s.DB, []byte{datafolder.SpaceTable}, func(_, value []byte) error {
		var record catalog.Record
		if err := json.Unmarshal(value, &record); err != nil {
			return fmt.Errorf("damaged table record: %w", err)
		}
		return visit(record)
	})
}

// DropTable adds the deletion of a table, its items and its indexes to a batch. It takes the same time for all sizes.
func DropTable(batch *pebble.Batch, t *catalog.Table) error {
	err := errors.Join(
		batch.Delete(TableKey(t.Name), nil),
		datafolder.DropRange(batch, keyspace.Key(datafolder.SpaceItem, t.ID)),
		DropExpiry(batch, t),
	)
	for _, x := range t.Indexes {
		err = errors.Join(err, DropIndex(batch, x.ID))
	}
	return err
}

// DropIndex adds the deletion of an index to a batch.
func DropIndex(batch *pebble.Batch, number uint32) error {
	return datafolder.DropRange(batch, keyspace.Key(datafolder.SpaceIndex, number))
}

// FillIndex adds the entries of a new index to a batch. Like on AWS, an index does not contain items whose attributes
// have other types than its keys.
func (s *Store) FillIndex(batch *pebble.Batch, t *catalog.Table, x *catalog.Index) error {
	return s.eachItem(t, func(key []byte, item values.Item) error {
		_, err := updateIndex(batch, x, &Change{Table: t, Key: key, New: item})
		return err
	})
}

func (s *Store) eachItem(t *catalog.Table, visit func(key []byte, item values.Item) error) error {
	return datafolder.Each(s.DB, keyspace.Key(datafolder.SpaceItem, t.ID), func(key, value []byte) error {
		item, err := values.DecodeStoredItem(value)
		if err != nil {
			return err
		}
		return visit(key, item)
	})
}

// appendKeys appends the place of an item among the items of a key schema.
func appendKeys(dst []byte, keys catalog.KeySchema, item values.Item) []byte {
	hash, _ := item.Get(keys[0].Name)
	return appendValues(keyspace.AppendPartition(dst, hash), keys[1:], item)
}

func appendValues(dst []byte, keys catalog.KeySchema, item values.Item) []byte {
	for _, key := range keys {
		value, _ := item.Get(key.Name)
		dst = value.AppendKey(dst)
	}
	return dst
}

// ItemKey returns the key of the item with these key attributes.
func ItemKey(t *catalog.Table, item values.Item) []byte {
	return appendKeys(keyspace.Key(datafolder.SpaceItem, t.ID), t.Key, item)
}

// indexKey returns the key of an item's entry in an index. It ends with the table's keys, because the index's keys are
// not unique.
func indexKey(t *catalog.Table, x *catalog.Index, item values.Item) []byte {
	return appendValues(appendKeys(keyspace.Key(datafolder.SpaceIndex, x.ID), x.Key, item), t.Key, item)
}

// Get reads an item. It is nil if it does not exist.
func (s *Store) Get(key []byte) (values.Item, error) { return get(s.DB, key) }

// GetAll sets the Old items of changes, as of one moment.
func (s *Store) GetAll(changes []Change) error {
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
