// Package session contains sessions: their tokens, their records, and the check that every request with a session
// passes. It must not know how a session starts: with a password or with a code host.
package session

import (
	"cmp"
	"context"
	"errors"
	"time"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// The lifetimes of a session, since its last use and since its start, and the time between two renewals.
const (
	IdleLife     = 7 * 24 * time.Hour
	AbsoluteLife = 30 * 24 * time.Hour
	RenewalEvery = 24 * time.Hour
)

const maxUserAgentBytes = 256

var errNotFound = fault.New(fault.CodeSessionNotFound,
	"The session does not exist, or it has ended. List your sessions to see the active ones.")

// Session is one signed-in client. The attribute names are part of the data format.
type Session struct {
	ID     string `dynamodbav:"id"`
	UserID string `dynamodbav:"userId"`
	// Generation equals User.Generation while the session is valid. A password change increments the generation of the
	// user and of the current session, which ends all other sessions.
	Generation int             `dynamodbav:"generation"`
	CreatedAt  clock.Timestamp `dynamodbav:"createdAt"`
	LastSeenAt clock.Timestamp `dynamodbav:"lastSeenAt"` // accurate to a day: it changes when the session is renewed
	ExpiresAt  int64           `dynamodbav:"expiresAt"`  // in seconds since 1970
	UserAgent  string          `dynamodbav:"userAgent,omitempty"`
	IP         string          `dynamodbav:"ip,omitempty"` // the source address at sign-in
}

// Started is a session to store, and the token for the client.
type Started struct {
	Session
	Token string
}

// New returns a new session of a user. The caller stores it with Create, in the transaction of the sign-in.
func (s *Service) New(ctx context.Context, id string, u user.User, client httpapi.RequestInfo) (Started, error) {
	now := s.now()
	session := Session{
		ID: id, UserID: u.ID, Generation: u.Generation, CreatedAt: clock.Stamp(now),
		UserAgent: user.Printable(client.UserAgent, maxUserAgentBytes), IP: client.SourceIP,
	}.afterUse(now)
	token, err := s.sign(ctx, session, session.CreatedAt.Time())
	return Started{session, token}, err
}

// Cookies returns the Set-Cookie values that give the token to the client of the current request.
func (s Started) Cookies(ctx context.Context) []string {
	return httpapi.SessionCookies(ctx, s.Token, s.expires())
}

// afterUse returns the session with the times that follow from a use at now.
func (s Session) afterUse(now time.Time) Session {
	s.LastSeenAt = clock.Stamp(now)
	s.ExpiresAt = min(now.Add(IdleLife).Unix(), s.CreatedAt.Time().Add(AbsoluteLife).Unix())
	return s
}

func (s Session) expires() time.Time { return time.Unix(s.ExpiresAt, 0).UTC() }

// isActive reports whether the session has not expired, and belongs to the current generation of the user.
func (s Session) isActive(u user.User, now time.Time) bool {
	return now.Before(s.expires()) && s.Generation == u.Generation
}

// maxPage is the maximum number of sessions in a page if the request has no limit. More do not fit into a response. A
// user whose program logs in before every request can have this many.
const maxPage = 20_000

// ListSessions returns a page of the caller's active sessions, newest first, and the cursor of the next page. Error:
// VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) ListSessions(
	ctx context.Context, caller httpapi.Caller, page httpapi.PageInput,
) ([]SessionItem, string, error) {
	page.Limit = cmp.Or(page.Limit, maxPage)
	read := func(ctx context.Context, after string, n int) ([]SessionItem, error) {
		u, err := s.users.Read(ctx, caller.UserID)
		if err != nil {
			return nil, err
		}
		sessions, err := s.store.active(ctx, u, after, n, s.now())
		items := make([]SessionItem, len(sessions))
		for i, session := range sessions {
			items[i] = session.item(caller.SessionID)
		}
		return items, err
	}
	return httpapi.ReadPage(ctx, s.cursors, httpapi.ListScope(caller, "sessions"), page, read,
		func(i SessionItem) string { return i.ID })
}

// EndSession ends one of the caller's sessions. Error: SESSION_NOT_FOUND.
func (s *Service) EndSession(
	ctx context.Context, caller httpapi.Caller, sessionID string, client httpapi.RequestInfo,
) error {
	session, u, err := s.store.read(ctx, caller.UserID, sessionID)
	if err == nil && !session.isActive(u, s.now()) {
		err = db.ErrNotFound
	}
	if err == nil {
		ended := activity.Detail{SessionID: sessionID}
		err = s.store.endExisting(ctx, session, s.log.Add(u.ID, activity.SessionEnded, client, ended))
	}
	if errors.Is(err, db.ErrNotFound) {
		return errNotFound.WithCause(err)
	}
	return err
}

// Logout ends the session of a token. It ignores a token that is not valid.
func (s *Service) Logout(ctx context.Context, token string) error {
	claims, err := s.verify(ctx, token)
	if errors.Is(err, errToken) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.store.end(ctx, claims.Subject, claims.SessionID)
}
