package export

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// list selects items of a table, and the attributes that the document has. Other attributes are not read.
type list struct {
	table      db.Table
	prefix     db.Prefix
	attributes string // separated by spaces
	// inner is the attribute that contains a list of records, "" if each item is a record.
	inner string
	// by is the attribute with the ID of the user who owns a record, such as createdBy or createdBy.ID. "" means that all
	// records belong to the user of the document.
	by string
	// key is the name of the field that contains the part of the sort key after the prefix. "" means that the records have
	// no such field.
	key string
	// parent is the ID of the project of the records, "" if there is none.
	parent string
}

// record is a record of the document: the fields by name.
type record = map[string]any

// all calls write with each record.
func (l list) all(ctx context.Context, write func(any) error) error {
	return l.of("")(ctx, write)
}

// of returns a function that calls write with each record that belongs to a user.
func (l list) of(userID string) func(ctx context.Context, write func(any) error) error {
	wanted := strings.Fields(l.attributes)
	if l.inner != "" {
		wanted = []string{l.inner}
	} else if l.by != "" {
		outer, _, _ := strings.Cut(l.by, ".")
		wanted = append(wanted, outer)
	}
	return func(ctx context.Context, write func(any) error) error {
		return l.table.Each(ctx, l.prefix, func(item db.Item) error {
			var decoded record
			if err := attributevalue.UnmarshalMap(item, &decoded); err != nil {
				return fmt.Errorf("decode an item: %w", err)
			}
			for _, found := range l.recordsOf(decoded) {
				if l.by != "" && field(found, l.by) != userID {
					continue
				}
				if err := write(l.pick(found, l.prefix.Rest(db.KeyOf(item)))); err != nil {
					return err
				}
			}
			return nil
		}, wanted...)
	}
}

// recordsOf returns the records of an item.
func (l list) recordsOf(item record) (found []record) {
	if l.inner == "" {
		return []record{item}
	}
	elements, _ := item[l.inner].([]any)
	for _, element := range elements {
		if r, ok := element.(record); ok {
			found = append(found, r)
		}
	}
	return found
}

// field returns the value of a field, or of a field in a field, such as createdBy.ID.
func field(r record, name string) any {
	outer, inner, isNested := strings.Cut(name, ".")
	if nested, ok := r[outer].(record); ok && isNested {
		return nested[inner]
	}
	return r[outer]
}

// pick returns the fields of a record that the document has. rest is the part of the sort key after the prefix.
func (l list) pick(r record, rest string) record {
	picked := record{}
	for name := range strings.FieldsSeq(l.attributes) {
		if value, ok := r[name]; ok {
			picked[name] = value
		}
	}
	if expires, ok := r[db.AttrExpiresAt].(float64); ok {
		picked[db.AttrExpiresAt] = clock.Stamp(time.Unix(int64(expires), 0))
	}
	if l.key != "" {
		picked[l.key] = rest
	}
	if l.parent != "" {
		picked["projectId"] = l.parent
	}
	return picked
}
