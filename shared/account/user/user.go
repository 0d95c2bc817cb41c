// Package user contains the users: the records of accounts, and the rules of e-mail addresses and usernames. It must
// not know how users prove who they are.
package user

import (
	"context"
	"errors"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// User is the owner of an account. The attribute names are part of the data format.
type User struct {
	ID        string          `dynamodbav:"id"`
	Email     string          `dynamodbav:"email"`    // in lower case; empty after its owner rejected the account
	Username  string          `dynamodbav:"username"` // as entered at sign-up
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
	// Verified reports whether the user has proven that mail to Email reaches them, with a mail or at a code host.
	Verified bool `dynamodbav:"verified"`
	// PendingEmail is the address that the user asked for and has not confirmed, "" if there is none.
	PendingEmail string `dynamodbav:"pendingEmail,omitempty"`
	// Generation is incremented by a password change, which ends the sessions of earlier generations.
	Generation int `dynamodbav:"generation"`
	// SuspendedAt is the time at which an operator suspended the account, nil if it is not suspended. The sessions of a
	// suspended account are rejected. When the suspension is lifted, Generation is incremented.
	SuspendedAt *clock.Timestamp `dynamodbav:"suspendedAt,omitempty"`
	// Revision is incremented by every change of the user's record, and when an identity is linked. So a transaction that
	// depends on the record fails if the account changed since the record was read.
	Revision int `dynamodbav:"revision"`
}

// Credential returns the credential of the user's address with a hash of a password, which may be "". Each credential
// of an existing account comes from this method, so that no change of the account lifts a suspension.
func (u User) Credential(passwordHash string) Credential {
	return Credential{
		UserID: u.ID, PasswordHash: passwordHash, Generation: u.Generation, Suspended: u.SuspendedAt != nil,
	}
}

// Credential is stored under the e-mail address, so that a login needs one read.
type Credential struct {
	UserID       string `dynamodbav:"userId"`
	PasswordHash string `dynamodbav:"passwordHash,omitempty"` // empty if the account signs in with a code host
	Generation   int    `dynamodbav:"generation"`             // User.Generation
	Suspended    bool   `dynamodbav:"suspended,omitempty"`    // whether User.SuspendedAt is set
	// NoticedAt is the time of the last mail about a login from an unknown network, in seconds since 1970.
	NoticedAt int64 `dynamodbav:"noticedAt,omitempty"`
	// Reserved reports that the address is a former address of the account: it cannot sign in, but the account can get it
	// back until ExpiresAt. Until then, no other account can have it.
	Reserved  bool  `dynamodbav:"reserved,omitempty"`
	ExpiresAt int64 `dynamodbav:"expiresAt,omitempty"` // in seconds since 1970; only of a reserved address
}

// FindByUsername returns the ID of a user and the username as entered at sign-up. It ignores case. Error:
// USER_NOT_FOUND.
func (s Store) FindByUsername(ctx context.Context, username string) (userID, canonical string, _ error) {
	// The store looks up names in lower case. Without this check, a name with the Kelvin sign (U+212A) would find the
	// user whose name has a k in that place.
	if CheckUsername(username) != "" {
		return "", "", errNotFound
	}
	owner, err := get[usernameRecord](ctx, s.accounts, db.UsernameKey(username))
	var user User
	if err == nil {
		user, err = s.Read(ctx, owner.UserID)
	}
	if errors.Is(err, db.ErrNotFound) {
		return "", "", errNotFound.WithCause(err)
	}
	return user.ID, user.Username, err
}
