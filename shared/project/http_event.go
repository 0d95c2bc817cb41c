package project

import (
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
	}, s.handleListEvents)
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
