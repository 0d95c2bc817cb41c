// Package sqstest starts an embedded SQS in memory for a test, and returns an SDK client of it. Nothing that belongs to
// one application may be here.
package sqstest

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/inprocess"
	engine "devplatform/infra/local/sqs"
)

// Start starts an empty SQS that stops with the test, and returns its client.
func Start(t testing.TB, options ...func(*engine.Options)) *sqs.Client {
	t.Helper()
	return Client(StartServer(t, options...))
}

// StartServer is like Start and returns the URL of the endpoint.
func StartServer(t testing.TB, options ...func(*engine.Options)) (endpoint string) {
	t.Helper()
	settings := engine.Options{Now: time.Now} //nolint:forbidigo // tests may replace it with a clock
	for _, change := range options {
		change(&settings)
	}
	store, err := engine.Open(settings)
	if err != nil {
		t.Fatalf("starting SQS: %v", err)
	}
	endpoint, stop := inprocess.NewServer(t, store)
	t.Cleanup(func() {
		store.Drain() // long polls that a test has left behind would delay Close
		stop()
		if err := store.Close(); err != nil {
			t.Errorf("stopping SQS: %v", err)
		}
	})
	return endpoint
}

// Clock replaces the clock. A long poll reads it only when it is woken.
func Clock(now func() time.Time) func(*engine.Options) {
	return func(o *engine.Options) { o.Now = now }
}

// CreateQueue creates a queue, and returns its URL.
func CreateQueue(t testing.TB, client *sqs.Client, name string, attributes map[string]string) (url string) {
	t.Helper()
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatalf("creating %s: %v", name, err)
	}
	return aws.ToString(out.QueueUrl)
}

// Client returns a client of an endpoint, with any credentials. It calls a server of StartServer without a network.
func Client(endpoint string, options ...func(*sqs.Options)) *sqs.Client {
	o := sqs.Options{
		BaseEndpoint: &endpoint, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}
	if inprocess.Serves(endpoint) {
		o.HTTPClient = &http.Client{Transport: inprocess.Transport}
	}
	return sqs.New(o, options...)
}
