package account

import (
	"errors"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// What a write can find in its way.
var (
	errEmailTaken    = errors.New("account: e-mail address taken")
	errUsernameTaken = errors.New("account: username taken")
	errIdentityTaken = errors.New("account: identity taken")
	errStale         = errors.New("account: changed in the meantime")
)

// store keeps accounts in the accounts table. The projects table gets the personal workspace that a sign-up makes.
type store struct {
	client             *db.Client
	accounts, projects db.Table
}

// The records as stored; attribute names are part of the data format.

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

type identityRecord struct {
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

type counterRecord struct {
	Hits      int   `dynamodbav:"hits"`
	ExpiresAt int64 `dynamodbav:"expiresAt"`
}

type knownIPRecord struct {
	ExpiresAt int64 `dynamodbav:"expiresAt"`
}

type stateRecord struct {
	Verifier  string `dynamodbav:"verifier"`
	Browser   string `dynamodbav:"browser"` // SHA-256 of the browser's cookie, hex
	Redirect  string `dynamodbav:"redirect"`
	LinkTo    string `dynamodbav:"linkTo,omitempty"` // the user to join the identity to; empty: sign in
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

func (r userRecord) user() User {
	return User{ID: r.ID, Email: r.Email, Username: r.Username, CreatedAt: r.CreatedAt.Time(), Generation: r.Generation}
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

// writes collects the parts of a transaction. The first record that can't be encoded spoils them all.
type writes struct {
	list []db.Write
	err  error
}

// add appends a write and answers with its index in the transaction.
func (w *writes) add(write db.Write) int {
	w.list = append(w.list, write)
	return len(w.list) - 1
}

// create appends the creation of record under key.
func (w *writes) create(table db.Table, key db.Key, record any) int {
	item, err := db.Encode(record)
	w.err = errors.Join(w.err, err)
	return w.add(table.Create(key, item))
}

// put appends the unconditional write of record under key.
func (w *writes) put(table db.Table, key db.Key, record any) int {
	item, err := db.Encode(record)
	w.err = errors.Join(w.err, err)
	return w.add(table.Put(key, item))
}
