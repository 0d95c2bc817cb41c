package account

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// newAccount is an account to create, with the other data that is created in the same transaction.
type newAccount struct {
	user        User
	credential  Credential
	workspaceID string // of the personal workspace
	link        *link  // nil unless a code host identified the user
}

// createAccount creates an account. Error: errTaken if the e-mail address, the username or the identity is taken.
func (s store) createAccount(ctx context.Context, a newAccount) error {
	user := a.user
	tx := s.client.Tx(
		s.accounts.Create(db.EmailKey(user.Email), emailRecord(a.credential)).Else(errTaken),
		s.accounts.Create(db.UsernameKey(user.Username), usernameRecord{UserID: user.ID}).Else(errTaken),
		s.accounts.Create(db.UserKey(user.ID), userRecord{
			ID: user.ID, Email: user.Email, Username: user.Username,
			CreatedAt: clock.Stamp(user.CreatedAt), Generation: user.Generation,
		}),
	)
	if a.link != nil {
		s.addLink(tx, *a.link)
	}
	tx.Add(workspace.Personal(s.projects, a.workspaceID, user.ID, user.Username, user.CreatedAt)...)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("creating an account: %w", err)
	}
	return nil
}

// user reads a user. Error: db.ErrNotFound.
func (s store) user(ctx context.Context, userID string) (User, error) {
	item, err := s.accounts.Get(ctx, db.UserKey(userID))
	if err != nil {
		return User{}, fmt.Errorf("reading a user: %w", err)
	}
	record, err := db.Decode[userRecord](item)
	return record.user(), err
}

// credential reads the credential of an account. Error: db.ErrNotFound.
func (s store) credential(ctx context.Context, email string) (Credential, error) {
	item, err := s.accounts.Get(ctx, db.EmailKey(email))
	if err != nil {
		return Credential{}, fmt.Errorf("reading a credential: %w", err)
	}
	record, err := db.Decode[emailRecord](item)
	return Credential(record), err
}

// userByName reads the user with a username. Error: db.ErrNotFound.
func (s store) userByName(ctx context.Context, username string) (User, error) {
	item, err := s.accounts.Get(ctx, db.UsernameKey(username))
	if err != nil {
		return User{}, fmt.Errorf("reading a username: %w", err)
	}
	record, err := db.Decode[usernameRecord](item)
	if err != nil {
		return User{}, err
	}
	return s.user(ctx, record.UserID)
}

// passwordChange replaces a password and starts a new generation, to which only the caller's session belongs.
type passwordChange struct {
	user             User   // before the change
	sessionID        string // of the caller
	oldHash, newHash string
	refunds          []db.Write
}

// changePassword changes a password. Error: db.ErrStale if the password was changed after it was checked.
func (s store) changePassword(ctx context.Context, c passwordChange) error {
	generation, hash := expression.Name("generation"), expression.Name("passwordHash")
	next := func() expression.UpdateBuilder { // each write needs its own builder, because Set changes it
		return expression.Set(generation, expression.Value(c.user.Generation+1))
	}
	unchanged := generation.Equal(expression.Value(c.user.Generation))
	tx := s.client.Tx(
		s.accounts.Update(db.EmailKey(c.user.Email), next().Set(hash, expression.Value(c.newHash))).
			If(hash.Equal(expression.Value(c.oldHash))).Else(db.ErrStale),
		s.accounts.Update(db.UserKey(c.user.ID), next()).If(unchanged).Else(db.ErrStale),
		s.accounts.Update(db.SessionKey(c.user.ID, c.sessionID), next()).
			If(s.accounts.Exists()).If(unchanged).Else(db.ErrStale),
	)
	tx.Add(c.refunds...)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("changing a password: %w", err)
	}
	return nil
}
