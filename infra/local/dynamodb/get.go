package dynamodb

import (
	"devplatform/infra/local/dynamodb/attr"
)

type getItemRequest struct {
	tableRef
	expressions
	Key                    attr.Item
	ConsistentRead         bool
	ReturnConsumedCapacity string
	AttributesToGet        refused
}

type getItemResponse struct {
	Item             attr.Item         `json:",omitzero"`
	ConsumedCapacity *consumedCapacity `json:",omitzero"`
}

func (in *getItemRequest) check() (*parsed, error) {
	if err := in.checkEmpty(); err != nil {
		return nil, err
	}
	var v violations
	v.enum(in.ReturnConsumedCapacity, "returnConsumedCapacity", capacityModes)
	in.tableRef.check(&v)
	v.required(in.Key != nil, "key")
	if err := v.err(); err != nil {
		return nil, err
	}
	if err := refuseLegacy([]parameter{{"AttributesToGet", bool(in.AttributesToGet)}}, in.given()); err != nil {
		return nil, err
	}
	if err := in.checkPlaceholders(""); err != nil {
		return nil, err
	}
	if err := in.Key.Validate(); err != nil {
		return nil, err
	}
	return in.parse()
}

func (db *DB) getItem(in *getItemRequest) (*getItemResponse, error) {
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
	item, err := load(db.folder.DB, t.itemKey(in.Key))
	if err != nil {
		return nil, err
	}
	read := consumed{table: unitsOf(item.Size(), readUnitBytes) * consistency(in.ConsistentRead)}
	return &getItemResponse{
		Item:             project(p.projection, item),
		ConsumedCapacity: read.report(in.ReturnConsumedCapacity, t.Name, plainUnits),
	}, nil
}
