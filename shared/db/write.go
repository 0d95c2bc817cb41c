package db

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Write is one change of one item, made by a Table's Put, Create, Update, Delete or Check
// and narrowed by its own methods, each of which answers with a new Write.
type Write struct {
	kind   writeKind
	table  string
	key    Key
	item   Item
	update expression.UpdateBuilder
	cond   *expression.ConditionBuilder
	old    bool
	mine   func(Item) bool
	err    error
}

type writeKind uint8

const (
	putWrite writeKind = iota + 1
	updateWrite
	deleteWrite
	checkWrite
)

// Put replaces whatever is under key. The item is given without its key attributes.
func (t Table) Put(key Key, item Item) Write {
	full := maps.Clone(item)
	if full == nil {
		full = Item{}
	}
	maps.Copy(full, key.item())
	return t.write(Write{kind: putWrite, key: key, item: full})
}

// Create is a Put on the condition that nothing, or only something expired, is under key.
func (t Table) Create(key Key, item Item) Write {
	w := t.Put(key, item).If(expression.AttributeNotExists(expression.Name(AttrPK)).Or(
		expression.Name(AttrExpiresAt).LessThanEqual(expression.Value(t.client.now().Unix()))))
	w.mine = func(stored Item) bool { return reflect.DeepEqual(stored, w.item) }
	return w
}

// Update changes attributes of the item under key, and makes the item if there is none:
// narrow it with If(t.Exists()) where that is not meant.
func (t Table) Update(key Key, update expression.UpdateBuilder) Write {
	return t.write(Write{kind: updateWrite, key: key, update: update})
}

// Delete removes the item under key, if there is one.
func (t Table) Delete(key Key) Write {
	return t.write(Write{kind: deleteWrite, key: key})
}

// Check writes nothing: in a transaction, cond must hold for the item under key.
func (t Table) Check(key Key, cond expression.ConditionBuilder) Write {
	return t.write(Write{kind: checkWrite, key: key}).If(cond)
}

// Exists is the condition that a live item is under a write's key.
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

// If narrows the write to a condition, on top of those it has.
func (w Write) If(cond expression.ConditionBuilder) Write {
	if w.cond != nil {
		cond = w.cond.And(cond)
	}
	w.cond = &cond
	return w
}

// WithOld asks for the stored item when the condition fails (see OldItem).
func (w Write) WithOld() Write {
	w.old = true
	return w
}

// Mine tells how a single write knows its own result: when an answer is lost, the SDK sends the write again,
// which then fails on its own condition. If mine holds for the stored item, Do reports success.
// Create knows its own already.
func (w Write) Mine(mine func(stored Item) bool) Write {
	w.mine = mine
	return w
}

// Do executes a single write and retries it if it conflicts with a transaction (see DoOnce).
func (c *Client) Do(ctx context.Context, w Write) (item Item, err error) {
	err = Retry(ctx, "write", func() error {
		item, err = c.DoOnce(ctx, w)
		return err
	})
	return item, err
}

// DoOnce executes a single write. It returns the item as it is after an Update, or as it was before a Put or a Delete;
// nil if there is or was none. It is for use within Retry.
// Errors: ErrConditionFailed, ErrConflict, ErrUnavailable, ErrInvalidKey.
func (c *Client) DoOnce(ctx context.Context, w Write) (Item, error) {
	e, err := w.expression()
	if err != nil {
		return nil, err
	}
	countCall(ctx)
	item, err := c.single(ctx, w, e)
	err = classify("write", err)
	var refused *ConditionError
	if errors.As(err, &refused) && w.mine != nil && w.mine(refused.Failed[0]) {
		if w.kind == updateWrite {
			return refused.Failed[0], nil
		}
		return nil, nil
	}
	return item, err
}

func (c *Client) single(ctx context.Context, w Write, e parts) (Item, error) {
	old := types.ReturnValuesOnConditionCheckFailureNone
	if w.old || w.mine != nil {
		old = types.ReturnValuesOnConditionCheckFailureAllOld
	}
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
		return nil, errors.New("a check is part of a transaction")
	}
}

// Transact executes all writes or none, and retries the transaction if it conflicts with another one (see TransactOnce).
func (c *Client) Transact(ctx context.Context, writes ...Write) error {
	in, err := transaction(writes)
	if err != nil {
		return err
	}
	return Retry(ctx, "transaction", func() error { return c.transact(ctx, in) })
}

// TransactOnce executes all writes or none, at most 100 on as many items. It is for use within Retry. The transaction has
// one request token for all repetitions by the SDK, so that a repetition after a lost response has no further effect.
// Errors: ErrConditionFailed (FailedAt and OldItem take the index of a write), ErrConflict, ErrUnavailable, ErrInvalidKey.
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
	countCall(ctx)
	_, err := c.sdk.TransactWriteItems(ctx, in)
	return classify("transact", err)
}

func (w Write) action() (types.TransactWriteItem, error) {
	var action types.TransactWriteItem
	e, err := w.expression()
	if err != nil {
		return action, err
	}
	old := types.ReturnValuesOnConditionCheckFailureNone
	if w.old {
		old = types.ReturnValuesOnConditionCheckFailureAllOld
	}
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

// parts are a write's expressions as the wire wants them.
type parts struct {
	condition, update *string
	names             map[string]string
	values            Item
}

func (w Write) expression() (parts, error) {
	if w.err != nil {
		return parts{}, w.err
	}
	builder := expression.NewBuilder()
	if w.kind == updateWrite {
		builder = builder.WithUpdate(w.update)
	}
	if w.cond != nil {
		builder = builder.WithCondition(*w.cond)
	}
	if w.kind != updateWrite && w.cond == nil {
		return parts{}, nil
	}
	e, err := builder.Build()
	if err != nil {
		return parts{}, fmt.Errorf("db: expression: %w", err)
	}
	return parts{condition: e.Condition(), update: e.Update(), names: e.Names(), values: e.Values()}, nil
}

// ExpiresAt is the value of AttrExpiresAt for an item that counts until unix seconds.
func ExpiresAt(unix int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(unix, 10)}
}
