// Package slicetest contains the parts that the tests of all slices share: a clock that tests set, a log that counts
// DynamoDB calls, authenticated users, tables, processes that are killed, and an HTTP client that checks every response
// against the OpenAPI document. A slice is a package that implements one part of the product, such as shared/project
// and shared/webhook. Its own tests define the rest of their fixture, such as the slice's service and requests. Package
// dynamotest simulates failures of DynamoDB. This package must not import a slice. Only tests import this package.
package slicetest

import (
	"context"
	"crypto/rand"
	"net/http"
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

// Clock is a clock that tests set. It is safe for concurrent use.
type Clock struct {
	mu   sync.Mutex
	now  time.Time
	tick time.Duration
}

// NewClock returns a clock that advances by tick each time that it is read. If tick is 0, only Advance changes it.
func NewClock(now time.Time, tick time.Duration) *Clock { return &Clock{now: now, tick: tick} }

// Now returns the time. It is a clock.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(c.tick)
	return c.now
}

// Advance adds d to the time. d can be negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// NewCaller returns a caller with an account, whose session has been read.
func NewCaller(userID, username string) httpapi.Caller {
	account := httpapi.Account{Username: username, Email: username + "@example.com"}
	return httpapi.NewCaller(userID, "").Complete(account, nil)
}

// Users replaces package account in tests: it authenticates users, and finds them by username. It is an
// httpapi.Authenticator whose session tokens are the usernames in lower case.
type Users struct {
	mu      sync.Mutex
	callers map[string]httpapi.Caller // by username in lower case
	// readSession returns a context with a guard that reads the session, and the caller. It is nil without ReadSessions.
	readSession func(context.Context, httpapi.Caller) (context.Context, httpapi.Caller)
}

// ReadSessions makes every request with a session read an item of a table, as package account reads the session. The
// item need not exist. Call it before the first request.
func (c *Users) ReadSessions(client *db.Client, table db.Table) {
	c.readSession = func(ctx context.Context, user httpapi.Caller) (context.Context, httpapi.Caller) {
		caller := httpapi.NewCaller(user.UserID, user.SessionID)
		complete := func(map[db.Ref]db.Item) error {
			caller.Complete(user.Account(), nil)
			return nil
		}
		return client.WithGuard(ctx, complete, table.Ref(db.UserKey(user.UserID))), caller
	}
}

// Add adds a user with a session.
func (c *Users) Add(caller httpapi.Caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callers == nil {
		c.callers = map[string]httpapi.Caller{}
	}
	c.callers[strings.ToLower(caller.Account().Username)] = caller
}

// Authenticate implements httpapi.Authenticator.
func (c *Users) Authenticate(ctx context.Context, token string) (context.Context, httpapi.Caller, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	caller, ok := c.callers[token]
	if !ok {
		return ctx, caller, httpapi.ErrNoSession
	}
	if c.readSession != nil {
		ctx, caller = c.readSession(ctx, caller)
	}
	return ctx, caller, nil
}

// FindByUsername finds a user and ignores the case of the username. canonical is the username as it was added.
func (c *Users) FindByUsername(_ context.Context, username string) (userID, canonical string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	caller, ok := c.callers[strings.ToLower(username)]
	if !ok {
		return "", "", fault.New(fault.CodeUserNotFound, "The user does not exist. Check the username.")
	}
	return caller.UserID, caller.Account().Username, nil
}

// NormalizeEmail accepts every address with an @.
func (c *Users) NormalizeEmail(email string) (normalized, rule string) {
	if !strings.Contains(email, "@") {
		return "", "must be a valid e-mail address"
	}
	return strings.ToLower(email), ""
}

// Keys returns a key ring with one key.
func Keys(now func() time.Time) *config.Keys {
	const ring = `{"current":"k1","k1":"the key with which the cursors of tests are signed 0123"}`
	return config.NewKeys(func(context.Context) (string, error) { return ring, nil }, now)
}

// Table creates a table with the product's key attributes and returns its name, which begins with name. The table is
// deleted at the end of the test.
func Table(t testing.TB, sdk *dynamodb.Client, name string) string {
	t.Helper()
	name += "-" + strings.ToLower(rand.Text())
	dynamotest.CreateTable(t, sdk, name, "pk", "sk")
	return name
}

// Dump returns all items of a table by key, including expired ones. It does not use package db to read them.
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

// Slow delays a call to DynamoDB (see dynamotest.NewWire). So calls that a request starts at the same time also run at
// the same time, and Response.Depth does not depend on the speed of the machine.
func Slow(next http.Handler, out http.ResponseWriter, r *http.Request) {
	time.Sleep(20 * time.Millisecond) //nolint:forbidigo // the delay itself
	next.ServeHTTP(out, r)
}
