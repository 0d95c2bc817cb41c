// Package queue sends to SQS queues, as package db reads and writes DynamoDB's tables: nothing else of the product speaks SQS.
// It knows no domain: what a message says, and what becomes of one that was not sent, is the business of whoever sends it.
// Receiving is Lambda's business (see api.Queue).
package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/shared/awsclient"
	"devplatform/shared/config"
)

// Client sends messages. It is safe for concurrent use; functions make one at start and keep it.
type Client struct {
	sdk     *sqs.Client
	backoff func(attempt int) time.Duration
}

// New makes the client from Lambda's environment. It does not touch the network.
func New(cfg config.AWS) *Client {
	return Wrap(sqs.New(sqs.Options{
		Region:       cfg.Region,
		Credentials:  awsclient.Credentials(cfg),
		BaseEndpoint: awsclient.Endpoint(cfg.SQSEndpoint, cfg.Endpoint),
		HTTPClient:   awsclient.HTTP(),
		Retryer:      awsclient.Retryer(),
	}))
}

// Wrap makes a Client of an SDK client that exists already, such as a test's.
func Wrap(sdk *sqs.Client) *Client { return &Client{sdk: sdk, backoff: awsclient.Jitter} }

// Queue is one queue of a client.
type Queue struct {
	client *Client
	url    string
}

// Queue addresses the queue at a URL. That it exists shows at its first use.
func (c *Client) Queue(url string) Queue { return Queue{client: c, url: url} }

// Hide keeps a received message from being received again for so long from now on, rounded up to whole seconds; 0 shows it at
// once. SQS takes up to 12 hours from when the message was received. Error: ErrUnavailable.
func (q Queue) Hide(ctx context.Context, receiptHandle string, d time.Duration) error {
	_, err := q.client.sdk.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &q.url, ReceiptHandle: &receiptHandle, VisibilityTimeout: wholeSeconds(d),
	})
	return classify("hide", err)
}

// wholeSeconds rounds up: a message that comes early is received in vain.
func wholeSeconds(d time.Duration) int32 {
	return int32(max(d+time.Second-1, 0) / time.Second) //nolint:gosec // hours, at most
}

func classify(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case awsclient.Unavailable(err):
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, op, err)
	}
	return fmt.Errorf("queue: %s: %w", op, err)
}
