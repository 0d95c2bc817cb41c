package wire

import (
	"cmp"
	"maps"
	"slices"

	"devplatform/infra/local/dynamodb/values"
)

// KeysAndAttributes is the part of a BatchGetItem that reads one table.
type KeysAndAttributes struct {
	Keys                     []values.Item
	ConsistentRead           bool              `json:",omitzero"`
	ProjectionExpression     *string           `json:",omitzero"`
	ExpressionAttributeNames map[string]string `json:",omitzero"`
}

// Parse parses the projection.
func (k *KeysAndAttributes) Parse() (*Expressions, error) {
	names := Placeholders{ExpressionAttributeNames: k.ExpressionAttributeNames}
	return names.parse(sources{projection: k.ProjectionExpression})
}

// BatchGetItemRequest is the input of BatchGetItem.
type BatchGetItemRequest struct {
	RequestItems           map[string]*KeysAndAttributes
	ReturnConsumedCapacity string
}

// Check checks the request, and returns the names of the tables in order.
func (in *BatchGetItemRequest) Check() ([]string, error) {
	err := cmp.Or(checkCapacity(in.ReturnConsumedCapacity), length("RequestItems", len(in.RequestItems), 1, maxBatchGets))
	names := slices.Sorted(maps.Keys(in.RequestItems))
	total := 0
	for _, name := range names {
		if keys := in.RequestItems[name]; keys == nil {
			err = cmp.Or(err, required("Keys", false))
		} else {
			total += len(keys.Keys)
			err = cmp.Or(err, checkTable(name), length("Keys", len(keys.Keys), 1, maxBatchGets))
		}
	}
	if total > maxBatchGets {
		err = cmp.Or(err, Invalid("Too many items requested for the BatchGetItem call"))
	}
	return names, err
}

// BatchGetItemResponse is the output of BatchGetItem.
type BatchGetItemResponse struct {
	Responses        map[string][]values.Item
	UnprocessedKeys  map[string]*KeysAndAttributes
	ConsumedCapacity []*ConsumedCapacity `json:",omitzero"`
}

// WriteRequest is one write of a BatchWriteItem.
type WriteRequest struct {
	PutRequest    *PutRequest
	DeleteRequest *DeleteRequest
}

// PutRequest is a put of a BatchWriteItem.
type PutRequest struct{ Item values.Item }

// DeleteRequest is a deletion of a BatchWriteItem.
type DeleteRequest struct{ Key values.Item }

func (r *WriteRequest) check() error {
	switch {
	case (r.PutRequest == nil) == (r.DeleteRequest == nil):
		return Invalid("A write request must contain exactly one of PutRequest and DeleteRequest")
	case r.DeleteRequest != nil:
		return required("Key", r.DeleteRequest.Key != nil)
	}
	return cmp.Or(required("Item", r.PutRequest.Item != nil), CheckItemSize(r.PutRequest.Item))
}

// BatchWriteItemRequest is the input of BatchWriteItem.
type BatchWriteItemRequest struct {
	RequestItems                map[string][]WriteRequest
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

// Check checks the request, and returns the names of the tables in order.
func (in *BatchWriteItemRequest) Check() ([]string, error) {
	err := cmp.Or(
		checkCapacity(in.ReturnConsumedCapacity),
		checkMetrics(in.ReturnItemCollectionMetrics),
		length("RequestItems", len(in.RequestItems), 1, MaxBatchWrites),
	)
	names := slices.Sorted(maps.Keys(in.RequestItems))
	total := 0
	for _, name := range names {
		requests := in.RequestItems[name]
		total += len(requests)
		err = cmp.Or(err, checkTable(name), length("RequestItems", len(requests), 1, MaxBatchWrites))
		for i := range requests {
			err = cmp.Or(err, requests[i].check())
		}
	}
	if total > MaxBatchWrites {
		err = cmp.Or(err, Invalid("Too many items requested for the BatchWriteItem call"))
	}
	return names, err
}

// BatchWriteItemResponse is the output of BatchWriteItem. The embedded DynamoDB processes all items.
type BatchWriteItemResponse struct {
	UnprocessedItems map[string][]WriteRequest
	ConsumedCapacity []*ConsumedCapacity `json:",omitzero"`
}

// ActionKind is the kind of an action in a transaction.
type ActionKind string

// The kinds of actions. The text is part of stored fingerprints.
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

	Kind   ActionKind   `json:"-"`
	Parsed *Expressions `json:"-"`
}

func (a *Action) check() (err error) {
	err = cmp.Or(checkTable(a.TableName), checkFailureReturn(a.ReturnValuesOnConditionCheckFailure))
	isPut, isUpdate := a.Kind == ActionPut, a.Kind == ActionUpdate
	switch {
	case err != nil:
		return err
	case isPut == (a.Item == nil) || isPut != (a.Key == nil):
		return Invalid("A Put must have an Item, and other actions a Key")
	case isUpdate != (a.UpdateExpression != nil):
		return Invalid("An Update must have an UpdateExpression, and other actions must not")
	case a.Kind == ActionCheck && a.ConditionExpression == nil:
		return required("ConditionExpression", false)
	}
	if err := CheckItemSize(a.Item); err != nil {
		return err
	}
	a.Parsed, err = a.parse(sources{condition: a.ConditionExpression, update: a.UpdateExpression})
	return err
}

// TransactWriteItem contains one action.
type TransactWriteItem struct {
	ConditionCheck *Action
	Put            *Action
	Update         *Action
	Delete         *Action
}

// action returns the action and sets its kind. It returns nil if there is none, or more than one.
func (i *TransactWriteItem) action() (found *Action) {
	for kind, a := range map[ActionKind]*Action{
		ActionCheck: i.ConditionCheck, ActionPut: i.Put, ActionUpdate: i.Update, ActionDelete: i.Delete,
	} {
		if a == nil {
			continue
		}
		if found != nil {
			return nil
		}
		a.Kind = kind
		found = a
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

// Check checks the request, and returns its actions with parsed expressions.
func (in *TransactWriteItemsRequest) Check() ([]*Action, error) {
	err := cmp.Or(
		length("TransactItems", len(in.TransactItems), 1, maxTransactItems),
		length("ClientRequestToken", len(in.ClientRequestToken), 0, maxTokenLength),
		checkCapacity(in.ReturnConsumedCapacity),
		checkMetrics(in.ReturnItemCollectionMetrics),
	)
	if err != nil {
		return nil, err
	}
	actions := make([]*Action, len(in.TransactItems))
	size := 0
	for i := range in.TransactItems {
		a := in.TransactItems[i].action()
		if a == nil {
			return nil, Invalid("TransactItems can only contain one of Check, Put, Update or Delete")
		}
		if err := a.check(); err != nil {
			return nil, err
		}
		actions[i] = a
		size += a.Item.Size() + a.Key.Size() + a.ExpressionAttributeValues.Size()
	}
	if size > maxTransactBytes {
		return nil, errTransactionTooLarge
	}
	return actions, nil
}

// TransactWriteItemsResponse is the output of TransactWriteItems.
type TransactWriteItemsResponse struct {
	ConsumedCapacity []*ConsumedCapacity `json:",omitzero"`
}

// Get is one read of a TransactGetItems.
type Get struct {
	TableName                string
	Key                      values.Item
	ProjectionExpression     *string
	ExpressionAttributeNames map[string]string

	Parsed *Expressions `json:"-"`
}

// TransactGetItem contains one read.
type TransactGetItem struct{ Get *Get }

// TransactGetItemsRequest is the input of TransactGetItems.
type TransactGetItemsRequest struct {
	TransactItems          []TransactGetItem
	ReturnConsumedCapacity string
}

// Check checks the request and parses the projections.
func (in *TransactGetItemsRequest) Check() error {
	err := cmp.Or(
		length("TransactItems", len(in.TransactItems), 1, maxTransactItems),
		checkCapacity(in.ReturnConsumedCapacity),
	)
	for _, item := range in.TransactItems {
		if err == nil && item.Get == nil {
			err = required("Get", false)
		}
		if err != nil {
			return err
		}
		if err = cmp.Or(checkTable(item.Get.TableName), required("Key", item.Get.Key != nil)); err == nil {
			names := Placeholders{ExpressionAttributeNames: item.Get.ExpressionAttributeNames}
			item.Get.Parsed, err = names.parse(sources{projection: item.Get.ProjectionExpression})
		}
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
		return errTransactionTooLarge
	}
	return nil
}
