package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"devplatform/shared/awsclient"
)

const (
	deleteBatch    = 25 // deletions that one BatchWriteItem may make
	deleteParallel = 8  // such calls at once
)

// DeleteAll removes the items under keys, those that exist, without conditions and not as one: after an error some are
// gone and some are not, and calling it again is safe. Keys may repeat. Errors: ErrUnavailable, ErrInvalidKey.
func (t Table) DeleteAll(ctx context.Context, keys ...Key) error {
	wanted := make([]types.WriteRequest, 0, len(keys))
	seen := make(map[Key]bool, len(keys))
	for _, key := range keys {
		if key.IsZero() {
			return fmt.Errorf("delete all: %w", ErrInvalidKey)
		}
		if !seen[key] {
			seen[key] = true
			wanted = append(wanted, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key.item()}})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deleteParallel)
	for batch := range slices.Chunk(wanted, deleteBatch) {
		group.Go(func() error { return t.deleteBatch(ctx, batch) })
	}
	return group.Wait() //nolint:wrapcheck // classified where it came from
}

// deleteBatch sends one batch, and again what DynamoDB had no capacity for, each time after a longer wait.
func (t Table) deleteBatch(ctx context.Context, pending []types.WriteRequest) error {
	for fruitless := 0; ; {
		countCall(ctx)
		out, err := t.client.sdk.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{t.name: pending},
		})
		if err != nil {
			return classify("delete all", err)
		}
		left := out.UnprocessedItems[t.name]
		if len(left) == 0 {
			return nil
		}
		if fruitless++; len(left) < len(pending) {
			fruitless = 0
		}
		if fruitless > awsclient.MaxAttempts || !t.client.wait(ctx, fruitless) {
			return fmt.Errorf("%w: delete all: %d items stay unprocessed", ErrUnavailable, len(left))
		}
		pending = left
	}
}
