package dynamotest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// Streams is [Client] for DynamoDB Streams. With the endpoint of [StartServer] both are clients of one engine.
func Streams(endpoint string, options ...func(*dynamodbstreams.Options)) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       region(),
		Credentials:  accessKey(),
	}, options...)
}

// CreateStreamTable is [CreateTable] with a stream of the given view type, whose ARN it returns.
func CreateStreamTable(
	t testing.TB, client *dynamodb.Client, view types.StreamViewType, name, partition string, sort ...string,
) (streamARN string) {
	t.Helper()
	createTable(t, client, func(in *dynamodb.CreateTableInput) {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view}
	}, name, partition, sort)
	described, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		t.Fatalf("describing %s: %v", name, err)
	}
	return aws.ToString(described.Table.LatestStreamArn)
}
