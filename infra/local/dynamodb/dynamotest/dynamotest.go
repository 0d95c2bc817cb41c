// Package dynamotest gives tests a DynamoDB: the embedded one, in memory, a
// fresh one each, behind its real wire protocol, with the real SDK in front.
// What tests of one application need (tables, items) does not belong here.
package dynamotest

import (
	"context"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	engine "devplatform/infra/local/dynamodb"
)

// EndpointVariable names an endpoint to test against in place of the embedded
// engine: DynamoDB Local, LocalStack, AWS.
const EndpointVariable = "AWS_ENDPOINT_URL"

// Start returns a client of a fresh, empty DynamoDB that ends with the test; or
// of the endpoint in AWS_ENDPOINT_URL, which may have other tables.
func Start(t testing.TB) *dynamodb.Client {
	t.Helper()
	return Client(StartServer(t))
}

// StartServer is Start for callers that make their own client: it returns the
// endpoint's URL.
func StartServer(t testing.TB) (endpoint string) {
	t.Helper()
	if endpoint := os.Getenv(EndpointVariable); endpoint != "" {
		return endpoint
	}
	db, err := engine.Open(engine.Options{Now: time.Now}) //nolint:forbidigo // what tests have to wait for is not here
	if err != nil {
		t.Fatalf("starting DynamoDB: %v", err)
	}
	server := httptest.NewServer(db)
	t.Cleanup(func() {
		server.Close()
		if err := db.Close(); err != nil {
			t.Errorf("stopping DynamoDB: %v", err)
		}
	})
	return server.URL
}

// CreateTable makes a table that ends with the test and waits until it can be used. Its key is of strings: a partition key
// and, where a second name is given, a sort key.
func CreateTable(t testing.TB, client *dynamodb.Client, name, partition string, sort ...string) {
	t.Helper()
	createTable(t, client, func(*dynamodb.CreateTableInput) {}, name, partition, sort)
}

func createTable(
	t testing.TB, client *dynamodb.Client, change func(*dynamodb.CreateTableInput), name, partition string, sort []string,
) {
	t.Helper()
	input := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	for i, attribute := range append([]string{partition}, sort...) {
		kind := []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]
		input.KeySchema = append(input.KeySchema, types.KeySchemaElement{AttributeName: &attribute, KeyType: kind})
		input.AttributeDefinitions = append(input.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &attribute, AttributeType: types.ScalarAttributeTypeS})
	}
	change(input)
	if _, err := client.CreateTable(t.Context(), input); err != nil {
		t.Fatalf("creating %s: %v", name, err)
	}
	t.Cleanup(func() {
		if _, err := client.DeleteTable(context.WithoutCancel(t.Context()), &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Logf("deleting %s: %v", name, err)
		}
	})
	if err := dynamodb.NewTableExistsWaiter(client).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
		t.Fatalf("waiting for %s: %v", name, err)
	}
}

// Client returns a client of an endpoint, with credentials that any emulator
// takes, unless the environment has some.
func Client(endpoint string, options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       region(),
		Credentials:  accessKey(),
	}, options...)
}

func region() string { return environment("AWS_REGION", "us-east-1") }

func accessKey() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(
		environment("AWS_ACCESS_KEY_ID", "test"), environment("AWS_SECRET_ACCESS_KEY", "test"), os.Getenv("AWS_SESSION_TOKEN"))
}

func environment(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
