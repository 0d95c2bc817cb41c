package db

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Get reads one item with a strongly consistent read. Errors: ErrNotFound, ErrUnavailable.
func (t Table) Get(ctx context.Context, key Key) (Item, error) {
	if g := guardOf(ctx); g != nil && !g.taken.Load() { // a BatchGet also reads the guard's items
		ref := t.Ref(key)
		items, err := t.client.BatchGet(ctx, ref)
		if err == nil && items[ref] == nil {
			err = ErrNotFound
		}
		return items[ref], err
	}
	if key.IsZero() {
		return nil, ErrNotFound
	}
	end := startCall(ctx)
	out, err := t.client.sdk.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, Key: key.item(), ConsistentRead: aws.Bool(true),
	})
	end()
	if refused := guardOf(ctx).wait(ctx); refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, classify("get", err)
	}
	if !t.client.isLive(out.Item) {
		return nil, ErrNotFound
	}
	return out.Item, nil
}

// Query selects the items under a prefix.
type Query struct {
	Prefix Prefix
	// After is the key after which the page begins: Next of the previous page, zero for the first page.
	After Key
	// Limit is the maximum number of live items in a page. 0 means as many as one call returns (1 MB).
	Limit int
	// Descending reads from the last sort key to the first.
	Descending bool
	// KeysOnly omits all attributes except the keys and expiresAt. DynamoDB still charges for whole items.
	KeysOnly bool
	// If Only is not nil, the items contain only these attributes, the keys and expiresAt. DynamoDB still charges for
	// whole items.
	Only []string
	// If Once is set, Query makes a single call. The page may then have fewer items than Limit, or none, although there
	// are more pages.
	Once bool
}

// Page is a page of a query.
type Page struct {
	Items []Item
	// Next is the value of Query.After for the next page. It is zero on the last page.
	Next Key

	last Item // the position after which the next page begins, nil on the last page
}

// Query reads one page of live items in the order of their sort keys, with strongly consistent reads. It makes as many
// calls as the page needs, unless q.Once is set. Errors: ErrUnavailable.
func (t Table) Query(ctx context.Context, q Query) (Page, error) {
	items, next, err := List(ctx, t, q, func(item Item) (Item, error) { return item, nil })
	return Page{Items: items, Next: next}, err
}

// List reads a page like Table.Query, and decodes its items like DecodeAll. The page has q.Limit decoded items, unless
// it is the last one. next is the value of Query.After for the next page. It is zero on the last page. Errors:
// ErrUnavailable.
func List[T any](
	ctx context.Context, t Table, q Query, decode func(Item) (T, error),
) (records []T, next Key, err error) {
	in := q.input(t.name)
	for page, err := range t.pages(ctx, in) {
		if err != nil {
			return nil, Key{}, err
		}
		records, next = append(records, DecodeAll(ctx, page.Items, decode)...), page.Next
		if q.Once || len(records) > 0 && len(records) >= q.Limit {
			break
		}
		in.Limit = callLimit(q.Limit - len(records))
	}
	return records, next, nil
}

// QueryAll reads all live items under a prefix. They must fit into memory. If attributes are given, the items contain
// only these attributes, the keys and expiresAt. Errors: ErrUnavailable.
func (t Table) QueryAll(ctx context.Context, prefix Prefix, attributes ...string) (items []Item, err error) {
	for page, err := range t.pages(ctx, Query{Prefix: prefix, Only: attributes}.input(t.name)) {
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
	}
	return items, nil
}

// Each calls use with each live item under a prefix. It keeps only one page in memory. attributes has the same meaning
// as in QueryAll. Errors: ErrUnavailable; the first error of use.
func (t Table) Each(ctx context.Context, prefix Prefix, use func(Item) error, attributes ...string) error {
	for page, err := range t.pages(ctx, Query{Prefix: prefix, Only: attributes}.input(t.name)) {
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := use(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// EachRecord is like Table.Each, and decodes the items. It omits damaged items, see DecodeListed.
func EachRecord[T any](
	ctx context.Context, t Table, prefix Prefix, decode func(Item) (T, error), use func(T), attributes ...string,
) error {
	for page, err := range t.pages(ctx, Query{Prefix: prefix, Only: attributes}.input(t.name)) {
		if err != nil {
			return err
		}
		for _, record := range DecodeAll(ctx, page.Items, decode) {
			use(record)
		}
	}
	return nil
}

// Pages returns the live items of a query, from q.After to the end, in the order of their sort keys. A page contains
// the items of one call: at most q.Limit items, and possibly none. After an error, there are no more pages. Errors:
// ErrUnavailable.
func (t Table) Pages(ctx context.Context, q Query) iter.Seq2[Page, error] {
	return t.pages(ctx, q.input(t.name))
}

// pages makes the calls of a query. in is nil if the query selects no items. The caller can change the limit of in
// between two pages.
func (t Table) pages(ctx context.Context, in *dynamodb.QueryInput) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		if in == nil {
			return
		}
		wait := startGuard(ctx)
		for {
			end := startCall(ctx)
			out, err := t.client.sdk.Query(ctx, in)
			end()
			if refused := wait(); refused != nil {
				err = refused
			} else {
				err = classify("query", err)
			}
			if err != nil {
				yield(Page{}, err)
				return
			}
			live := slices.DeleteFunc(out.Items, func(item Item) bool { return !t.client.isLive(item) })
			last := out.LastEvaluatedKey
			if !yield(Page{Items: live, Next: KeyOf(last), last: last}, nil) || len(last) == 0 {
				return
			}
			in.ExclusiveStartKey = last
		}
	}
}

// input returns the arguments of the first call, nil if the prefix is invalid.
func (q Query) input(table string) *dynamodb.QueryInput {
	if q.Prefix.PK == "" {
		return nil
	}
	in := &dynamodb.QueryInput{
		TableName:                 &table,
		ConsistentRead:            aws.Bool(true),
		ScanIndexForward:          aws.Bool(!q.Descending),
		KeyConditionExpression:    aws.String(AttrPK + " = :pk"),
		ExpressionAttributeValues: Item{":pk": text(q.Prefix.PK)},
		Limit:                     callLimit(q.Limit),
	}
	if q.Prefix.SK != "" { // DynamoDB rejects an empty prefix
		in.KeyConditionExpression = aws.String(AttrPK + " = :pk AND begins_with(" + AttrSK + ", :sk)")
		in.ExpressionAttributeValues[":sk"] = text(q.Prefix.SK)
	}
	if q.KeysOnly || q.Only != nil {
		in.ProjectionExpression, in.ExpressionAttributeNames = projection(q.Only)
	}
	if !q.After.IsZero() {
		in.ExclusiveStartKey = q.After.item()
	}
	return in
}

// callLimit returns the limit of a call that reads n items. 0 means no limit.
func callLimit(n int) *int32 {
	const maxLimit = 1000
	if n <= 0 {
		return nil
	}
	return aws.Int32(int32(min(n, maxLimit)))
}

// projection returns the expression that selects the attributes and the keys. The expression also selects expiresAt, so
// that expired items can be omitted. names maps the placeholders in the expression to attribute names.
func projection(attributes []string) (projected *string, names map[string]string) {
	expression := AttrPK + ", " + AttrSK + ", " + AttrExpiresAt
	for i, attribute := range attributes {
		if names == nil {
			names = map[string]string{}
		}
		placeholder := "#a" + strconv.Itoa(i) // many common names are reserved words of DynamoDB
		names[placeholder] = attribute
		expression += ", " + placeholder
	}
	return &expression, names
}

// Index is a global secondary index of a table: its name, and the attributes that are its partition key and its sort
// key. Both are strings. The index contains the items that have both attributes.
type Index struct{ Name, PK, SK string }

// IndexKey is the position of an item in a partition of an index: its sort key in the index, and its key in the table,
// because several items may have the same sort key.
type IndexKey struct {
	Sort string
	Key  Key
}

// IsZero reports whether k is the zero IndexKey, which is not a position.
func (k IndexKey) IsZero() bool { return k.Key.IsZero() }

// IndexQuery selects items of one partition of an index.
type IndexQuery struct {
	Index Index
	// Partition is the value of the index's partition key.
	Partition string
	// Upto is the last sort key to read. "" means all.
	Upto string
	// After is the position after which the page begins: Next of the previous page, zero for the first page.
	After IndexKey
	// Limit is the maximum number of live items in a page. 0 means as many as one call returns (1 MB).
	Limit int
}

// IndexPage is a page of an index query.
type IndexPage struct {
	// Items have the keys of the table and of the index, and the attributes that the index projects.
	Items []Item
	// Next is the value of IndexQuery.After for the next page. It is zero on the last page.
	Next IndexKey
}

// QueryIndex reads one page of live items in the order of their sort keys in an index. It is eventually consistent:
// the index may return an earlier version of an item, or an item that no longer belongs to the partition. Expired items
// are omitted if the index projects expiresAt. Errors: ErrUnavailable.
func (t Table) QueryIndex(ctx context.Context, q IndexQuery) (all IndexPage, err error) {
	in := q.input(t.name)
	for page, err := range t.pages(ctx, in) {
		if err != nil {
			return IndexPage{}, err
		}
		all.Items, all.Next = append(all.Items, page.Items...), q.Index.position(page.last)
		if len(all.Items) > 0 && len(all.Items) >= q.Limit {
			break
		}
		in.Limit = callLimit(q.Limit - len(all.Items))
	}
	return all, nil
}

// input returns the arguments of the first call, nil if there is no partition.
func (q IndexQuery) input(table string) *dynamodb.QueryInput {
	if q.Partition == "" {
		return nil
	}
	in := &dynamodb.QueryInput{
		TableName: &table, IndexName: &q.Index.Name, ScanIndexForward: aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": q.Index.PK},
		ExpressionAttributeValues: Item{":pk": text(q.Partition)},
		Limit:                     callLimit(q.Limit),
	}
	if q.Upto != "" {
		in.KeyConditionExpression = aws.String("#pk = :pk AND #sk <= :upto")
		in.ExpressionAttributeNames["#sk"] = q.Index.SK
		in.ExpressionAttributeValues[":upto"] = text(q.Upto)
	}
	if !q.After.IsZero() {
		in.ExclusiveStartKey = q.After.Key.item()
		in.ExclusiveStartKey[q.Index.PK] = text(q.Partition)
		in.ExclusiveStartKey[q.Index.SK] = text(q.After.Sort)
	}
	return in
}

// position returns the position of an item in the index, zero if the index does not contain the item.
func (x Index) position(item Item) IndexKey {
	sort, _ := item[x.SK].(*types.AttributeValueMemberS)
	if sort == nil {
		return IndexKey{}
	}
	return IndexKey{Sort: sort.Value, Key: KeyOf(item)}
}
