package dynamodb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"devplatform/infra/local/dynamodb/attr"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
)

// tableRecord is a table as the catalog keeps it.
type tableRecord struct {
	ID                 uint32 // its number in the key space
	UUID               string // TableId
	Name               string
	Created            float64 // seconds since 1970
	Attributes         []attributeDefinition
	Keys               []keySchemaElement
	Throughput         throughput // zero when on demand
	OnDemand           bool
	OnDemandSince      float64 `json:",omitzero"`
	Indexes            []indexRecord
	TTLAttribute       string
	DeletionProtection bool
	TableClass         string
	Encrypted          bool
	Tags               []tag
	StreamView         string `json:",omitzero"` // of its stream; "" when it has none
	StreamLabel        string `json:",omitzero"` // of its latest stream
}

// indexRecord is a global secondary index as the catalog keeps it.
type indexRecord struct {
	ID         uint32 // its number in the key space
	Name       string
	Keys       []keySchemaElement
	Projection projection
	Throughput throughput
}

// table is a table in use: its record and what is derived from it.
type table struct {
	tableRecord
	keys    keySchema
	indexes []*index
	stream  *stream // nil when it has none
}

// index is a global secondary index in use.
type index struct {
	indexRecord
	keys keySchema
	// included are the attributes that entries have; nil means all.
	included map[string]bool
}

func newTable(record tableRecord) *table {
	kinds := map[string]attr.Kind{}
	for _, a := range record.Attributes {
		kinds[a.AttributeName], _ = attr.ParseKind(a.AttributeType)
	}
	t := &table{tableRecord: record, keys: newKeySchema(record.Keys, kinds)}
	for _, x := range record.Indexes {
		t.indexes = append(t.indexes, newIndex(x, t.keys, kinds))
	}
	// By name: the order in which AWS checks and names them.
	slices.SortFunc(t.indexes, func(a, b *index) int { return strings.Compare(a.Name, b.Name) })
	return t
}

func newKeySchema(elements []keySchemaElement, kinds map[string]attr.Kind) keySchema {
	keys := make(keySchema, len(elements))
	for i, element := range elements {
		keys[i] = keyAttribute{element.AttributeName, kinds[element.AttributeName]}
	}
	return keys
}

func newIndex(record indexRecord, tableKeys keySchema, kinds map[string]attr.Kind) *index {
	x := &index{indexRecord: record, keys: newKeySchema(record.Keys, kinds)}
	if record.Projection.ProjectionType == "ALL" {
		return x
	}
	x.included = map[string]bool{}
	for _, key := range slices.Concat(tableKeys, x.keys) {
		x.included[key.Name] = true
	}
	for _, name := range record.Projection.NonKeyAttributes {
		x.included[name] = true
	}
	return x
}

func (t *table) index(name string) *index {
	for _, x := range t.indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// table finds a table for a data operation; the catalog must be held.
func (db *DB) table(ref string) (*table, error) {
	t, ok := db.tables[tableNameOf(ref)]
	if !ok {
		return nil, errTableNotFound
	}
	return t, nil
}

func catalogKey(name string) []byte { return append([]byte{spaceCatalog}, name...) }

// loadCatalog reads all streams and tables, and the next free number.
func (db *DB) loadCatalog() error {
	value, err := db.read([]byte{spaceNextID})
	if err != nil {
		return err
	}
	switch len(value) {
	case 0:
		db.nextID = 1
	case numberBytes:
		db.nextID = binary.BigEndian.Uint32(value)
	default:
		return errors.New("damaged table counter")
	}
	if err := db.loadStreams(); err != nil {
		return err
	}
	return db.each([]byte{spaceCatalog}, func(_, value []byte) error {
		var record tableRecord
		if err := json.Unmarshal(value, &record); err != nil {
			return fmt.Errorf("damaged table record: %w", err)
		}
		t := newTable(record)
		db.tables[record.Name] = t
		return db.linkStream(t)
	})
}

// newNumber takes the next number of the key space; the catalog must be held
// for writing, and the batch that uses the number must be committed.
func (db *DB) newNumber(batch *pebble.Batch) (uint32, error) {
	number := db.nextID
	db.nextID++
	return number, batch.Set([]byte{spaceNextID}, binary.BigEndian.AppendUint32(nil, db.nextID), nil) //nolint:wrapcheck // in memory; callers name the operation
}

// saveTable writes a table's record, with what else is in the batch, and makes it
// the one in use.
func (db *DB) saveTable(batch *pebble.Batch, record tableRecord, streaming *streamChange) (*table, error) {
	value, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("encoding table %s: %w", record.Name, err)
	}
	if err := batch.Set(catalogKey(record.Name), value, nil); err != nil {
		return nil, fmt.Errorf("writing table %s: %w", record.Name, err)
	}
	if err := db.folder.CommitSync(batch); err != nil {
		return nil, fmt.Errorf("writing table %s: %w", record.Name, err)
	}
	t := newTable(record)
	db.tables[record.Name] = t
	streaming.made(db)
	return t, db.linkStream(t)
}

// countersOf reads the counters of a table or index.
func (db *DB) countersOf(number uint32) (counters, error) {
	value, err := db.read(spaceKey(spaceCounters, number))
	if err != nil || value == nil {
		return counters{}, err
	}
	return parseCounters(value)
}

// read returns a copy of the value of a key, nil when there is none.
func (db *DB) read(key []byte) ([]byte, error) { return readFrom(db.folder.DB, key) }

func readFrom(reader pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := reader.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	value = append([]byte{}, value...)
	if err := closer.Close(); err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	return value, nil
}

// each calls visit for every key that begins with prefix, in order; key and
// value are valid during the call.
func (db *DB) each(prefix []byte, visit func(key, value []byte) error) error {
	iterator, err := db.folder.DB.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: prefixEnd(prefix)})
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	for valid := iterator.First(); valid && err == nil; valid = iterator.Next() {
		err = visit(iterator.Key(), iterator.Value())
	}
	return errors.Join(err, iterator.Error(), iterator.Close())
}

// discard ends a batch, written or not. An error could only tell that it has
// ended already.
func discard(batch *pebble.Batch) { _ = batch.Close() }

// dropRange adds the deletion of all keys that begin with prefix.
func dropRange(batch *pebble.Batch, prefix []byte) error {
	return batch.DeleteRange(prefix, prefixEnd(prefix), nil) //nolint:wrapcheck // in memory; callers name the operation
}
