package dynamotest_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
)

// TestWire checks which calls fail, how often, and whether DynamoDB executes them.
func TestWire(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.StartServer(t)
	direct := dynamotest.Client(endpoint)
	dynamotest.CreateTable(t, direct, "wired", "id")
	var executed atomic.Int32 // calls that DynamoDB executes
	wire := dynamotest.NewWire(t, endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		executed.Add(1)
		next.ServeHTTP(out, r)
	})
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	for name, tc := range map[string]struct {
		fault          dynamotest.Fault
		hits, executed int
		fails          bool
	}{
		"gives up":                  {dynamotest.ServerError, dynamotest.Attempts, 0, true},
		"gives up on cuts":          {dynamotest.DroppedConnection, dynamotest.Attempts, 0, true},
		"gives up without replies":  {dynamotest.LostReplies, dynamotest.Attempts, dynamotest.Attempts, true},
		"fails at once":             {dynamotest.MissingTable, 1, 0, true},
		"retries":                   {dynamotest.LostReply, 1, 2, false},
		"retries until it succeeds": {dynamotest.Throttled.Times(2), 2, 1, false},
	} {
		wire.Break("PutItem", tc.fault)
		executed.Store(0)
		_, err := wire.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("wired"), Item: item})
		if (err != nil) != tc.fails || wire.Hits() != tc.hits || int(executed.Load()) != tc.executed {
			t.Errorf("%s: %d hits, %d executed, %v", name, wire.Hits(), executed.Load(), err)
		}
		if _, err := wire.Client(dynamotest.Once).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("wired")}); err != nil {
			t.Errorf("%s, another operation: %v", name, err)
		}
	}
	met := 0
	wire.Before("PutItem", func() { met = len(dynamotest.Dump(t, direct, "wired")) })
	for range 2 {
		item["id"] = &types.AttributeValueMemberS{Value: item["id"].(*types.AttributeValueMemberS).Value + "1"}
		if _, err := wire.Client(dynamotest.Once).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("wired"), Item: item}); err != nil {
			t.Error(err)
		}
	}
	if n := len(dynamotest.Dump(t, direct, "wired")); met != 1 || n != 3 {
		t.Errorf("met %d items in front of the first of two, then %d", met, n)
	}
}
