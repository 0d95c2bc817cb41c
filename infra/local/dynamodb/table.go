package dynamodb

import (
	"slices"
	"strings"

	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

// table is a table in use: its record, and values that depend on the record.
type table struct {
	tableRecord
	Key     keySchema
	Indexes []*index
	Stream  *stream // nil if it has none
}

type index struct {
	indexRecord
	Key keySchema
	// Included are the attributes of entries. It is nil if entries have all attributes.
	Included map[string]bool
}

// newTable returns the table of a record, without its stream.
func newTable(record tableRecord) *table {
	kinds := record.kinds()
	t := &table{tableRecord: record, Key: newKeySchema(record.Keys, kinds)}
	for _, x := range record.Indexes {
		t.Indexes = append(t.Indexes, newIndex(x, t.Key, kinds))
	}
	slices.SortFunc(t.Indexes, func(a, b *index) int { return strings.Compare(a.Name, b.Name) })
	return t
}

func newIndex(record indexRecord, tableKey keySchema, kinds map[string]values.Kind) *index {
	x := &index{indexRecord: record, Key: newKeySchema(record.Keys, kinds)}
	if record.Projection.ProjectionType == "ALL" {
		return x
	}
	x.Included = map[string]bool{}
	for _, key := range slices.Concat(tableKey, x.Key) {
		x.Included[key.Name] = true
	}
	for _, name := range record.Projection.NonKeyAttributes {
		x.Included[name] = true
	}
	return x
}

func (t *table) findIndex(name string) *index {
	for _, x := range t.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// entry returns an item's entry in the index, or nil if the index does not contain the item.
func (x *index) entry(item values.Item) values.Item {
	if item == nil || !x.Key.covers(item) {
		return nil
	}
	if x.Included == nil {
		return item
	}
	entry := make(values.Item, 0, len(x.Included))
	for _, a := range item {
		if x.Included[a.Name] {
			entry = append(entry, a)
		}
	}
	return entry
}

type keySchema []keyAttribute

type keyAttribute struct {
	Name     string
	Kind     values.Kind
	maxBytes int
}

func newKeySchema(elements []keySchemaElement, kinds map[string]values.Kind) keySchema {
	keys := make(keySchema, len(elements))
	for i, element := range elements {
		limit := []int{maxHashKeyBytes, maxRangeKeyBytes}[i]
		keys[i] = keyAttribute{element.AttributeName, kinds[element.AttributeName], limit}
	}
	return keys
}

func (s keySchema) has(name string) bool {
	return slices.ContainsFunc(s, func(key keyAttribute) bool { return key.Name == name })
}

// of returns the key attributes of an item.
func (s keySchema) of(item values.Item) values.Item {
	key := make(values.Item, 0, len(s))
	for _, k := range s {
		value, _ := item.Get(k.Name)
		key = key.Set(k.Name, value)
	}
	return key
}

// covers reports whether an item has a valid value for each key attribute. If not, an index does not contain the item.
func (s keySchema) covers(item values.Item) bool {
	for _, key := range s {
		if value, _ := item.Get(key.Name); value.Kind != key.Kind || isEmpty(value) {
			return false
		}
	}
	return true
}

// Limits of key attributes.
const (
	maxHashKeyBytes  = 2048
	maxRangeKeyBytes = 1024
)

// Errors of keys.
var (
	errKeyMismatch = invalid("The provided key element does not match the schema")
	// errEmptyKey rejects a whole transaction, unlike other errors of one action.
	errEmptyKey = invalid("One or more parameter values are not valid. " +
		"The AttributeValue for a key attribute cannot contain an empty string or binary value")
)

// checkKey checks that a request's key has exactly the table's key attributes.
func (t *table) checkKey(key values.Item) error {
	if len(key) != len(t.Key) {
		return errKeyMismatch
	}
	for _, k := range t.Key {
		value, _ := key.Get(k.Name)
		if value.Kind != k.Kind {
			return errKeyMismatch
		}
		if err := k.check(value); err != nil {
			return err
		}
	}
	return nil
}

// checkItem checks the attributes of an item that are keys of the table or of its indexes.
func (t *table) checkItem(item values.Item) error {
	for _, k := range t.Key {
		value, ok := item.Get(k.Name)
		if !ok {
			return invalid("One or more parameter values were invalid: Missing the key %s in the item", k.Name)
		}
		if err := k.check(value); err != nil {
			return err
		}
	}
	return t.checkIndexKeys(item)
}

// checkIndexKeys checks the attributes of an item that are keys of indexes. They can be missing.
func (t *table) checkIndexKeys(item values.Item) error {
	for _, x := range t.Indexes {
		for _, k := range x.Key {
			value, ok := item.Get(k.Name)
			if !ok {
				continue
			}
			if err := k.check(value); err != nil {
				return err
			}
		}
	}
	return nil
}

func isEmpty(value values.Value) bool {
	return value.Kind != values.N && value.S == ""
}

// check checks a value of a key attribute in an item, or a value that a key condition compares with it.
func (k keyAttribute) check(value values.Value) error {
	switch {
	case value.Kind != k.Kind:
		return invalid("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s",
			k.Name, k.Kind, value.Kind)
	case isEmpty(value):
		return errEmptyKey
	case len(value.S) > k.maxBytes:
		return invalid("One or more parameter values were invalid: The size of a hash key is limited to %d bytes, "+
			"and the size of a range key to %d bytes", maxHashKeyBytes, maxRangeKeyBytes)
	}
	return nil
}

// checkScalars rejects document paths that go into a key attribute.
func (t *table) checkScalars(paths []expressions.Path) error {
	for _, path := range paths {
		if path.IsNested() && t.isKey(path.Root()) {
			return invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: %s",
				path.Root())
		}
	}
	return nil
}

func (t *table) isKey(name string) bool {
	return t.Key.has(name) || slices.ContainsFunc(t.Indexes, func(x *index) bool { return x.Key.has(name) })
}

// update returns an item after an update. key is the item's key, and old is nil if the item does not exist. touched are
// the paths that have changed.
func (t *table) update(
	u *expressions.Update, key, old values.Item,
) (item values.Item, touched []expressions.Path, err error) {
	switch {
	case u == nil && old == nil:
		return key, nil, nil
	case u == nil:
		return old, nil, nil
	case old == nil:
		item, touched, err = u.Create(key)
	default:
		item, touched, err = u.Apply(old)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := t.checkIndexKeys(item); err != nil {
		return nil, nil, err
	}
	return item, touched, checkItemSize(item)
}

// checkTargets rejects an update of the table's key.
func (t *table) checkTargets(u *expressions.Update) error {
	for _, path := range u.Paths() {
		if t.Key.has(path.Root()) {
			return invalid("One or more parameter values were invalid: Cannot update attribute %s. "+
				"This attribute is part of the key", path.Root())
		}
	}
	return nil
}
