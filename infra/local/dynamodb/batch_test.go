package dynamodb

import (
	"fmt"
	"strings"
	"testing"
)

func TestBatchWriteAndGet(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	must(t, db, "PutItem", `{"TableName":"range","Item":{"pk":{"S":"gone"},"sk":{"S":"s"}}}`)
	got := must(t, db, "BatchWriteItem", `{"ReturnConsumedCapacity":"TOTAL","RequestItems":{
		"hash":[{"PutRequest":{"Item":{"pk":{"S":"a"},"v":{"N":"1"}}}},{"PutRequest":{"Item":{"pk":{"S":"b"},"v":{"N":"2"}}}}],
		"range":[{"DeleteRequest":{"Key":{"pk":{"S":"gone"},"sk":{"S":"s"}}}}]}}`)
	if want := `{"UnprocessedItems":{},"ConsumedCapacity":[{"TableName":"hash","CapacityUnits":2},{"TableName":"range","CapacityUnits":1}]}`; got.raw != want {
		t.Errorf("got %s", got.raw)
	}
	got = must(t, db, "BatchGetItem", `{"ReturnConsumedCapacity":"TOTAL","RequestItems":{
		"hash":{"Keys":[{"pk":{"S":"b"}},{"pk":{"S":"none"}},{"pk":{"S":"a"}}],"ProjectionExpression":"#v","ExpressionAttributeNames":{"#v":"v"},"ConsistentRead":true},
		"range":{"Keys":[{"pk":{"S":"gone"},"sk":{"S":"s"}}]}}}`)
	responses := asJSON(t, got.body["Responses"])
	if want := `{"hash":[{"v":{"N":"2"}},{"v":{"N":"1"}}],"range":[]}`; responses != want {
		t.Errorf("got %s", responses)
	}
	if capacity, want := asJSON(t, got.body["ConsumedCapacity"]), `[{"CapacityUnits":3,"TableName":"hash"},{"CapacityUnits":0.5,"TableName":"range"}]`; capacity != want {
		t.Errorf("got %s", capacity)
	}
}

func TestBatchLimits(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	puts := func(n int) string {
		requests := make([]string, n)
		for i := range n {
			requests[i] = fmt.Sprintf(`{"PutRequest":{"Item":{"pk":{"S":"%d"}}}}`, i)
		}
		return `{"RequestItems":{"hash":[` + strings.Join(requests, ",") + `]}}`
	}
	must(t, db, "BatchWriteItem", puts(25))
	if got := call(t, db, "BatchWriteItem", puts(26)).errorType(); got != "ValidationException" {
		t.Errorf("got %s", got)
	}
}

// TestBatchGetUnprocessed checks that a response of more than 16 MB names the unprocessed keys, and that a client can
// request them.
func TestBatchGetUnprocessed(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	keys := make([]string, 50)
	for i := range keys {
		keys[i] = fmt.Sprintf(`{"pk":{"S":"%d"}}`, i)
		must(t, db, "PutItem", fmt.Sprintf(`{"TableName":"hash","Item":{"pk":{"S":"%d"},"x":{"S":"%s"}}}`, i, strings.Repeat("x", 390_000)))
	}
	body := `{"RequestItems":{"hash":{"Keys":[` + strings.Join(keys, ",") + `],"ProjectionExpression":"pk"}}}`
	twice := strings.Replace(body, keys[49], keys[48], 1)
	if got := call(t, db, "BatchGetItem", twice).errorType(); got != "ValidationException" {
		t.Errorf("with an unprocessed key twice: got %s", got)
	}
	seen, rounds := 0, 0
	for rest := any(nil); rounds == 0 || rest != nil; rounds++ {
		got := must(t, db, "BatchGetItem", body)
		seen += len(got.body["Responses"].(map[string]any)["hash"].([]any))
		unprocessed := got.body["UnprocessedKeys"].(map[string]any)
		rest = unprocessed["hash"]
		body = `{"RequestItems":` + asJSON(t, unprocessed) + `}`
	}
	if seen != len(keys) || rounds != 2 {
		t.Errorf("%d items in %d rounds, want %d in 2", seen, rounds, len(keys))
	}
}
