package dynamodb

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// FuzzRequests checks that no request causes an internal error.
func FuzzRequests(f *testing.F) {
	db := withTables(f)
	names := slices.Sorted(maps.Keys(db.service.Targets[targetPrefix]))
	for i, name := range names {
		f.Add(uint8(i), `{"TableName":"hash","Key":{"pk":{"S":"a"}},"Item":{"pk":{"S":"a"}}}`)
		f.Add(uint8(i), `{"TableName":"hash","Key":{"pk":{"S":"a"}}}`)
		if name == "Query" {
			f.Add(uint8(i), `{"TableName":"range","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"S":"b"}}}`)
		}
	}
	f.Add(uint8(2), `{"TableName":"t2","AttributeDefinitions":[{}],"KeySchema":[{}],"GlobalSecondaryIndexes":[{}]}`)
	for i := range names {
		f.Add(uint8(i), `{"TransactItems":[{},null,{"Put":null}]}`)
		f.Add(uint8(i), `{"TransactItems":[{},null,{"Get":null}]}`)
		f.Add(uint8(i), `{"RequestItems":{"hash":[null],"range":null}}`)
		f.Add(uint8(i), `{"RequestItems":{"hash":null}}`)
		f.Add(uint8(i), `{"TableName":"hash","GlobalSecondaryIndexUpdates":[{},{"Update":{"IndexName":"all"}}]}`)
	}
	f.Fuzz(func(t *testing.T, operation uint8, body string) {
		name := names[int(operation)%len(names)]
		if got := call(t, db, name, body); got.status == http.StatusInternalServerError {
			t.Errorf("%s %s: %s", name, body, got.raw)
		}
	})
}

// FuzzStreamRequests checks that no request of a client of streams causes an internal error.
func FuzzStreamRequests(f *testing.F) {
	s := openStreaming(f, nil)
	arn := s.create(f, "things", types.StreamViewTypeNewAndOldImages)
	s.put(f, "things", sdkItem{"pk": str("a")})
	names := slices.Sorted(maps.Keys(s.db.service.Targets[streamsPrefix]))
	for i := range names {
		f.Add(uint8(i), fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":%q,"Limit":1}`, arn, *s.describe(f, arn).Shards[0].ShardId, sequence(1)))
		f.Add(uint8(i), fmt.Sprintf(`{"ShardIterator":%q,"ShardFilter":{},"Timestamp":-1e308}`, s.iterator(f, arn, trimHorizon, nil)))
	}
	f.Fuzz(func(t *testing.T, operation uint8, body string) {
		name := names[int(operation)%len(names)]
		if got := callStream(t, s.db, name, body); got.status == http.StatusInternalServerError {
			t.Errorf("%s %s: %s", name, body, got.raw)
		}
	})
}
