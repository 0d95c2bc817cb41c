package project

import (
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/project/setting"
	"devplatform/shared/site"
)

// ProjectItem is a project in a list, as clients see it.
type ProjectItem struct {
	ID           string          `json:"id" doc:"The project's ID" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name         string          `json:"name" doc:"The name of the project" example:"Café Déjà"`
	Slug         string          `json:"slug" doc:"The name in lowercase ASCII, unique in the workspace. It can change when the project is renamed" example:"cafe-deja"`
	Framework    string          `json:"framework" doc:"The framework as the client sent it. The default is \"static\"" example:"react"`
	Deployable   bool            `json:"deployable" doc:"Whether projects with this framework can be deployed" example:"true"`
	Visibility   Visibility      `json:"visibility" enum:"private,team,public" doc:"Who can see the project. private: its creator and the admins and owners of the workspace; team: all members of the workspace; public: all signed-in users" example:"private"`
	LastOpenedAt clock.Timestamp `json:"lastOpenedAt" doc:"When a member of the workspace last read this project (GET /api/projects/{id}), with a precision of one minute. If no member has read it: when it was created" example:"2026-01-31T08:15:30.123Z"`
	Workspace    workspaceRef    `json:"workspace" doc:"The workspace of the project"`
	Site         *siteRef        `json:"site" doc:"The site of the project, null before the first deployment"`
}

// siteRef is the site of a project, as clients see it.
type siteRef struct {
	URL          string  `json:"url" doc:"The address of the site" example:"https://cafe-deja.example.app"`
	DeploymentID *string `json:"deploymentId" nullable:"true" doc:"The ID of the live deployment, null if the site is offline" example:"dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Status       string  `json:"status" enum:"live,offline,blocked" doc:"live: the address shows the live deployment; offline: it shows none; blocked: an operator of the service has blocked the address" example:"live"`
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
