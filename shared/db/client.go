// Package db is the storage layer that every slice's store files share: the DynamoDB client, keys, reads that
// ignore expired items, conditional writes and transactions, and the classes of errors.
// It knows no domain: which attributes an item has, and what a failed condition means, is the slice's business.
package db

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// Names of the attributes that every table has.
const (
	AttrPK        = "pk"
	AttrSK        = "sk"
	AttrExpiresAt = "expiresAt" // seconds since 1970, DynamoDB's TTL
)

// Item is a stored item by attribute name.
type Item = map[string]types.AttributeValue

// Client reads and writes items. It is safe for concurrent use; functions make one at start and keep it.
type Client struct {
	sdk     *dynamodb.Client
	now     clock.Clock
	backoff func(attempt int) time.Duration
}

// Bounds of one call. A Lambda function lives 20 s, and a client waits less: rather a quick 503 than a slow one.
const (
	maxAttempts    = 4
	attemptTimeout = 4 * time.Second
	dialTimeout    = time.Second
	idleTimeout    = 90 * time.Second
	maxConnections = 64
)

// New makes the client from Lambda's environment. It does not touch the network.
func New(cfg config.AWS, now clock.Clock) *Client {
	endpoint := cfg.DynamoDBEndpoint
	if endpoint == "" {
		endpoint = cfg.Endpoint
	}
	options := dynamodb.Options{
		Region:      cfg.Region,
		Credentials: credentials.NewStaticCredentialsProvider(cfg.AccessKeyID, cfg.SecretAccessKey, cfg.SessionToken),
		HTTPClient:  newHTTPClient(),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = maxAttempts
			o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(tornAnswer))
			// The SDK's own waits begin at a second, an age for a store that answers in milliseconds.
			o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) { return jitter(attempt), nil })
		}),
	}
	if endpoint != "" {
		options.BaseEndpoint = aws.String(endpoint)
	}
	return Wrap(dynamodb.New(options), now)
}

// Wrap makes a Client of an SDK client that exists already, such as a test's.
func Wrap(sdk *dynamodb.Client, now clock.Clock) *Client {
	return &Client{sdk: sdk, now: now, backoff: jitter}
}

func newHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	return &http.Client{
		Timeout:       attemptTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:           dialer.DialContext,
			TLSHandshakeTimeout:   2 * time.Second,
			ForceAttemptHTTP2:     false,
			MaxIdleConns:          maxConnections,
			MaxIdleConnsPerHost:   maxConnections,
			IdleConnTimeout:       idleTimeout,
			ResponseHeaderTimeout: 3 * time.Second,
			DisableCompression:    true, // DynamoDB's checksum covers the bytes as sent
		},
	}
}

// jitter is the wait before the attempt-th repetition, counted from 0: 10 to 40 ms, doubled each time.
func jitter(attempt int) time.Duration {
	step := 10 * time.Millisecond << attempt
	return step + rand.N(3*step) //nolint:gosec // spreads writers out, guards nothing
}

// Table is one table of a client.
type Table struct {
	client *Client
	name   string
}

// Table addresses the table of that name. That it exists shows at its first use.
func (c *Client) Table(name string) Table { return Table{client: c, name: name} }

// live reports whether the item counts: TTL removes an expired one hours or days late.
func (c *Client) live(item Item) bool {
	if len(item) == 0 {
		return false
	}
	n, ok := item[AttrExpiresAt].(*types.AttributeValueMemberN)
	if !ok {
		return true
	}
	expires, err := strconv.ParseInt(n.Value, 10, 64)
	return err != nil || expires > c.now().Unix()
}

// wait sleeps before the attempt-th repetition; false if the context ended first.
func (c *Client) wait(ctx context.Context, attempt int) bool {
	timer := time.NewTimer(c.backoff(attempt))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
