package wire

import (
	"devplatform/infra/local/dynamodb/values"
)

// KeysAndAttributes is the part of a BatchGetItem that reads one table.
type KeysAndAttributes struct {
	Keys           []values.Item
	ConsistentRead bool `json:",omitzero"`
	Placeholders
	ProjectionExpression *string `json:",omitzero"`
}

// BatchGetItemRequest is the input of BatchGetItem.
type BatchGetItemRequest struct {
	RequestItems           map[string]*KeysAndAttributes
	ReturnConsumedCapacity string
}

// Check checks the request and parses its projections.
func (in *BatchGetItemRequest) Check() error {
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

// BatchGetItemResponse is the output of BatchGetItem.
type BatchGetItemResponse struct {
	Responses        map[string][]values.Item
	UnprocessedKeys  map[string]*KeysAndAttributes
	ConsumedCapacity []*ConsumedCapacity `json:",omitzero"`
}

// WriteRequest is one write of a BatchWriteItem.
type WriteRequest struct {
	PutRequest    *struct{ Item values.Item }
	DeleteRequest *struct{ Key values.Item }
}

func (r *WriteRequest) check() error {
	switch {
	case (r.PutRequest == nil) == (r.DeleteRequest == nil):
		return Invalid("A write request must contain exactly one of PutRequest and DeleteRequest")
	case r.DeleteRequest != nil:
		return required("Key", r.DeleteRequest.Key != nil)
	}
	return first(required("Item", r.PutRequest.Item != nil), CheckItemSize(r.PutRequest.Item))
}

// BatchWriteItemRequest is the input of BatchWriteItem.
type BatchWriteItemRequest struct {
	RequestItems                map[string][]WriteRequest
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

// Check checks the request.
func (in *BatchWriteItemRequest) Check() error {
	err := first(checkCapacity(in.ReturnConsumedCapacity), checkMetrics(in.ReturnItemCollectionMetrics))
	total := 0
	for name, requests := range in.RequestItems {
		total += len(requests)
		err = first(err, checkTable(name), length("RequestItems", len(requests), 1, MaxBatchWrites))
		for i := range requests {
			err = first(err, requests[i].check())
		}
	}
	return first(err, length("RequestItems", total, 1, MaxBatchWrites))
}

// BatchWriteItemResponse is the output of BatchWriteItem. The embedded DynamoDB processes all items.
type BatchWriteItemResponse struct {
	UnprocessedItems map[string][]WriteRequest
	ConsumedCapacity []*ConsumedCapacity `json:",omitzero"`
}

// ActionKind is the kind of an action in a transaction.
type ActionKind string

// The kinds of actions.
const (
	ActionCheck  ActionKind = "conditionCheck"
	ActionPut    ActionKind = "put"
	ActionUpdate ActionKind = "update"
	ActionDelete ActionKind = "delete"
)

// Action is one action of a TransactWriteItems.
type Action struct {
	TableName string
	Placeholders
	ConditionExpression                 *string
	UpdateExpression                    *string
	Item                                values.Item
	Key                                 values.Item
	ReturnValuesOnConditionCheckFailure string

	Kind ActionKind `json:"-"` // set by the request's Check
}

func (a *Action) check() error {
	isPut, isUpdate := a.Kind == ActionPut, a.Kind == ActionUpdate
	switch {
	case isPut == (a.Item == nil) || isPut != (a.Key == nil):
		return Invalid("A Put must have an Item, and other actions a Key")
	case isUpdate != (a.UpdateExpression != nil):
		return Invalid("An Update must have an UpdateExpression, and other actions must not")
	case a.Kind == ActionCheck && a.ConditionExpression == nil:
		return required("ConditionExpression", false)
	}
	return first(
		checkTable(a.TableName), checkFailureReturn(a.ReturnValuesOnConditionCheckFailure), CheckItemSize(a.Item),
		a.parse(sources{condition: a.ConditionExpression, update: a.UpdateExpression}),
	)
}

// TransactWriteItem contains one action.
type TransactWriteItem struct {
	ConditionCheck *Action
	Put            *Action
	Update         *Action
	Delete         *Action
}

// Action returns the action. It returns nil if there is none, or more than one.
func (i *TransactWriteItem) Action() (found *Action) {
	kinds := []ActionKind{ActionCheck, ActionPut, ActionUpdate, ActionDelete}
	for n, a := range []*Action{i.ConditionCheck, i.Put, i.Update, i.Delete} {
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

// TransactWriteItemsRequest is the input of TransactWriteItems.
type TransactWriteItemsRequest struct {
	TransactItems               []TransactWriteItem
	ClientRequestToken          string
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

// Check checks the request and parses its expressions.
func (in *TransactWriteItemsRequest) Check() error {
	err := first(
		length("TransactItems", len(in.TransactItems), 1, maxTransactItems),
		length("ClientRequestToken", len(in.ClientRequestToken), 0, maxTokenLength),
		checkCapacity(in.ReturnConsumedCapacity),
		checkMetrics(in.ReturnItemCollectionMetrics),
	)
	size := 0
	for i := range in.TransactItems {
		a := in.TransactItems[i].Action()
		if err == nil && a == nil {
			err = Invalid("TransactItems can only contain one of Check, Put, Update or Delete")
		}
		if err != nil {
			return err
		}
		err = a.check()
		size += a.Item.Size() + a.Key.Size() + a.ExpressionAttributeValues.Size()
	}
	return first(err, CheckTransactionSize(size))
}

// TransactWriteItemsResponse is the output of TransactWriteItems.
type TransactWriteItemsResponse struct {
	ConsumedCapacity []*ConsumedCapacity `json:",omitzero"`
}

// Get is one read of a TransactGetItems.
type Get struct {
	TableName string
	Key       values.Item
	Placeholders
	ProjectionExpression *string
}

// TransactGetItemsRequest is the input of TransactGetItems.
type TransactGetItemsRequest struct {
	TransactItems          []struct{ Get *Get }
	ReturnConsumedCapacity string
}

// Check checks the request and parses its projections.
func (in *TransactGetItemsRequest) Check() error {
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

// TransactGetItemsResponse is the output of TransactGetItems.
type TransactGetItemsResponse struct {
	Responses        []GetItemResponse
	ConsumedCapacity []*ConsumedCapacity `json:",omitzero"`
}

// CheckTransactionSize returns an error if a transaction reads too many bytes.
func CheckTransactionSize(size int) error {
	if size > maxTransactBytes {
		return Invalid("The aggregate size of the items in the transaction exceeds the limit of 4 MB")
	}
	return nil
}
