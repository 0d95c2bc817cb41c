package project

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"unicode"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

func (s *Service) registerProjects(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listProjects", Method: http.MethodGet, Path: projectsPath, Tag: tagProjects,
		Summary:     "The caller's projects in all their workspaces",
		Description: "Last opened first; of those opened at the same moment the one created last. A private project is listed for its creator and for the workspace's admins and owners. Public projects of other workspaces are not listed.",
		Errors:      []*fault.Error{workspace.ErrNotFound},
	}, s.handleList)
	httpapi.Private(r, httpapi.Operation{
		ID: "createProject", Method: http.MethodPost, Path: projectsPath, Tag: tagProjects, Status: http.StatusCreated,
		Summary:     "Create a project",
		Description: "For members of the workspace and above. The slug is made of the name; where another project of the workspace has it, a number is added. Lengths are counted in Unicode code points.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("name", workspace.CheckName(" "))), workspace.ErrNotFound, workspace.ErrDenied,
			errQuota(MaxProjects), fault.ErrConflict,
		},
	}, s.handleCreate)
	httpapi.Private(r, httpapi.Operation{
		ID: "readProject", Method: http.MethodGet, Path: projectPath, Tag: tagProjects,
		Summary:     "A project with its files",
		Description: "For whoever sees the project; a public one is seen by every signed-in user. When a member of its workspace reads it, lastOpenedAt moves.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound},
	}, s.handleRead)
	httpapi.Private(r, httpapi.Operation{
		ID: "updateProject", Method: http.MethodPut, Path: projectPath, Tag: tagProjects,
		Summary:     "Change a project's settings",
		Description: "An absent field stays as it is. A request that changes nothing writes nothing and is no event.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("name", workspace.CheckName(" "))),
			workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict,
		},
	}, s.handleUpdate)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteProject", Method: http.MethodDelete, Path: projectPath, Tag: tagProjects,
		Summary:     "Delete a project for ever",
		Description: "For its creator, as a member of the workspace, and for admins and owners. It is gone at once for every reader and writer; what it held is cleaned up in the background.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict},
	}, s.handleDelete)
}

// defaultFramework is a project's framework if the request has none.
const defaultFramework = "static"

// checkFramework returns the rule that a framework breaks, or "". The schema checks its length.
func checkFramework(framework string) string {
	if strings.ContainsFunc(framework, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}

type projectListInput struct {
	httpapi.PageInput
	WorkspaceID string     `query:"workspaceId" doc:"Only the projects of this workspace" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Framework   string     `query:"framework" maxLength:"64" doc:"Only those with this framework, ignoring case" example:"react"`
	Visibility  Visibility `query:"visibility" enum:"private,team,public" doc:"Only those with this visibility" example:"team"`
	Q           string     `query:"q" maxLength:"100" doc:"Only those whose name, ignoring case, or slug has this in it" example:"café"`
}

type projectListOutput struct {
	Body struct {
		Projects   []ProjectItem `json:"projects" nullable:"false" doc:"Last opened first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"Leads on to the next page; absent on the last one"`
	}
}

type newProjectInput struct {
	Body struct {
		Name        string     `json:"name" minLength:"1" maxLength:"100" doc:"1–100 characters, not blank, without control characters" example:"Café Déjà"`
		Description string     `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Where the team meets."`
		Framework   *string    `json:"framework,omitempty" minLength:"1" maxLength:"64" doc:"1–64 characters without control characters; static if absent. Well known to the assistant: react nextjs vue svelte express go static" example:"react"`
		Visibility  Visibility `json:"visibility,omitempty" enum:"private,team,public" doc:"private if absent" example:"private"`
		WorkspaceID *string    `json:"workspaceId,omitempty" doc:"The workspace to create it in; the caller's personal one if absent" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *newProjectInput) Validate(v *httpapi.Validation) {
	v.Field("name", workspace.CheckName(in.Body.Name))
	if in.Body.Framework != nil {
		v.Field("framework", checkFramework(*in.Body.Framework))
	}
}

type projectSettingsInput struct {
	InProject
	Body struct {
		Name        *string     `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"1–100 characters, not blank, without control characters" example:"Café Déjà"`
		Description *string     `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Where the team meets."`
		Framework   *string     `json:"framework,omitempty" minLength:"1" maxLength:"64" doc:"1–64 characters without control characters" example:"react"`
		Visibility  *Visibility `json:"visibility,omitempty" enum:"private,team,public" doc:"Who sees it" example:"team"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *projectSettingsInput) Validate(v *httpapi.Validation) {
	if in.Body.Name != nil {
		v.Field("name", workspace.CheckName(*in.Body.Name))
	}
	if in.Body.Framework != nil {
		v.Field("framework", checkFramework(*in.Body.Framework))
	}
}

var projectDeleted = httpapi.Done{Success: true, Message: "Project deleted."}

type projectOutput struct{ Body ProjectDetails }

type projectReadOutput struct {
	Body struct {
		ProjectDetails
		Files      []file.FileItem `json:"files" nullable:"false" doc:"The files by path, without their contents; as many as fit into 4 MiB"`
		NextCursor string          `json:"nextCursor,omitempty" doc:"There are more files: leads on to them at GET /api/projects/{id}/files"`
	}
}

func (s *Service) handleList(
	ctx context.Context, caller httpapi.Caller, in *projectListInput,
) (out *projectListOutput, err error) {
	out = &projectListOutput{}
	f := Filter{WorkspaceID: in.WorkspaceID, Framework: in.Framework, Visibility: in.Visibility, Q: in.Q}
	out.Body.Projects, out.Body.NextCursor, err = s.List(ctx, caller, f, in.PageInput)
	return out, err
}

func (s *Service) handleCreate(
	ctx context.Context, caller httpapi.Caller, in *newProjectInput,
) (*projectOutput, error) {
	draft := Draft{
		WorkspaceID: in.Body.WorkspaceID, Name: in.Body.Name, Description: in.Body.Description,
		Framework: defaultFramework, Visibility: cmp.Or(in.Body.Visibility, Private),
	}
	if in.Body.Framework != nil {
		draft.Framework = *in.Body.Framework
	}
	details, err := s.Create(ctx, caller, draft)
	return &projectOutput{details}, err
}

func (s *Service) handleRead(
	ctx context.Context, caller httpapi.Caller, in *InProject,
) (out *projectReadOutput, err error) {
	out = &projectReadOutput{}
	out.Body.ProjectDetails, out.Body.Files, out.Body.NextCursor, err = s.Read(ctx, caller, in.ProjectID)
	return out, err
}

func (s *Service) handleUpdate(
	ctx context.Context, caller httpapi.Caller, in *projectSettingsInput,
) (*projectOutput, error) {
	details, err := s.Update(ctx, caller, in.ProjectID, Settings(in.Body))
	return &projectOutput{details}, err
}

func (s *Service) handleDelete(ctx context.Context, caller httpapi.Caller, in *InProject) (*doneOutput, error) {
	if err := s.Delete(ctx, caller, in.ProjectID); err != nil {
		return nil, err
	}
	return &doneOutput{projectDeleted}, nil
}
