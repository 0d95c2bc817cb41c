// Package dynamotest starts an embedded DynamoDB in memory for a test. Clients use the real SDK and wire protocol.
// Tables and items of one application do not belong here.
package dynamotest

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/inprocess"
	engine "devplatform/infra/local/dynamodb"
)

// EndpointVariable is the environment variable with the URL of another DynamoDB to use instead of the embedded one,
// such as DynamoDB Local, LocalStack or AWS.
const EndpointVariable = "AWS_ENDPOINT_URL"

// Start starts an empty DynamoDB, until the test ends, and returns a client of it. If AWS_ENDPOINT_URL is set, it
// returns a client of that endpoint, which can have other tables.
func Start(t testing.TB) *dynamodb.Client {
	t.Helper()
	return Client(StartServer(t))
}

// StartServer is like Start, but returns the URL of the endpoint.
func StartServer(t testing.TB) (endpoint string) {
	t.Helper()
	if endpoint := os.Getenv(EndpointVariable); endpoint != "" {
		return endpoint
	}
	db, err := engine.Open(engine.Options{Now: time.Now}) //nolint:forbidigo // what tests have to wait for is not here
	if err != nil {
		t.Fatalf("starting DynamoDB: %v", err)
	}
	endpoint, stop := inprocess.NewServer(t, db)
	t.Cleanup(func() {
		stop()
		if err := db.Close(); err != nil {
			t.Errorf("stopping DynamoDB: %v", err)
		}
	})
	return endpoint
}

// CreateTable creates a table, and waits until it is active. The table is deleted when the test ends. Its partition key
// and its optional sort key are strings.
func CreateTable(t testing.TB, client *dynamodb.Client, name, partition string, sort ...string) {
	t.Helper()
	CreateStreamTable(t, client, "", name, partition, sort...)
}

// CreateStreamTable is [CreateTable] with a stream of the given view type, whose ARN it returns. "" means no stream.
func CreateStreamTable(
	t testing.TB, client *dynamodb.Client, view types.StreamViewType, name, partition string, sort ...string,
) (streamARN string) {
	t.Helper()
	input := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	for i, attribute := range append([]string{partition}, sort...) {
		kind := []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]
		input.KeySchema = append(input.KeySchema, types.KeySchemaElement{AttributeName: &attribute, KeyType: kind})
		input.AttributeDefinitions = append(input.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &attribute, AttributeType: types.ScalarAttributeTypeS})
	}
	if view != "" {
		input.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view}
	}
	created, err := client.CreateTable(t.Context(), input)
	if err != nil {
		t.Fatalf("creating %s: %v", name, err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if _, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Logf("deleting %s: %v", name, err)
		}
	})
	described := &dynamodb.DescribeTableInput{TableName: &name}
	if err := dynamodb.NewTableExistsWaiter(client).Wait(t.Context(), described, time.Minute); err != nil {
		t.Fatalf("waiting for %s: %v", name, err)
	}
	return aws.ToString(created.TableDescription.LatestStreamArn)
}

// Client returns a client of an endpoint. It has the credentials of the environment, or dummy credentials that
// emulators accept. It calls a server of StartServer without a network.
func Client(endpoint string, options ...func(*dynamodb.Options)) *dynamodb.Client {
	o := dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       cmp.Or(os.Getenv("AWS_REGION"), "us-east-1"),
		Credentials: credentials.NewStaticCredentialsProvider(
			cmp.Or(os.Getenv("AWS_ACCESS_KEY_ID"), "test"), cmp.Or(os.Getenv("AWS_SECRET_ACCESS_KEY"), "test"),
			os.Getenv("AWS_SESSION_TOKEN")),
	}
	if inprocess.Serves(endpoint) {
		o.HTTPClient = &http.Client{Transport: inprocess.Transport}
	}
	return dynamodb.New(o, options...)
}
