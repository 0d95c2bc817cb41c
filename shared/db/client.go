// Package db is the storage layer that every slice's store files share: the DynamoDB client, keys, reads that
// ignore expired items, conditional writes and transactions, and the classes of errors.
// It knows no domain: which attributes an item has, and what a failed condition means, is the slice's business.
package db

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/awsclient"
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

// New makes the client from Lambda's environment. It does not touch the network.
func New(cfg config.AWS, now clock.Clock) *Client {
	return Wrap(dynamodb.New(dynamodb.Options{
		Region:       cfg.Region,
		Credentials:  awsclient.Credentials(cfg),
		BaseEndpoint: awsclient.Endpoint(cfg.DynamoDBEndpoint, cfg.Endpoint),
		HTTPClient:   awsclient.HTTP(),
		// Every write here may be sent twice: a transaction has its token, and a single write knows its own result (Write.Mine) or
		// comes to the same.
		Retryer: awsclient.Retryer(),
	}), now)
}

// Wrap makes a Client of an SDK client that exists already, such as a test's.
func Wrap(sdk *dynamodb.Client, now clock.Clock) *Client {
	return &Client{sdk: sdk, now: now, backoff: awsclient.Jitter}
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
	return awsclient.Sleep(ctx, c.backoff(attempt))
}
