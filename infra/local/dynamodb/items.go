package dynamodb

import (
	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/storage"
	"devplatform/infra/local/dynamodb/values"
	"devplatform/infra/local/dynamodb/wire"
)

func (db *DB) getItem(in *wire.GetItemRequest) (*wire.GetItemResponse, error) {
	c, err := db.locate(in.TableName, in.Key, &in.Parsed)
	if err != nil {
		return nil, err
	}
	item, err := db.store.Get(c.Key)
	if err != nil {
		return nil, err
	}
	used := usage{mode: in.ReturnConsumedCapacity}
	used.of(c.Table).table = storage.ReadUnits(item.Size()) * consistency(in.ConsistentRead)
	return &wire.GetItemResponse{Item: in.Parsed.Projection.Apply(item), ConsumedCapacity: used.single()}, nil
}

// locate returns the change, without the new item, of a request with a key.
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
	return c, c.Table.CheckScalars(e.Paths)
}

// locateItem returns the change of a request with a whole item.
func (db *DB) locateItem(table string, item values.Item, e *wire.Expressions) (c storage.Change, err error) {
	if c.Table, err = db.table(table); err != nil {
		return c, err
	}
	if err := c.Table.CheckItem(item); err != nil {
		return c, err
	}
	c.Key, c.New = storage.ItemKey(c.Table, item), item
	return c, c.Table.CheckScalars(e.Paths)
}

func (db *DB) putItem(in *wire.PutItemRequest) (*wire.ItemWriteResponse, error) {
	c, err := db.locateItem(in.TableName, in.Item, &in.Parsed)
	if err != nil {
		return nil, err
	}
	return db.write(&in.ItemWrite, c, nil)
}

func (db *DB) deleteItem(in *wire.DeleteItemRequest) (*wire.ItemWriteResponse, error) {
	c, err := db.locate(in.TableName, in.Key, &in.Parsed)
	if err != nil {
		return nil, err
	}
	return db.write(&in.ItemWrite, c, nil)
}

func (db *DB) updateItem(in *wire.UpdateItemRequest) (*wire.ItemWriteResponse, error) {
	c, err := db.locate(in.TableName, in.Key, &in.Parsed)
	if err != nil {
		return nil, err
	}
	return db.write(&in.ItemWrite, c, in.Key)
}

// write makes a change if the item meets the condition. If updated is not nil, it is the key of an item to update.
func (db *DB) write(in *wire.ItemWrite, c storage.Change, updated values.Item) (*wire.ItemWriteResponse, error) {
	var touched []expressions.Path
	changes := []storage.Change{c}
	err := db.store.Write(changes, func() (err error) {
		c := &changes[0]
		if err = in.Parsed.Require(c.Old, in.ReturnValuesOnConditionCheckFailure); err == nil && updated != nil {
			c.New, touched, err = c.Table.Update(in.Parsed.Update, updated, c.Old)
		}
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	c = changes[0]
	used := usage{mode: in.ReturnConsumedCapacity}
	used.addWrites(changes, 1)
	response := &wire.ItemWriteResponse{ConsumedCapacity: used.single()}
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
