package account

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

var (
	errSessionEnded = fault.New(fault.CodeInvalidToken, "The session is missing or has ended. Please log in.")
	errNoUser       = fault.New(fault.CodeUserNotFound, "The user does not exist. Check the username.")
)

// Sessions authenticates requests, and finds users by name. Every Lambda function that serves the API uses it.
type Sessions struct {
	store  store
	tokens tokens
	now    clock.Clock
	logger *slog.Logger
}

var _ httpapi.Authenticator = (*Sessions)(nil)

// NewSessions returns a Sessions. It does no I/O. A Lambda function that does not serve accounts needs only a Sessions,
// and no Service.
func NewSessions(
	client *db.Client, tables config.Tables, keys *config.Keys, now clock.Clock, logger *slog.Logger,
) *Sessions {
	return &Sessions{store: newStore(client, tables), tokens: tokens{keys: keys, now: now}, now: now, logger: logger}
}

// Authenticate implements httpapi.Authenticator. A session in use is renewed once a day.
func (s *Sessions) Authenticate(ctx context.Context, token string) (context.Context, httpapi.Caller, error) {
	claims, err := s.tokens.verify(ctx, token)
	if errors.Is(err, errToken) {
		err = errSessionEnded.WithCause(err)
	}
	if err != nil {
		return ctx, httpapi.Caller{}, err
	}
	caller := httpapi.NewCaller(claims.Subject, claims.SessionID)
	guarded := s.store.guardSession(ctx, claims, func(session Session, user User) error {
		now := s.now()
		if !session.isActive(user, now) {
			return errSessionEnded
		}
		caller.Confirm(httpapi.Account{
			Email: user.Email, Username: user.Username, CreatedAt: user.CreatedAt,
			LoggedInAt: session.CreatedAt, Generation: session.Generation,
		}, s.renew(ctx, session, now))
		return nil
	})
	return guarded, caller, nil
}

// authenticate is like Authenticate, but reads the session immediately. It is for endpoints that also serve requests
// without a session.
func (s *Sessions) authenticate(ctx context.Context, token string) (httpapi.Caller, error) {
	guarded, caller, err := s.Authenticate(ctx, token)
	if err != nil {
		return httpapi.Caller{}, err
	}
	return caller, db.Admit(guarded)
}

// renew extends a session that is due for a renewal. If that fails, the request continues with the unchanged
// session, and the next request tries again.
func (s *Sessions) renew(ctx context.Context, session Session, now time.Time) *httpapi.Renewal {
	renewed, due := session.renewed(now)
	if !due {
		return nil
	}
	token, err := s.tokens.sign(ctx, renewed, now)
	if err == nil {
		err = s.store.renewSession(ctx, session, renewed)
	}
	if err != nil {
		if !errors.Is(err, db.ErrStale) {
			s.logger.WarnContext(ctx, "session was not renewed", "session", session.ID, "error", err)
		}
		return nil
	}
	return &httpapi.Renewal{Token: token, Expires: renewed.ExpiresAt}
}

// FindByUsername returns the ID of a user and the username as entered at sign-up. It ignores case. Error:
// USER_NOT_FOUND.
func (s *Sessions) FindByUsername(ctx context.Context, username string) (userID, canonical string, _ error) {
	// The store looks up names in lower case. Without this check, a name with the Kelvin sign (U+212A) would find the
	// user whose name has a k in that place.
	if CheckUsername(username) != "" {
		return "", "", errNoUser
	}
	user, err := s.store.userByName(ctx, username)
	if errors.Is(err, db.ErrNotFound) {
		return "", "", errNoUser.WithCause(err)
	}
	return user.ID, user.Username, err
}
