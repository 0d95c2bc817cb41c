package dynamodb

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"devplatform/infra/local/dynamodb/values"
)

// actionKind is the kind of an action in a transaction.
type actionKind string

// The kinds of actions.
const (
	actionCheck  actionKind = "conditionCheck"
	actionPut    actionKind = "put"
	actionUpdate actionKind = "update"
	actionDelete actionKind = "delete"
)

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
		a.parse(expressionTexts{condition: a.ConditionExpression, update: a.UpdateExpression}),
	)
}

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
			get.parse(expressionTexts{projection: get.ProjectionExpression}))
	}
	return err
}

type transactGetItemsResponse struct {
	Responses        []getItemResponse
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

func checkTransactionSize(size int) error {
	if size > maxTransactBytes {
		return invalid("The aggregate size of the items in the transaction exceeds the limit of 4 MB")
	}
	return nil
}

var errSameItem = invalid("Transaction request cannot include multiple operations on one item")

// runAll runs all actions of a transaction. It returns the errors of actions as cancellation reasons, but an error that
// rejects the whole request as it is.
func runAll(actions int, run func(i int) error) error {
	reasons := make([]*cancellationReason, actions)
	for i := range actions {
		err := run(i)
		if err == nil {
			continue
		}
		if reasons[i] = asReason(err); reasons[i] == nil || errors.Is(err, errEmptyKey) {
			return err
		}
	}
	return canceled(reasons)
}

func checkDistinct(changes []change) error {
	seen := keySet{}
	for _, c := range changes {
		if !seen.add(c.Key) {
			return errSameItem
		}
	}
	return nil
}

// transactWriteItems executes all actions or none. It is serializable: all items are locked from reading to writing.
func (db *DB) transactWriteItems(in *transactWriteItemsRequest) (*transactWriteItemsResponse, error) {
	changes := make([]change, len(in.TransactItems))
	err := runAll(len(changes), func(i int) (err error) {
		a := in.TransactItems[i].action()
		if a.Kind == actionPut {
			changes[i], err = db.locateItem(a.TableName, a.Item, &a.Parsed)
		} else {
			changes[i], err = db.locate(a.TableName, a.Key, &a.Parsed)
		}
		return err
	})
	if err == nil {
		err = checkDistinct(changes)
	}
	if err != nil {
		return nil, err
	}
	decideAll := func() error {
		return runAll(len(changes), func(i int) error { return decide(in.TransactItems[i].action(), &changes[i]) })
	}
	var token *requestToken
	if in.ClientRequestToken != "" {
		content := sha256.New()
		if err := json.MarshalWrite(content, in.TransactItems, json.Deterministic(true)); err != nil {
			return nil, fmt.Errorf("encoding a transaction: %w", err)
		}
		token = &requestToken{in.ClientRequestToken, [sha256.Size]byte(content.Sum(nil))}
	}
	used := usage{mode: in.ReturnConsumedCapacity}
	used.reads, err = db.store.writeOnce(changes, decideAll, token)
	used.writes = !used.reads
	used.addWrites(changes, transactionFactor)
	return &transactWriteItemsResponse{ConsumedCapacity: used.report()}, err
}

// decide checks the condition of an action, and sets the New item of its change.
func decide(a *action, c *change) (err error) {
	if err := a.Parsed.require(c.Old, a.ReturnValuesOnConditionCheckFailure); err != nil {
		return err
	}
	switch a.Kind {
	case actionUpdate:
		c.New, _, err = c.Table.update(a.Parsed.Update, a.Key, c.Old)
	case actionCheck:
		c.New = c.Old
	case actionPut, actionDelete: // set already
	}
	return err
}

// transactGetItems reads all items as of one moment.
func (db *DB) transactGetItems(in *transactGetItemsRequest) (*transactGetItemsResponse, error) {
	places := make([]change, len(in.TransactItems))
	err := runAll(len(places), func(i int) (err error) {
		get := in.TransactItems[i].Get
		places[i], err = db.locate(get.TableName, get.Key, &get.Parsed)
		return err
	})
	if err == nil {
		err = checkDistinct(places)
	}
	if err == nil {
		err = db.store.getAll(places)
	}
	if err != nil {
		return nil, err
	}
	response := &transactGetItemsResponse{Responses: make([]getItemResponse, len(places))}
	used := usage{mode: in.ReturnConsumedCapacity, reads: true}
	total := 0
	for i, c := range places {
		size := c.Old.Size()
		total += size
		used.of(c.Table).table += readUnits(size) * transactionFactor
		response.Responses[i].Item = in.TransactItems[i].Get.Parsed.Projection.Apply(c.Old)
	}
	response.ConsumedCapacity = used.report()
	return response, checkTransactionSize(total)
}
