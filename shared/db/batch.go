package db

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/async"
	"devplatform/shared/awsclient"
)

// maxBatchGet and maxBatchWrite are DynamoDB's limits for the number of items in a batch. parallelGets and
// parallelWrites are the maximum numbers of batches in flight for one call of BatchGet, DeleteAll or PutAll.
const (
	maxBatchGet    = 100
	parallelGets   = 4
	maxBatchWrite  = 25
	parallelWrites = 8
)

// Ref identifies an item of a table.
type Ref struct {
	table string
	key   Key
}

// Ref returns a reference to the item with that key.
func (t Table) Ref(key Key) Ref { return Ref{t.name, key} }

// Refs returns references to the items with these keys.
func (t Table) Refs(keys ...Key) []Ref {
	refs := make([]Ref, len(keys))
	for i, key := range keys {
		refs[i] = t.Ref(key)
	}
	return refs
}

// BatchGet reads items with strongly consistent reads. The result does not contain items that do not exist or have
// expired. keys may contain duplicates. Invalid keys are ignored. Errors: ErrUnavailable.
func (t Table) BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error) {
	return t.BatchGetWith(ctx, nil, keys...)
}

// BatchGetWith is like BatchGet, and also reads items of any tables. Their keys must differ from the other keys.
func (t Table) BatchGetWith(ctx context.Context, more []Ref, keys ...Key) (map[Key]Item, error) {
	items, err := t.client.BatchGet(ctx, append(t.Refs(keys...), more...)...)
	if err != nil {
		return nil, err
	}
	found := make(map[Key]Item, len(items))
	for ref, item := range items {
		found[ref.key] = item
	}
	return found, nil
}

// BatchGet reads items of several tables like Table.BatchGet. One call reads up to 100 items of all tables.
func (c *Client) BatchGet(ctx context.Context, refs ...Ref) (map[Ref]Item, error) {
	g := guardOf(ctx)
	if !g.take() {
		found, err := c.batchGet(ctx, refs)
		if refused := g.wait(ctx); refused != nil {
			return nil, refused
		}
		return found, err
	}
	all, err := g.get(ctx, slices.Concat(refs, g.refs))
	if err != nil && ctx.Err() != nil { // the other calls of the request have not ended
		g.read()
		return nil, err
	}
	if g.settle(all, err); g.err != nil {
		return nil, g.err
	}
	found := make(map[Ref]Item, len(refs))
	for _, ref := range refs {
		if item, ok := all[ref]; ok {
			found[ref] = item
		}
	}
	return found, nil
}

func (c *Client) batchGet(ctx context.Context, refs []Ref) (map[Ref]Item, error) {
	wanted := make([]Ref, 0, len(refs))
	seen := make(map[Ref]bool, len(refs))
	for _, ref := range refs {
		if !ref.key.IsZero() && !seen[ref] {
			seen[ref] = true
			wanted = append(wanted, ref)
		}
	}
	found := make(map[Ref]Item, len(wanted))
	var mu sync.Mutex
	get := func(ctx context.Context, refs []Ref) ([]Ref, error) {
		end := startCall(ctx)
		out, err := c.sdk.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: requestItems(refs)})
		end()
		if err != nil {
			return nil, classify("batch get", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for table, items := range out.Responses {
			for _, item := range items {
				if c.live(item) {
					found[Ref{table, KeyOf(item)}] = item
				}
			}
		}
		var unprocessed []Ref
		for table, rest := range out.UnprocessedKeys {
			for _, item := range rest.Keys {
				unprocessed = append(unprocessed, Ref{table, KeyOf(item)})
			}
		}
		return unprocessed, nil
	}
	if err := inBatches(ctx, wanted, maxBatchGet, parallelGets, get); err != nil {
		return nil, err
	}
	return found, nil
}

// requestItems returns the strongly consistent reads of a BatchGetItem, by table.
func requestItems(refs []Ref) map[string]types.KeysAndAttributes {
	byTable := map[string]types.KeysAndAttributes{}
	for _, ref := range refs {
		reads := byTable[ref.table]
		reads.Keys, reads.ConsistentRead = append(reads.Keys, ref.key.item()), aws.Bool(true)
		byTable[ref.table] = reads
	}
	return byTable
}

// DeleteAll deletes items, without conditions and not atomically. After an error, some items are deleted and others
// are not, and it is safe to call DeleteAll again. keys may contain duplicates, and the items need not exist. Errors:
// ErrUnavailable, ErrInvalidKey.
func (t Table) DeleteAll(ctx context.Context, keys ...Key) error {
	if slices.ContainsFunc(keys, Key.IsZero) {
		return fmt.Errorf("delete all: %w", ErrInvalidKey)
	}
	var deletions []types.WriteRequest
	for _, key := range keyItems(keys) {
		deletions = append(deletions, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}})
	}
	return t.writeAll(ctx, "delete all", deletions)
}

// PutAll stores items, without conditions and not atomically: it replaces the items with these keys. After an error,
// some items are stored and others are not, and it is safe to call PutAll again. The items do not contain the key
// attributes. Errors: ErrUnavailable, ErrInvalidKey.
func (t Table) PutAll(ctx context.Context, items map[Key]Item) error {
	puts := make([]types.WriteRequest, 0, len(items))
	for key, item := range items {
		if key.IsZero() {
			return fmt.Errorf("put all: %w", ErrInvalidKey)
		}
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: withKey(key, item)}})
	}
	return t.writeAll(ctx, "put all", puts)
}

// writeAll executes writes in batches.
func (t Table) writeAll(ctx context.Context, operation string, writes []types.WriteRequest) error {
	if err := Admit(ctx); err != nil {
		return err
	}
	return inBatches(ctx, writes, maxBatchWrite, parallelWrites,
		func(ctx context.Context, writes []types.WriteRequest) ([]types.WriteRequest, error) {
			end := startCall(ctx)
			out, err := t.client.sdk.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{t.name: writes},
			})
			end()
			if err != nil {
				return nil, classify(operation, err)
			}
			return out.UnprocessedItems[t.name], nil
		})
}

// keyItems returns the valid keys without duplicates.
func keyItems(keys []Key) []Item {
	items := make([]Item, 0, len(keys))
	seen := make(map[Key]bool, len(keys))
	for _, key := range keys {
		if !key.IsZero() && !seen[key] {
			seen[key] = true
			items = append(items, key.item())
		}
	}
	return items
}

// inBatches splits items into batches of at most size items, and calls send with at most parallel batches at the same
// time. send returns the items that DynamoDB did not process, because it throttled the call or the response reached its
// maximum size (16 MB).
func inBatches[T any](
	ctx context.Context, items []T, size, parallel int, send func(context.Context, []T) ([]T, error),
) error {
	if len(items) <= size { // the usual case, without a goroutine
		if len(items) == 0 {
			return nil
		}
		return sendBatch(ctx, items, send)
	}
	group, ctx := async.WithContext(ctx)
	group.SetLimit(parallel)
	for batch := range slices.Chunk(items, size) {
		group.Go(func() error { return sendBatch(ctx, batch, send) })
	}
	return group.Wait()
}

// sendBatch sends a batch, and sends the unprocessed items again until all items are processed. It returns
// ErrUnavailable after more than awsclient.MaxAttempts consecutive attempts that processed no items, or if ctx ends.
func sendBatch[T any](ctx context.Context, batch []T, send func(context.Context, []T) ([]T, error)) error {
	for failures := 0; ; {
		unprocessed, err := send(ctx, batch)
		if err != nil || len(unprocessed) == 0 {
			return err
		}
		if failures++; len(unprocessed) < len(batch) {
			failures = 0
		}
		isStuck := failures > awsclient.MaxAttempts || failures > 0 && !awsclient.TakeRetry(ctx)
		if isStuck || !awsclient.Sleep(ctx, awsclient.Jitter(failures)) {
			return fmt.Errorf("%w: batch: %d items were not processed", ErrUnavailable, len(unprocessed))
		}
		batch = unprocessed
	}
}
