package password

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// replaceHash returns the write that replaces the checked hash of a password. Error: db.ErrStale if the hash is no
// longer the stored one.
func (s *Service) replaceHash(c checked, newHash string, update expression.UpdateBuilder) db.Write {
	hash := expression.Name("passwordHash")
	return s.Accounts.Update(db.EmailKey(c.email), update.Set(hash, expression.Value(newHash))).
		If(hash.Equal(expression.Value(c.credential.PasswordHash))).Else(db.ErrStale)
}

// rehash returns the write that stores a new hash of the checked password. Error of the write: db.ErrStale.
func (s *Service) rehash(ctx context.Context, c checked, password string) ([]db.Write, error) {
	hash, err := s.Hasher.Hash(ctx, password)
	return []db.Write{s.replaceHash(c, hash, expression.UpdateBuilder{})}, err
}

// change returns the writes that store the hash of a new password, and start a new generation, to which only the
// caller's session belongs. Error: db.ErrStale if the password was changed after it was checked.
func (s *Service) change(caller httpapi.Caller, c checked, newHash string) []db.Write {
	generation := expression.Name("generation")
	next := func() expression.UpdateBuilder { // each write needs its own builder, because Set changes it
		return expression.Set(generation, expression.Value(c.credential.Generation+1))
	}
	ofUser := next().Add(expression.Name("revision"), expression.Value(1)).Remove(expression.Name("pendingEmail"))
	isUnchanged := generation.Equal(expression.Value(c.credential.Generation))
	return []db.Write{
		s.replaceHash(c, newHash, next()),
		s.Accounts.Update(db.UserKey(caller.UserID), ofUser).If(isUnchanged).Else(db.ErrStale),
		s.Accounts.Update(db.SessionKey(caller.UserID, caller.SessionID), next()).
			If(s.Accounts.Exists()).If(isUnchanged).Else(db.ErrStale),
	}
}
