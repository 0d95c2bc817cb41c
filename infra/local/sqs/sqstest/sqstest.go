// Package sqstest gives tests an SQS: the embedded one, in memory, a fresh one
// each, behind its real wire protocol, with the real SDK in front. What tests of
// one application need (its queues, its messages) does not belong here.
package sqstest

import (
	"context"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	engine "devplatform/infra/local/sqs"
)

// EndpointVariable names an endpoint to test against in place of the embedded
// engine: LocalStack, ElasticMQ, AWS.
const EndpointVariable = "AWS_ENDPOINT_URL"

// Start returns a client of a fresh, empty SQS that ends with the test; or of
// the endpoint in AWS_ENDPOINT_URL, which may have other queues.
func Start(t testing.TB, options ...func(*engine.Options)) *sqs.Client {
	t.Helper()
	return Client(StartServer(t, options...))
}

// StartServer is Start for callers that make their own client: it returns the
// endpoint's URL. Options, such as [Clock], change the embedded engine only.
func StartServer(t testing.TB, options ...func(*engine.Options)) (endpoint string) {
	t.Helper()
	if endpoint := os.Getenv(EndpointVariable); endpoint != "" {
		return endpoint
	}
	settings := engine.Options{Now: time.Now} //nolint:forbidigo // what tests have to wait for is not here
	for _, change := range options {
		change(&settings)
	}
	store, err := engine.Open(settings)
	if err != nil {
		t.Fatalf("starting SQS: %v", err)
	}
	server := httptest.NewServer(store)
	t.Cleanup(func() {
		store.Drain() // the server waits for the long polls of readers that a test left behind
		server.Close()
		if err := store.Close(); err != nil {
			t.Errorf("stopping SQS: %v", err)
		}
	})
	return server.URL
}

// Clock has the engine believe a clock. Long polls see it move when they are
// woken, or ask again.
func Clock(now func() time.Time) func(*engine.Options) {
	return func(o *engine.Options) { o.Now = now }
}

// CreateQueue makes a queue that ends with the test, and returns its URL.
func CreateQueue(t testing.TB, client *sqs.Client, name string, attributes map[string]string) (url string) {
	t.Helper()
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatalf("creating %s: %v", name, err)
	}
	t.Cleanup(func() {
		if _, err := client.DeleteQueue(context.WithoutCancel(t.Context()), &sqs.DeleteQueueInput{QueueUrl: out.QueueUrl}); err != nil {
			t.Logf("deleting %s: %v", name, err)
		}
	})
	return aws.ToString(out.QueueUrl)
}

// Client returns a client of an endpoint, with credentials that any emulator
// takes, unless the environment has some.
func Client(endpoint string, options ...func(*sqs.Options)) *sqs.Client {
	return sqs.New(sqs.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       environment("AWS_REGION", "us-east-1"),
		Credentials: credentials.NewStaticCredentialsProvider(
			environment("AWS_ACCESS_KEY_ID", "test"), environment("AWS_SECRET_ACCESS_KEY", "test"), os.Getenv("AWS_SESSION_TOKEN")),
	}, options...)
}

func environment(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
