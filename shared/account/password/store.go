package password

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// replaceHash returns the write that replaces the hash of the checked password, and makes further changes of the
// credential. Error: db.ErrStale if another hash is stored by now.
func (s *Service) replaceHash(c passwordCheck, newHash string, changes expression.UpdateBuilder) db.Write {
	hash := expression.Name("passwordHash")
	return s.Accounts.Update(db.EmailKey(c.email), changes.Set(hash, expression.Value(newHash))).
		If(hash.Equal(expression.Value(c.credential.PasswordHash))).Else(db.ErrStale)
}

// rehash returns the write that stores a new hash of the checked password. Error of the write: db.ErrStale.
func (s *Service) rehash(ctx context.Context, c passwordCheck, password string) ([]db.Write, error) {
	hash, err := s.Hasher.Hash(ctx, password)
	return []db.Write{s.replaceHash(c, hash, expression.UpdateBuilder{})}, err
}

// changeWrites returns the writes that store the hash of a new password, cancel a pending change of the address, and
// start a new generation, to which only the caller's session belongs. Error: db.ErrStale if the password was changed
// after it was checked.
func (s *Service) changeWrites(caller httpapi.Caller, c passwordCheck, newHash string) []db.Write {
	generation := expression.Name("generation")
	next := func() expression.UpdateBuilder { // each write needs its own builder, because Set changes it
		return expression.Set(generation, expression.Value(c.credential.Generation+1))
	}
	userUpdate := next().Add(expression.Name("revision"), expression.Value(1)).Remove(expression.Name("pendingEmail"))
	isUnchanged := generation.Equal(expression.Value(c.credential.Generation))
	return []db.Write{
		s.replaceHash(c, newHash, next()),
		s.Accounts.Update(db.UserKey(caller.UserID), userUpdate).If(isUnchanged).Else(db.ErrStale),
		s.Accounts.Update(db.SessionKey(caller.UserID, caller.SessionID), next()).
			If(s.Accounts.Exists()).If(isUnchanged).Else(db.ErrStale),
	}
}
