package dynamodb

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

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

// checkDistinct rejects two actions on the same item.
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
	decide := func() error {
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
	used.reads, err = db.store.writeOnce(changes, decide, token)
	used.writes = !used.reads
	used.addWrites(changes, transactionFactor)
	return &transactWriteItemsResponse{ConsumedCapacity: used.report()}, err
}

// decide sets the new item of an action's change.
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
