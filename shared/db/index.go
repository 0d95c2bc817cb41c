package db

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Index is a global secondary index of a table: its name, and which attributes, both of text, are its partition and sort key.
// Only items that have both are in it.
type Index struct{ Name, PK, SK string }

// IndexKey is the place of an item in an index: in its partition, the item's sort key there and then, as many may share that, its
// key in the table.
type IndexKey struct {
	Sort string
	Key  Key
}

// IsZero reports whether it is no place.
func (k IndexKey) IsZero() bool { return k.Key.IsZero() }

// IndexQuery asks for the items of one partition of an index.
type IndexQuery struct {
	Index Index
	// Partition is the value of the index's partition key.
	Partition string
	// Upto is the last sort key that is asked for; "": all of them.
	Upto string
	// After continues behind this place, the Next of the page before; zero: from the beginning.
	After IndexKey
	// Limit is the largest number of live items a page may have; 0: as many as one call brings (1 MB).
	Limit int
}

// IndexPage is a part of an index query's answer.
type IndexPage struct {
	// Items have the attributes that the index was made to have; the keys of the table and of the index always.
	Items []Item
	// Next is where the next page begins, zero on the last one.
	Next IndexKey
}

// QueryIndex reads one page of live items in the order of their sort keys in an index. Unlike a table, an index may lag behind: an
// item may be shown as it was, or where it no longer is. It goes on over expired items, which are told where the index has
// expiresAt, until the page is full or the end is reached. Error: ErrUnavailable.
func (t Table) QueryIndex(ctx context.Context, q IndexQuery) (IndexPage, error) {
	var page IndexPage
	if q.Partition == "" {
		return page, nil
	}
	in := q.input(t.name)
	for {
		if q.Limit > 0 {
			in.Limit = callLimit(q.Limit - len(page.Items))
		}
		countCall(ctx)
		out, err := t.client.sdk.Query(ctx, in)
		if err != nil {
			return IndexPage{}, classify("query index", err)
		}
		page.Items = t.client.appendLive(page.Items, out.Items)
		page.Next = q.Index.place(out.LastEvaluatedKey)
		if page.Next.IsZero() || pageDone(q.Limit, len(page.Items)) {
			return page, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// input is the query's call.
func (q IndexQuery) input(table string) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName: &table, IndexName: &q.Index.Name, ScanIndexForward: aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": q.Index.PK},
		ExpressionAttributeValues: Item{":pk": &types.AttributeValueMemberS{Value: q.Partition}},
	}
	if q.Upto != "" {
		in.KeyConditionExpression = aws.String("#pk = :pk AND #sk <= :upto")
		in.ExpressionAttributeNames["#sk"] = q.Index.SK
		in.ExpressionAttributeValues[":upto"] = &types.AttributeValueMemberS{Value: q.Upto}
	}
	if !q.After.IsZero() {
		in.ExclusiveStartKey = q.After.Key.item()
		in.ExclusiveStartKey[q.Index.PK] = &types.AttributeValueMemberS{Value: q.Partition}
		in.ExclusiveStartKey[q.Index.SK] = &types.AttributeValueMemberS{Value: q.After.Sort}
	}
	return in
}

// place is where an item stands in the index, zero if it does not.
func (x Index) place(item Item) IndexKey {
	sort, _ := item[x.SK].(*types.AttributeValueMemberS)
	if sort == nil {
		return IndexKey{}
	}
	return IndexKey{Sort: sort.Value, Key: KeyOf(item)}
}
