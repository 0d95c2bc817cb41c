package dynamodb

import (
	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

type getItemRequest struct {
	TableName string
	placeholders
	ProjectionExpression   *string
	Key                    values.Item
	ConsistentRead         bool
	ReturnConsumedCapacity string
}

func (in *getItemRequest) check() error {
	return first(
		checkTable(in.TableName), checkCapacity(in.ReturnConsumedCapacity), required("Key", in.Key != nil),
		in.parse(expressionTexts{projection: in.ProjectionExpression}),
	)
}

// getItemResponse is the output of GetItem, and one response of TransactGetItems.
type getItemResponse struct {
	Item             values.Item       `json:",omitzero"`
	ConsumedCapacity *consumedCapacity `json:",omitzero"`
}

type itemWrite struct {
	TableName string
	placeholders
	ConditionExpression                 *string
	ReturnConsumedCapacity              string
	ReturnItemCollectionMetrics         string // there are no item collections, so there are no metrics
	ReturnValues                        string
	ReturnValuesOnConditionCheckFailure string
}

// check checks a request with an Item or a Key, and parses its expressions.
func (in *itemWrite) check(member string, item values.Item, update *string, returnValues ...string) error {
	return first(
		checkTable(in.TableName),
		checkCapacity(in.ReturnConsumedCapacity),
		checkMetrics(in.ReturnItemCollectionMetrics),
		oneOf("ReturnValues", in.ReturnValues, append(returnValues, "NONE", "ALL_OLD")...),
		checkFailureReturn(in.ReturnValuesOnConditionCheckFailure),
		required(member, item != nil),
		checkItemSize(item),
		in.parse(expressionTexts{condition: in.ConditionExpression, update: update}),
	)
}

type putItemRequest struct {
	itemWrite
	Item values.Item
}

func (in *putItemRequest) check() error { return in.itemWrite.check("Item", in.Item, nil) }

type deleteItemRequest struct {
	itemWrite
	Key values.Item
}

func (in *deleteItemRequest) check() error { return in.itemWrite.check("Key", in.Key, nil) }

type updateItemRequest struct {
	itemWrite
	Key              values.Item
	UpdateExpression *string
}

func (in *updateItemRequest) check() error {
	return in.itemWrite.check("Key", in.Key, in.UpdateExpression, "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW")
}

type itemWriteResponse struct {
	Attributes       values.Item       `json:",omitzero"`
	ConsumedCapacity *consumedCapacity `json:",omitzero"`
}

func (db *DB) getItem(in *getItemRequest) (*getItemResponse, error) {
	c, err := db.locate(in.TableName, in.Key, &in.Parsed)
	if err != nil {
		return nil, err
	}
	item, err := db.store.get(c.Key)
	if err != nil {
		return nil, err
	}
	used := usage{mode: in.ReturnConsumedCapacity}
	used.of(c.Table).table = readUnits(item.Size()) * consistency(in.ConsistentRead)
	return &getItemResponse{Item: in.Parsed.Projection.Apply(item), ConsumedCapacity: used.single()}, nil
}

// locate returns the change of a request with a key. Its New item is not set.
func (db *DB) locate(table string, key values.Item, e *parsedExpressions) (c change, err error) {
	if c.Table, err = db.table(table); err != nil {
		return c, err
	}
	if err := c.Table.checkKey(key); err != nil {
		return c, err
	}
	if err := c.Table.checkTargets(e.Update); err != nil {
		return c, err
	}
	c.Key = itemKey(c.Table, key)
	return c, c.Table.checkScalars(e.Paths)
}

// locateItem returns the change of a request with a whole item.
func (db *DB) locateItem(table string, item values.Item, e *parsedExpressions) (c change, err error) {
	if c.Table, err = db.table(table); err != nil {
		return c, err
	}
	if err := c.Table.checkItem(item); err != nil {
		return c, err
	}
	c.Key, c.New = itemKey(c.Table, item), item
	return c, c.Table.checkScalars(e.Paths)
}

func (db *DB) putItem(in *putItemRequest) (*itemWriteResponse, error) {
	c, err := db.locateItem(in.TableName, in.Item, &in.Parsed)
	if err != nil {
		return nil, err
	}
	return db.write(&in.itemWrite, c, nil)
}

func (db *DB) deleteItem(in *deleteItemRequest) (*itemWriteResponse, error) {
	c, err := db.locate(in.TableName, in.Key, &in.Parsed)
	if err != nil {
		return nil, err
	}
	return db.write(&in.itemWrite, c, nil)
}

func (db *DB) updateItem(in *updateItemRequest) (*itemWriteResponse, error) {
	c, err := db.locate(in.TableName, in.Key, &in.Parsed)
	if err != nil {
		return nil, err
	}
	return db.write(&in.itemWrite, c, in.Key)
}

// write makes a change if the item meets the condition. updateKey is the key of an item to update. It is nil if the
// change has its New item.
func (db *DB) write(in *itemWrite, c change, updateKey values.Item) (*itemWriteResponse, error) {
	var touched []expressions.Path
	changes := []change{c}
	err := db.store.write(changes, func() (err error) {
		c := &changes[0]
		if err = in.Parsed.require(c.Old, in.ReturnValuesOnConditionCheckFailure); err == nil && updateKey != nil {
			c.New, touched, err = c.Table.update(in.Parsed.Update, updateKey, c.Old)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c = changes[0]
	used := usage{mode: in.ReturnConsumedCapacity}
	used.addWrites(changes, 1)
	response := &itemWriteResponse{ConsumedCapacity: used.single()}
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
