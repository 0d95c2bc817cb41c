package account

import (
	"errors"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
)

// errTaken reports that another account already has the e-mail address, the username or the identity.
var errTaken = errors.New("account: already taken")

// store reads and writes the accounts table. It writes the personal workspace of a new account to the projects table.
type store struct {
	client             *db.Client
	accounts, projects db.Table
}

func newStore(client *db.Client, tables config.Tables) store {
	return store{
		client: client, accounts: client.Table(tables.Accounts), projects: client.Table(tables.Projects),
	}
}

// The stored records. The attribute names are part of the data format.

type userRecord struct {
	ID         string          `dynamodbav:"id"`
	Email      string          `dynamodbav:"email"`
	Username   string          `dynamodbav:"username"`
	CreatedAt  clock.Timestamp `dynamodbav:"createdAt"`
	Generation int             `dynamodbav:"generation"`
}

type emailRecord struct {
	UserID       string `dynamodbav:"userId"`
	PasswordHash string `dynamodbav:"passwordHash,omitempty"`
	Verified     bool   `dynamodbav:"verified"`
	Generation   int    `dynamodbav:"generation"`
}

type usernameRecord struct {
	UserID string `dynamodbav:"userId"`
}

// identityRecord is stored twice: under the user of the code host, and under the user of this service.
type identityRecord struct {
	ID       string          `dynamodbav:"id"`
	UserID   string          `dynamodbav:"userId"`
	Provider string          `dynamodbav:"provider"`
	Subject  string          `dynamodbav:"subject"`
	Login    string          `dynamodbav:"login,omitempty"`
	LinkedAt clock.Timestamp `dynamodbav:"linkedAt"`
}

type sessionRecord struct {
	ID         string          `dynamodbav:"id"`
	UserID     string          `dynamodbav:"userId"`
	Generation int             `dynamodbav:"generation"`
	CreatedAt  clock.Timestamp `dynamodbav:"createdAt"`
	LastSeenAt clock.Timestamp `dynamodbav:"lastSeenAt"`
	ExpiresAt  int64           `dynamodbav:"expiresAt"`
	UserAgent  string          `dynamodbav:"userAgent,omitempty"`
	IP         string          `dynamodbav:"ip,omitempty"`
}

type knownIPRecord struct {
	ExpiresAt int64 `dynamodbav:"expiresAt"`
}

// stateRecord is an unfinished sign-in with the code host.
type stateRecord struct {
	Verifier  string `dynamodbav:"verifier"`
	Browser   string `dynamodbav:"browser"` // SHA-256 of the binding cookie, in hex
	Redirect  string `dynamodbav:"redirect"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
	// LinkTo is the ID of the user to link the identity to. It is empty for a sign-in. Session and Generation are those
	// of the session that started the link, which must finish it.
	LinkTo     string `dynamodbav:"linkTo,omitempty"`
	Session    string `dynamodbav:"session,omitempty"`
	Generation int    `dynamodbav:"generation,omitempty"`
}

func (r userRecord) user() User {
	return User{
		ID: r.ID, Email: r.Email, Username: r.Username, CreatedAt: r.CreatedAt.Time(), Generation: r.Generation,
	}
}

func (r sessionRecord) session() Session {
	return Session{
		ID: r.ID, UserID: r.UserID, Generation: r.Generation,
		CreatedAt: r.CreatedAt.Time(), LastSeenAt: r.LastSeenAt.Time(), ExpiresAt: time.Unix(r.ExpiresAt, 0).UTC(),
		UserAgent: r.UserAgent, IP: r.IP,
	}
}

func (s Session) record() sessionRecord {
	return sessionRecord{
		ID: s.ID, UserID: s.UserID, Generation: s.Generation,
		CreatedAt: clock.Stamp(s.CreatedAt), LastSeenAt: clock.Stamp(s.LastSeenAt), ExpiresAt: s.ExpiresAt.Unix(),
		UserAgent: s.UserAgent, IP: s.IP,
	}
}
