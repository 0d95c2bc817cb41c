package triggers

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// tableAPI, streamAPI and queueAPI are the parts of the SDK's clients that this package uses.
type tableAPI interface {
	DescribeTable(
		context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options),
	) (*dynamodb.DescribeTableOutput, error)
}

type streamAPI interface {
	DescribeStream(
		context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options),
	) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(
		context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options),
	) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(
		context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options),
	) (*dynamodbstreams.GetRecordsOutput, error)
}

type queueAPI interface {
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	GetQueueAttributes(
		context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options),
	) (*sqs.GetQueueAttributesOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(
		context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options),
	) (*sqs.DeleteMessageBatchOutput, error)
	ChangeMessageVisibilityBatch(
		context.Context, *sqs.ChangeMessageVisibilityBatchInput, ...func(*sqs.Options),
	) (*sqs.ChangeMessageVisibilityBatchOutput, error)
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// clients are the clients of one endpoint.
type clients struct {
	tables  tableAPI
	streams streamAPI
	queues  queueAPI
}

// newClients returns clients that do not retry: the pollers retry, and log each problem once.
func newClients(o Options, client *http.Client) clients {
	config := aws.Config{
		Region: o.Region, HTTPClient: client, Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretKey, o.SessionToken),
	}
	if o.Endpoint != "" {
		config.BaseEndpoint = &o.Endpoint
	}
	return clients{dynamodb.NewFromConfig(config), dynamodbstreams.NewFromConfig(config), sqs.NewFromConfig(config)}
}
