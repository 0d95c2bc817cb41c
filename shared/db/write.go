package db

import (
	"context"
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

func (c *Client) do(ctx context.Context, w Write) (item Item, err error) {
	e, err := w.expressions()
	if err == nil {
		err = Admit(ctx)
	}
	if err != nil {
		return nil, err
	}
	old := returnOld(w.needsOld || w.isOwn != nil)
	end := startCall(ctx)
	switch w.kind {
	case putWrite:
		var out *dynamodb.PutItemOutput
		if out, err = c.sdk.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &w.table, Item: w.item, ReturnValues: types.ReturnValueAllOld,
			ConditionExpression: e.condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
			ReturnValuesOnConditionCheckFailure: old,
		}); err == nil {
			item = out.Attributes
		}
	case updateWrite:
		var out *dynamodb.UpdateItemOutput
		if out, err = c.sdk.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &w.table, Key: w.key.item(), UpdateExpression: e.update, ReturnValues: types.ReturnValueAllNew,
			ConditionExpression: e.condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
			ReturnValuesOnConditionCheckFailure: old,
		}); err == nil {
			item = out.Attributes
		}
	case deleteWrite:
		var out *dynamodb.DeleteItemOutput
		if out, err = c.sdk.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &w.table, Key: w.key.item(), ReturnValues: types.ReturnValueAllOld,
			ConditionExpression: e.condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
			ReturnValuesOnConditionCheckFailure: old,
		}); err == nil {
			item = out.Attributes
		}
	default:
		err = errors.New("a check must be part of a transaction")
	}
	end()
	err = classify("write", err)
	failed, isFailed := errors.AsType[*conditionError](err)
	switch {
	case !isFailed || w.isOwn == nil || !w.isOwn(failed.items[0]):
		return item, err
	case w.kind == updateWrite:
		return failed.items[0], nil
	}
	return nil, nil
}

func returnOld(wanted bool) types.ReturnValuesOnConditionCheckFailure {
	if wanted {
		return types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return types.ReturnValuesOnConditionCheckFailureNone
}

// expressions contains the encoded condition and update of a Write.
type expressions struct {
	condition, update *string
	names             map[string]string
	values            Item
}

func (w Write) expressions() (expressions, error) {
	if w.err != nil {
		return expressions{}, w.err
	}
	builder := expression.NewBuilder()
	if w.kind == updateWrite {
		builder = builder.WithUpdate(w.update)
	}
	if w.cond != nil {
		builder = builder.WithCondition(*w.cond)
	}
	if w.kind != updateWrite && w.cond == nil {
		return expressions{}, nil
	}
	e, err := builder.Build()
	if err != nil {
		return expressions{}, fmt.Errorf("db: expression: %w", err)
	}
	return expressions{condition: e.Condition(), update: e.Update(), names: e.Names(), values: e.Values()}, nil
}
