package db_test

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/config"
	"devplatform/shared/db"
)

// hands is a clock that tests move.
type hands struct{ at atomic.Int64 }

func (h *hands) now() time.Time          { return time.Unix(h.at.Load(), 0) }
func (h *hands) advance(d time.Duration) { h.at.Add(int64(d / time.Second)) }

// newTable makes a table of its own on a fresh DynamoDB.
func newTable(t *testing.T) (*db.Client, db.Table, *hands) {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	h := &hands{}
	h.at.Store(1_763_640_000)
	client := db.New(config.AWS{Region: "us-east-1", AccessKeyID: "test", SecretAccessKey: "test", Endpoint: endpoint}, h.now)
	name := "db-test-" + rand.Text()
	createTable(t, dynamotest.Client(endpoint), name)
	return client, client.Table(name), h
}

func createTable(t *testing.T, sdk *dynamodb.Client, name string) {
	t.Helper()
	_, err := sdk.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	waiter := dynamodb.NewTableExistsWaiter(sdk)
	if err := waiter.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := sdk.DeleteTable(context.WithoutCancel(t.Context()), &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Logf("deleting %s: %v", name, err)
		}
	})
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// value is the text attribute v of an item, "" if it has none.
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
