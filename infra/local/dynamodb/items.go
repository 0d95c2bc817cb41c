package dynamodb

import (
	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/storage"
	"devplatform/infra/local/dynamodb/values"
	"devplatform/infra/local/dynamodb/wire"
)

func (db *DB) getItem(in *wire.GetItemRequest) (*wire.GetItemResponse, error) {
	e, err := in.Check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	c, err := db.locate(in.TableName, in.Key, e)
	if err != nil {
		return nil, err
	}
	item, err := db.store.Get(c.Key)
	if err != nil {
		return nil, err
	}
	read := consumed{table: storage.ReadUnits(item.Size()) * consistency(in.ConsistentRead)}
	return &wire.GetItemResponse{
		Item:             e.Project(item),
		ConsumedCapacity: read.report(in.ReturnConsumedCapacity, c.Table.Name, plainUnits),
	}, nil
}

// locate returns a change without its new item for a request with a key. The catalog must be locked.
func (db *DB) locate(table string, key values.Item, e *wire.Expressions) (c storage.Change, err error) {
	if c.Table, err = db.table(table); err != nil {
		return c, err
	}
	if err := c.Table.CheckKey(key); err != nil {
		return c, err
	}
	if err := c.Table.CheckTargets(e.Update); err != nil {
		return c, err
	}
	c.Key = storage.ItemKey(c.Table, key)
	return c, c.Table.CheckScalars(e.Paths())
}

// locateItem is like locate for a request with a whole item.
func (db *DB) locateItem(table string, item values.Item, e *wire.Expressions) (c storage.Change, err error) {
	if c.Table, err = db.table(table); err != nil {
		return c, err
	}
	if err := c.Table.CheckItem(item); err != nil {
		return c, err
	}
	c.Key = storage.ItemKey(c.Table, item)
	return c, c.Table.CheckScalars(e.Paths())
}

func (db *DB) putItem(in *wire.PutItemRequest) (*wire.ItemWriteResponse, error) {
	e, err := in.Check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	c, err := db.locateItem(in.TableName, in.Item, e)
	if err != nil {
		return nil, err
	}
	return db.write(&in.ItemWrite, c, e, func(values.Item) (values.Item, []expressions.Path, error) { return in.Item, nil, nil })
}

func (db *DB) deleteItem(in *wire.DeleteItemRequest) (*wire.ItemWriteResponse, error) {
	e, err := in.Check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	c, err := db.locate(in.TableName, in.Key, e)
	if err != nil {
		return nil, err
	}
	return db.write(&in.ItemWrite, c, e, func(values.Item) (values.Item, []expressions.Path, error) { return nil, nil, nil })
}

func (db *DB) updateItem(in *wire.UpdateItemRequest) (*wire.ItemWriteResponse, error) {
	e, err := in.Check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	c, err := db.locate(in.TableName, in.Key, e)
	if err != nil {
		return nil, err
	}
	return db.write(&in.ItemWrite, c, e, func(old values.Item) (values.Item, []expressions.Path, error) {
		return c.Table.Update(e.Update, in.Key, old)
	})
}

// write writes an item if it meets the condition. change returns the new item and the paths that have changed.
func (db *DB) write(
	in *wire.ItemWrite, c storage.Change, e *wire.Expressions,
	change func(old values.Item) (values.Item, []expressions.Path, error),
) (*wire.ItemWriteResponse, error) {
	var touched []expressions.Path
	c, err := db.store.Write(c.Table, c.Key, func(old values.Item) (item values.Item, err error) {
		if err := e.Require(old, in.ReturnValuesOnConditionCheckFailure); err != nil {
			return nil, err
		}
		item, touched, err = change(old)
		return item, err
	})
	if err != nil {
		return nil, err
	}
	var used consumed
	used.addWrite(&c, 1)
	response := &wire.ItemWriteResponse{ConsumedCapacity: used.report(in.ReturnConsumedCapacity, c.Table.Name, plainUnits)}
	switch in.ReturnValues {
	case "ALL_OLD":
		response.Attributes = c.Old
	case "ALL_NEW":
		response.Attributes = c.New
	case "UPDATED_OLD":
		response.Attributes = expressions.Project(c.Old, touched)
	case "UPDATED_NEW":
		response.Attributes = expressions.Project(c.New, touched)
	}
	if len(response.Attributes) == 0 {
		response.Attributes = nil
	}
	return response, nil
}
