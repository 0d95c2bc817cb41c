package project

import (
	"context"
	"net/http"

	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

func (s *Service) registerEvents(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listProjectEvents", Method: http.MethodGet, Path: projectPath + "/events", Tag: tagProjects,
		Summary: "List the events of a project",
		Description: "Returns the events of the last 30 days, newest first, with the same payloads that webhooks " +
			"receive. The list is always paged; the default limit is 50. Requires membership in the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
	}, s.listProjectEvents)
}

type feedInput struct {
	InProject
	httpapi.PageInput
}

type feedOutput struct {
	Body struct {
		Events     []event.Text `json:"events" nullable:"false" doc:"The events of the last 30 days, newest first"`
		NextCursor string       `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

// listProjectEvents returns a page of a project's events, newest first.
func (s *Service) listProjectEvents(
	ctx context.Context, caller httpapi.Caller, in *feedInput,
) (*feedOutput, error) {
	scope := httpapi.ListScope(caller, "feed", in.ProjectID)
	read := func(ctx context.Context, after string, n int) ([]event.Record, error) {
		events := func(ctx context.Context, _ workspace.ProjectAccess) ([]event.Record, error) {
			return s.store.eventsOf(ctx, in.ProjectID, after, n)
		}
		_, records, err := workspace.ReadWith(ctx, s.store.Access, caller.UserID, in.ProjectID, workspace.Read, events)
		return records, err
	}
	records, next, err := httpapi.ReadPage(ctx, s.cursors, scope, in.PageInput, read,
		func(r event.Record) string { return r.ID })
	out := &feedOutput{}
	out.Body.Events, out.Body.NextCursor = make([]event.Text, len(records)), next
	for i, record := range records {
		out.Body.Events[i] = record.Payload
	}
	return out, err
}
