package account

import "time"

// User is a person with an account.
type User struct {
	ID         string
	Email      string // as stored: lower-case
	Username   string // as typed
	CreatedAt  time.Time
	Generation int // see Session.Generation
}

// Credential is what an e-mail address leads to: login is one read.
type Credential struct {
	UserID       string
	PasswordHash string // PHC string; empty: the account signs in with a code host only
	Verified     bool   // the address came, verified, from a code host
	Generation   int    // the user's
}
