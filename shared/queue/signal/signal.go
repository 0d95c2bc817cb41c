// Package signal sends single messages to an SQS queue without the SDK's SQS client. Linking that client adds 0.6 ms to
// each cold start, a fifth of the cold start of an empty function. Package queue sends batches with the SDK.
package signal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"sync"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/go-json-experiment/json"

	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/retry"
)

// Queue sends messages to one SQS queue. It is safe for concurrent use.
type Queue struct {
	cfg    config.AWS
	url    string // of the queue
	now    clock.Clock
	client func() *http.Client
}

// New returns the queue with that URL. It does not access the network.
func New(cfg config.AWS, url string, now clock.Clock) *Queue {
	return &Queue{cfg: cfg, url: url, now: now, client: sync.OnceValue(awsclient.HTTP)}
}

// maxResponse is the maximum number of bytes that are read of a response.
const maxResponse = 64 << 10

// Send sends a message with a message group. It repeats the call after every failure, because SQS uses the same status
// codes for throttling as for mistakes. It makes at most awsclient.MaxAttempts attempts, within the budget of the
// operation. So the message can be sent more than once, even if Send returns an error.
func (q *Queue) Send(ctx context.Context, body, group string) error {
	payload, err := json.Marshal(map[string]string{"QueueUrl": q.url, "MessageBody": body, "MessageGroupId": group},
		json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("signal: %w", err)
	}
	ctx = retry.WithBudget(ctx, awsclient.MaxAttempts-1, retry.MaxTime)
	for range retry.Attempts(ctx, awsclient.MaxAttempts, retry.Jitter) {
		if err = q.call(ctx, payload); err == nil {
			break
		}
	}
	return err
}

// call makes one attempt (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html).
func (q *Queue) call(ctx context.Context, payload []byte) error {
	target := q.url // its host is the endpoint
	if endpoint := awsclient.Endpoint(q.cfg.SQSEndpoint, q.cfg.Endpoint); endpoint != nil {
		target = *endpoint
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("signal: %w", err)
	}
	r.URL.Path = "/"
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
	sum := sha256.Sum256(payload)
	credentials, err := awsclient.Credentials(q.cfg).Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("signal: credentials: %w", err)
	}
	err = v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(sum[:]), "sqs", q.cfg.Region, q.now())
	if err != nil {
		return fmt.Errorf("signal: sign: %w", err)
	}
	response, err := q.client().Do(r)
	if err != nil {
		return fmt.Errorf("signal: send: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return fmt.Errorf("signal: send: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("signal: send: status %d: %s", response.StatusCode, text)
	}
	return nil
}
