package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"devplatform/shared/account/activity"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Register adds the endpoints of sessions, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "logout", Method: http.MethodPost, Path: "/api/auth/logout", Tag: tag,
		Summary:     "End the current session",
		Description: "Takes effect immediately. The request also succeeds if there is no session.",
	}, s.logout)
	httpapi.Private(r, httpapi.Operation{
		ID: "listSessions", Method: http.MethodGet, Path: "/api/auth/sessions", Tag: tag,
		Summary:     "List the caller's sessions",
		Description: "Returns the sessions that have not ended or expired, newest first, including the current one.",
	}, s.listSessions)
	httpapi.Private(r, httpapi.Operation{
		ID: "endSession", Method: http.MethodDelete, Path: "/api/auth/sessions/{id}", Tag: tag,
		Summary: "End one of the caller's sessions",
		Description: "The session ends immediately. Later requests with its token fail with AUTH_INVALID_TOKEN. " +
			"Ending the current session also clears the session cookie.",
		Errors: []*fault.Error{errNotFound},
	}, s.endSession)
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

// logout ignores a token that is not valid.
func (s *Service) logout(ctx context.Context, _ *struct{}) (*logoutOutput, error) {
	if token := httpapi.SessionToken(ctx); token != "" {
		claims, err := s.verify(ctx, token)
		if err == nil {
			_, err = s.db.Do(ctx, s.accounts.Delete(db.SessionKey(claims.Subject, claims.SessionID)))
		}
		if err != nil && !errors.Is(err, errToken) {
			return nil, err
		}
	}
	done := httpapi.Done{Success: true, Message: "Logged out."}
	return &logoutOutput{SetCookie: httpapi.ClearedCookies(ctx), Body: done}, nil
}

// maxPage is the maximum number of sessions in a page if the request has no limit. More sessions do not fit into a
// response. A user whose program logs in before every request can have this many sessions.
const maxPage = 20_000

func (s *Service) listSessions(
	ctx context.Context, caller httpapi.Caller, in *sessionsInput,
) (out *sessionsOutput, err error) {
	in.Limit = cmp.Or(in.Limit, maxPage)
	out = &sessionsOutput{}
	out.Body.Sessions, out.Body.NextCursor, err = httpapi.ReadPage(ctx, s.cursors, httpapi.ListScope(caller, "sessions"),
		in.PageInput, func(ctx context.Context, after string, n int) ([]SessionItem, error) {
			return s.active(ctx, caller, after, n)
		}, func(i SessionItem) string { return i.ID })
	return out, err
}

// active reads up to n active sessions of the caller, newest first, that are older than the session with the ID after.
// If after is "", it begins with the newest session.
func (s *Service) active(ctx context.Context, caller httpapi.Caller, after string, n int) ([]SessionItem, error) {
	u, err := s.users.Read(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}
	const fewestRead = 1000 // in one call: many sessions of old generations can be between two active sessions
	q := db.Query{Prefix: db.SessionsOf(u.ID), Descending: true, Limit: max(n, fewestRead)}
	if after != "" {
		q.After = db.SessionKey(u.ID, after)
	}
	now, active := s.now(), []SessionItem{}
	for {
		sessions, next, err := db.List(ctx, s.accounts, q, db.DecodeByID(func(s Session) string { return s.ID }))
		if err != nil {
			return nil, fmt.Errorf("listing sessions: %w", err)
		}
		for _, session := range sessions {
			if session.isActive(u, now) {
				active = append(active, session.item(caller.SessionID))
			}
		}
		if len(active) >= n || next.IsZero() {
			return active[:min(n, len(active))], nil
		}
		q.After = next
	}
}

func (s *Service) endSession(
	ctx context.Context, caller httpapi.Caller, in *endSessionInput,
) (*logoutOutput, error) {
	sessionRef, userRef := s.refs(caller.UserID, in.ID)
	items, err := s.db.BatchGet(ctx, sessionRef, userRef)
	if err != nil {
		return nil, err
	}
	session, u, err := decode(items[sessionRef], items[userRef])
	if err == nil && !session.isActive(u, s.now()) {
		err = db.ErrNotFound
	}
	if err == nil { // in a transaction, so that a retry after a lost response does not return an error
		ended, client := activity.Detail{SessionID: in.ID}, httpapi.RequestInfoFrom(ctx)
		err = s.db.Tx(
			s.accounts.Delete(db.SessionKey(u.ID, in.ID)).If(s.accounts.Exists()).Else(db.ErrNotFound),
			s.log.Add(u.ID, activity.SessionEnded, client, ended),
		).Commit(ctx)
	}
	if errors.Is(err, db.ErrNotFound) {
		return nil, errNotFound.WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	out := &logoutOutput{Body: httpapi.Done{Success: true, Message: "Session ended."}}
	if in.ID == caller.SessionID {
		out.SetCookie = httpapi.ClearedCookies(ctx)
	}
	return out, nil
}
