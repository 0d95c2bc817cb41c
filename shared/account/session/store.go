package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// store stores sessions in the accounts table.
type store struct {
	client   *db.Client
	accounts db.Table
}

// Create returns the write that stores a new session.
func (s *Service) Create(session Session) db.Write {
	return s.store.accounts.Create(db.SessionKey(session.UserID, session.ID), session).Else(db.ErrStale)
}

// Replace returns the write that ends another session of the same user. The transaction must also contain
// user.Store.Touch. Error: db.ErrStale if that session is no longer active.
func (s *Service) Replace(session Session, replaced string) db.Write {
	accounts, current := s.store.accounts, expression.Name("generation").Equal(expression.Value(session.Generation))
	return accounts.Delete(db.SessionKey(session.UserID, replaced)).If(accounts.Exists()).If(current).Else(db.ErrStale)
}

// refs returns the references of a session and its user.
func (s store) refs(userID, sessionID string) (session, user db.Ref) {
	return s.accounts.Ref(db.SessionKey(userID, sessionID)), s.accounts.Ref(db.UserKey(userID))
}

// read reads a session and its user in one call. Error: db.ErrNotFound if one of them does not exist.
func (s store) read(ctx context.Context, userID, sessionID string) (Session, user.User, error) {
	sessionRef, userRef := s.refs(userID, sessionID)
	items, err := s.client.BatchGet(ctx, sessionRef, userRef)
	if err != nil {
		return Session{}, user.User{}, fmt.Errorf("reading a session: %w", err)
	}
	return decode(items[sessionRef], items[userRef])
}

// guard returns a context whose guard reads the caller's session and user. If both exist, check decides. Error of the
// guard: httpapi.ErrNoSession, the errors of check.
func (s store) guard(
	ctx context.Context, caller httpapi.Caller, check func(Session, user.User) error,
) context.Context {
	sessionRef, userRef := s.refs(caller.UserID, caller.SessionID)
	return s.client.WithGuard(ctx, func(items map[db.Ref]db.Item) error {
		session, u, err := decode(items[sessionRef], items[userRef])
		if errors.Is(err, db.ErrNotFound) {
			return httpapi.ErrNoSession.WithCause(err)
		}
		if err != nil {
			return err
		}
		return check(session, u)
	}, sessionRef, userRef)
}

// decode decodes a session and its user. Error: db.ErrNotFound if one of them does not exist.
func decode(sessionItem, userItem db.Item) (session Session, u user.User, err error) {
	if sessionItem == nil || userItem == nil {
		return Session{}, user.User{}, db.ErrNotFound
	}
	if session, err = db.Decode[Session](sessionItem); err == nil {
		u, err = db.Decode[user.User](userItem)
	}
	return session, u, err
}

// active reads up to n active sessions of a user, newest first. They are older than the session after. If after is "",
// the first one is the newest session.
func (s store) active(ctx context.Context, u user.User, after string, n int, now time.Time) ([]Session, error) {
	const fewestRead = 1000 // in one call: many sessions of old generations can be between active ones
	q := db.Query{Prefix: db.SessionsOf(u.ID), Descending: true, Limit: max(n, fewestRead)}
	if after != "" {
		q.After = db.SessionKey(u.ID, after)
	}
	var active []Session
	for {
		sessions, next, err := db.List(ctx, s.accounts, q, db.DecodeByID(func(s Session) string { return s.ID }))
		if err != nil {
			return nil, fmt.Errorf("listing sessions: %w", err)
		}
		for _, session := range sessions {
			if session.isActive(u, now) {
				active = append(active, session)
			}
		}
		if len(active) >= n || next.IsZero() {
			return active[:min(n, len(active))], nil
		}
		q.After = next
	}
}

// renew stores the new times of a session. Error: db.ErrStale if another request has renewed or ended the session.
func (s store) renew(ctx context.Context, before, after Session) error {
	seen := expression.Name("lastSeenAt")
	update := expression.Set(seen, expression.Value(after.LastSeenAt.String())).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(after.ExpiresAt))
	write := s.accounts.Update(db.SessionKey(before.UserID, before.ID), update).
		If(seen.Equal(expression.Value(before.LastSeenAt.String()))).Else(db.ErrStale)
	if _, err := s.client.Do(ctx, write); err != nil {
		return fmt.Errorf("renewing a session: %w", err)
	}
	return nil
}

// end deletes a session, if it exists.
func (s store) end(ctx context.Context, userID, sessionID string) error {
	if _, err := s.client.Do(ctx, s.accounts.Delete(db.SessionKey(userID, sessionID))); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

// endExisting deletes a session that was just read, and makes another write. It uses a transaction, so that a retry
// after a lost response does not return an error. Error: db.ErrNotFound.
func (s store) endExisting(ctx context.Context, session Session, other db.Write) error {
	key := db.SessionKey(session.UserID, session.ID)
	tx := s.client.Tx(s.accounts.Delete(key).If(s.accounts.Exists()).Else(db.ErrNotFound), other)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}
