// Package session contains sessions: their tokens, their records, and the check that every request with a session
// passes. It must not know how a session starts: with a password or with a code host.
package session

import (
	"context"
	"time"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// The lifetimes of a session, since its last use and since its start, and the time between two renewals.
const (
	IdleLife     = 7 * 24 * time.Hour
	AbsoluteLife = 30 * 24 * time.Hour
	RenewalEvery = 24 * time.Hour
)

const maxUserAgentBytes = 256

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

// Started is a new session, and the token for the client.
type Started struct {
	Session
	Token string
}

// Start returns a new session of a user, and the writes that store it with an entry in the user's activity. The writes
// belong in the transaction of the sign-in. Of the user, only the ID and the generation are used. Error:
// config.ErrUnavailable. Error of the writes: db.ErrStale.
func (s *Service) Start(
	ctx context.Context, id string, u user.User, client httpapi.RequestInfo,
) (Started, []db.Write, error) {
	now := s.now()
	session := Session{
		ID: id, UserID: u.ID, Generation: u.Generation, CreatedAt: clock.Stamp(now),
		UserAgent: user.Printable(client.UserAgent, maxUserAgentBytes), IP: client.SourceIP,
	}.afterUse(now)
	token, err := s.sign(ctx, session, session.CreatedAt.Time())
	return Started{session, token}, []db.Write{
		s.accounts.Create(db.SessionKey(u.ID, id), session).Else(db.ErrStale),
		s.log.Add(u.ID, activity.Login, client, activity.Detail{SessionID: id}),
	}, err
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
