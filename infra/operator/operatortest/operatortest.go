// Package operatortest suspends the accounts of tests.
package operatortest

import (
	"crypto/rand"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/operator/audit"
	"devplatform/infra/operator/suspension"
	"devplatform/infra/slicetest"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// Operator is an operator, whose audit records are in the table of accounts.
type Operator struct {
	*suspension.Service

	t   testing.TB
	log audit.Log
}

// New returns an operator. webhooks is the name of the table of webhooks, which may be a table without webhooks.
func New(t testing.TB, client *db.Client, tables config.Tables, webhooks string, now clock.Clock) Operator {
	return Operator{
		t: t, Service: suspension.New(client, tables, webhooks, now),
		log: audit.Log{
			Table: client.Table(tables.Accounts), Operator: audit.Operator{ID: "id", Name: "name"},
			IDs: id.NewGenerator(now, rand.Reader), Clock: now,
		},
	}
}

// NewBeside returns an operator for a slice whose tests have a table of projects, but no accounts and webhooks. It
// stores the accounts of users, who are names by ID. Their sessions do not end.
func NewBeside(
	t testing.TB, sdk *dynamodb.Client, projects string, now clock.Clock, users map[string]string,
) Operator {
	t.Helper()
	tables := config.Tables{Accounts: slicetest.Table(t, sdk, "accounts"), Projects: projects}
	o := New(t, db.Wrap(sdk, now), tables, slicetest.Table(t, sdk, "webhooks"), now)
	for userID, username := range users {
		o.AddUser(userID, username)
	}
	return o
}

// AddUser stores an account without an address.
func (o Operator) AddUser(userID, username string) {
	o.t.Helper()
	_, err := o.DB.Do(o.t.Context(), o.Accounts.Put(db.UserKey(userID), user.User{ID: userID, Username: username}))
	if err != nil {
		o.t.Fatal(err)
	}
}

// Record returns the write of an audit record.
func (o Operator) Record() db.Write {
	return o.log.Write(audit.Record{Act: "suspend", Reason: "a test"})
}

// MustSuspend suspends an account.
func (o Operator) MustSuspend(userID string) suspension.Result {
	o.t.Helper()
	r, err := o.Suspend(o.t.Context(), userID, o.Record())
	if err != nil {
		o.t.Fatal(err)
	}
	return r
}

// MustLift lifts a suspension.
func (o Operator) MustLift(userID string) suspension.Result {
	o.t.Helper()
	r, err := o.Lift(o.t.Context(), userID, o.Record())
	if err != nil {
		o.t.Fatal(err)
	}
	return r
}
