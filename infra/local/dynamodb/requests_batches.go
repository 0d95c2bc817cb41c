package dynamodb

import (
	"devplatform/infra/local/dynamodb/values"
)

// keysAndAttributes is the part of a BatchGetItem that reads one table.
type keysAndAttributes struct {
	Keys           []values.Item
	ConsistentRead bool `json:",omitzero"`
	placeholders
	ProjectionExpression *string `json:",omitzero"`
}

type batchGetItemRequest struct {
	RequestItems           map[string]*keysAndAttributes
	ReturnConsumedCapacity string
}

func (in *batchGetItemRequest) check() error {
	err := first(checkCapacity(in.ReturnConsumedCapacity), length("RequestItems", len(in.RequestItems), 1, maxBatchGets))
	total := 0
	for name, get := range in.RequestItems {
		if get == nil {
			return required("Keys", false)
		}
		total += len(get.Keys)
		err = first(err, checkTable(name), length("Keys", len(get.Keys), 1, maxBatchGets),
			get.parse(sources{projection: get.ProjectionExpression}))
	}
	return first(err, length("RequestItems", total, 1, maxBatchGets))
}

type batchGetItemResponse struct {
	Responses        map[string][]values.Item
	UnprocessedKeys  map[string]*keysAndAttributes
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

// writeRequest is one write of a BatchWriteItem.
type writeRequest struct {
	PutRequest    *struct{ Item values.Item }
	DeleteRequest *struct{ Key values.Item }
}

func (r *writeRequest) check() error {
	switch {
	case (r.PutRequest == nil) == (r.DeleteRequest == nil):
		return invalid("A write request must contain exactly one of PutRequest and DeleteRequest")
	case r.DeleteRequest != nil:
		return required("Key", r.DeleteRequest.Key != nil)
	}
	return first(required("Item", r.PutRequest.Item != nil), checkItemSize(r.PutRequest.Item))
}

type batchWriteItemRequest struct {
	RequestItems                map[string][]writeRequest
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

func (in *batchWriteItemRequest) check() error {
	err := first(checkCapacity(in.ReturnConsumedCapacity), checkMetrics(in.ReturnItemCollectionMetrics))
	total := 0
	for name, requests := range in.RequestItems {
		total += len(requests)
		err = first(err, checkTable(name), length("RequestItems", len(requests), 1, maxBatchWrites))
		for i := range requests {
			err = first(err, requests[i].check())
		}
	}
	return first(err, length("RequestItems", total, 1, maxBatchWrites))
}

// batchWriteItemResponse is the output of BatchWriteItem. The embedded DynamoDB processes all items.
type batchWriteItemResponse struct {
	UnprocessedItems map[string][]writeRequest
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

// actionKind is the kind of an action in a transaction.
type actionKind string

// The kinds of actions.
const (
	actionCheck  actionKind = "conditionCheck"
	actionPut    actionKind = "put"
	actionUpdate actionKind = "update"
	actionDelete actionKind = "delete"
)

// action is one action of a TransactWriteItems.
type action struct {
	TableName string
	placeholders
	ConditionExpression                 *string
	UpdateExpression                    *string
	Item                                values.Item
	Key                                 values.Item
	ReturnValuesOnConditionCheckFailure string

	Kind actionKind `json:"-"` // set by the request's check
}

func (a *action) check() error {
	isPut, isUpdate := a.Kind == actionPut, a.Kind == actionUpdate
	switch {
	case isPut == (a.Item == nil) || isPut != (a.Key == nil):
		return invalid("A Put must have an Item, and other actions a Key")
	case isUpdate != (a.UpdateExpression != nil):
		return invalid("An Update must have an UpdateExpression, and other actions must not")
	case a.Kind == actionCheck && a.ConditionExpression == nil:
		return required("ConditionExpression", false)
	}
	return first(
		checkTable(a.TableName), checkFailureReturn(a.ReturnValuesOnConditionCheckFailure), checkItemSize(a.Item),
		a.parse(sources{condition: a.ConditionExpression, update: a.UpdateExpression}),
	)
}

// transactWriteItem contains one action.
type transactWriteItem struct {
	ConditionCheck *action
	Put            *action
	Update         *action
	Delete         *action
}

// action returns the action. It returns nil if there is none, or more than one.
func (i *transactWriteItem) action() (found *action) {
	kinds := []actionKind{actionCheck, actionPut, actionUpdate, actionDelete}
	for n, a := range []*action{i.ConditionCheck, i.Put, i.Update, i.Delete} {
		switch {
		case a == nil:
		case found != nil:
			return nil
		default:
			found, a.Kind = a, kinds[n]
		}
	}
	return found
}

type transactWriteItemsRequest struct {
	TransactItems               []transactWriteItem
	ClientRequestToken          string
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

func (in *transactWriteItemsRequest) check() error {
	err := first(
		length("TransactItems", len(in.TransactItems), 1, maxTransactItems),
		length("ClientRequestToken", len(in.ClientRequestToken), 0, maxTokenLength),
		checkCapacity(in.ReturnConsumedCapacity),
		checkMetrics(in.ReturnItemCollectionMetrics),
	)
	size := 0
	for i := range in.TransactItems {
		a := in.TransactItems[i].action()
		if err == nil && a == nil {
			err = invalid("TransactItems can only contain one of Check, Put, Update or Delete")
		}
		if err != nil {
			return err
		}
		err = a.check()
		size += a.Item.Size() + a.Key.Size() + a.ExpressionAttributeValues.Size()
	}
	return first(err, checkTransactionSize(size))
}

type transactWriteItemsResponse struct {
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

// transactGet is one read of a TransactGetItems.
type transactGet struct {
	TableName string
	Key       values.Item
	placeholders
	ProjectionExpression *string
}

type transactGetItemsRequest struct {
	TransactItems          []struct{ Get *transactGet }
	ReturnConsumedCapacity string
}

func (in *transactGetItemsRequest) check() error {
	err := first(
		length("TransactItems", len(in.TransactItems), 1, maxTransactItems),
		checkCapacity(in.ReturnConsumedCapacity),
	)
	for _, item := range in.TransactItems {
		get := item.Get
		if err = first(err, required("Get", get != nil)); err != nil {
			return err
		}
		err = first(checkTable(get.TableName), required("Key", get.Key != nil),
			get.parse(sources{projection: get.ProjectionExpression}))
	}
	return err
}

type transactGetItemsResponse struct {
	Responses        []getItemResponse
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

// checkTransactionSize returns an error if a transaction reads too many bytes.
func checkTransactionSize(size int) error {
	if size > maxTransactBytes {
		return invalid("The aggregate size of the items in the transaction exceeds the limit of 4 MB")
	}
	return nil
}
