package dynamodb

import "devplatform/infra/local/dynamodb/attr"

type deleteItemRequest struct {
	tableRef
	expressions
	writeOptions
	Key attr.Item
}

func (in *deleteItemRequest) check() (*parsed, error) {
	if err := in.checkEmpty(); err != nil {
		return nil, err
	}
	var v violations
	v.required(in.Key != nil, "key")
	in.writeOptions.check(&v)
	in.tableRef.check(&v)
	if err := v.err(); err != nil {
		return nil, err
	}
	if err := refuseLegacy(in.legacy(), in.given()); err != nil {
		return nil, err
	}
	if err := in.checkPlaceholders("ConditionExpression is null"); err != nil {
		return nil, err
	}
	if err := in.Key.Validate(); err != nil {
		return nil, err
	}
	if err := in.checkOldOnly(); err != nil {
		return nil, err
	}
	return in.parse()
}

func (db *DB) deleteItem(in *deleteItemRequest) (*writeResponse, error) {
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
	if err := t.checkScalars(p); err != nil {
		return nil, err
	}
	c, err := db.write(t, t.itemKey(in.Key), func(old attr.Item) (attr.Item, error) {
		return nil, require(p.condition, old, in.ReturnValuesOnConditionCheckFailure)
	})
	if err != nil {
		return nil, err
	}
	return in.respond(c, in.oldItem(c)), nil
}
