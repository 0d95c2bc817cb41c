package session

import (
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// Replace returns the write that ends the session with the ID replaced, which a new session of the same user replaces.
// The transaction must also contain user.Store.Touch. Error: db.ErrStale if the replaced session is no longer active.
func (s *Service) Replace(session Session, replaced string) db.Write {
	isCurrent := expression.Name("generation").Equal(expression.Value(session.Generation))
	return s.accounts.Delete(db.SessionKey(session.UserID, replaced)).
		If(s.accounts.Exists()).If(isCurrent).Else(db.ErrStale)
}

// renewal returns the write that stores the new times of a session. Error: db.ErrStale if another request has renewed
// or ended the session.
func (s *Service) renewal(before, after Session) db.Write {
	seen := expression.Name("lastSeenAt")
	update := expression.Set(seen, expression.Value(after.LastSeenAt.String())).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(after.ExpiresAt))
	return s.accounts.Update(db.SessionKey(before.UserID, before.ID), update).
		If(seen.Equal(expression.Value(before.LastSeenAt.String()))).Else(db.ErrStale)
}
