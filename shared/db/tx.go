package db

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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
	writes []Write
}

// Tx returns a transaction with these writes.
func (c *Client) Tx(writes ...Write) *Tx { return &Tx{client: c, writes: writes} }

// Add adds writes.
func (t *Tx) Add(writes ...Write) { t.writes = append(t.writes, writes...) }

// Len returns the number of writes.
func (t *Tx) Len() int { return len(t.writes) }

// Commit executes the transaction, and retries it if it conflicts with another one. A transaction without writes does
// nothing. Errors: the error of Else of the first write whose condition failed, otherwise ErrConditionFailed;
// ErrConflict, ErrUnavailable, ErrInvalidKey.
func (t *Tx) Commit(ctx context.Context) error {
	in, err := t.input()
	if err != nil {
		return err
	}
	err = Retry(ctx, "transaction", func(ctx context.Context) error { return t.commit(ctx, in) })
	return meaning(err, t.writes...)
}

// CommitOnce is like Commit, for use within Retry: it does not retry conflicts, and a failed condition without Else is
// ErrStale.
func (t *Tx) CommitOnce(ctx context.Context) error {
	in, err := t.input()
	if err != nil {
		return err
	}
	return asStale(meaning(t.commit(ctx, in), t.writes...))
}

func (t *Tx) commit(ctx context.Context, in *dynamodb.TransactWriteItemsInput) error {
	if err := Admit(ctx); err != nil || len(in.TransactItems) == 0 {
		return err
	}
	defer startCall(ctx)()
	_, err := t.client.sdk.TransactWriteItems(ctx, in)
	return classify("transact", err)
}

// input returns the request with a new token.
func (t *Tx) input() (*dynamodb.TransactWriteItemsInput, error) {
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(rand.Text())}
	for i, w := range t.writes {
		action, err := w.action()
		if err != nil {
			return nil, fmt.Errorf("write %d: %w", i, err)
		}
		in.TransactItems = append(in.TransactItems, action)
	}
	return in, nil
}

func (w Write) action() (types.TransactWriteItem, error) {
	var action types.TransactWriteItem
	e, err := w.expressions()
	if err != nil {
		return action, err
	}
	old := returnOld(w.needsOld)
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
