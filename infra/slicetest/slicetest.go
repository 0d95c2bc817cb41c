// Package slicetest is what the tests of every slice stand on: a clock that they move, the request log, somebody to be signed in,
// tables with keys of the product's kind, and a client that holds every answer against the OpenAPI document. What goes wrong between
// a slice and DynamoDB is dynamotest's. A slice's own harness has what is about its domain: its service, its users, its requests;
// none of that may enter here, nor any slice. Only tests import this package.
package slicetest

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Clock is a clock that tests move.
type Clock struct {
	mu   sync.Mutex
	now  time.Time
	tick time.Duration
}

// NewClock makes a clock that goes on by tick whenever it is asked; with 0 it stands.
func NewClock(now time.Time, tick time.Duration) *Clock { return &Clock{now: now, tick: tick} }

// Now is the clock.Clock of what is tested.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(c.tick)
	return c.now
}

// Advance moves the clock; back, too.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Users is everybody there is, in place of accounts: an httpapi.Authenticator whose tokens are usernames in lower case, and the way
// to find somebody by name.
type Users struct {
	mu sync.Mutex
	by map[string]httpapi.Caller
}

// Add lets somebody in, who has a session from now on.
func (c *Users) Add(caller httpapi.Caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]httpapi.Caller{}
	}
	c.by[strings.ToLower(caller.Username)] = caller
}

// Authenticate answers as a store of sessions does, without a call to DynamoDB.
func (c *Users) Authenticate(_ context.Context, token string) (httpapi.Caller, *httpapi.Renewal, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	caller, ok := c.by[token]
	if !ok {
		return caller, nil, fault.New(fault.CodeInvalidToken, "The session is missing or has ended. Please log in.")
	}
	return caller, nil, nil
}

// FindByUsername finds somebody whatever the case of their name, which is answered as they write it themselves.
func (c *Users) FindByUsername(_ context.Context, username string) (userID, canonical string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	caller, ok := c.by[strings.ToLower(username)]
	if !ok {
		return "", "", fault.New(fault.CodeUserNotFound, "The user does not exist. Check the username.")
	}
	return caller.UserID, caller.Username, nil
}

// Keys is a ring of one key.
func Keys(now func() time.Time) *config.Keys {
	const ring = `{"current":"k1","k1":"the key with which the cursors of tests are signed 0123"}`
	return config.NewKeys(func(context.Context) (string, error) { return ring, nil }, now)
}

// Table makes a table that ends with the test and answers with its name, which begins with the one given.
func Table(t testing.TB, sdk *dynamodb.Client, name string) string {
	t.Helper()
	name += "-" + strings.ToLower(rand.Text())
	dynamotest.CreateTable(t, sdk, name, "pk", "sk")
	return name
}

// Dump is everything in a table, by key, read past every layer of the product.
func Dump(t testing.TB, sdk *dynamodb.Client, table string) map[db.Key]db.Item {
	t.Helper()
	all := map[db.Key]db.Item{}
	for _, item := range dynamotest.Dump(t, sdk, table) {
		pk, _ := item["pk"].(*types.AttributeValueMemberS)
		sk, _ := item["sk"].(*types.AttributeValueMemberS)
		all[db.Key{PK: pk.Value, SK: sk.Value}] = item
	}
	return all
}
