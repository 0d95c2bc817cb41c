package dynamodb

import (
	"devplatform/infra/local/dynamodb/attr"
)

// keySchema is one or two key attributes: the hash key, and the range key if any.
type keySchema []keyAttribute

type keyAttribute struct {
	Name string
	Kind attr.Kind
}

// has says whether an attribute is part of the key.
func (s keySchema) has(name string) bool {
	for _, key := range s {
		if key.Name == name {
			return true
		}
	}
	return false
}

// of returns an item's key attributes.
func (s keySchema) of(item attr.Item) attr.Item {
	key := make(attr.Item, len(s))
	for _, k := range s {
		key[k.Name] = item[k.Name]
	}
	return key
}

// covers says whether an item has all key attributes, each of its type and not
// empty: only then it is in the index.
func (s keySchema) covers(item attr.Item) bool {
	for _, key := range s {
		if value := item[key.Name]; value.Kind != key.Kind || emptyKind(value) != "" {
			return false
		}
	}
	return true
}

const errKeyMismatch = "The provided key element does not match the schema"

// checkKey checks the Key of a request: exactly the table's key attributes,
// each of its type, not empty, not too long.
func (t *table) checkKey(key attr.Item) error {
	if len(key) != len(t.keys) {
		return invalid(errKeyMismatch)
	}
	for i, k := range t.keys {
		value, ok := key[k.Name]
		if !ok || value.Kind != k.Kind {
			return invalid(errKeyMismatch)
		}
		if err := checkKeyValue(value, k.Name, i > 0); err != nil {
			return err
		}
	}
	return nil
}

// checkItemKeys checks the key attributes of a whole item: those of the table,
// then those of its indexes, which may be absent but not of another type.
func (t *table) checkItemKeys(item attr.Item) error {
	for i, k := range t.keys {
		value, ok := item[k.Name]
		if !ok {
			return invalidParameters("Missing the key %s in the item", k.Name)
		}
		if value.Kind != k.Kind {
			return invalidParameters("Type mismatch for key %s expected: %s actual: %s", k.Name, k.Kind, value.Kind)
		}
		if err := checkKeyValue(value, k.Name, i > 0); err != nil {
			return err
		}
	}
	return t.checkIndexKeys(item)
}

// checkIndexKeys checks the attributes of an item that are keys of indexes.
func (t *table) checkIndexKeys(item attr.Item) error {
	for _, x := range t.indexes {
		for i, k := range x.keys {
			value, ok := item[k.Name]
			if !ok {
				continue
			}
			if value.Kind != k.Kind {
				return invalidParameters("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", k.Name, k.Kind, value.Kind, x.Name)
			}
			if empty := emptyKind(value); empty != "" {
				return upFront("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "+
					"The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s", empty, x.Name, k.Name)
			}
			if err := checkKeyLength(value, i > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkKeyValue(value attr.Value, name string, isRange bool) error {
	if empty := emptyKind(value); empty != "" {
		return upFront("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", empty, name)
	}
	return checkKeyLength(value, isRange)
}

func emptyKind(value attr.Value) string {
	switch {
	case value.Kind == attr.S && value.S == "":
		return "string"
	case value.Kind == attr.B && len(value.B) == 0:
		return "binary"
	}
	return ""
}

func checkKeyLength(value attr.Value, isRange bool) error {
	size := len(value.S) + len(value.B)
	if isRange && size > maxRangeKeyBytes {
		return invalidParameters("Aggregated size of all range keys has exceeded the size limit of %d bytes", maxRangeKeyBytes)
	}
	if !isRange && size > maxHashKeyBytes {
		return invalidParameters("Size of hashkey has exceeded the maximum size limit of%d bytes", maxHashKeyBytes)
	}
	return nil
}
