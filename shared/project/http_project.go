package project

import (
	"context"
	"net/http"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

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

// newProjectInput is the request of call 8. Lengths are counted in Unicode code points, here and everywhere.
type newProjectInput struct {
	Body struct {
		Name        string     `json:"name" minLength:"1" maxLength:"100" doc:"1–100 characters, not blank, without control characters" example:"Café Déjà"`
		Description string     `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Where the team meets."`
		Framework   *string    `json:"framework,omitempty" minLength:"1" maxLength:"64" doc:"1–64 characters without control characters; static if absent. Well known to the assistant: react nextjs vue svelte express go static" example:"react"`
		Visibility  Visibility `json:"visibility,omitempty" enum:"private,team,public" doc:"private if absent" example:"private"`
		WorkspaceID *string    `json:"workspaceId,omitempty" doc:"The workspace to create it in; the caller's personal one if absent" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	}
}

// Resolve implements huma.Resolver: the rules that a schema can't word.
func (in *newProjectInput) Resolve(huma.Context) []error {
	return append(broken("name", &in.Body.Name, workspace.CheckName), broken("framework", in.Body.Framework, checkFramework)...)
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

// Resolve implements huma.Resolver.
func (in *projectSettingsInput) Resolve(huma.Context) []error {
	return append(broken("name", in.Body.Name, workspace.CheckName), broken("framework", in.Body.Framework, checkFramework)...)
}

// broken is the rule that a field breaks, if it is there.
func broken(field string, value *string, check func(string) string) []error {
	if value == nil {
		return nil
	}
	if rule := check(*value); rule != "" {
		return []error{fault.Field(field, rule)}
	}
	return nil
}

var projectDeleted = httpapi.Done{Success: true, Message: "Project deleted."}

type projectOutput struct{ Body ProjectDetails }

type projectReadOutput struct {
	Body struct {
		ProjectDetails
		Files      []file.Item `json:"files" nullable:"false" doc:"The files by path, without their contents; as many as fit into 4 MiB"`
		NextCursor string      `json:"nextCursor,omitempty" doc:"There are more files: leads on to them at GET /api/projects/{id}/files"`
	}
}

// defaultFramework is a project's framework if none is given.
const defaultFramework = "static"

// checkFramework returns the rule that a framework breaks, or "". Its length is checked by the schema.
func checkFramework(framework string) string {
	if strings.ContainsFunc(framework, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}

// registerProjects adds calls 7 to 11.
func (s *Service) registerProjects(h huma.API) {
	httpapi.Register(h, httpapi.Operation{
		ID: "listProjects", Method: http.MethodGet, Path: projectsPath, Tag: tagProjects, Session: true,
		Summary:     "The caller's projects in all their workspaces",
		Description: "Last opened first; of those opened at the same moment the one created last. A private project is listed for its creator and for the workspace's admins and owners. Public projects of other workspaces are not listed.",
		Errors:      []*fault.Error{workspace.ErrNotFound},
	}, s.handleList)
	httpapi.Register(h, httpapi.Operation{
		ID: "createProject", Method: http.MethodPost, Path: projectsPath, Tag: tagProjects, Session: true, Status: http.StatusCreated,
		Summary:     "Create a project",
		Description: "For members of the workspace and above. The slug is made of the name; where another project of the workspace has it, a number is added. Lengths are counted in Unicode code points.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("name", workspace.CheckName(" "))), workspace.ErrNotFound, workspace.ErrDenied,
			errQuota(MaxProjects), fault.ErrConflict,
		},
	}, s.handleCreate)
	httpapi.Register(h, httpapi.Operation{
		ID: "readProject", Method: http.MethodGet, Path: projectPath, Tag: tagProjects, Session: true,
		Summary:     "A project with its files",
		Description: "For whoever sees the project; a public one is seen by every signed-in user. When a member of its workspace reads it, lastOpenedAt moves.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound}, Examples: projectExamples,
	}, s.handleRead)
	httpapi.Register(h, httpapi.Operation{
		ID: "updateProject", Method: http.MethodPut, Path: projectPath, Tag: tagProjects, Session: true,
		Summary:     "Change a project's settings",
		Description: "An absent field stays as it is. A request that changes nothing writes nothing and is no event.",
		Errors:      []*fault.Error{fault.Invalid(fault.Field("name", workspace.CheckName(" "))), workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict},
	}, s.handleUpdate)
	httpapi.Register(h, httpapi.Operation{
		ID: "deleteProject", Method: http.MethodDelete, Path: projectPath, Tag: tagProjects, Session: true,
		Summary:     "Delete a project for ever",
		Description: "For its creator, as a member of the workspace, and for admins and owners. It is gone at once for every reader and writer; what it held is cleaned up in the background.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict},
		Examples:    func() httpapi.Examples { return httpapi.Examples{Response: projectDeleted} },
	}, s.handleDelete)
}

func (s *Service) handleCreate(ctx context.Context, in *newProjectInput) (*projectOutput, error) {
	p := Draft{
		WorkspaceID: in.Body.WorkspaceID, Name: in.Body.Name, Description: in.Body.Description,
		Framework: defaultFramework, Visibility: in.Body.Visibility,
	}
	if in.Body.Framework != nil {
		p.Framework = *in.Body.Framework
	}
	if p.Visibility == "" {
		p.Visibility = Private
	}
	details, err := s.Create(ctx, httpapi.CallerFrom(ctx), p)
	if err != nil {
		return nil, err
	}
	return &projectOutput{details}, nil
}

func (s *Service) handleRead(ctx context.Context, in *InProject) (*projectReadOutput, error) {
	out := &projectReadOutput{}
	var err error
	out.Body.ProjectDetails, out.Body.Files, out.Body.NextCursor, err = s.Read(ctx, httpapi.CallerFrom(ctx), in.ProjectID)
	return out, err
}

func (s *Service) handleUpdate(ctx context.Context, in *projectSettingsInput) (*projectOutput, error) {
	details, err := s.Update(ctx, httpapi.CallerFrom(ctx), in.ProjectID, Settings(in.Body))
	if err != nil {
		return nil, err
	}
	return &projectOutput{details}, nil
}

func (s *Service) handleList(ctx context.Context, in *projectListInput) (*projectListOutput, error) {
	out := &projectListOutput{}
	var err error
	f := Filter{WorkspaceID: in.WorkspaceID, Framework: in.Framework, Visibility: in.Visibility, Q: in.Q}
	out.Body.Projects, out.Body.NextCursor, err = s.List(ctx, httpapi.CallerFrom(ctx), f, in.PageInput)
	return out, err
}

func (s *Service) handleDelete(ctx context.Context, in *InProject) (*doneOutput, error) {
	if err := s.Delete(ctx, httpapi.CallerFrom(ctx), in.ProjectID); err != nil {
		return nil, err
	}
	return &doneOutput{projectDeleted}, nil
}
