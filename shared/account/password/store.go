package password

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// store changes the credentials in the accounts table.
type store struct {
	client   *db.Client
	accounts db.Table
}

// replaceHash returns the write that replaces the checked hash of a password. Error: db.ErrStale if the hash is no
// longer the stored one.
func (s store) replaceHash(c checkResult, newHash string, update expression.UpdateBuilder) db.Write {
	hash := expression.Name("passwordHash")
	return s.accounts.Update(db.EmailKey(c.email), update.Set(hash, expression.Value(newHash))).
		If(hash.Equal(expression.Value(c.credential.PasswordHash))).Else(db.ErrStale)
}

// rehash returns the write that stores a new hash of the same password. Error: db.ErrStale.
func (s store) rehash(c checkResult, newHash string) db.Write {
	return s.replaceHash(c, newHash, expression.UpdateBuilder{})
}

// change stores the hash of a new password, and starts a new generation, to which only the caller's session belongs.
// Error: db.ErrStale if the password was changed after it was checked.
func (s store) change(ctx context.Context, caller httpapi.Caller, c checkResult, newHash string) error {
	generation := expression.Name("generation")
	next := func() expression.UpdateBuilder { // each write needs its own builder, because Set changes it
		return expression.Set(generation, expression.Value(c.credential.Generation+1))
	}
	unchanged := generation.Equal(expression.Value(c.credential.Generation))
	tx := s.client.Tx(
		s.replaceHash(c, newHash, next()),
		s.accounts.Update(db.UserKey(caller.UserID), next()).If(unchanged).Else(db.ErrStale),
		s.accounts.Update(db.SessionKey(caller.UserID, caller.SessionID), next()).
			If(s.accounts.Exists()).If(unchanged).Else(db.ErrStale),
	)
	tx.Add(c.attempt.Refunds()...)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("changing a password: %w", err)
	}
	return nil
}
