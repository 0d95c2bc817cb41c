package project

import (
	"context"
	"net/http"

	"golang.org/x/sync/errgroup"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
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
		Files      []fileItem `json:"files" nullable:"false" doc:"The files by path, without their contents; as many as fit into 4 MiB"`
		NextCursor string     `json:"nextCursor,omitempty" doc:"There are more files: leads on to them at GET /api/projects/{id}/files"`
	}
}

// registerProjects adds calls 7 to 11.
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
			fault.Invalid(fault.Field("name", workspace.CheckName(" "))), workspace.ErrNotFound, ErrDenied,
			errFullWorkspace(DefaultQuotas().Projects), fault.ErrConflict,
		},
	}, s.handleCreate)
	httpapi.Private(r, httpapi.Operation{
		ID: "readProject", Method: http.MethodGet, Path: projectPath, Tag: tagProjects,
		Summary:     "A project with its files",
		Description: "For whoever sees the project; a public one is seen by every signed-in user. When a member of its workspace reads it, lastOpenedAt moves.",
		Errors:      []*fault.Error{ErrNotFound},
	}, s.handleRead)
	httpapi.Private(r, httpapi.Operation{
		ID: "updateProject", Method: http.MethodPut, Path: projectPath, Tag: tagProjects,
		Summary:     "Change a project's settings",
		Description: "An absent field stays as it is. A request that changes nothing writes nothing and is no event.",
		Errors:      []*fault.Error{fault.Invalid(fault.Field("name", workspace.CheckName(" "))), ErrNotFound, ErrDenied, fault.ErrConflict},
	}, s.handleUpdate)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteProject", Method: http.MethodDelete, Path: projectPath, Tag: tagProjects,
		Summary:     "Delete a project for ever",
		Description: "For its creator, as a member of the workspace, and for admins and owners. It is gone at once for every reader and writer; what it held is cleaned up in the background.",
		Errors:      []*fault.Error{ErrNotFound, ErrDenied, fault.ErrConflict},
	}, s.handleDelete)
}

func (s *Service) handleCreate(ctx context.Context, _ httpapi.Caller, in *newProjectInput) (*projectOutput, error) {
	p := newProject{
		WorkspaceID: in.Body.WorkspaceID, Name: in.Body.Name, Description: in.Body.Description,
		Framework: defaultFramework, Visibility: in.Body.Visibility,
	}
	if in.Body.Framework != nil {
		p.Framework = *in.Body.Framework
	}
	if p.Visibility == "" {
		p.Visibility = Private
	}
	o, err := s.create(ctx, p)
	if err != nil {
		return nil, err
	}
	return &projectOutput{o.details()}, nil
}

func (s *Service) handleRead(ctx context.Context, _ httpapi.Caller, in *InProject) (*projectReadOutput, error) {
	o, err := s.openPublic(ctx, in.ProjectID)
	if err != nil {
		return nil, err
	}
	out := &projectReadOutput{}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		var err error
		out.Body.Files, out.Body.NextCursor, err = s.listFileRecords(groupCtx, in.ProjectID)
		return err
	})
	group.Go(func() error {
		o.project.LastOpenedAt = s.noteOpened(groupCtx, o)
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // our own, from the functions above
	}
	out.Body.ProjectDetails = o.details()
	return out, nil
}

func (s *Service) handleUpdate(ctx context.Context, _ httpapi.Caller, in *projectSettingsInput) (*projectOutput, error) {
	o, err := s.update(ctx, in.ProjectID, settings(in.Body))
	if err != nil {
		return nil, err
	}
	return &projectOutput{o.details()}, nil
}

func (s *Service) handleList(ctx context.Context, caller httpapi.Caller, in *projectListInput) (*projectListOutput, error) {
	userID := caller.UserID
	f := filter{WorkspaceID: in.WorkspaceID, Framework: in.Framework, Visibility: in.Visibility, Q: in.Q}
	scope := httpapi.ListScope(httpapi.CallerFrom(ctx), "projects", f.WorkspaceID, f.Framework, string(f.Visibility), f.Q)
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	all, err := s.list(ctx, userID, f)
	if err != nil {
		return nil, err
	}
	all = behind(all, after)
	out := &projectListOutput{}
	out.Body.Projects = make([]ProjectItem, len(all))
	for i, l := range all {
		out.Body.Projects[i] = l.project.item(l.member.Name)
	}
	n := httpapi.Fit(out.Body.Projects, in.Limit)
	if n < len(all) {
		out.Body.Projects = out.Body.Projects[:n]
		out.Body.NextCursor, err = s.cursors.Seal(ctx, scope, all[n-1].position())
	}
	return out, err
}

func (s *Service) handleDelete(ctx context.Context, _ httpapi.Caller, in *InProject) (*doneOutput, error) {
	if err := s.remove(ctx, in.ProjectID); err != nil {
		return nil, err
	}
	return &doneOutput{projectDeleted}, nil
}
