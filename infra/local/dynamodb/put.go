package dynamodb

import (
	"slices"

	"devplatform/infra/local/dynamodb/attr"
	"devplatform/infra/local/dynamodb/expr"
)

// writeOptions are the parameters that PutItem, UpdateItem and DeleteItem share.
type writeOptions struct {
	ReturnConsumedCapacity              string
	ReturnItemCollectionMetrics         string
	ReturnValues                        string
	ReturnValuesOnConditionCheckFailure string
	Expected                            refused
	ConditionalOperator                 refused
}

// checkRenewed checks the enumerations. The renewed check of ReturnValues names
// neither member nor value, and misspells one of those that it would take.
func (o *writeOptions) checkRenewed(v *violations) {
	v.enum(o.ReturnConsumedCapacity, "returnConsumedCapacity", capacityModes)
	if o.ReturnValues != "" && !slices.Contains(returnValues, o.ReturnValues) {
		v.texts = append(v.texts, badReturnValues)
	}
	v.enum(o.ReturnItemCollectionMetrics, "returnItemCollectionMetrics", metricsModes)
	v.enum(o.ReturnValuesOnConditionCheckFailure, "returnValuesOnConditionCheckFailure", failureReturns)
}

const badReturnValues = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"

func (o *writeOptions) checkReturnValues(v *violations) {
	v.enum(o.ReturnValues, "returnValues", returnValues)
}

func (o *writeOptions) checkMetrics(v *violations) {
	v.enum(o.ReturnItemCollectionMetrics, "returnItemCollectionMetrics", metricsModes)
}

func (o *writeOptions) legacy() []parameter {
	return []parameter{{"Expected", bool(o.Expected)}, {"ConditionalOperator", bool(o.ConditionalOperator)}}
}

// checkOldOnly refuses return values that only UpdateItem has.
func (o *writeOptions) checkOldOnly() error {
	switch o.ReturnValues {
	case "", "NONE", "ALL_OLD":
		return nil
	}
	return invalid("ReturnValues can only be ALL_OLD or NONE")
}

type writeResponse struct {
	Attributes       attr.Item         `json:",omitzero"`
	ConsumedCapacity *consumedCapacity `json:",omitzero"`
}

// respond renders what a write consumed. There are no local indexes, hence no
// item collections, hence no metrics of them.
func (o *writeOptions) respond(c change, attributes attr.Item) *writeResponse {
	var used consumed
	used.addWrite(c.table, c.units, 1)
	return &writeResponse{
		Attributes:       attributes,
		ConsumedCapacity: used.report(o.ReturnConsumedCapacity, c.table.Name, plainUnits),
	}
}

// oldItem is what a put or delete returns of the item before.
func (o *writeOptions) oldItem(c change) attr.Item {
	if o.ReturnValues == "ALL_OLD" {
		return c.old
	}
	return nil
}

// require fails with ConditionalCheckFailedException when the item does not
// match, with the item in it if asked for.
func require(condition *expr.Condition, item attr.Item, returnOnFailure string) error {
	if matches(condition, item) {
		return nil
	}
	if returnOnFailure != "ALL_OLD" {
		item = nil
	}
	return errConditionFailed(item)
}

// itemWrite is what PutItem, UpdateItem and DeleteItem have in common.
type itemWrite struct {
	tableRef
	expressions
	writeOptions
}

// checkComplete is the check of the members of a request that has its Item or Key.
func (in *itemWrite) checkComplete() (violations, error) {
	var v violations
	if err := in.checkEmpty(); err != nil {
		return v, err
	}
	in.check(&v) // the table's name
	in.checkRenewed(&v)
	return v, nil
}

// checkIncomplete is the check of a request without its Item or Key: the older one, of all members, with those of
// between after the table's name.
func (in *itemWrite) checkIncomplete(between func(v *violations)) error {
	var v violations
	v.enum(in.ReturnConsumedCapacity, "returnConsumedCapacity", capacityModes)
	in.check(&v)
	between(&v)
	v.enum(in.ReturnValuesOnConditionCheckFailure, "returnValuesOnConditionCheckFailure", failureReturns)
	return v.err()
}

// checkWhole checks the content of a write that replaces or removes an item as a whole: attributes are its Item or Key.
func (in *itemWrite) checkWhole(attributes attr.Item) (*parsed, error) {
	if err := refuseLegacy(in.legacy(), in.given()); err != nil {
		return nil, err
	}
	if err := in.checkPlaceholders(""); err != nil {
		return nil, err
	}
	if err := attributes.Validate(); err != nil {
		return nil, err
	}
	if err := in.checkOldOnly(); err != nil {
		return nil, err
	}
	return in.parseRenewed()
}

type putItemRequest struct {
	itemWrite
	Item attr.Item
}

func (in *putItemRequest) check() (*parsed, error) {
	if err := in.checkMembers(); err != nil {
		return nil, err
	}
	p, err := in.checkWhole(in.Item)
	if err != nil {
		return nil, enveloped(err)
	}
	if in.Item.Size() > maxItemBytes {
		return nil, errItemTooLarge
	}
	return p, nil
}

func (in *putItemRequest) checkMembers() error {
	if in.Item == nil {
		return in.checkIncomplete(func(v *violations) {
			v.required(false, "item")
			in.checkReturnValues(v)
			in.checkMetrics(v)
		})
	}
	v, err := in.checkComplete()
	if err != nil {
		return err
	}
	return v.err()
}

var errItemTooLarge = invalid("Item size has exceeded the maximum allowed size")

func (db *DB) putItem(in *putItemRequest) (*writeResponse, error) {
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
	if err := t.checkItemKeys(in.Item); err != nil {
		return nil, err
	}
	if err := t.checkScalars(p); err != nil {
		return nil, err
	}
	c, err := db.write(t, t.itemKey(in.Item), func(old attr.Item) (attr.Item, error) {
		return in.Item, require(p.condition, old, in.ReturnValuesOnConditionCheckFailure)
	})
	if err != nil {
		return nil, err
	}
	return in.respond(c, in.oldItem(c)), nil
}
