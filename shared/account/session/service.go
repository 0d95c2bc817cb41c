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
	store   store
	users   user.Store
	keys    *config.Keys
	cursors *db.Cursors
	log     *activity.Log
	now     clock.Clock
	logger  *slog.Logger
}

var _ httpapi.Authenticator = (*Service)(nil)

// New returns a Service. It does no I/O.
func New(
	client *db.Client, tables config.Tables, keys *config.Keys, now clock.Clock, logger *slog.Logger,
) *Service {
	accounts := client.Table(tables.Accounts)
	return &Service{
		store: store{client: client, accounts: accounts}, users: user.NewStore(client, tables),
		log: activity.New(client, accounts, now), keys: keys, cursors: db.NewCursors(keys), now: now, logger: logger,
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
	guarded := s.store.guard(ctx, caller, func(session Session, u user.User) error {
		now := s.now()
		if !session.isActive(u, now) {
			return httpapi.ErrNoSession
		}
		if u.SuspendedAt != nil {
			return httpapi.ErrSuspended
		}
		caller.Confirm(httpapi.Account{
			Email: u.Email, EmailVerified: u.Verified, PendingEmail: u.PendingEmail, Username: u.Username,
			CreatedAt: u.CreatedAt.Time(), LoggedInAt: session.CreatedAt.Time(), Generation: session.Generation,
		}, s.renew(ctx, session, now))
		return nil
	})
	return guarded, caller, nil
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

// renew extends a session that is due for a renewal. If that fails, the request continues with the unchanged
// session, and the next request tries again.
func (s *Service) renew(ctx context.Context, session Session, now time.Time) *httpapi.Renewal {
	if now.Sub(session.LastSeenAt.Time()) < RenewalEvery {
		return nil
	}
	renewed := session.afterUse(now)
	token, err := s.sign(ctx, renewed, now)
	if err == nil {
		err = s.store.renew(ctx, session, renewed)
	}
	if err != nil {
		if !errors.Is(err, db.ErrStale) {
			s.logger.WarnContext(ctx, "session was not renewed", "session", session.ID, "error", err)
		}
		return nil
	}
	return &httpapi.Renewal{Token: token, Expires: renewed.expires()}
}
