package project

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"unicode"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/project/file"
	"devplatform/shared/project/setting"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

func (s *Service) registerProjects(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listProjects", Method: http.MethodGet, Path: projectsPath, Tag: tagProjects,
		Summary: "List the caller's projects",
		Description: "Returns the projects of all workspaces of the caller. The most recently opened project comes " +
			"first; if two were opened at the same time, the newer project comes first. A private project is listed only " +
			"for its creator and for the admins and owners of the workspace. Public projects of other workspaces are not " +
			"listed.",
		Errors: []*fault.Error{workspace.ErrNotFound},
	}, s.listProjects)
	httpapi.Private(r, httpapi.Operation{
		ID: "createProject", Method: http.MethodPost, Path: projectsPath, Tag: tagProjects, Status: http.StatusCreated,
		Summary: "Create a project",
		Description: "Requires the role member or higher in the workspace. The slug is derived from the name. If another " +
			"project of the workspace already has that slug, a number is appended. Lengths are counted in Unicode code " +
			"points.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("name", workspace.CheckName(" "))), workspace.ErrNotFound, workspace.ErrDenied,
			errQuota(MaxProjects), fault.ErrConflict,
		},
	}, s.createProject)
	httpapi.Private(r, httpapi.Operation{
		ID: "readProject", Method: http.MethodGet, Path: projectPath, Tag: tagProjects,
		Summary: "Read a project with its files",
		Description: "Available to every user who can see the project. All signed-in users can see a public project. If " +
			"the caller is a member of the workspace, lastOpenedAt is updated.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("include", "must be files or empty")), workspace.ErrProjectNotFound,
		},
	}, s.readProject)
	httpapi.Private(r, httpapi.Operation{
		ID: "updateProject", Method: http.MethodPut, Path: projectPath, Tag: tagProjects,
		Summary: "Update a project",
		Description: "A field that is absent is not changed. If no field changes, nothing is written and no event is " +
			"sent. Requires the role member or higher in the workspace.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("name", workspace.CheckName(" "))),
			workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict,
		},
	}, s.updateProject)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteProject", Method: http.MethodDelete, Path: projectPath, Tag: tagProjects,
		Summary: "Delete a project permanently",
		Description: "Admins and owners can delete any project. Members can delete projects that they created. The " +
			"project is unavailable immediately; its files and comments are removed in the background.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict},
	}, s.DeleteProject)
}

// defaultFramework is the framework of a project if the request does not set it.
const defaultFramework = "static"

// checkFramework returns the rule that a framework breaks, or "". The schema checks the length.
func checkFramework(framework string) string {
	if strings.ContainsFunc(framework, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}

// ProjectItem is a project in a list, as clients see it.
type ProjectItem struct {
	ID           string               `json:"id" doc:"The project's ID" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name         string               `json:"name" doc:"The name of the project" example:"Café Déjà"`
	Slug         string               `json:"slug" doc:"The name in lowercase ASCII, unique in the workspace. It can change when the project is renamed" example:"cafe-deja"`
	Framework    string               `json:"framework" doc:"The framework as the client sent it. The default is \"static\"" example:"react"`
	Deployable   bool                 `json:"deployable" doc:"Whether projects with this framework can be deployed" example:"true"`
	Visibility   workspace.Visibility `json:"visibility" enum:"private,team,public" doc:"Who can see the project. private: its creator and the admins and owners of the workspace; team: all members of the workspace; public: all signed-in users" example:"private"`
	LastOpenedAt clock.Timestamp      `json:"lastOpenedAt" doc:"When a member of the workspace last read this project (GET /api/projects/{id}), with a precision of one minute. If no member has read it: when it was created" example:"2026-01-31T08:15:30.123Z"`
	Workspace    workspaceRef         `json:"workspace" doc:"The workspace of the project"`
	Site         *siteRef             `json:"site" doc:"The site of the project, null before the first deployment"`
}

// siteRef is the site of a project, as clients see it.
type siteRef struct {
	URL          string  `json:"url" doc:"The address of the site" example:"https://cafe-deja.example.app"`
	DeploymentID *string `json:"deploymentId" nullable:"true" doc:"The ID of the live deployment, null if the site is offline" example:"dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Status       string  `json:"status" enum:"live,offline,blocked" doc:"live: the address shows the live deployment; offline: it shows none; blocked: an operator of the service has blocked the address, or suspended all owners of the workspace" example:"live"`
}

// site returns the site of a project, nil if it has none.
func (p projectRecord) site(origin config.Origin) *siteRef {
	if p.Site == nil {
		return nil
	}
	ref := &siteRef{URL: site.URL(origin, p.Site.Label), Status: "offline"}
	if p.Site.DeploymentID != "" {
		ref.DeploymentID, ref.Status = &p.Site.DeploymentID, "live"
	}
	if p.SiteBlocked {
		ref.Status = "blocked"
	}
	return ref
}

// workspaceRef is the workspace of a project, as clients see it.
type workspaceRef struct {
	ID   string `json:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name string `json:"name" doc:"The name of the workspace" example:"ada's workspace"`
}

// ProjectDetails is a project with all its fields, as clients see it.
type ProjectDetails struct {
	ProjectItem
	Description string          `json:"description" doc:"The description of the project" example:"Where the team meets."`
	RootDir     string          `json:"rootDir" doc:"The folder of the project that deployments build. Empty if it is not set: the build finds the folder" example:"/client"`
	CreatedAt   clock.Timestamp `json:"createdAt" doc:"When the project was created" example:"2026-01-31T08:15:30.123Z"`
	UpdatedAt   clock.Timestamp `json:"updatedAt" doc:"When the settings of the project last changed" example:"2026-01-31T08:15:30.123Z"`
}

// item returns the project for a list. sites is the origin of the sites.
func (p projectRecord) item(workspaceName string, sites config.Origin) ProjectItem {
	return ProjectItem{
		ID: p.ID, Name: p.Name, Slug: p.Slug, Framework: p.Framework, Visibility: p.Visibility, LastOpenedAt: p.LastOpenedAt,
		Workspace: workspaceRef{ID: p.WorkspaceID, Name: workspaceName}, Deployable: setting.IsDeployable(p.Framework),
		Site: p.site(sites),
	}
}

// details returns the project with all its fields.
func (p projectRecord) details(workspaceName string, sites config.Origin) ProjectDetails {
	return ProjectDetails{
		ProjectItem: p.item(workspaceName, sites), Description: p.Description, RootDir: p.RootDir,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
}

type projectListInput struct {
	httpapi.PageInput
	WorkspaceID string               `query:"workspaceId" doc:"List only the projects of this workspace" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Framework   string               `query:"framework" maxLength:"64" doc:"List only the projects with this framework, ignoring case" example:"react"`
	Visibility  workspace.Visibility `query:"visibility" enum:"private,team,public" doc:"List only the projects with this visibility" example:"team"`
	Q           string               `query:"q" maxLength:"100" doc:"List only the projects whose name or slug contains this text, ignoring case" example:"café"`
}

type projectListOutput struct {
	Body struct {
		Projects   []ProjectItem `json:"projects" nullable:"false" doc:"The projects, most recently opened first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

type newProjectInput struct {
	Body struct {
		Name        string               `json:"name" minLength:"1" maxLength:"100" doc:"1–100 characters, not blank, without control, invisible or direction-changing characters" example:"Café Déjà"`
		Description string               `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Where the team meets."`
		Framework   *string              `json:"framework,omitempty" minLength:"1" maxLength:"64" doc:"1–64 characters, without control characters. The default is static. The assistant has special support for react, nextjs, vue, svelte, express, go and static" example:"react"`
		Visibility  workspace.Visibility `json:"visibility,omitempty" enum:"private,team,public" doc:"Who can see the project. The default is private" example:"private"`
		WorkspaceID *string              `json:"workspaceId,omitempty" doc:"The workspace of the project. The default is the caller's personal workspace" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
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
		Name        *string               `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"1–100 characters, not blank, without control, invisible or direction-changing characters" example:"Café Déjà"`
		Description *string               `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Where the team meets."`
		Framework   *string               `json:"framework,omitempty" minLength:"1" maxLength:"64" doc:"1–64 characters, without control characters" example:"react"`
		RootDir     *string               `json:"rootDir,omitempty" maxLength:"512" doc:"The folder of the project that deployments build, as an absolute path without a slash at its end. Empty or /: it is not set" example:"/client"`
		Visibility  *workspace.Visibility `json:"visibility,omitempty" enum:"private,team,public" doc:"Who can see the project" example:"team"`
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
	if root := in.Body.RootDir; root != nil && *root != "" && *root != "/" {
		v.Field("rootDir", setting.CheckRootDir(*root))
	}
}

type projectReadInput struct {
	InProject
	Include string `query:"include" doc:"files, which is the default, or empty: the response has no files" example:"files"`

	withFiles bool
}

// Validate distinguishes an empty parameter from one that is absent.
func (in *projectReadInput) Validate(v *httpapi.Validation) {
	in.withFiles = !v.HasQuery("include") || in.Include == "files"
	if !in.withFiles && in.Include != "" {
		v.Field("include", "must be files or empty")
	}
}

type projectOutput struct{ Body ProjectDetails }

type projectReadOutput struct {
	Body struct {
		ProjectDetails
		Files      []file.FileItem `json:"files,omitzero" nullable:"false" doc:"The first files in path order, without their contents. The response has as many files as fit into 4 MiB. Absent if include is empty"`
		NextCursor string          `json:"nextCursor,omitempty" doc:"The cursor of the next files, for GET /api/projects/{id}/files. Absent if there are no more files"`
	}
}

// createProject creates a project with a slug that is unique in its workspace.
func (s *Service) createProject(
	ctx context.Context, caller httpapi.Caller, in *newProjectInput,
) (*projectOutput, error) {
	member, err := s.store.MembershipOrPersonal(ctx, caller.UserID, in.Body.WorkspaceID)
	if err != nil {
		return nil, err
	}
	if err := member.Check(workspace.Write); err != nil {
		return nil, err
	}
	now := s.now()
	at := clock.Stamp(now)
	p := projectRecord{
		ID: s.ids.New(id.Project), WorkspaceID: member.WorkspaceID, Name: in.Body.Name, Description: in.Body.Description,
		Framework: defaultFramework, Visibility: cmp.Or(in.Body.Visibility, workspace.Private), CreatedBy: caller.UserID,
		CreatedAt: at, UpdatedAt: at, LastOpenedAt: at, Revision: 1,
	}
	if in.Body.Framework != nil {
		p.Framework = *in.Body.Framework
	}
	slugs := slugChooser{store: s.store}
	err = db.Retry(ctx, "create a project", func(ctx context.Context) error {
		return slugs.try(ctx, p.WorkspaceID, slugOf(p.Name), func(slug string) error {
			p.Slug = slug
			e, err := s.outbox.Add(eventChange(event.ProjectCreated, caller, p), now)
			if err != nil {
				return err
			}
			return s.store.createProject(ctx, p, e)
		})
	})
	return &projectOutput{p.details(member.Name, s.sites)}, err
}

// updateProject updates a project's settings. If no setting changes, it writes nothing and emits no event.
func (s *Service) updateProject(
	ctx context.Context, caller httpapi.Caller, in *projectSettingsInput,
) (*projectOutput, error) {
	out, slugs := &projectOutput{}, slugChooser{store: s.store}
	return out, db.Retry(ctx, "update a project", func(ctx context.Context) error {
		access, old, err := s.open(ctx, caller, in.ProjectID, workspace.Write)
		if err != nil {
			return err
		}
		now := s.now()
		next, changes := in.apply(old, now)
		out.Body = next.details(access.Workspace.Name, s.sites)
		if len(changes) == 0 {
			return nil
		}
		write := func(slug string) error {
			next.Slug, out.Body.Slug = slug, slug
			e, err := s.outbox.Add(eventChange(event.ProjectUpdated, caller, next, changes...), now)
			if err != nil {
				return err
			}
			return s.store.updateProject(ctx, old, next, e)
		}
		if next.Slug == old.Slug {
			return write(next.Slug)
		}
		return slugs.try(ctx, next.WorkspaceID, next.Slug, write)
	})
}

// DeleteProject deletes a project. The project and its site are unavailable immediately. Package cleanup removes its
// files and comments later.
func (s *Service) DeleteProject(
	ctx context.Context, caller httpapi.Caller, in *InProject,
) (*httpapi.DoneOutput, error) {
	return httpapi.ReplyDone("Project deleted.", db.Retry(ctx, "delete a project", func(ctx context.Context) error {
		siteKey := db.SiteKey(in.ProjectID)
		access, p, err := s.open(ctx, caller, in.ProjectID, workspace.DeleteOwnProject, siteKey)
		if err != nil {
			return err
		}
		now, deletion := s.now(), eventChange(event.ProjectDeleted, caller, p)
		e, err := s.outbox.Add(deletion, now)
		if err != nil {
			return err
		}
		writes := []db.Write{e}
		if s.removeSite != nil {
			removal, err := s.removeSite(deletion, access.Items[siteKey], now)
			if err != nil {
				return err
			}
			writes = append(writes, removal...)
		}
		return s.store.deleteProject(ctx, p, writes...)
	}))
}

// readProject returns a project, with the first page of its files if the request includes them. If the caller is
// a member of the workspace, it updates lastOpenedAt.
func (s *Service) readProject(
	ctx context.Context, caller httpapi.Caller, in *projectReadInput,
) (*projectReadOutput, error) {
	out := &projectReadOutput{}
	b := &out.Body
	access, files, err := workspace.ReadWith(ctx, s.store.Access, caller.UserID, in.ProjectID, workspace.View,
		func(ctx context.Context, _ workspace.ProjectAccess) (files []file.FileItem, err error) {
			if in.withFiles {
				files, b.NextCursor, err = s.files.FirstPage(ctx, caller, in.ProjectID)
			}
			return files, err
		})
	if err != nil {
		return nil, err
	}
	p, err := db.Decode[projectRecord](access.Items[db.ProjectKey(access.WorkspaceID, in.ProjectID)])
	if err == nil && access.Member.Role != "" {
		p.LastOpenedAt = s.updateLastOpened(ctx, p)
	}
	p.SiteBlocked = p.SiteBlocked || access.Workspace.IsReadOnly()
	b.ProjectDetails, b.Files = p.details(access.Workspace.Name, s.sites), files
	return out, err
}

// listProjects returns a page of the projects that the caller can see in their workspaces, most recently opened
// first. It makes one query for each workspace.
func (s *Service) listProjects(
	ctx context.Context, caller httpapi.Caller, in *projectListInput,
) (*projectListOutput, error) {
	scope := httpapi.ListScope(caller, "projects", in.WorkspaceID, in.Framework, string(in.Visibility), in.Q)
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	all, err := s.projects(ctx, caller.UserID, in)
	if err != nil {
		return nil, err
	}
	out := &projectListOutput{}
	out.Body.Projects, out.Body.NextCursor, err = httpapi.CutPage(
		ctx, s.cursors, scope, itemsAfter(all, after), in.Limit, ProjectItem.position)
	return out, err
}
