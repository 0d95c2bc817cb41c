package workspace

import (
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

func (s *Service) registerWorkspaces(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listWorkspaces", Method: http.MethodGet, Path: "/api/workspaces", Tag: tag,
		Summary:     "List the caller's workspaces",
		Description: "Returns the caller's workspaces with the caller's role, the personal workspace first.",
	}, s.handleListWorkspaces)
	httpapi.Private(r, httpapi.Operation{
		ID: "createWorkspace", Method: http.MethodPost, Path: "/api/workspaces", Tag: tag, Status: http.StatusCreated,
		SessionFirst: true,
		Summary:      "Create a workspace",
		Description:  "The caller becomes the owner of the workspace.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("name", CheckName(" "))), errCallerQuota(MaxMemberships), fault.ErrConflict,
		},
	}, s.handleCreateWorkspace)
	httpapi.Private(r, httpapi.Operation{
		ID: "readWorkspace", Method: http.MethodGet, Path: "/api/workspaces/{id}", Tag: tag,
		Summary: "Read a workspace", Description: "Returns the workspace with its numbers of members and projects.",
		Errors: []*fault.Error{ErrNotFound},
	}, s.handleReadWorkspace)
	httpapi.Private(r, httpapi.Operation{
		ID: "updateWorkspace", Method: http.MethodPut, Path: "/api/workspaces/{id}", Tag: tag,
		Summary: "Rename a workspace", Description: "Admins and owners can rename a workspace. The new name is effective immediately.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("name", CheckName(" "))), ErrNotFound, ErrDenied, ErrReadOnly, fault.ErrConflict,
		},
	}, s.handleUpdateWorkspace)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteWorkspace", Method: http.MethodDelete, Path: "/api/workspaces/{id}", Tag: tag,
		Status: http.StatusAccepted, Summary: "Delete a workspace",
		Description: "Owners can delete a workspace with all its projects, sites and webhooks. It cannot be undone. " +
			"Immediately, nothing of the workspace can be read or changed, no event is delivered, no build goes live, and " +
			"its invitations end. Sites are offline within 60 seconds. The data is deleted within 24 hours. `confirm` must be " +
			"the name of the workspace. The session must have started within the last 10 minutes. A personal workspace " +
			"cannot be deleted. Emits no event.",
		Errors: []*fault.Error{
			errConfirm, ErrNotFound, ErrDenied, httpapi.ErrNotFresh, errDeletePersonal, fault.ErrConflict,
		},
	}, s.handleDeleteWorkspace)
}

// WorkspaceItem is a workspace as clients see it.
type WorkspaceItem struct {
	ID        string          `json:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name      string          `json:"name" doc:"The name of the workspace" example:"Team"`
	Role      Role            `json:"role" enum:"owner,admin,member,viewer" doc:"The caller's role in the workspace" example:"owner"`
	Personal  bool            `json:"personal" doc:"Whether this is the caller's personal workspace" example:"false"`
	CreatedAt clock.Timestamp `json:"createdAt" doc:"When the workspace was created" example:"2026-01-31T08:15:30.123Z"`
}

// WorkspaceDetails is a workspace with its numbers of members and projects.
type WorkspaceDetails struct {
	WorkspaceItem

	Members  int `json:"members" doc:"The number of members" example:"3"`
	Projects int `json:"projects" doc:"The number of projects, including private projects of other members" example:"12"`
}

type createWorkspaceInput struct {
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"100" doc:"1–100 characters, not blank, without control, invisible or direction-changing characters" example:"Team"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *createWorkspaceInput) Validate(v *httpapi.Validation) {
	v.Field("name", CheckName(in.Body.Name))
}

type readWorkspaceInput struct {
	ID string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type updateWorkspaceInput struct {
	ID   string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body struct {
		Name *string `json:"name,omitempty" nullable:"false" minLength:"1" maxLength:"100" doc:"1–100 characters, not blank, without control, invisible or direction-changing characters. If absent, the name is not changed" example:"Design team"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *updateWorkspaceInput) Validate(v *httpapi.Validation) {
	if in.Body.Name != nil {
		v.Field("name", CheckName(*in.Body.Name))
	}
}

type deleteWorkspaceInput struct {
	ID   string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body struct {
		Confirm string `json:"confirm" maxLength:"100" doc:"The name of the workspace, exactly" example:"Team"`
	}
}

type detailsOutput struct{ Body WorkspaceDetails }

func (d Details) output() *detailsOutput {
	return &detailsOutput{WorkspaceDetails{d.Membership.item(), d.Workspace.Members, d.Workspace.Projects}}
}

type workspaceOutput struct{ Body WorkspaceItem }

type workspacesInput struct{ httpapi.PageInput }

type workspacesOutput struct {
	Body struct {
		Workspaces []WorkspaceItem `json:"workspaces" nullable:"false" doc:"The workspaces: the caller's personal workspace first, then the others in the order in which they were created"`
		NextCursor string          `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page" example:"eyJrIjoiazEifQ"`
	}
}

func (m Membership) item() WorkspaceItem {
	return WorkspaceItem{ID: m.WorkspaceID, Name: m.Name, Role: m.Role, Personal: m.Personal, CreatedAt: m.CreatedAt}
}
