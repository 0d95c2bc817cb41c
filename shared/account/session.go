package account

import (
	"strings"
	"time"
	"unicode"
)

// Lives of a session (API.md §2).
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
	// Generation is the user's at the time of sign-in. A password change starts a new one, which ends every session of
	// the old one with that single write, however many there are.
	Generation int
	CreatedAt  time.Time
	LastSeenAt time.Time // to within a day: it moves when the session is renewed
	ExpiresAt  time.Time // whole seconds
	UserAgent  string    // printable, at most 256 bytes
	IP         string    // the gateway's source address at sign-in
}

// Client is where a session is started from.
type Client struct {
	IP        string // the gateway's source address
	UserAgent string
}

func newSession(id string, user User, client Client, now time.Time) Session {
	now = now.UTC().Truncate(time.Millisecond)
	return Session{
		ID: id, UserID: user.ID, Generation: user.Generation,
		CreatedAt: now, LastSeenAt: now, ExpiresAt: sessionExpiry(now, now),
		UserAgent: printable(client.UserAgent, maxUserAgentBytes), IP: client.IP,
	}
}

// sessionExpiry is the end of a session that was started at created and last seen at seen.
func sessionExpiry(created, seen time.Time) time.Time {
	idle, absolute := seen.Add(SessionIdleLife), created.Add(SessionAbsoluteLife)
	if absolute.Before(idle) {
		idle = absolute
	}
	return idle.UTC().Truncate(time.Second)
}

// alive reports whether the session counts: not over, and not from before the user's last password change.
func (s Session) alive(user User, now time.Time) bool {
	return now.Before(s.ExpiresAt) && s.Generation == user.Generation
}

// renewed is the session as seen now, and whether that is worth a write.
func (s Session) renewed(now time.Time) (Session, bool) {
	if now.Sub(s.LastSeenAt) < sessionRenewalEvery {
		return s, false
	}
	s.LastSeenAt = now.UTC().Truncate(time.Millisecond)
	s.ExpiresAt = sessionExpiry(s.CreatedAt, now)
	return s, true
}

// printable keeps at most limit bytes of what a client says of itself, without anything that could garble a page or a log.
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
