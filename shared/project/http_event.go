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
		Summary:     "What happened to a project and in it",
		Description: "Newest first, of the last 30 days, as webhooks are told it; always paged, 50 a page if limit is absent. For members of the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
	}, s.handleListEvents)
}

type feedInput struct {
	InProject
	httpapi.PageInput
}

type feedOutput struct {
	Body struct {
		Events     []event.Text `json:"events" nullable:"false" doc:"Newest first, of the last 30 days"`
		NextCursor string       `json:"nextCursor,omitempty" doc:"Leads on to the next page; absent on the last one"`
	}
}

func (s *Service) handleListEvents(
	ctx context.Context, caller httpapi.Caller, in *feedInput,
) (out *feedOutput, err error) {
	out = &feedOutput{}
	out.Body.Events, out.Body.NextCursor, err = s.ListEvents(ctx, caller, in.ProjectID, in.PageInput)
	return out, err
}
