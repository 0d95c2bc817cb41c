package dynamodb

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var ignoreSerde = cmpopts.IgnoreUnexported(
	types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{}, types.AttributeValueMemberBOOL{},
	types.AttributeValueMemberNULL{}, types.AttributeValueMemberM{}, types.AttributeValueMemberL{},
	types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}, types.AttributeValueMemberBS{})

func TestItemRoundTrip(t *testing.T) {
	t.Parallel()
	client := clientOf(t, withTables(t))
	item := sdkItem{
		"pk":   str("a"),
		"s":    str(""),
		"n":    &types.AttributeValueMemberN{Value: "-12345678901234567890.123456789012345678"},
		"b":    &types.AttributeValueMemberB{Value: []byte{0, 1, 255}},
		"bool": &types.AttributeValueMemberBOOL{Value: true},
		"null": &types.AttributeValueMemberNULL{Value: true},
		"m":    &types.AttributeValueMemberM{Value: sdkItem{"x": str("<&>\u2028")}},
		"l":    &types.AttributeValueMemberL{Value: []types.AttributeValue{num(1), str("b")}},
		"ss":   &types.AttributeValueMemberSS{Value: []string{"a", "b"}},
		"ns":   &types.AttributeValueMemberNS{Value: []string{"1", "2.5"}},
		"bs":   &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
	}
	if _, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String("hash"), Item: item}); err != nil {
		t.Fatal(err)
	}
	got, err := client.GetItem(t.Context(), &sdk.GetItemInput{TableName: aws.String("hash"), Key: sdkItem{"pk": str("a")}, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(item, got.Item, ignoreSerde); diff != "" {
		t.Error(diff)
	}
	none, err := client.GetItem(t.Context(), &sdk.GetItemInput{TableName: aws.String("hash"), Key: sdkItem{"pk": str("b")}})
	if err != nil || none.Item != nil {
		t.Errorf("got %v, %v for an item that does not exist", none.Item, err)
	}
}

func TestPutReturnsAndConditions(t *testing.T) {
	t.Parallel()
	client := clientOf(t, withTables(t))
	put := func(n int, condition *string) (*sdk.PutItemOutput, error) {
		return client.PutItem(t.Context(), &sdk.PutItemInput{
			TableName: aws.String("hash"), Item: sdkItem{"pk": str("a"), "n": num(n)}, ConditionExpression: condition,
			ReturnValues: types.ReturnValueAllOld, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
	}
	first, err := put(1, aws.String("attribute_not_exists(pk)"))
	if err != nil || first.Attributes != nil {
		t.Fatalf("got %v, %v", first, err)
	}
	_, err = put(2, aws.String("attribute_not_exists(pk)"))
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want a failed condition", err)
	}
	if diff := cmp.Diff(sdkItem{"pk": str("a"), "n": num(1)}, failed.Item, ignoreSerde); diff != "" {
		t.Error(diff)
	}
	second, err := put(2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sdkItem{"pk": str("a"), "n": num(1)}, second.Attributes, ignoreSerde); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateReturnValues(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	for _, test := range []struct{ mode, want string }{
		{"NONE", `{}`},
		{"ALL_OLD", `{"Attributes":{"a":{"N":"1"},"b":{"S":"x"},"pk":{"S":"k"}}}`},
		{"ALL_NEW", `{"Attributes":{"a":{"N":"2"},"c":{"S":"new"},"pk":{"S":"k"}}}`},
		{"UPDATED_OLD", `{"Attributes":{"a":{"N":"1"},"b":{"S":"x"}}}`},
		{"UPDATED_NEW", `{"Attributes":{"a":{"N":"2"},"c":{"S":"new"}}}`},
	} {
		must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"k"},"a":{"N":"1"},"b":{"S":"x"}}}`)
		got := must(t, db, "UpdateItem", `{"TableName":"hash","Key":{"pk":{"S":"k"}},"ReturnValues":"`+test.mode+`",
			"UpdateExpression":"SET a = a + :one, c = :c REMOVE b","ExpressionAttributeValues":{":one":{"N":"1"},":c":{"S":"new"}}}`)
		if got.raw != test.want {
			t.Errorf("%s: got %s, want %s", test.mode, got.raw, test.want)
		}
	}
}

func TestUpdateCreatesItem(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	must(t, db, "UpdateItem", `{"TableName":"hash","Key":{"pk":{"S":"only key"}}}`)
	must(t, db, "UpdateItem", `{"TableName":"hash","Key":{"pk":{"S":"counter"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}`)
	for key, want := range map[string]string{
		"only key": `{"Item":{"pk":{"S":"only key"}}}`,
		"counter":  `{"Item":{"n":{"N":"1"},"pk":{"S":"counter"}}}`,
	} {
		if got := must(t, db, "GetItem", `{"TableName":"hash","Key":{"pk":{"S":"`+key+`"}}}`); got.raw != want {
			t.Errorf("got %s, want %s", got.raw, want)
		}
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"k"},"a":{"N":"1"}}}`)
	request := `{"TableName":"hash","Key":{"pk":{"S":"k"}},"ReturnValues":"ALL_OLD"}`
	if got, want := must(t, db, "DeleteItem", request).raw, `{"Attributes":{"a":{"N":"1"},"pk":{"S":"k"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := must(t, db, "DeleteItem", request).raw; got != "{}" {
		t.Errorf("deleting nothing: got %s", got)
	}
	failed := call(t, db, "DeleteItem", `{"TableName":"hash","Key":{"pk":{"S":"k"}},"ConditionExpression":"attribute_exists(pk)"}`)
	if got := failed.errorOf(); got != "ConditionalCheckFailedException: The conditional request failed" {
		t.Errorf("got %s", got)
	}
}

func TestProjectionOfGet(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"k"},"m":{"M":{"x":{"N":"1"},"y":{"N":"2"}}},"z":{"S":"z"}}}`)
	got := must(t, db, "GetItem", `{"TableName":"hash","Key":{"pk":{"S":"k"}},"ProjectionExpression":"m.x, nothing"}`)
	if want := `{"Item":{"m":{"M":{"x":{"N":"1"}}}}}`; got.raw != want {
		t.Errorf("got %s, want %s", got.raw, want)
	}
	got = must(t, db, "GetItem", `{"TableName":"hash","Key":{"pk":{"S":"k"}},"ProjectionExpression":"nothing"}`)
	if want := `{"Item":{}}`; got.raw != want {
		t.Errorf("got %s, want %s", got.raw, want)
	}
}

// TestConsumedCapacity checks AWS's rules for capacity units:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
func TestConsumedCapacity(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	big := func(bytes int) string { return strings.Repeat("x", bytes) }
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"5k"},"a":{"S":"`+big(5000)+`"}}}`)
	for _, test := range []struct{ operation, body, want string }{
		{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":"none"}},"ReturnConsumedCapacity":"TOTAL"}`, `{"CapacityUnits":0.5,"TableName":"hash"}`},
		{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":"5k"}},"ReturnConsumedCapacity":"TOTAL"}`, `{"CapacityUnits":1,"TableName":"hash"}`},
		{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":"5k"}},"ConsistentRead":true,"ReturnConsumedCapacity":"INDEXES"}`, `{"CapacityUnits":2,"Table":{"CapacityUnits":2},"TableName":"hash"}`},
		{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":"5k"}},"ReturnConsumedCapacity":"NONE"}`, `null`},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"5k"}},"ReturnConsumedCapacity":"TOTAL"}`, `{"CapacityUnits":5,"TableName":"hash"}`},
		{"DeleteItem", `{"TableName":"hash","Key":{"pk":{"S":"none"}},"ReturnConsumedCapacity":"TOTAL"}`, `{"CapacityUnits":1,"TableName":"hash"}`},
		{"PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"a"},"g":{"S":"g"}},"ReturnConsumedCapacity":"INDEXES"}`,
			`{"CapacityUnits":2,"GlobalSecondaryIndexes":{"keys":{"CapacityUnits":1}},"Table":{"CapacityUnits":1},"TableName":"indexed"}`},
		{"PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"a"},"g":{"S":"h"}},"ReturnConsumedCapacity":"INDEXES"}`,
			`{"CapacityUnits":3,"GlobalSecondaryIndexes":{"keys":{"CapacityUnits":2}},"Table":{"CapacityUnits":1},"TableName":"indexed"}`},
		{"PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"a"},"g":{"S":"h"},"z":{"S":"z"}},"ReturnConsumedCapacity":"INDEXES"}`,
			`{"CapacityUnits":1,"Table":{"CapacityUnits":1},"TableName":"indexed"}`},
		{"Query", `{"TableName":"indexed","IndexName":"keys","KeyConditionExpression":"g = :g","ExpressionAttributeValues":{":g":{"S":"h"}},"ReturnConsumedCapacity":"INDEXES"}`,
			`{"CapacityUnits":0.5,"GlobalSecondaryIndexes":{"keys":{"CapacityUnits":0.5}},"Table":{"CapacityUnits":0},"TableName":"indexed"}`},
		{"Scan", `{"TableName":"number","ReturnConsumedCapacity":"TOTAL"}`, `{"CapacityUnits":0.5,"TableName":"number"}`},
		{"TransactWriteItems", `{"ReturnConsumedCapacity":"TOTAL","TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"t"}}}}]}`,
			`[{"CapacityUnits":2,"TableName":"hash","WriteCapacityUnits":2}]`},
		{"TransactGetItems", `{"ReturnConsumedCapacity":"TOTAL","TransactItems":[{"Get":{"TableName":"hash","Key":{"pk":{"S":"t"}}}}]}`,
			`[{"CapacityUnits":2,"ReadCapacityUnits":2,"TableName":"hash"}]`},
	} {
		got := must(t, db, test.operation, test.body)
		if text := asJSON(t, got.body["ConsumedCapacity"]); text != test.want {
			t.Errorf("%s %.100s\n got %s\nwant %s", test.operation, test.body, text, test.want)
		}
	}
}

// TestConcurrentUpdates checks that no concurrent increment of an item is lost.
func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	client := clientOf(t, withTables(t))
	const workers, rounds = 8, 25
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range rounds {
				_, err := client.UpdateItem(t.Context(), &sdk.UpdateItemInput{
					TableName: aws.String("hash"), Key: sdkItem{"pk": str("counter")},
					UpdateExpression:          aws.String("ADD n :one"),
					ExpressionAttributeValues: sdkItem{":one": num(1)},
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	got, err := client.GetItem(t.Context(), &sdk.GetItemInput{TableName: aws.String("hash"), Key: sdkItem{"pk": str("counter")}})
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Item["n"].(*types.AttributeValueMemberN).Value; n != fmt.Sprint(workers*rounds) {
		t.Errorf("got %s increments, want %d", n, workers*rounds)
	}
}

// TestConditionalPutRace checks that exactly one of many concurrent conditional puts succeeds.
func TestConditionalPutRace(t *testing.T) {
	t.Parallel()
	client := clientOf(t, withTables(t))
	var group sync.WaitGroup
	results := make(chan error, 16)
	for range cap(results) {
		group.Go(func() {
			_, err := client.PutItem(t.Context(), &sdk.PutItemInput{
				TableName: aws.String("hash"), Item: sdkItem{"pk": str("one")}, ConditionExpression: aws.String("attribute_not_exists(pk)"),
			})
			results <- err
		})
	}
	group.Wait()
	close(results)
	won := 0
	for err := range results {
		var failed *types.ConditionalCheckFailedException
		switch {
		case err == nil:
			won++
		case !errors.As(err, &failed):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d puts won, want 1", won)
	}
}
