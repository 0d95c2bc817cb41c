package dynamodb

import (
	"strings"
	"testing"
)

// TestTransactionsCostTheirIndexesOnce checks that only a transaction's writes to the table itself cost twice.
func TestTransactionsCostTheirIndexesOnce(t *testing.T) {
	t.Parallel()
	db := openTest(t, nil)
	must(t, db, "CreateTable", indexedTable)
	const item = `"Item":{"pk":{"S":"KEY"},"sk":{"S":"s"},"g":{"S":"g"},"n":{"N":"1"}}}`
	for _, test := range []struct{ operation, body, want string }{
		{"BatchWriteItem", `{"ReturnConsumedCapacity":"TOTAL","RequestItems":{"indexed":[{"PutRequest":{` + strings.Replace(item, "KEY", "a", 1) + `}]}}`,
			`{"UnprocessedItems":{},"ConsumedCapacity":[{"TableName":"indexed","CapacityUnits":4}]}`},
		{"TransactWriteItems", `{"ReturnConsumedCapacity":"TOTAL","TransactItems":[{"Put":{"TableName":"indexed",` + strings.Replace(item, "KEY", "b", 1) + `}]}`,
			`{"ConsumedCapacity":[{"TableName":"indexed","CapacityUnits":5,"WriteCapacityUnits":5}]}`},
	} {
		if got := must(t, db, test.operation, test.body).raw; got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.operation, got, test.want)
		}
	}
}

// TestReplayCostsReading checks that a replay costs reading the items as they are then.
func TestReplayCostsReading(t *testing.T) {
	t.Parallel()
	db := openTest(t, nil)
	must(t, db, "CreateTable", hashTable)
	large := strings.Repeat("x", 9000)
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"shrinks"},"v":{"S":"`+large+`"}}}`)
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"goes"},"v":{"S":"`+large+`"}}}`)
	const transaction = `{"ClientRequestToken":"t","ReturnConsumedCapacity":"TOTAL","TransactItems":[
		{"Put":{"TableName":"hash","Item":{"pk":{"S":"shrinks"}}}},
		{"Delete":{"TableName":"hash","Key":{"pk":{"S":"goes"}}}},
		{"Put":{"TableName":"hash","Item":{"pk":{"S":"new"}}}}]}`
	for _, want := range []string{
		`{"ConsumedCapacity":[{"TableName":"hash","CapacityUnits":38,"WriteCapacityUnits":38}]}`,
		`{"ConsumedCapacity":[{"TableName":"hash","CapacityUnits":6,"ReadCapacityUnits":6}]}`,
	} {
		if got := must(t, db, "TransactWriteItems", transaction).raw; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
