// Package db is the storage layer that the store files of all services share: the DynamoDB client, reads that ignore
// expired items, conditional writes and transactions, the retry loop of optimistic concurrency, pages and cursors,
// and the classes of errors.
//
// It also defines the layout of the tables: every key is built in key*.go, from validated parts, so that no ID or path
// can forge the key of another item. The services define the attributes of items and the meaning of failed conditions.
package db

import (
	"context"
	"strconv"

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

// Item maps the attribute names of a stored item to their values.
type Item = map[string]types.AttributeValue

// Client reads and writes items. It is safe for concurrent use. A Lambda function creates one Client when it starts.
type Client struct {
	sdk *dynamodb.Client
	now clock.Clock
}

// New returns a client configured by Lambda's environment. It does not access the network.
func New(cfg config.AWS, now clock.Clock) *Client {
	return Wrap(dynamodb.New(dynamodb.Options{
		Region:       cfg.Region,
		Credentials:  awsclient.Credentials(cfg),
		BaseEndpoint: awsclient.Endpoint(cfg.DynamoDBEndpoint, cfg.Endpoint),
		HTTPClient:   awsclient.HTTP(),
		// Every write is safe to repeat: a transaction has a request token, and a single write recognizes its own
		// earlier attempt (see Write.Recognize) or has the same effect again.
		Retryer: awsclient.Retryer(),
	}), now)
}

// Wrap returns a Client that uses an existing SDK client, such as a test's.
func Wrap(sdk *dynamodb.Client, now clock.Clock) *Client { return &Client{sdk: sdk, now: now} }

// Table is a table of a client.
type Table struct {
	client *Client
	name   string
}

// Table returns the table with that name. It does not check that the table exists.
func (c *Client) Table(name string) Table { return Table{client: c, name: name} }

// isLive reports whether an item exists and has not expired. DynamoDB deletes expired items hours or days late.
func (c *Client) isLive(item Item) bool {
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

// CountCalls returns a context that counts the calls made with it (see awsclient.CountCalls).
func CountCalls(ctx context.Context) context.Context { return awsclient.CountCalls(ctx) }

// Calls returns the number of DynamoDB calls made so far with a context that CountCalls returned. Retries by the SDK do
// not count. Calls returns 0 for any other context.
func Calls(ctx context.Context) int {
	n, _ := awsclient.Calls(ctx, awsclient.DynamoDB)
	return n
}

func startCall(ctx context.Context) (end func()) { return awsclient.StartCall(ctx, awsclient.DynamoDB) }
