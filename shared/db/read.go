package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"devplatform/shared/awsclient"
)

// Get reads one item, strongly consistent. Errors: ErrNotFound, ErrUnavailable.
func (t Table) Get(ctx context.Context, key Key) (Item, error) {
	if key.IsZero() {
		return nil, ErrNotFound
	}
	countCall(ctx)
	out, err := t.client.sdk.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, Key: key.item(), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, classify("get", err)
	}
	if !t.client.live(out.Item) {
		return nil, ErrNotFound
	}
	return out.Item, nil
}

const (
	batchSize     = 100 // items that one BatchGetItem may ask for
	batchParallel = 4   // such calls at once
)

// BatchGet reads items, strongly consistent, in as few calls as DynamoDB allows. What does not exist or has
// expired is absent from the answer; keys may repeat. Error: ErrUnavailable.
func (t Table) BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error) {
	wanted := map[Key]bool{}
	for _, key := range keys {
		if !key.IsZero() {
			wanted[key] = true
		}
	}
	found := make(map[Key]Item, len(wanted))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(batchParallel)
	for chunk := range slices.Chunk(slices.Collect(maps.Keys(wanted)), batchSize) {
		group.Go(func() error {
			return t.batchGet(ctx, chunk, func(item Item) {
				mu.Lock()
				defer mu.Unlock()
				found[KeyOf(item)] = item
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // classified where it came from
	}
	return found, nil
}

// batchGet reads one chunk, asking again for what DynamoDB left out (16 MB an answer, or throttled).
func (t Table) batchGet(ctx context.Context, chunk []Key, found func(Item)) error {
	pending := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, key := range chunk {
		pending.Keys = append(pending.Keys, key.item())
	}
	for fruitless := 0; len(pending.Keys) > 0; {
		countCall(ctx)
		out, err := t.client.sdk.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{t.name: pending},
		})
		if err != nil {
			return classify("batch get", err)
		}
		for _, item := range out.Responses[t.name] {
			if t.client.live(item) {
				found(item)
			}
		}
		left := out.UnprocessedKeys[t.name].Keys
		if len(left) < len(pending.Keys) {
			fruitless = 0
		} else if fruitless++; fruitless > awsclient.MaxAttempts || !t.client.wait(ctx, fruitless) {
			return fmt.Errorf("%w: batch get: %d keys stay unprocessed", ErrUnavailable, len(left))
		}
		pending.Keys = left
	}
	return nil
}

// Query asks for the items under a prefix.
type Query struct {
	Prefix Prefix
	// After continues behind this key, the Next of the page before; zero: from the beginning.
	After Key
	// Limit is the largest number of live items a page may have; 0: as many as one call brings (1 MB).
	Limit int
	// Descending reads from the last sort key to the first.
	Descending bool
	// KeysOnly leaves everything but the keys unsent, Only everything but the keys and these attributes; what is read is charged
	// all the same.
	KeysOnly bool
	Only     []string
	// Once makes one call, whose 1 MB may be less than Limit, and may all have expired.
	Once bool
}

// Page is a part of a query's answer.
type Page struct {
	Items []Item
	// Next is where the next page begins, zero on the last one.
	Next Key
}

// Query reads one page of live items in the order of their sort keys, strongly consistent.
// It goes on over expired items until the page is full or the end is reached, unless it is to be one call. Error: ErrUnavailable.
func (t Table) Query(ctx context.Context, q Query) (Page, error) {
	var page Page
	if q.Prefix.PK == "" {
		return page, nil
	}
	start := q.After
	for {
		out, err := t.query(ctx, q, start, q.Limit-len(page.Items))
		if err != nil {
			return Page{}, err
		}
		page.Items = t.client.appendLive(page.Items, out.Items)
		page.Next = KeyOf(out.LastEvaluatedKey)
		if q.Once || page.Next.IsZero() || pageDone(q.Limit, len(page.Items)) {
			return page, nil
		}
		start = page.Next
	}
}

// appendLive adds the items that have not expired.
func (c *Client) appendLive(page, items []Item) []Item {
	for _, item := range items {
		if c.live(item) {
			page = append(page, item)
		}
	}
	return page
}

// pageDone reports whether so many items make a page: its limit, or, without one, what one call brought.
func pageDone(limit, items int) bool { return items > 0 && items >= limit }

// callLimit is the limit of a call that wants so many items.
func callLimit(wanted int) *int32 { return aws.Int32(int32(min(wanted, 1000))) } //nolint:gosec // at most 1000

// QueryAll reads every live item under a prefix, of each only the named attributes beside its key if any are named.
// Error: ErrUnavailable.
func (t Table) QueryAll(ctx context.Context, prefix Prefix, only ...string) ([]Item, error) {
	var items []Item
	q := Query{Prefix: prefix, Only: only}
	for {
		page, err := t.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.Next.IsZero() {
			return items, nil
		}
		q.After = page.Next
	}
}

// query is one call. A prefix without a sort key is the whole partition.
func (t Table) query(ctx context.Context, q Query, start Key, limit int) (*dynamodb.QueryOutput, error) {
	in := &dynamodb.QueryInput{
		TableName:                 &t.name,
		ConsistentRead:            aws.Bool(true),
		ScanIndexForward:          aws.Bool(!q.Descending),
		KeyConditionExpression:    aws.String(AttrPK + " = :pk"),
		ExpressionAttributeValues: Item{":pk": &types.AttributeValueMemberS{Value: q.Prefix.PK}},
	}
	if q.Prefix.SK != "" { // DynamoDB takes no empty text for a part of a key
		in.KeyConditionExpression = aws.String(AttrPK + " = :pk AND begins_with(" + AttrSK + ", :sk)")
		in.ExpressionAttributeValues[":sk"] = &types.AttributeValueMemberS{Value: q.Prefix.SK}
	}
	if q.KeysOnly || q.Only != nil {
		in.ProjectionExpression, in.ExpressionAttributeNames = projection(q.Only)
	}
	if q.Limit > 0 {
		in.Limit = callLimit(limit)
	}
	if !start.IsZero() {
		in.ExclusiveStartKey = start.item()
	}
	countCall(ctx)
	out, err := t.client.sdk.Query(ctx, in)
	return out, classify("query", err)
}

// projection asks for attributes, the keys, and what tells expired items, which don't count here either.
func projection(attributes []string) (*string, map[string]string) {
	text := AttrPK + ", " + AttrSK + ", " + AttrExpiresAt
	var names map[string]string
	for i, attribute := range attributes {
		if names == nil {
			names = map[string]string{}
		}
		placeholder := "#a" + strconv.Itoa(i) // many a plain name is one of DynamoDB's words
		names[placeholder] = attribute
		text += ", " + placeholder
	}
	return &text, names
}

func (k Key) item() Item {
	return Item{
		AttrPK: &types.AttributeValueMemberS{Value: k.PK},
		AttrSK: &types.AttributeValueMemberS{Value: k.SK},
	}
}

// KeyOf is the key of an item, zero if it has none.
func KeyOf(item Item) Key {
	pk, _ := item[AttrPK].(*types.AttributeValueMemberS)
	sk, _ := item[AttrSK].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return Key{}
	}
	return Key{PK: pk.Value, SK: sk.Value}
}
