package db_test

import (
	"crypto/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/config"
	"devplatform/shared/db"
)

// fakeClock is a clock whose time is set by the tests.
type fakeClock struct{ seconds atomic.Int64 }

func newFakeClock() *fakeClock {
	clk := &fakeClock{}
	clk.seconds.Store(1_763_640_000)
	return clk
}

func (clk *fakeClock) now() time.Time          { return time.Unix(clk.seconds.Load(), 0) }
func (clk *fakeClock) advance(d time.Duration) { clk.seconds.Add(int64(d / time.Second)) }

// awsConfig returns the configuration of a client that sends its requests to endpoint.
func awsConfig(endpoint string) config.AWS {
	return config.AWS{Region: "us-east-1", AccessKeyID: "test", SecretAccessKey: "test", Endpoint: endpoint}
}

// newTable creates a table in a new DynamoDB.
func newTable(t *testing.T) (*db.Client, db.Table, *fakeClock) {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	clk := newFakeClock()
	client := db.New(awsConfig(endpoint), clk.now)
	name := "db-test-" + rand.Text()
	dynamotest.CreateTable(t, dynamotest.Client(endpoint), name, "pk", "sk")
	return client, client.Table(name), clk
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// value returns the string attribute v of an item, "" if it has none.
func value(item db.Item) string {
	if v, ok := item["v"].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

// mustDo executes a write that must succeed.
func mustDo(t *testing.T, client *db.Client, w db.Write) db.Item {
	t.Helper()
	item, err := client.Do(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return item
}
