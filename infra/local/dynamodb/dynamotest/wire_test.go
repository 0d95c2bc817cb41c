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

// Faults happen to the calls that they are for, as often as they say, and DynamoDB is asked only where they say so.
func TestWire(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.StartServer(t)
	direct := dynamotest.Client(endpoint)
	dynamotest.CreateTable(t, direct, "wired", "id")
	var asked atomic.Int32 // so often DynamoDB itself
	wire := dynamotest.NewWire(t, endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		next.ServeHTTP(out, r)
	})
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	for name, tc := range map[string]struct {
		fault       dynamotest.Fault
		hits, asked int
		fails       bool
	}{
		"gives up":            {dynamotest.ServerError, dynamotest.Attempts, 0, true},
		"gives up on cuts":    {dynamotest.DroppedConnection, dynamotest.Attempts, 0, true},
		"gives up unanswered": {dynamotest.LostReplies, dynamotest.Attempts, dynamotest.Attempts, true},
		"is told once":        {dynamotest.MissingTable, 1, 0, true},
		"asks again":          {dynamotest.LostReply, 1, 2, false},
		"asks until it works": {dynamotest.Throttled.Times(2), 2, 1, false},
	} {
		wire.Break("PutItem", tc.fault)
		asked.Store(0)
		_, err := wire.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("wired"), Item: item})
		if (err != nil) != tc.fails || wire.Hits() != tc.hits || int(asked.Load()) != tc.asked {
			t.Errorf("%s: %d hits, %d asked, %v", name, wire.Hits(), asked.Load(), err)
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
