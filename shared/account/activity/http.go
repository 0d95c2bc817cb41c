package activity

import (
	"context"
	"net/http"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// Service serves the logs. It is safe for concurrent use.
type Service struct {
	*Log

	Cursors *db.Cursors
}

// Register adds the endpoint, with the tag of accounts.
func (s Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listActivity", Method: http.MethodGet, Path: "/api/auth/activity", Tag: tag,
		Summary: "List what happened to the caller's account",
		Description: "Returns logins, failed logins, changes of the password, the address, the identities and the sessions, " +
			"and acts of operators of the last 90 days, newest first. The failed logins from one network in one hour are one entry.",
	}, s.listActivity)
}

type activityInput struct{ httpapi.PageInput }

type activityOutput struct {
	Body struct {
		Activity   []Entry `json:"activity" nullable:"false" doc:"The entries, newest first"`
		NextCursor string  `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page" example:"eyJrIjoiazEifQ"`
	}
}

func (s Service) listActivity(
	ctx context.Context, caller httpapi.Caller, in *activityInput,
) (out *activityOutput, err error) {
	out = &activityOutput{}
	read := func(ctx context.Context, after string, n int) ([]Entry, error) {
		return s.list(ctx, caller.UserID, after, n)
	}
	out.Body.Activity, out.Body.NextCursor, err = httpapi.ReadPage(ctx, s.Cursors,
		httpapi.ListScope(caller, "activity"), in.PageInput, read, func(e Entry) string { return e.ID })
	return out, err
}
