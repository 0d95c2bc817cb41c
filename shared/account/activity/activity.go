// Package activity contains the log of each account: its logins, failed logins, changes of its password, address,
// identities and sessions, and acts of operators. Only the user reads the log. No decision of the service may depend on
// it.
package activity

import (
	"crypto/rand"
	"time"

	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// Type is the type of a log entry.
type Type string

// The types of entries.
const (
	Login           Type = "login"
	LoginFailed     Type = "login.failed"
	PasswordChanged Type = "password.changed"
	PasswordReset   Type = "password.reset"
	EmailConfirmed  Type = "email.confirmed"
	EmailRejected   Type = "email.rejected"
	EmailRequested  Type = "email.requested"
	EmailChanged    Type = "email.changed"
	EmailRestored   Type = "email.restored"
	IdentityLinked  Type = "identity.linked"
	IdentityRemoved Type = "identity.removed"
	SessionEnded    Type = "session.ended"
	AccountDeleted  Type = "account.deleted"

	// Acts of operators. Their entries have no IP address and no User-Agent.
	Suspended        Type = "operator.suspended"
	SuspensionLifted Type = "operator.suspension-lifted"
	ResetSent        Type = "operator.reset-sent"
	SiteBlocked      Type = "operator.site-blocked"
	SiteUnblocked    Type = "operator.site-unblocked"
)

// Retention is the time for which an entry is stored.
const Retention = 90 * 24 * time.Hour

const maxUserAgentBytes = 256

// Detail has the fields that only some types of entries have.
type Detail struct {
	Count     int    `json:"count,omitzero" dynamodbav:"-" doc:"The number of failed logins from the network in the hour that begins at this time" example:"3"`
	Email     string `json:"email,omitempty" dynamodbav:"email,omitempty" doc:"The new e-mail address" example:"ada@new.example.com"`
	Provider  string `json:"provider,omitempty" dynamodbav:"provider,omitempty" doc:"The code host of the identity" example:"github"`
	Username  string `json:"username,omitempty" dynamodbav:"username,omitempty" doc:"The username at the code host" example:"ada"`
	SessionID string `json:"sessionId,omitempty" dynamodbav:"sessionId,omitempty" doc:"The ID of the session that started or ended" example:"ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// Entry is an entry of the log. The attribute names are part of the data format.
type Entry struct {
	At        clock.Timestamp `json:"at" dynamodbav:"at" doc:"When it happened. For failed logins, the beginning of the hour" example:"2026-01-31T08:15:30.123Z"`
	Type      Type            `json:"type" dynamodbav:"type" doc:"What happened. More types can be added" example:"login"`
	IP        string          `json:"ip" dynamodbav:"ip" doc:"The IP address of the client; empty for an act of an operator" example:"203.0.113.7"`
	UserAgent string          `json:"userAgent" dynamodbav:"userAgent" doc:"The User-Agent of the client; empty for an act of an operator" example:"Mozilla/5.0"`
	Detail    Detail          `json:"detail" dynamodbav:"detail" doc:"More about the entry. Which fields it has depends on the type"`

	ID        string `json:"-" dynamodbav:"id"`
	Failures  int    `json:"-" dynamodbav:"failures,omitempty"` // stored; responses have Detail.Count
	ExpiresAt int64  `json:"-" dynamodbav:"expiresAt"`          // in seconds since 1970
}

// Log stores the logs of all accounts in the accounts table. It is safe for concurrent use.
type Log struct {
	db       *db.Client
	accounts db.Table
	ids      *id.Generator
	now      clock.Clock
}

// New returns a Log. It does no I/O.
func New(client *db.Client, accounts db.Table, now clock.Clock) *Log {
	return &Log{db: client, accounts: accounts, ids: id.NewGenerator(now, rand.Reader), now: now}
}

// Add returns the write that adds an entry. It belongs in the transaction of the change that the entry describes.
func (l *Log) Add(userID string, typ Type, client httpapi.RequestInfo, detail Detail) db.Write {
	entry := Entry{
		At: clock.Stamp(l.now()), Type: typ, IP: client.SourceIP, Detail: detail, ID: l.ids.New(id.Activity),
		UserAgent: user.Printable(client.UserAgent, maxUserAgentBytes), ExpiresAt: l.now().Add(Retention).Unix(),
	}
	return l.accounts.Put(db.ActivityKey(userID, entry.ID), entry)
}
