package account

import (
	"context"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

type meOutput struct {
	Body struct {
		ID        string          `json:"id" doc:"The ID of the user" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Email     string          `json:"email" doc:"The e-mail address, in lower case" example:"ada@example.com"`
		Username  string          `json:"username" doc:"The username, as entered at sign-up" example:"ada"`
		CreatedAt clock.Timestamp `json:"createdAt" doc:"When the account was created" example:"2026-01-31T08:15:30.123Z"`
	}
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

func (s *Service) registerSessions(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "me", Method: http.MethodGet, Path: "/api/auth/me", Tag: tag, SessionFirst: true,
		Summary: "Read the caller's account", Description: "Returns the account to which the session belongs.",
	}, s.handleMe)
	httpapi.Private(r, httpapi.Operation{
		ID: "listSessions", Method: http.MethodGet, Path: "/api/auth/sessions", Tag: tag,
		Summary:     "List the caller's sessions",
		Description: "Returns the sessions that have not ended or expired, newest first, including the current one.",
	}, s.handleSessions)
	httpapi.Private(r, httpapi.Operation{
		ID: "endSession", Method: http.MethodDelete, Path: "/api/auth/sessions/{id}", Tag: tag,
		Summary: "End one of the caller's sessions",
		Description: "The session ends immediately. Later requests with its token fail with AUTH_INVALID_TOKEN. " +
			"Ending the current session also clears the session cookie.",
		Errors: []*fault.Error{errNoSession},
	}, s.handleEndSession)
}

func (s *Service) handleMe(_ context.Context, caller httpapi.Caller, _ *struct{}) (*meOutput, error) {
	out := &meOutput{}
	out.Body.ID, out.Body.Email, out.Body.Username = caller.UserID, caller.Account().Email, caller.Account().Username
	out.Body.CreatedAt = clock.Stamp(caller.Account().CreatedAt)
	return out, nil
}

// item returns the session as the API shows it. current is the ID of the session of the request.
func (s Session) item(current string) SessionItem {
	return SessionItem{
		ID: s.ID, CreatedAt: clock.Stamp(s.CreatedAt), LastSeenAt: clock.Stamp(s.LastSeenAt),
		ExpiresAt: clock.Stamp(s.ExpiresAt), UserAgent: s.UserAgent, IP: s.IP, Current: s.ID == current,
	}
}

func (s *Service) handleSessions(
	ctx context.Context, caller httpapi.Caller, in *sessionsInput,
) (out *sessionsOutput, err error) {
	out = &sessionsOutput{}
	out.Body.Sessions, out.Body.NextCursor, err = s.ListSessions(ctx, caller, in.PageInput)
	return out, err
}

func (s *Service) handleEndSession(
	ctx context.Context, caller httpapi.Caller, in *endSessionInput,
) (*logoutOutput, error) {
	if err := s.EndSession(ctx, caller, in.ID); err != nil {
		return nil, err
	}
	out := &logoutOutput{Body: httpapi.Done{Success: true, Message: "Session ended."}}
	if in.ID == caller.SessionID {
		out.SetCookie = httpapi.ClearedCookies(ctx)
	}
	return out, nil
}
