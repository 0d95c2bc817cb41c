package session

import (
	"context"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Register adds the endpoints of sessions, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "logout", Method: http.MethodPost, Path: "/api/auth/logout", Tag: tag,
		Summary:     "End the current session",
		Description: "Takes effect immediately. The request also succeeds if there is no session.",
	}, s.handleLogout)
	httpapi.Private(r, httpapi.Operation{
		ID: "listSessions", Method: http.MethodGet, Path: "/api/auth/sessions", Tag: tag,
		Summary:     "List the caller's sessions",
		Description: "Returns the sessions that have not ended or expired, newest first, including the current one.",
	}, s.handleListSessions)
	httpapi.Private(r, httpapi.Operation{
		ID: "endSession", Method: http.MethodDelete, Path: "/api/auth/sessions/{id}", Tag: tag,
		Summary: "End one of the caller's sessions",
		Description: "The session ends immediately. Later requests with its token fail with AUTH_INVALID_TOKEN. " +
			"Ending the current session also clears the session cookie.",
		Errors: []*fault.Error{errNotFound},
	}, s.handleEndSession)
}

type logoutOutput struct {
	SetCookie []string `header:"Set-Cookie" doc:"Clears the session cookie"`
	Body      httpapi.Done
}

type sessionsInput struct{ httpapi.PageInput }

type sessionsOutput struct {
	Body struct {
		Sessions   []SessionItem `json:"sessions" nullable:"false" doc:"The sessions, newest first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page" example:"eyJrIjoiazEifQ"`
	}
}

// SessionItem is a session of the caller.
type SessionItem struct {
	ID         string          `json:"id" doc:"The ID of the session" example:"ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	CreatedAt  clock.Timestamp `json:"createdAt" doc:"When the session started" example:"2026-01-31T08:15:30.123Z"`
	LastSeenAt clock.Timestamp `json:"lastSeenAt" doc:"When the session was last used, updated once a day" example:"2026-01-31T08:15:30.123Z"`
	ExpiresAt  clock.Timestamp `json:"expiresAt" doc:"When the session expires if it is not used again" example:"2026-02-07T08:15:30.000Z"`
	UserAgent  string          `json:"userAgent" doc:"The User-Agent of the client that started the session" example:"Mozilla/5.0"`
	IP         string          `json:"ip" doc:"The IP address from which the session was started" example:"203.0.113.7"`
	Current    bool            `json:"current" doc:"Whether this is the session of the current request" example:"true"`
}

type endSessionInput struct {
	ID string `path:"id" doc:"The ID of the session" example:"ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// item returns the session as the API shows it. current is the ID of the session of the request.
func (s Session) item(current string) SessionItem {
	return SessionItem{
		ID: s.ID, CreatedAt: s.CreatedAt, LastSeenAt: s.LastSeenAt, ExpiresAt: clock.Stamp(s.expires()),
		UserAgent: s.UserAgent, IP: s.IP, Current: s.ID == current,
	}
}

func (s *Service) handleLogout(ctx context.Context, _ *struct{}) (*logoutOutput, error) {
	if token := httpapi.SessionToken(ctx); token != "" {
		if err := s.Logout(ctx, token); err != nil {
			return nil, err
		}
	}
	done := httpapi.Done{Success: true, Message: "Logged out."}
	return &logoutOutput{SetCookie: httpapi.ClearedCookies(ctx), Body: done}, nil
}

func (s *Service) handleListSessions(
	ctx context.Context, caller httpapi.Caller, in *sessionsInput,
) (out *sessionsOutput, err error) {
	out = &sessionsOutput{}
	out.Body.Sessions, out.Body.NextCursor, err = s.ListSessions(ctx, caller, in.PageInput)
	return out, err
}

func (s *Service) handleEndSession(
	ctx context.Context, caller httpapi.Caller, in *endSessionInput,
) (*logoutOutput, error) {
	if err := s.EndSession(ctx, caller, in.ID, httpapi.RequestInfoFrom(ctx)); err != nil {
		return nil, err
	}
	out := &logoutOutput{Body: httpapi.Done{Success: true, Message: "Session ended."}}
	if in.ID == caller.SessionID {
		out.SetCookie = httpapi.ClearedCookies(ctx)
	}
	return out, nil
}
