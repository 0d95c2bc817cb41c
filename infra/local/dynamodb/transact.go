package dynamodb

import (
	"strconv"
	"strings"

	"devplatform/infra/local/dynamodb/attr"

	"github.com/cockroachdb/pebble/v2"
)

const (
	maxTransactItems = 100
	maxTransactBytes = 4 << 20
	maxTokenLength   = 36
)

// action is one write, or one check, of a TransactWriteItems.
type action struct {
	tableRef
	expressions
	Item                                attr.Item
	Key                                 attr.Item
	ReturnValuesOnConditionCheckFailure string

	kind   actionKind
	parsed *parsed
}

type actionKind string

const (
	actionCheck  actionKind = "conditionCheck"
	actionPut    actionKind = "put"
	actionUpdate actionKind = "update"
	actionDelete actionKind = "delete"
)

type transactWriteItem struct {
	ConditionCheck *action
	Put            *action
	Update         *action
	Delete         *action
}

// action returns the one action that an item has; nil when it has none or more.
func (i *transactWriteItem) action() *action {
	var found *action
	for kind, a := range map[actionKind]*action{actionCheck: i.ConditionCheck, actionPut: i.Put, actionUpdate: i.Update, actionDelete: i.Delete} {
		if a == nil {
			continue
		}
		if found != nil {
			return nil
		}
		a.kind = kind
		found = a
	}
	return found
}

type transactWriteRequest struct {
	TransactItems               []transactWriteItem
	ClientRequestToken          *string
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

type transactWriteResponse struct {
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

func memberName(list string, i int) string { return list + "." + strconv.Itoa(i+1) + ".member" }

// showItems stands for a list of transaction items in a message.
func showItems(n int, kind string) func() string {
	return func() string {
		if n == 0 {
			return "[]"
		}
		return "[" + strings.Repeat(kind+"(), ", n-1) + kind + "()]"
	}
}

func (in *transactWriteRequest) check() ([]*action, error) {
	var v violations
	v.required(in.TransactItems != nil, "transactItems")
	if in.TransactItems != nil {
		v.length(len(in.TransactItems), showItems(len(in.TransactItems), "TransactWriteItem"), "transactItems", maxTransactItems)
	}
	if token := in.ClientRequestToken; token != nil {
		v.length(len(*token), func() string { return *token }, "clientRequestToken", maxTokenLength)
	}
	v.enum(in.ReturnConsumedCapacity, "returnConsumedCapacity", capacityModes)
	v.enum(in.ReturnItemCollectionMetrics, "returnItemCollectionMetrics", metricsModes)
	if err := v.err(); err != nil {
		return nil, err
	}
	actions := make([]*action, len(in.TransactItems))
	single := true
	for i := range in.TransactItems {
		a := in.TransactItems[i].action()
		if a == nil {
			single = false
			continue
		}
		a.checkMembers(&v, memberName("transactItems", i)+"."+string(a.kind))
		actions[i] = a
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if !single {
		return nil, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	size := 0
	for _, a := range actions {
		if err := a.checkValues(); err != nil {
			return nil, err
		}
		size += a.Item.Size() + a.Key.Size() + a.ExpressionAttributeValues.Size()
	}
	if size > maxTransactBytes {
		return nil, invalid("The aggregate size of the items in the transaction exceeds the limit of 4 MB")
	}
	return actions, nil
}

// checkMembers checks which members an action of its kind has.
func (a *action) checkMembers(v *violations, member string) {
	if a.kind == actionPut {
		v.required(a.Item != nil, member+".item")
	} else {
		v.required(a.Key != nil, member+".key")
	}
	if a.kind == actionUpdate {
		v.required(a.UpdateExpression != nil, member+".updateExpression")
	} else {
		a.UpdateExpression = nil // no member of the others: AWS does not see it
	}
	if a.kind == actionCheck {
		v.required(a.ConditionExpression != nil, member+".conditionExpression")
	}
	a.FilterExpression, a.KeyConditionExpression, a.ProjectionExpression = nil, nil, nil
	v.enum(a.ReturnValuesOnConditionCheckFailure, member+".returnValuesOnConditionCheckFailure", failureReturns)
	if a.TableName == nil || !strings.HasPrefix(*a.TableName, arnPrefix) {
		v.name(a.TableName, member+".tableName", 1)
	}
}

// checkValues checks an action's values and parses its expressions.
func (a *action) checkValues() (err error) {
	if err := a.checkPlaceholders(": ConditionExpression is null"); err != nil {
		return err
	}
	if err := a.Item.Validate(); err != nil {
		return inOlderWords(err)
	}
	if a.Item.Size() > maxItemBytes {
		return errItemTooLarge
	}
	if a.parsed, err = a.parse(); err != nil {
		return err
	}
	if err := a.Key.Validate(); err != nil {
		return inOlderWords(err)
	}
	return nil
}

// locate finds the table and checks the keys. What is wrong with this action
// alone is its reason; an error refuses the whole request.
func (a *action) locate(db *DB) (c change, reason *cancellationReason, err error) {
	if c.table, err = db.table(*a.TableName); err != nil {
		return c, nil, err
	}
	if a.kind == actionPut {
		err = c.table.checkItemKeys(a.Item)
	} else {
		err = c.table.checkKey(a.Key)
	}
	if err == nil && a.kind == actionUpdate {
		err = c.table.checkTargets(a.parsed.update)
	}
	if err == nil {
		err = c.table.checkScalars(a.parsed)
	}
	if err != nil {
		reason, err = asReason(err)
		return c, reason, err
	}
	if a.kind == actionPut {
		c.key = c.table.itemKey(a.Item)
	} else {
		c.key = c.table.itemKey(a.Key)
	}
	return c, nil, nil
}

// decide sets what the action makes of its item.
func (a *action) decide(c *change) error {
	if err := require(a.parsed.condition, c.old, a.ReturnValuesOnConditionCheckFailure); err != nil {
		return err
	}
	switch a.kind {
	case actionPut:
		c.new = a.Item
	case actionDelete:
		c.new = nil
	case actionCheck:
		c.new = c.old
	case actionUpdate:
		var err error
		c.new, _, err = c.table.updated(a.parsed.update, a.Key, c.old)
		return err
	}
	return nil
}

// asReason makes an action's failure a cancellation reason, unless it is one
// that refuses the whole request.
func asReason(err error) (*cancellationReason, error) {
	refused, expected := asAPIError(err)
	if !expected || refused.upFront {
		return nil, err
	}
	switch refused.Type {
	case typeConditionFailed:
		return &cancellationReason{Code: "ConditionalCheckFailed", Message: refused.Message, Item: refused.Item}, nil
	case typeValidation:
		return &cancellationReason{Code: "ValidationError", Message: refused.Message}, nil
	}
	return nil, err
}

// cancelled is the error of a transaction with reasons; nil where all are nil.
func cancelled(reasons []*cancellationReason) error {
	failed := false
	codes := make([]string, len(reasons))
	all := make([]cancellationReason, len(reasons))
	for i, reason := range reasons {
		all[i] = cancellationReason{Code: "None"}
		if reason != nil {
			failed = true
			all[i] = *reason
		}
		codes[i] = all[i].Code
	}
	if !failed {
		return nil
	}
	return &apiError{
		Type:    typeCanceled,
		Message: "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]",
		Reasons: all,
	}
}

// transactWriteItems does all actions or none. Its isolation is serialisable:
// the locks of all items are held from the first look to the write.
func (db *DB) transactWriteItems(in *transactWriteRequest) (*transactWriteResponse, error) {
	actions, err := in.check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	changes, err := db.locateAll(actions)
	if err != nil {
		return nil, err
	}
	if in.ClientRequestToken == nil || *in.ClientRequestToken == "" {
		err = db.transact(actions, changes, nil)
		return in.respond(changes, writeUnitsKind), err
	}
	token := idempotencyToken{token: *in.ClientRequestToken, fingerprint: fingerprint(actions), changes: changes}
	replayed, err := db.once(token, func(also func(*pebble.Batch) error) error { return db.transact(actions, changes, also) })
	if err != nil {
		return nil, err
	}
	if replayed {
		return in.respond(changes, readUnits), nil
	}
	return in.respond(changes, writeUnitsKind), nil
}

func (in *transactWriteRequest) respond(changes []change, kind capacityKind) *transactWriteResponse {
	return &transactWriteResponse{ConsumedCapacity: reportWrites(changes, in.ReturnConsumedCapacity, transaction, kind)}
}

// locateAll finds every action's table and item, and refuses two on one item.
func (db *DB) locateAll(actions []*action) ([]change, error) {
	changes := make([]change, len(actions))
	reasons := make([]*cancellationReason, len(actions))
	for i, a := range actions {
		var err error
		if changes[i], reasons[i], err = a.locate(db); err != nil {
			return nil, err
		}
	}
	if err := cancelled(reasons); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(changes))
	for _, c := range changes {
		if seen[string(c.key)] {
			return nil, invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[string(c.key)] = true
	}
	return changes, nil
}

func (db *DB) transact(actions []*action, changes []change, also func(*pebble.Batch) error) error {
	return db.writeAll(changes, func() error {
		reasons := make([]*cancellationReason, len(actions))
		for i, a := range actions {
			if err := a.decide(&changes[i]); err != nil {
				if reasons[i], err = asReason(err); err != nil {
					return err
				}
			}
		}
		return cancelled(reasons)
	}, also)
}
