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

// Sessions tells whose session a token is, in one call to storage. It is the httpapi.Authenticator of every function, and tells
// other slices who has a username.
type Sessions struct {
	store  store
	tokens tokens
	now    clock.Clock
	logger *slog.Logger
}

var _ httpapi.Authenticator = (*Sessions)(nil)

// NewSessions is for functions that serve people and are not about their accounts. It does no input or output.
func NewSessions(client *db.Client, tables config.Tables, keys *config.Keys, now clock.Clock, logger *slog.Logger) *Sessions {
	return &Sessions{
		store:  store{client: client, accounts: client.Table(tables.Accounts), projects: client.Table(tables.Projects)},
		tokens: tokens{keys: keys, now: now}, now: now, logger: logger,
	}
}

// Authenticate implements httpapi.Authenticator. A session that is used is prolonged once a day: then there is a Renewal.
func (s *Sessions) Authenticate(ctx context.Context, token string) (httpapi.Caller, *httpapi.Renewal, error) {
	claims, err := s.tokens.read(ctx, token)
	if errors.Is(err, errToken) {
		return httpapi.Caller{}, nil, invalidSession(err)
	}
	if err != nil {
		return httpapi.Caller{}, nil, err
	}
	session, user, err := s.store.session(ctx, claims.Subject, claims.SessionID)
	if errors.Is(err, db.ErrNotFound) {
		return httpapi.Caller{}, nil, invalidSession(err)
	}
	if err != nil {
		return httpapi.Caller{}, nil, err
	}
	now := s.now()
	if !session.alive(user, now) {
		return httpapi.Caller{}, nil, invalidSession(errStale)
	}
	caller := httpapi.Caller{
		UserID: user.ID, SessionID: session.ID, Email: user.Email, Username: user.Username, CreatedAt: user.CreatedAt,
	}
	return caller, s.renew(ctx, session, now), nil
}

// renew prolongs a session that is due for it. When that fails, the session is as good as it was: the request goes on,
// and the next one tries again.
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
		if !errors.Is(err, errStale) {
			s.logger.WarnContext(ctx, "a session was not renewed", "session", session.ID, "error", err)
		}
		return nil
	}
	return &httpapi.Renewal{Token: token, Expires: renewed.ExpiresAt}
}

func invalidSession(cause error) error {
	return errEnded.WithCause(cause)
}

var errEnded = fault.New(fault.CodeInvalidToken, "The session is missing or has ended. Please log in.")

var errNoUser = fault.New(fault.CodeUserNotFound, "There is no user of that name.")

// FindByUsername answers with the id of the user who has a username, in whatever case, and the username as they typed it at sign-up:
// two calls to storage. Error: an *fault.Error USER_NOT_FOUND.
func (s *Sessions) FindByUsername(ctx context.Context, username string) (userID, canonical string, _ error) {
	if CheckUsername(username) != "" { // nobody has it, and lower-casing other letters than ASCII's could make it somebody's
		return "", "", errNoUser
	}
	user, err := s.store.userByName(ctx, username)
	if errors.Is(err, db.ErrNotFound) {
		return "", "", errNoUser.WithCause(err)
	}
	return user.ID, user.Username, err
}
