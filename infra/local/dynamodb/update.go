package dynamodb

import (
	"slices"

	"devplatform/infra/local/dynamodb/attr"
	"devplatform/infra/local/dynamodb/expr"
)

type updateItemRequest struct {
	itemWrite
	Key              attr.Item
	AttributeUpdates refused
}

func (in *updateItemRequest) check() (*parsed, error) {
	if err := in.checkMembers(); err != nil {
		return nil, err
	}
	p, err := in.checkContent()
	if err != nil {
		return nil, enveloped(err)
	}
	return p, nil
}

func (in *updateItemRequest) checkMembers() error {
	if in.Key == nil {
		return in.checkIncomplete(func(v *violations) {
			in.checkMetrics(v)
			in.checkReturnValues(v)
			v.required(false, "key")
		})
	}
	v, err := in.checkComplete()
	if err != nil {
		return err
	}
	// UpdateItem is content with one bad ReturnValues where its sisters go on.
	if slices.Contains(v.texts, badReturnValues) {
		v.texts = []string{badReturnValues}
	}
	return v.err()
}

func (in *updateItemRequest) checkContent() (*parsed, error) {
	legacy := append([]parameter{{"AttributeUpdates", bool(in.AttributeUpdates)}}, in.legacy()...)
	if err := refuseLegacy(legacy, in.given()); err != nil {
		return nil, err
	}
	if err := in.checkPlaceholders(""); err != nil {
		return nil, err
	}
	if err := in.Key.Validate(); err != nil {
		return nil, err
	}
	return in.parseRenewed()
}

// checkTargets refuses updates of key attributes.
func (t *table) checkTargets(update *expr.Update) error {
	if update == nil {
		return nil
	}
	for _, path := range update.Paths() {
		if t.keys.has(path.Root()) {
			return invalidParameters("Cannot update attribute %s. This attribute is part of the key", path.Root())
		}
	}
	return nil
}

// updated is the item after an update: a missing one is made from its key.
func (t *table) updated(update *expr.Update, key, old attr.Item) (attr.Item, []expr.Path, error) {
	apply, base := (*expr.Update).Apply, old
	if old == nil {
		apply, base = (*expr.Update).Create, key
	}
	if update == nil {
		return base, nil, nil
	}
	item, touched, err := apply(update, base)
	if err != nil {
		return nil, nil, err
	}
	if err := t.checkUpdatedIndexKeys(item, touched); err != nil {
		return nil, nil, err
	}
	if item.Size() > maxItemBytes {
		return nil, nil, invalid("Item size to update has exceeded the maximum allowed size")
	}
	return item, touched, nil
}

// checkUpdatedIndexKeys words an empty index key as AWS does for updates.
func (t *table) checkUpdatedIndexKeys(item attr.Item, touched []expr.Path) error {
	for _, path := range touched {
		for _, x := range t.indexes {
			if empty := emptyKind(item[path.Root()]); empty != "" && x.keys.has(path.Root()) {
				return upFront("One or more parameter values are not valid. The update expression attempted to update a secondary index key "+
					"to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty %s value.", empty)
			}
		}
	}
	return t.checkIndexKeys(item)
}

func (db *DB) updateItem(in *updateItemRequest) (*writeResponse, error) {
	p, err := in.check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	t, err := db.table(*in.TableName)
	if err != nil {
		return nil, err
	}
	if err := t.checkKey(in.Key); err != nil {
		return nil, err
	}
	if err := t.checkTargets(p.update); err != nil {
		return nil, err
	}
	if err := t.checkScalars(p); err != nil {
		return nil, err
	}
	var touched []expr.Path
	c, err := db.write(t, t.itemKey(in.Key), func(old attr.Item) (item attr.Item, err error) {
		if err := require(p.condition, old, in.ReturnValuesOnConditionCheckFailure); err != nil {
			return nil, err
		}
		item, touched, err = t.updated(p.update, in.Key, old)
		return item, err
	})
	if err != nil {
		return nil, err
	}
	return in.respond(c, returned(in.ReturnValues, c, touched)), nil
}

// returned are the attributes that ReturnValues asks for.
func returned(mode string, c change, touched []expr.Path) attr.Item {
	switch mode {
	case "ALL_OLD":
		return c.old
	case "ALL_NEW":
		return c.new
	case "UPDATED_OLD":
		return nonEmpty(expr.Project(c.old, touched))
	case "UPDATED_NEW":
		return nonEmpty(expr.Project(c.new, touched))
	}
	return nil
}

func nonEmpty(item attr.Item) attr.Item {
	if len(item) == 0 {
		return nil
	}
	return item
}
