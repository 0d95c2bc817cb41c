package account

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

var errNoSession = fault.New(fault.CodeSessionNotFound, "The session does not exist, or it has ended. List your sessions to see the active ones.")

// The lifetimes of a session, since its last use and since its start, and the time between two renewals.
const (
	SessionIdleLife     = 7 * 24 * time.Hour
	SessionAbsoluteLife = 30 * 24 * time.Hour
	sessionRenewalEvery = 24 * time.Hour
)

const maxUserAgentBytes = 256

// Session is one signed-in client.
type Session struct {
	ID     string
	UserID string
	// Generation equals User.Generation while the session is valid. A password change increments the generation of the
	// user and of the current session, which ends all other sessions.
	Generation int
	CreatedAt  time.Time
	LastSeenAt time.Time // accurate to a day: it changes when the session is renewed
	ExpiresAt  time.Time // whole seconds
	UserAgent  string    // printable, at most 256 bytes
	IP         string    // the source address at sign-in
}

// newSession returns the session that a user starts now.
func newSession(id string, user User, client Client, now time.Time) Session {
	now = now.UTC().Truncate(time.Millisecond)
	return Session{
		ID: id, UserID: user.ID, Generation: user.Generation,
		CreatedAt: now, LastSeenAt: now, ExpiresAt: sessionExpiry(now, now),
		UserAgent: printable(client.UserAgent, maxUserAgentBytes), IP: client.IP,
	}
}

// sessionExpiry returns the time when a session expires. created is the time of its start, and seen is the time of its
// last use.
func sessionExpiry(created, seen time.Time) time.Time {
	idle, absolute := seen.Add(SessionIdleLife), created.Add(SessionAbsoluteLife)
	if absolute.Before(idle) {
		idle = absolute
	}
	return idle.UTC().Truncate(time.Second)
}

// isActive reports whether the session has not expired, and belongs to the current generation of the user.
func (s Session) isActive(user User, now time.Time) bool {
	return now.Before(s.ExpiresAt) && s.Generation == user.Generation
}

// renewed returns the session as it is after a renewal. now is the time of the renewal. If no renewal is due, renewed
// returns the unchanged session and false.
func (s Session) renewed(now time.Time) (Session, bool) {
	if now.Sub(s.LastSeenAt) < sessionRenewalEvery {
		return s, false
	}
	s.LastSeenAt = now.UTC().Truncate(time.Millisecond)
	s.ExpiresAt = sessionExpiry(s.CreatedAt, now)
	return s, true
}

// printable returns at most limit bytes of s, without unprintable characters. Clients choose s, and control characters
// could change how a page or a log looks.
func printable(s string, limit int) string {
	var b strings.Builder
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			continue
		}
		if b.Len()+len(string(r)) > limit {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// maxSessionPage is the number of sessions in a page if the request has no limit. More do not fit into a response. A
// user whose program logs in before every request can have so many.
const maxSessionPage = 20_000

// ListSessions returns a page of the caller's active sessions, newest first, and the cursor of the next page. Error:
// VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) ListSessions(
	ctx context.Context, caller httpapi.Caller, page httpapi.PageInput,
) ([]SessionItem, string, error) {
	page.Limit = cmp.Or(page.Limit, maxSessionPage)
	read := func(ctx context.Context, after string, n int) ([]SessionItem, error) {
		user, err := s.store.user(ctx, caller.UserID)
		if err != nil {
			return nil, err
		}
		sessions, err := s.store.activeSessions(ctx, user, after, n, s.now())
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
func (s *Service) EndSession(ctx context.Context, caller httpapi.Caller, sessionID string) error {
	session, user, err := s.store.session(ctx, caller.UserID, sessionID)
	if err == nil && !session.isActive(user, s.now()) {
		err = db.ErrNotFound
	}
	if err == nil {
		err = s.store.endExistingSession(ctx, session)
	}
	if errors.Is(err, db.ErrNotFound) {
		return errNoSession.WithCause(err)
	}
	return err
}

// Logout ends the session of a token. It ignores a token that is not valid.
func (s *Service) Logout(ctx context.Context, token string) error {
	claims, err := s.tokens.verify(ctx, token)
	if errors.Is(err, errToken) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.store.endSession(ctx, claims.Subject, claims.SessionID)
}
