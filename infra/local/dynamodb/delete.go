package dynamodb

import "devplatform/infra/local/dynamodb/attr"

type deleteItemRequest struct {
	itemWrite
	Key attr.Item
}

func (in *deleteItemRequest) check() (*parsed, error) {
	if err := in.checkMembers(); err != nil {
		return nil, err
	}
	p, err := in.checkWhole(in.Key)
	if err != nil {
		return nil, enveloped(err)
	}
	return p, nil
}

func (in *deleteItemRequest) checkMembers() error {
	if in.Key == nil {
		return in.checkIncomplete(func(v *violations) {
			in.checkReturnValues(v)
			in.checkMetrics(v)
			v.required(false, "key")
		})
	}
	v, err := in.checkComplete()
	if err != nil {
		return err
	}
	return v.err()
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
