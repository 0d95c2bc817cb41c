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

// hands is a clock that tests set.
type hands struct{ at atomic.Int64 }

func (h *hands) now() time.Time          { return time.Unix(h.at.Load(), 0) }
func (h *hands) advance(d time.Duration) { h.at.Add(int64(d / time.Second)) }

// newTable creates a table in a new DynamoDB.
func newTable(t *testing.T) (*db.Client, db.Table, *hands) {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	h := &hands{}
	h.at.Store(1_763_640_000)
	client := db.New(config.AWS{Region: "us-east-1", AccessKeyID: "test", SecretAccessKey: "test", Endpoint: endpoint}, h.now)
	name := "db-test-" + rand.Text()
	dynamotest.CreateTable(t, dynamotest.Client(endpoint), name, "pk", "sk")
	return client, client.Table(name), h
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// value returns the string attribute v of an item, "" if it has none.
func value(item db.Item) string {
	if v, ok := item["v"].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func mustDo(t *testing.T, c *db.Client, w db.Write) db.Item {
	t.Helper()
	item, err := c.Do(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return item
}
