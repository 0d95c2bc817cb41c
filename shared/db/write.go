package db

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Write is a change of one item. A Table's Put, Create, Update, Delete and Check return one. The methods of Write
// return a changed copy.
type Write struct {
	kind     writeKind
	table    string
	key      Key
	item     Item
	update   expression.UpdateBuilder
	cond     *expression.ConditionBuilder
	failure  func(Item) error // see ElseFunc
	needsOld bool             // whether failure needs the stored item
	isOwn    func(Item) bool  // see Recognize
	err      error
}

type writeKind uint8

const (
	putWrite writeKind = iota + 1
	updateWrite
	deleteWrite
	checkWrite
)

// Put stores a record: an Item, or a struct with dynamodbav tags (see Encode). It replaces the item with that key if
// there is one. The record does not contain the key attributes. If it cannot be encoded, the write fails.
func (t Table) Put(key Key, record any) Write {
	item, isItem := record.(Item)
	var err error
	if record != nil && !isItem {
		item, err = Encode(record)
	}
	return t.write(Write{kind: putWrite, key: key, item: withKey(key, item), err: err})
}

// withKey returns a copy of an item that contains the key attributes.
func withKey(key Key, item Item) Item {
	full := maps.Clone(item)
	if full == nil {
		full = Item{}
	}
	maps.Copy(full, key.item())
	return full
}

// Create is like Put, on the condition that no live item has that key.
func (t Table) Create(key Key, record any) Write {
	w := t.Put(key, record).If(expression.AttributeNotExists(expression.Name(AttrPK)).Or(
		expression.Name(AttrExpiresAt).LessThanEqual(expression.Value(t.client.now().Unix()))))
	w.isOwn = func(stored Item) bool { return reflect.DeepEqual(stored, w.item) }
	return w
}

// Update changes attributes of an item. It creates the item if there is none: add If(t.Exists()) to prevent that.
func (t Table) Update(key Key, update expression.UpdateBuilder) Write {
	return t.write(Write{kind: updateWrite, key: key, update: update})
}

// Delete deletes an item. The item need not exist.
func (t Table) Delete(key Key) Write {
	return t.write(Write{kind: deleteWrite, key: key})
}

// Check writes nothing. It makes a transaction fail if the item with that key does not satisfy cond.
func (t Table) Check(key Key, cond expression.ConditionBuilder) Write {
	return t.write(Write{kind: checkWrite, key: key}).If(cond)
}

// Exists returns the condition that a live item has the write's key.
func (t Table) Exists() expression.ConditionBuilder {
	expires := expression.Name(AttrExpiresAt)
	return expression.AttributeExists(expression.Name(AttrPK)).And(
		expression.AttributeNotExists(expires).Or(expires.GreaterThan(expression.Value(t.client.now().Unix()))))
}

func (t Table) write(w Write) Write {
	w.table = t.name
	if w.key.IsZero() {
		w.err = ErrInvalidKey
	}
	return w
}

// If adds a condition. All conditions of a write must be satisfied.
func (w Write) If(cond expression.ConditionBuilder) Write {
	if w.cond != nil {
		cond = w.cond.And(cond)
	}
	w.cond = &cond
	return w
}

// Else sets the error that a failed condition of this write means, such as ErrStale or a *fault.Error. The returned
// error also contains the cause. Without Else, Do and Commit return ErrConditionFailed, and DoOnce and CommitOnce
// return ErrStale.
func (w Write) Else(failure error) Write {
	w.failure = func(Item) error { return failure }
	return w
}

// ElseFunc is like Else with a function that returns the error. It receives the item that did not satisfy the
// condition, nil if there was none. If it returns nil, the failed conditions of the writes that follow decide.
func (w Write) ElseFunc(failure func(stored Item) error) Write {
	w.failure, w.needsOld = failure, true
	return w
}

// Recognize sets a function that recognizes the result of this write. If a response is lost, the SDK repeats the write,
// and the condition fails because the first attempt has already changed the item. If isOwn returns true for the stored
// item, the write counts as successful. Create sets such a function itself. Transactions do not need one.
func (w Write) Recognize(isOwn func(stored Item) bool) Write {
	w.isOwn = isOwn
	return w
}

// Do executes a single write, and retries it if it conflicts with a transaction. It returns the new item of an Update,
// or the old item of a Put or a Delete, which is nil if there was none. Errors: the error of Else, otherwise
// ErrConditionFailed; ErrConflict, ErrUnavailable, ErrInvalidKey.
func (c *Client) Do(ctx context.Context, w Write) (item Item, err error) {
	err = Retry(ctx, "write", func(ctx context.Context) error {
		item, err = c.do(ctx, w)
		return err
	})
	return item, meaning(err, w)
}

// DoOnce is like Do, for use within Retry: it does not retry conflicts, and a failed condition without Else is
// ErrStale.
func (c *Client) DoOnce(ctx context.Context, w Write) (Item, error) {
	item, err := c.do(ctx, w)
	return item, asStale(meaning(err, w))
}

// do makes one attempt to execute a single write.
func (c *Client) do(ctx context.Context, w Write) (item Item, err error) {
	action, err := w.action(w.needsOld || w.isOwn != nil)
	if err == nil {
		err = Admit(ctx)
	}
	if err != nil {
		return nil, err
	}
	end := startCall(ctx)
	switch put, update, deletion := action.Put, action.Update, action.Delete; {
	case put != nil:
		var out *dynamodb.PutItemOutput
		if out, err = c.sdk.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: put.TableName, Item: put.Item, ReturnValues: types.ReturnValueAllOld,
			ConditionExpression: put.ConditionExpression, ExpressionAttributeNames: put.ExpressionAttributeNames,
			ExpressionAttributeValues:           put.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: put.ReturnValuesOnConditionCheckFailure,
		}); err == nil {
			item = out.Attributes
		}
	case update != nil:
		var out *dynamodb.UpdateItemOutput
		if out, err = c.sdk.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: update.TableName, Key: update.Key, ReturnValues: types.ReturnValueAllNew,
			UpdateExpression: update.UpdateExpression, ConditionExpression: update.ConditionExpression,
			ExpressionAttributeNames:            update.ExpressionAttributeNames,
			ExpressionAttributeValues:           update.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: update.ReturnValuesOnConditionCheckFailure,
		}); err == nil {
			item = out.Attributes
		}
	case deletion != nil:
		var out *dynamodb.DeleteItemOutput
		if out, err = c.sdk.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: deletion.TableName, Key: deletion.Key, ReturnValues: types.ReturnValueAllOld,
			ConditionExpression: deletion.ConditionExpression, ExpressionAttributeNames: deletion.ExpressionAttributeNames,
			ExpressionAttributeValues:           deletion.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: deletion.ReturnValuesOnConditionCheckFailure,
		}); err == nil {
			item = out.Attributes
		}
	default:
		err = errors.New("a check must be part of a transaction")
	}
	end()
	err = classify("write", err)
	if failed, ok := errors.AsType[*conditionError](err); ok && w.isOwn != nil && w.isOwn(failed.items[0]) {
		err = nil // an earlier attempt has executed the write
		if w.kind == updateWrite {
			item = failed.items[0]
		}
	}
	return item, err
}

// Tx is a transaction that has not been committed yet. Stores add its writes. Each write has the error to return
// if its condition fails (see Write.Else).
//
//   - Atomic: DynamoDB executes all writes, or none. A transaction has at most 100 writes, of different items.
//   - Order: if several conditions fail, the write that was added first decides the error.
//   - Retries: a conflict with another transaction changes nothing. Commit retries it. CommitOnce does not: within
//     Retry, the next attempt reads the items again.
//   - Lost responses: the SDK repeats a call without a response. All attempts of one commit have the same request
//     token, so the transaction has an effect only once, and a later attempt reports its success. If no attempt gets a
//     response, the error is ErrUnavailable, and the transaction may have been executed.
//   - The guard of the request's context decides before the call: if the session has ended, nothing is written.
//
// Events of a change are writes of its transaction, so there is an event exactly if there is a change.
type Tx struct {
	client *Client
	token  string
	writes []Write
}

// Tx returns a transaction with these writes.
func (c *Client) Tx(writes ...Write) *Tx { return &Tx{client: c, token: rand.Text(), writes: writes} }

// Add adds writes.
func (t *Tx) Add(writes ...Write) { t.writes = append(t.writes, writes...) }

// Len returns the number of writes.
func (t *Tx) Len() int { return len(t.writes) }

// Commit executes the transaction, and retries it if it conflicts with another one. A transaction without writes does
// nothing. Errors: the error of Else of the first write whose condition failed, otherwise ErrConditionFailed;
// ErrConflict, ErrUnavailable, ErrInvalidKey.
func (t *Tx) Commit(ctx context.Context) error {
	return meaning(Retry(ctx, "transaction", t.commit), t.writes...)
}

// CommitOnce is like Commit, for use within Retry: it does not retry conflicts, and a failed condition without Else is
// ErrStale.
func (t *Tx) CommitOnce(ctx context.Context) error {
	return asStale(meaning(t.commit(ctx), t.writes...))
}

// commit makes one attempt to execute the transaction.
func (t *Tx) commit(ctx context.Context) error {
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: &t.token}
	for i, w := range t.writes {
		action, err := w.action(w.needsOld)
		if err != nil {
			return fmt.Errorf("write %d: %w", i, err)
		}
		in.TransactItems = append(in.TransactItems, action)
	}
	if err := Admit(ctx); err != nil || len(in.TransactItems) == 0 {
		return err
	}
	defer startCall(ctx)()
	_, err := t.client.sdk.TransactWriteItems(ctx, in)
	return classify("transact", err)
}

// action returns the write as part of a transaction. If returnOld is set, the error of a failed condition contains the
// stored item.
func (w Write) action(returnOld bool) (action types.TransactWriteItem, err error) {
	if w.err != nil {
		return action, w.err
	}
	builder := expression.NewBuilder()
	if w.kind == updateWrite {
		builder = builder.WithUpdate(w.update)
	}
	if w.cond != nil {
		builder = builder.WithCondition(*w.cond)
	}
	var e expression.Expression
	if w.kind == updateWrite || w.cond != nil {
		if e, err = builder.Build(); err != nil {
			return action, fmt.Errorf("db: expression: %w", err)
		}
	}
	old := types.ReturnValuesOnConditionCheckFailureNone
	if returnOld {
		old = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	switch w.kind {
	case putWrite:
		action.Put = &types.Put{
			TableName: &w.table, Item: w.item, ReturnValuesOnConditionCheckFailure: old,
			ConditionExpression: e.Condition(), ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
		}
	case updateWrite:
		action.Update = &types.Update{
			TableName: &w.table, Key: w.key.item(), UpdateExpression: e.Update(), ReturnValuesOnConditionCheckFailure: old,
			ConditionExpression: e.Condition(), ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
		}
	case deleteWrite:
		action.Delete = &types.Delete{
			TableName: &w.table, Key: w.key.item(), ReturnValuesOnConditionCheckFailure: old,
			ConditionExpression: e.Condition(), ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
		}
	case checkWrite:
		action.ConditionCheck = &types.ConditionCheck{
			TableName: &w.table, Key: w.key.item(), ReturnValuesOnConditionCheckFailure: old,
			ConditionExpression: e.Condition(), ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
		}
	}
	return action, nil
}
