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
	"devplatform/shared/retry"
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
	return byKey(t.client.BatchGet(ctx, t.Refs(keys...)...))
}

// BatchGetWith is like BatchGet, and also reads items of any tables. Their keys must differ from the other keys.
func (t Table) BatchGetWith(ctx context.Context, more []Ref, keys ...Key) (map[Key]Item, error) {
	return byKey(t.client.BatchGet(ctx, append(t.Refs(keys...), more...)...))
}

func byKey(items map[Ref]Item, err error) (map[Key]Item, error) {
	if err != nil {
		return nil, err
	}
	found := make(map[Key]Item, len(items))
	for ref, item := range items {
		found[ref.key] = item
	}
	return found, nil
}

// BatchGet reads items of several tables like Table.BatchGet. One call reads up to 100 items of all tables. The first
// BatchGet of a request also reads the items of its guard (see guard.go), and lets the guard decide. Errors:
// ErrUnavailable; the error of the guard.
func (c *Client) BatchGet(ctx context.Context, refs ...Ref) (map[Ref]Item, error) {
	g := guardOf(ctx)
	readsGuard, all := g.take(), refs
	if readsGuard {
		defer g.abandon()
		all = slices.Concat(refs, g.refs)
	}
	found := &foundItems{byRef: make(map[Ref]Item, len(all))}
	err := inBatches(ctx, unique(all), maxBatchGet, parallelGets, func(ctx context.Context, batch []Ref) error {
		return c.getBatch(ctx, batch, found)
	})
	switch {
	case readsGuard && err != nil && ctx.Err() != nil: // only this call has ended: the others still need a decision
		g.read()
		return nil, err
	case readsGuard:
		g.settle(found.byRef, err)
	}
	if refused := g.wait(ctx); refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, err
	}
	if readsGuard {
		for _, ref := range g.refs {
			if !slices.Contains(refs, ref) {
				delete(found.byRef, ref)
			}
		}
	}
	return found.byRef, nil
}

// foundItems are the live items that batches have read.
type foundItems struct {
	mu    sync.Mutex
	byRef map[Ref]Item
}

// unique returns the valid references without duplicates.
func unique(refs []Ref) []Ref {
	wanted := make([]Ref, 0, len(refs))
	seen := make(map[Ref]bool, len(refs))
	for _, ref := range refs {
		if !ref.key.IsZero() && !seen[ref] {
			seen[ref] = true
			wanted = append(wanted, ref)
		}
	}
	return wanted
}

// getBatch reads a batch of at most 100 items. It repeats the call until DynamoDB has processed all of them.
func (c *Client) getBatch(ctx context.Context, batch []Ref, found *foundItems) error {
	for failures := 0; len(batch) > 0; {
		end := startCall(ctx)
		out, err := c.sdk.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: requestItems(batch)})
		end()
		if err != nil {
			return classify("batch get", err)
		}
		found.mu.Lock()
		for table, list := range out.Responses {
			for _, item := range list {
				if c.isLive(item) {
					found.byRef[Ref{table, KeyOf(item)}] = item
				}
			}
		}
		found.mu.Unlock()
		var unprocessed []Ref
		for table, rest := range out.UnprocessedKeys {
			for _, item := range rest.Keys {
				unprocessed = append(unprocessed, Ref{table, KeyOf(item)})
			}
		}
		if err := waitForRest(ctx, &failures, len(batch), len(unprocessed)); err != nil {
			return err
		}
		batch = unprocessed
	}
	return nil
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
	deletions := make([]types.WriteRequest, 0, len(keys))
	for _, ref := range unique(t.Refs(keys...)) {
		deletions = append(deletions, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: ref.key.item()}})
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

// writeAll executes writes in batches. It repeats each call until DynamoDB has processed all of its writes.
func (t Table) writeAll(ctx context.Context, operation string, writes []types.WriteRequest) error {
	if err := Admit(ctx); err != nil {
		return err
	}
	send := func(ctx context.Context, batch []types.WriteRequest) error {
		for failures := 0; len(batch) > 0; {
			end := startCall(ctx)
			out, err := t.client.sdk.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{t.name: batch},
			})
			end()
			if err != nil {
				return classify(operation, err)
			}
			unprocessed := out.UnprocessedItems[t.name]
			if err := waitForRest(ctx, &failures, len(batch), len(unprocessed)); err != nil {
				return err
			}
			batch = unprocessed
		}
		return nil
	}
	return inBatches(ctx, writes, maxBatchWrite, parallelWrites, send)
}

// inBatches splits items into batches of at most size items, and calls send with at most parallel batches at the same
// time.
func inBatches[T any](
	ctx context.Context, items []T, size, parallel int, send func(context.Context, []T) error,
) error {
	if len(items) <= size { // the usual case, without a goroutine
		return send(ctx, items)
	}
	group, ctx := async.WithContext(ctx)
	group.SetLimit(parallel)
	for batch := range slices.Chunk(items, size) {
		group.Go(func() error { return send(ctx, batch) })
	}
	return group.Wait()
}

// waitForRest waits before a batch is sent again with the items that DynamoDB did not process, because it throttled the
// call or the response reached its maximum size (16 MB). failures is the number of consecutive calls that processed no
// item. waitForRest returns ErrUnavailable after more than awsclient.MaxAttempts such calls, if the budget of retries
// is used up, or if ctx ends.
func waitForRest(ctx context.Context, failures *int, sent, unprocessed int) error {
	if unprocessed == 0 {
		return nil
	}
	if *failures++; unprocessed < sent {
		*failures = 0
	}
	isStuck := *failures > awsclient.MaxAttempts || *failures > 0 && !retry.Take(ctx)
	if isStuck || !retry.Sleep(ctx, retry.Jitter(*failures)) {
		return fmt.Errorf("%w: batch: %d items were not processed", ErrUnavailable, unprocessed)
	}
	return nil
}
