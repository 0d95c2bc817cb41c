package dynamodb

import (
	"maps"
	"net/http"
	"slices"
	"testing"
)

// Whatever a client sends, the answer is AWS's refusal or a success, never an
// internal error.
func FuzzRequests(f *testing.F) {
	names := slices.Sorted(maps.Keys(operations))
	for i, name := range names {
		f.Add(uint8(i), `{"TableName":"hash","Key":{"pk":{"S":"a"}},"Item":{"pk":{"S":"a"}}}`)
		if name == "Query" {
			f.Add(uint8(i), `{"TableName":"range","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"S":"b"}}}`)
		}
	}
	f.Add(uint8(0), `{"TableName":"t2","AttributeDefinitions":[{}],"KeySchema":[{}],"GlobalSecondaryIndexes":[{}]}`)
	f.Add(uint8(0), `{"TransactItems":[{},null,{"Put":null,"Get":null}],"RequestItems":{"hash":[null],"range":null}}`)
	db := withTables(f)
	f.Fuzz(func(t *testing.T, operation uint8, body string) {
		name := names[int(operation)%len(names)]
		if got := call(t, db, name, body); got.status == http.StatusInternalServerError {
			t.Errorf("%s %s: %s", name, body, got.raw)
		}
	})
}
