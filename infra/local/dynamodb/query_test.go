package dynamodb

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func asJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func putRange(t testing.TB, db *DB, pk string, sks ...string) {
	t.Helper()
	for _, sk := range sks {
		must(t, db, "PutItem", fmt.Sprintf(`{"TableName":"range","Item":{"pk":{"S":%q},"sk":{"S":%q},"even":{"BOOL":%t}}}`, pk, sk, len(sk)%2 == 0))
	}
}

func TestQueryConditions(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	putRange(t, db, "p", "a", "ab", "abc", "b", "bé", "c")
	putRange(t, db, "q", "a", "z")
	for _, test := range []struct{ condition, want string }{
		{"pk = :p", "a ab abc b bé c"},
		{"pk = :p AND sk = :x", "ab"},
		{"pk = :p AND sk < :x", "a"},
		{"pk = :p AND sk <= :x", "a ab"},
		{"pk = :p AND sk > :x", "abc b bé c"},
		{"pk = :p AND sk >= :x", "ab abc b bé c"},
		{"pk = :p AND begins_with(sk, :x)", "ab abc"},
		{"pk = :p AND sk BETWEEN :x AND :y", "ab abc b bé"},
		{"sk > :x AND :p = pk", "abc b bé c"},
	} {
		given := `":p":{"S":"p"}`
		if strings.Contains(test.condition, ":x") {
			given += `,":x":{"S":"ab"}`
		}
		if strings.Contains(test.condition, ":y") {
			given += `,":y":{"S":"bé"}`
		}
		body := `{"TableName":"range","KeyConditionExpression":"` + test.condition + `","ExpressionAttributeValues":{` + given + `}}`
		if got := attributes(must(t, db, "Query", body), "sk", "S"); got != test.want {
			t.Errorf("%s: got %s, want %s", test.condition, got, test.want)
		}
		backwards := strings.Replace(body, "{", `{"ScanIndexForward":false,`, 1)
		if got := attributes(must(t, db, "Query", backwards), "sk", "S"); got != reversed(test.want) {
			t.Errorf("%s backwards: got %s, want %s", test.condition, got, reversed(test.want))
		}
	}
}

func reversed(words string) string {
	fields := strings.Fields(words)
	for i, j := 0, len(fields)-1; i < j; i, j = i+1, j-1 {
		fields[i], fields[j] = fields[j], fields[i]
	}
	return strings.Join(fields, " ")
}

func TestQueryNumbersAndBinary(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	want := []string{"-1000", "-2.5", "-0.001", "0", "0.5", "3", "20", "10000000000000000000000"}
	for i := range want {
		must(t, db, "PutItem", `{"TableName":"number","Item":{"pk":{"B":"AP8="},"sk":{"N":"`+want[(i*5)%len(want)]+`"}}}`)
	}
	query := `{"TableName":"number","KeyConditionExpression":"pk = :p%s","ExpressionAttributeValues":{":p":{"B":"AP8="}%s}}`
	if got := attributes(must(t, db, "Query", fmt.Sprintf(query, "", "")), "sk", "N"); got != strings.Join(want, " ") {
		t.Errorf("got %s, want %s", got, want)
	}
	got := attributes(must(t, db, "Query", fmt.Sprintf(query, " AND sk BETWEEN :a AND :b", `,":a":{"N":"-2.5"},":b":{"N":"3.0"}`)), "sk", "N")
	if got != "-2.5 -0.001 0 0.5 3" {
		t.Errorf("got %s", got)
	}
}

// TestPaging checks that pages of all sizes, in both directions, of a table and of an index, return each item once and
// in order.
func TestPaging(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	client := clientOf(t, db)
	const n = 23
	for i := range n {
		must(t, db, "PutItem", fmt.Sprintf(`{"TableName":"indexed","Item":{"pk":{"S":"p"},"sk":{"S":"%03d"},"g":{"S":"g"},"n":{"N":"%d"}}}`, i, i/3))
	}
	for _, index := range []*string{nil, aws.String("all"), aws.String("keys")} {
		for _, forward := range []bool{true, false} {
			for _, limit := range []int32{1, 4, n, n + 1} {
				input := &sdk.QueryInput{
					TableName: aws.String("indexed"), IndexName: index, Limit: aws.Int32(limit), ScanIndexForward: aws.Bool(forward),
					KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: sdkItem{":p": str("p")},
				}
				if index != nil {
					input.KeyConditionExpression, input.ExpressionAttributeValues = aws.String("g = :p"), sdkItem{":p": str("g")}
				}
				checkPages(t, client, input, n)
			}
		}
	}
}

func checkPages(t *testing.T, client *sdk.Client, input *sdk.QueryInput, n int) {
	t.Helper()
	pages := sdk.NewQueryPaginator(client, input)
	i := 0
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if page.Count > *input.Limit || int(page.Count) != len(page.Items) {
			t.Errorf("%d items, count %d, limit %d", len(page.Items), page.Count, *input.Limit)
		}
		for _, item := range page.Items {
			want := i
			if !*input.ScanIndexForward {
				want = n - 1 - i
			}
			if got := item["sk"].(*types.AttributeValueMemberS).Value; got != fmt.Sprintf("%03d", want) {
				t.Fatalf("index %v forward %v limit %d: got %s, want %03d", aws.ToString(input.IndexName), *input.ScanIndexForward, *input.Limit, got, want)
			}
			i++
		}
	}
	if i != n {
		t.Errorf("got %d items, want %d", i, n)
	}
}

// TestPageSize checks that a page ends before 1 MB, before the filter.
func TestPageSize(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	for i := range 12 {
		must(t, db, "PutItem", fmt.Sprintf(`{"TableName":"range","Item":{"pk":{"S":"p"},"sk":{"S":"%02d"},"x":{"S":"%s"}}}`, i, strings.Repeat("x", 100<<10)))
	}
	query := `{"TableName":"range","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"},":no":{"S":"no"}},"FilterExpression":"x = :no"%s}`
	first := must(t, db, "Query", fmt.Sprintf(query, ""))
	if first.body["ScannedCount"] != 10.0 || first.body["Count"] != 0.0 || first.body["LastEvaluatedKey"] == nil {
		t.Errorf("got %.200s", first.raw)
	}
	second := must(t, db, "Query", fmt.Sprintf(query, `,"ExclusiveStartKey":`+asJSON(t, first.body["LastEvaluatedKey"])))
	if second.body["ScannedCount"] != 2.0 || second.body["LastEvaluatedKey"] != nil {
		t.Errorf("got %.200s", second.raw)
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	putRange(t, db, "p", "a", "bb", "c")
	const query = `{"TableName":"range","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}%s}%s}`
	for _, test := range []struct{ value, more, want string }{
		{"", `,"Select":"COUNT"`, `{"Count":3,"ScannedCount":3}`},
		{`,":t":{"BOOL":true}`, `,"Select":"COUNT","FilterExpression":"even = :t"`, `{"Count":1,"ScannedCount":3}`},
		{"", `,"ProjectionExpression":"sk","Limit":1`, `{"Items":[{"sk":{"S":"a"}}],"Count":1,"ScannedCount":1,"LastEvaluatedKey":{"pk":{"S":"p"},"sk":{"S":"a"}}}`},
		{`,":t":{"BOOL":true}`, `,"FilterExpression":"even = :t","Limit":1`, `{"Items":[],"Count":0,"ScannedCount":1,"LastEvaluatedKey":{"pk":{"S":"p"},"sk":{"S":"a"}}}`},
	} {
		if got := must(t, db, "Query", fmt.Sprintf(query, test.value, test.more)).raw; got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.more, got, test.want)
		}
	}
}

// TestScanSegments checks that all segments together return each item once.
func TestScanSegments(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	const n = 200
	for i := range n {
		must(t, db, "PutItem", fmt.Sprintf(`{"TableName":"hash","Item":{"pk":{"S":"%d"}}}`, i))
	}
	for _, total := range []int{1, 2, 7, 64} {
		seen := map[string]int{}
		for segment := range total {
			start := ""
			for {
				page := must(t, db, "Scan", fmt.Sprintf(`{"TableName":"hash","Limit":9,"Segment":%d,"TotalSegments":%d%s}`, segment, total, start))
				for _, pk := range strings.Fields(attributes(page, "pk", "S")) {
					seen[pk]++
				}
				if page.body["LastEvaluatedKey"] == nil {
					break
				}
				start = `,"ExclusiveStartKey":` + asJSON(t, page.body["LastEvaluatedKey"])
			}
		}
		if len(seen) != n {
			t.Errorf("%d segments: %d items, want %d", total, len(seen), n)
		}
		for pk, times := range seen {
			if times != 1 {
				t.Errorf("%d segments: %s was returned %d times", total, pk, times)
			}
		}
	}
}

// TestIndexes checks that indexes contain the items with their keys, and the projected attributes.
func TestIndexes(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	for _, item := range []string{
		`{"pk":{"S":"1"},"sk":{"S":"s"},"g":{"S":"g"},"n":{"N":"2"},"a":{"S":"a"},"b":{"S":"b"}}`,
		`{"pk":{"S":"2"},"sk":{"S":"s"},"g":{"S":"g"},"n":{"N":"1"}}`,
		`{"pk":{"S":"3"},"sk":{"S":"s"},"g":{"S":"g"}}`,
		`{"pk":{"S":"4"},"sk":{"S":"s"}}`,
	} {
		must(t, db, "PutItem", `{"TableName":"indexed","Item":`+item+`}`)
	}
	scan := func(index string) string {
		return must(t, db, "Scan", `{"TableName":"indexed","IndexName":"`+index+`"}`).raw
	}
	query := must(t, db, "Query", `{"TableName":"indexed","IndexName":"all","KeyConditionExpression":"g = :g AND n > :n","ExpressionAttributeValues":{":g":{"S":"g"},":n":{"N":"0"}}}`)
	if got := attributes(query, "pk", "S"); got != "2 1" {
		t.Errorf("all: got %s, want 2 1", got)
	}
	if got, want := scan("keys"), `{"Items":[{"g":{"S":"g"},"pk":{"S":"1"},"sk":{"S":"s"}},{"g":{"S":"g"},"pk":{"S":"2"},"sk":{"S":"s"}},{"g":{"S":"g"},"pk":{"S":"3"},"sk":{"S":"s"}}],"Count":3,"ScannedCount":3}`; got != want {
		t.Errorf("keys: got %s", got)
	}
	one := must(t, db, "Query", `{"TableName":"indexed","IndexName":"some","KeyConditionExpression":"n = :n","ExpressionAttributeValues":{":n":{"N":"2"}}}`).raw
	if want := `{"Items":[{"a":{"S":"a"},"n":{"N":"2"},"pk":{"S":"1"},"sk":{"S":"s"}}],"Count":1,"ScannedCount":1}`; one != want {
		t.Errorf("some: got %s", one)
	}
	// Updates move and remove entries.
	must(t, db, "UpdateItem", `{"TableName":"indexed","Key":{"pk":{"S":"1"},"sk":{"S":"s"}},"UpdateExpression":"SET g = :h","ExpressionAttributeValues":{":h":{"S":"h"}}}`)
	must(t, db, "UpdateItem", `{"TableName":"indexed","Key":{"pk":{"S":"2"},"sk":{"S":"s"}},"UpdateExpression":"REMOVE g"}`)
	must(t, db, "DeleteItem", `{"TableName":"indexed","Key":{"pk":{"S":"3"},"sk":{"S":"s"}}}`)
	if got, want := scan("keys"), `{"Items":[{"g":{"S":"h"},"pk":{"S":"1"},"sk":{"S":"s"}}],"Count":1,"ScannedCount":1}`; got != want {
		t.Errorf("after updates: got %s", got)
	}
}
