package session

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// Service authenticates requests, and starts, lists and ends sessions. Every Lambda function that serves the API uses
// it. It is safe for concurrent use.
type Service struct {
	db       *db.Client
	accounts db.Table
	users    user.Store
	keys     *config.Keys
	cursors  *db.Cursors
	log      *activity.Log
	now      clock.Clock
	logger   *slog.Logger
}

var _ httpapi.Authenticator = (*Service)(nil)

// New returns a Service. It does no I/O.
func New(
	client *db.Client, tables config.Tables, keys *config.Keys, now clock.Clock, logger *slog.Logger,
) *Service {
	accounts := client.Table(tables.Accounts)
	return &Service{
		db: client, accounts: accounts, users: user.NewStore(client, tables), keys: keys, cursors: db.NewCursors(keys),
		log: activity.New(client, accounts, now), now: now, logger: logger,
	}
}

// Authenticate implements httpapi.Authenticator. A session in use is renewed once a day.
func (s *Service) Authenticate(ctx context.Context, token string) (context.Context, httpapi.Caller, error) {
	claims, err := s.verify(ctx, token)
	if errors.Is(err, errToken) {
		err = httpapi.ErrNoSession.WithCause(err)
	}
	if err != nil {
		return ctx, httpapi.Caller{}, err
	}
	caller := httpapi.NewCaller(claims.Subject, claims.SessionID)
	sessionRef, userRef := s.refs(claims.Subject, claims.SessionID)
	guarded := s.db.WithGuard(ctx, func(items map[db.Ref]db.Item) error {
		session, u, err := decode(items[sessionRef], items[userRef])
		now := s.now()
		switch {
		case errors.Is(err, db.ErrNotFound):
			return httpapi.ErrNoSession.WithCause(err)
		case err != nil:
			return err
		case !session.isActive(u, now):
			return httpapi.ErrNoSession
		case u.SuspendedAt != nil:
			return httpapi.ErrSuspended
		}
		caller.Complete(httpapi.Account{
			Email: u.Email, EmailVerified: u.Verified, PendingEmail: u.PendingEmail, Username: u.Username,
			CreatedAt: u.CreatedAt.Time(), LoggedInAt: session.CreatedAt.Time(), Generation: session.Generation,
		}, s.renew(ctx, session, now))
		return nil
	}, sessionRef, userRef)
	return guarded, caller, nil
}

// refs returns the references of a session and its user.
func (s *Service) refs(userID, sessionID string) (sessionRef, userRef db.Ref) {
	return s.accounts.Ref(db.SessionKey(userID, sessionID)), s.accounts.Ref(db.UserKey(userID))
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

// AuthenticateNow is like Authenticate, but reads the session immediately. It is for endpoints that also serve requests
// without a session.
func (s *Service) AuthenticateNow(ctx context.Context, token string) (httpapi.Caller, error) {
	guarded, caller, err := s.Authenticate(ctx, token)
	if err != nil {
		return httpapi.Caller{}, err
	}
	return caller, db.Admit(guarded)
}

// renew extends a session that is due for a renewal. If the renewal fails, renew returns nil: the request continues
// with the unchanged session, and the next request tries again.
func (s *Service) renew(ctx context.Context, session Session, now time.Time) *httpapi.Renewal {
	if now.Sub(session.LastSeenAt.Time()) < RenewalEvery {
		return nil
	}
	renewed := session.afterUse(now)
	token, err := s.sign(ctx, renewed, now)
	if err == nil {
		_, err = s.db.Do(ctx, s.renewal(session, renewed))
	}
	if err != nil {
		if !errors.Is(err, db.ErrStale) { // another request has renewed or ended the session
			s.logger.WarnContext(ctx, "session was not renewed", "session", session.ID, "cause", err.Error())
		}
		return nil
	}
	return &httpapi.Renewal{Token: token, Expires: renewed.expires()}
}
