package db

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Write is a change of one item. A Table's Put, Create, Update, Delete and Check return one. The methods of Write
// return a changed copy.
type Write struct {
	kind    writeKind
	table   string
	key     Key
	item    Item
	update  expression.UpdateBuilder
	cond    *expression.ConditionBuilder
	withOld bool
	mine    func(Item) bool
	err     error
}

type writeKind uint8

const (
	putWrite writeKind = iota + 1
	updateWrite
	deleteWrite
	checkWrite
)

// Put stores an item. It replaces the item with that key if there is one. item does not contain the key attributes.
func (t Table) Put(key Key, item Item) Write {
	return t.write(Write{kind: putWrite, key: key, item: withKey(key, item)})
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

// Create stores an item on the condition that no live item has that key.
func (t Table) Create(key Key, item Item) Write {
	w := t.Put(key, item).If(expression.AttributeNotExists(expression.Name(AttrPK)).Or(
		expression.Name(AttrExpiresAt).LessThanEqual(expression.Value(t.client.now().Unix()))))
	w.mine = func(stored Item) bool { return reflect.DeepEqual(stored, w.item) }
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

// WithOld makes the error of a failed condition contain the stored item (see OldItem).
func (w Write) WithOld() Write {
	w.withOld = true
	return w
}

// Mine sets a function that recognizes the result of this write. If a response is lost, the SDK repeats the write, and
// the condition fails because the first attempt has already changed the item. If mine returns true for the stored item,
// the write counts as successful. Create sets such a function itself. Transactions do not need one.
func (w Write) Mine(mine func(stored Item) bool) Write {
	w.mine = mine
	return w
}

// Do executes a single write, and retries it if it conflicts with a transaction (see DoOnce).
func (c *Client) Do(ctx context.Context, w Write) (item Item, err error) {
	err = Retry(ctx, "write", func(ctx context.Context) error {
		item, err = c.DoOnce(ctx, w)
		return err
	})
	return item, err
}

// DoOnce executes a single write. It returns the new item of an Update, or the old item of a Put or a Delete, which is
// nil if there was none. DoOnce is for use within Retry. Errors: ErrConditionFailed, ErrConflict, ErrUnavailable,
// ErrInvalidKey.
func (c *Client) DoOnce(ctx context.Context, w Write) (Item, error) {
	e, err := w.expressions()
	if err != nil {
		return nil, err
	}
	if err := Admit(ctx); err != nil {
		return nil, err
	}
	end := startCall(ctx)
	item, err := c.single(ctx, w, e)
	end()
	err = classify("write", err)
	var failed *ConditionError
	if errors.As(err, &failed) && w.mine != nil && w.mine(failed.Failed[0]) {
		if w.kind == updateWrite {
			return failed.Failed[0], nil
		}
		return nil, nil
	}
	return item, err
}

func (c *Client) single(ctx context.Context, w Write, e expressions) (Item, error) {
	old := returnOld(w.withOld || w.mine != nil)
	switch w.kind {
	case putWrite:
		out, err := c.sdk.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &w.table, Item: w.item, ReturnValues: types.ReturnValueAllOld,
			ConditionExpression: e.condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
			ReturnValuesOnConditionCheckFailure: old,
		})
		if err != nil {
			return nil, err //nolint:wrapcheck // classified by the caller
		}
		return out.Attributes, nil
	case updateWrite:
		out, err := c.sdk.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &w.table, Key: w.key.item(), UpdateExpression: e.update, ReturnValues: types.ReturnValueAllNew,
			ConditionExpression: e.condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
			ReturnValuesOnConditionCheckFailure: old,
		})
		if err != nil {
			return nil, err //nolint:wrapcheck // classified by the caller
		}
		return out.Attributes, nil
	case deleteWrite:
		out, err := c.sdk.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &w.table, Key: w.key.item(), ReturnValues: types.ReturnValueAllOld,
			ConditionExpression: e.condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
			ReturnValuesOnConditionCheckFailure: old,
		})
		if err != nil {
			return nil, err //nolint:wrapcheck // classified by the caller
		}
		return out.Attributes, nil
	default:
		return nil, errors.New("db: a check must be part of a transaction")
	}
}

// Transact executes all writes or none, and retries the transaction if it conflicts with another one (see
// TransactOnce).
func (c *Client) Transact(ctx context.Context, writes ...Write) error {
	in, err := transaction(writes)
	if err != nil {
		return err
	}
	return Retry(ctx, "transaction", func(ctx context.Context) error { return c.transact(ctx, in) })
}

// TransactOnce executes all writes or none: at most 100 writes to different items. Use it within Retry. The
// transaction has one request token for all attempts of the SDK, so that a retry after a lost response has no further
// effect. Errors: ErrConditionFailed (FailedAt and OldItem take the index of a write), ErrConflict, ErrUnavailable,
// ErrInvalidKey.
func (c *Client) TransactOnce(ctx context.Context, writes ...Write) error {
	in, err := transaction(writes)
	if err != nil {
		return err
	}
	return c.transact(ctx, in)
}

func transaction(writes []Write) (*dynamodb.TransactWriteItemsInput, error) {
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(rand.Text())}
	for i, w := range writes {
		action, err := w.action()
		if err != nil {
			return nil, fmt.Errorf("write %d: %w", i, err)
		}
		in.TransactItems = append(in.TransactItems, action)
	}
	return in, nil
}

func (c *Client) transact(ctx context.Context, in *dynamodb.TransactWriteItemsInput) error {
	if err := Admit(ctx); err != nil {
		return err
	}
	defer startCall(ctx)()
	_, err := c.sdk.TransactWriteItems(ctx, in)
	return classify("transact", err)
}

func (w Write) action() (types.TransactWriteItem, error) {
	var action types.TransactWriteItem
	e, err := w.expressions()
	if err != nil {
		return action, err
	}
	old := returnOld(w.withOld)
	switch w.kind {
	case putWrite:
		action.Put = &types.Put{
			TableName: &w.table, Item: w.item, ReturnValuesOnConditionCheckFailure: old,
			ConditionExpression: e.condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		}
	case updateWrite:
		action.Update = &types.Update{
			TableName: &w.table, Key: w.key.item(), UpdateExpression: e.update, ReturnValuesOnConditionCheckFailure: old,
			ConditionExpression: e.condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		}
	case deleteWrite:
		action.Delete = &types.Delete{
			TableName: &w.table, Key: w.key.item(), ReturnValuesOnConditionCheckFailure: old,
			ConditionExpression: e.condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		}
	case checkWrite:
		action.ConditionCheck = &types.ConditionCheck{
			TableName: &w.table, Key: w.key.item(), ReturnValuesOnConditionCheckFailure: old,
			ConditionExpression: e.condition, ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		}
	}
	return action, nil
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
