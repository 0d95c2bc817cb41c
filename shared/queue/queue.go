// Package queue sends messages to SQS queues. It is the only package that uses SQS, as package db is the only one that
// uses DynamoDB. Callers define the contents of messages, and handle messages that could not be sent. Package lambdafn
// receives messages.
package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/shared/awsclient"
	"devplatform/shared/config"
)

// ErrUnavailable reports that SQS throttled the call, failed, or did not respond in time. SQS may have executed the
// call. Any other error is a bug or a mistake in the deployment, such as a missing queue or a body that SQS does not
// accept.
var ErrUnavailable = errors.New("queue: unavailable")

// Client sends messages. It is safe for concurrent use. A Lambda function creates one Client when it starts.
type Client struct{ sdk *sqs.Client }

// New returns a client configured by Lambda's environment. It does not access the network.
func New(cfg config.AWS) *Client {
	return Wrap(sqs.New(sqs.Options{
		Region:       cfg.Region,
		Credentials:  awsclient.Credentials(cfg),
		BaseEndpoint: awsclient.Endpoint(cfg.SQSEndpoint, cfg.Endpoint),
		HTTPClient:   awsclient.HTTP(),
		Retryer:      awsclient.Retryer(),
	}))
}

// Wrap returns a Client that uses an existing SDK client, such as a test's.
func Wrap(sdk *sqs.Client) *Client { return &Client{sdk: sdk} }

// Queue sends messages to one SQS queue.
type Queue struct {
	client *Client
	url    string
}

// Queue returns the queue with that URL. It does not check that the queue exists.
func (c *Client) Queue(url string) Queue { return Queue{client: c, url: url} }

// ReturnAfter makes a received message visible again after a wait, rounded up to whole seconds. SQS allows up to 12
// hours after the message was received. Errors: ErrUnavailable.
func (q Queue) ReturnAfter(ctx context.Context, receiptHandle string, wait time.Duration) error {
	_, err := q.client.sdk.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &q.url, ReceiptHandle: &receiptHandle, VisibilityTimeout: wholeSeconds(wait),
	})
	return classify("return", err)
}

// wholeSeconds rounds up, because a message that is received too early must be hidden again.
func wholeSeconds(d time.Duration) int32 {
	return int32(max(d+time.Second-1, 0) / time.Second) //nolint:gosec // hours, at most
}

func classify(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case awsclient.IsUnavailable(err):
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, op, err)
	}
	return fmt.Errorf("queue: %s: %w", op, err)
}
