package account

import (
	"context"
	"net/http"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

var tag = httpapi.Tag{
	Name:        "Authentication",
	Description: "Accounts, sessions and passwords, and sign-in with a code host. A login answers with the session cookie that all other groups need.",
}

// Register adds the endpoints of API.md §2.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerPasswords(r)
	s.registerSessions(r)
	s.registerCodeHost(r)
}

// clientOf is where a request comes from.
func clientOf(ctx context.Context) Client {
	info := httpapi.RequestInfoFrom(ctx)
	return Client{IP: info.SourceIP, UserAgent: info.UserAgent}
}

// RateLimit is the RateLimit-* fields of an answer to a counted attempt. (Exported for huma's sake: it passes over the
// fields of unexported embedded structs.)
type RateLimit struct {
	Limit     int `header:"RateLimit-Limit" doc:"Attempts in a window, of the rule that is closest to refusing" example:"10"`
	Remaining int `header:"RateLimit-Remaining" doc:"What is left of them" example:"9"`
	Reset     int `header:"RateLimit-Reset" doc:"Seconds until the window ends" example:"840"`
}

func (s Standing) headers() RateLimit {
	return RateLimit{Limit: s.Limit, Remaining: s.Remaining, Reset: wholeSeconds(s.Reset)}
}

// meOutput is the answer of call 3.
type meOutput struct {
	Body struct {
		ID        string          `json:"id" doc:"The user's id" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Email     string          `json:"email" doc:"Stored in lower case" example:"ada@example.com"`
		Username  string          `json:"username" doc:"As typed at sign-up" example:"ada"`
		CreatedAt clock.Timestamp `json:"createdAt" doc:"When the account was made" example:"2026-01-31T08:15:30.123Z"`
	}
}

type logoutOutput struct {
	SetCookie []string `header:"Set-Cookie" doc:"Takes the session cookie away"`
	Body      httpapi.Done
}

var (
	loggedOut    = httpapi.Done{Success: true, Message: "Logged out."}
	sessionEnded = httpapi.Done{Success: true, Message: "Session ended."}
)

type sessionsOutput struct {
	Body struct {
		Sessions []sessionItem `json:"sessions" nullable:"false" doc:"Newest first"`
	}
}

type sessionItem struct {
	ID         string          `json:"id" doc:"The session's id" example:"ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	CreatedAt  clock.Timestamp `json:"createdAt" doc:"When it began" example:"2026-01-31T08:15:30.123Z"`
	LastSeenAt clock.Timestamp `json:"lastSeenAt" doc:"When it was last used, to within a day" example:"2026-01-31T08:15:30.123Z"`
	ExpiresAt  clock.Timestamp `json:"expiresAt" doc:"When it ends if it isn't used again" example:"2026-02-07T08:15:30.000Z"`
	UserAgent  string          `json:"userAgent" doc:"What the client called itself" example:"Mozilla/5.0"`
	IP         string          `json:"ip" doc:"The address it was started from" example:"203.0.113.7"`
	Current    bool            `json:"current" doc:"Whether this request belongs to it" example:"true"`
}

type endSessionInput struct {
	ID string `path:"id" doc:"The session's id" example:"ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

func (s *Service) registerSessions(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "me", Method: http.MethodGet, Path: "/api/auth/me", Tag: tag,
		Summary: "Who is signed in", Description: "The account that the session belongs to.",
	}, s.handleMe)
	httpapi.Public(r, httpapi.Operation{
		ID: "logout", Method: http.MethodPost, Path: "/api/auth/logout", Tag: tag,
		Summary:     "End the current session",
		Description: "Takes effect at once, everywhere. Succeeds without a session, too.",
	}, s.handleLogout)
	httpapi.Private(r, httpapi.Operation{
		ID: "listSessions", Method: http.MethodGet, Path: "/api/auth/sessions", Tag: tag,
		Summary: "The caller's live sessions", Description: "Those that have neither ended nor expired, newest first, the one that asks among them.",
	}, s.handleListSessions)
	httpapi.Private(r, httpapi.Operation{
		ID: "endSession", Method: http.MethodDelete, Path: "/api/auth/sessions/{id}", Tag: tag,
		Summary:     "End one of the caller's sessions",
		Description: "Takes effect at once. Ending the session that asks is a logout.",
		Errors:      []*fault.Error{errNoSession},
	}, s.handleEndSession)
}

func (s *Service) handleMe(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*meOutput, error) {
	out := &meOutput{}
	out.Body.ID, out.Body.Email, out.Body.Username = caller.UserID, caller.Email, caller.Username
	out.Body.CreatedAt = clock.Stamp(caller.CreatedAt)
	return out, nil
}

func (s *Service) handleLogout(ctx context.Context, _ *struct{}) (*logoutOutput, error) {
	if token := httpapi.SessionToken(ctx); token != "" {
		if err := s.Logout(ctx, token); err != nil {
			return nil, err
		}
	}
	return &logoutOutput{SetCookie: httpapi.ClearedCookies(ctx), Body: loggedOut}, nil
}

func (s *Service) handleListSessions(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*sessionsOutput, error) {
	sessions, err := s.ListSessions(ctx, caller)
	if err != nil {
		return nil, err
	}
	out := &sessionsOutput{}
	out.Body.Sessions = make([]sessionItem, len(sessions))
	for i, session := range sessions {
		out.Body.Sessions[i] = session.item(caller.SessionID)
	}
	return out, nil
}

func (s Session) item(current string) sessionItem {
	stamp := func(t time.Time) clock.Timestamp { return clock.Stamp(t) }
	return sessionItem{
		ID: s.ID, CreatedAt: stamp(s.CreatedAt), LastSeenAt: stamp(s.LastSeenAt), ExpiresAt: stamp(s.ExpiresAt),
		UserAgent: s.UserAgent, IP: s.IP, Current: s.ID == current,
	}
}

func (s *Service) handleEndSession(ctx context.Context, caller httpapi.Caller, in *endSessionInput) (*logoutOutput, error) {
	if err := s.EndSession(ctx, caller, in.ID); err != nil {
		return nil, err
	}
	out := &logoutOutput{Body: sessionEnded}
	if in.ID == caller.SessionID {
		out.SetCookie = httpapi.ClearedCookies(ctx)
	}
	return out, nil
}
