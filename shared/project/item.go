package project

import "devplatform/shared/clock"

// ProjectItem is a project in a list, as clients see it.
type ProjectItem struct {
	ID           string          `json:"id" doc:"The project's id" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name         string          `json:"name" doc:"Its name" example:"Café Déjà"`
	Slug         string          `json:"slug" doc:"The name in lower-case ASCII, unique in its workspace; follows a rename" example:"cafe-deja"`
	Framework    string          `json:"framework" doc:"As sent when it was chosen" example:"react"`
	Visibility   Visibility      `json:"visibility" enum:"private,team,public" doc:"Who sees it: its creator and the workspace's admins and owners; the workspace; every signed-in user" example:"private"`
	LastOpenedAt clock.Timestamp `json:"lastOpenedAt" doc:"When a member last read it by its id, or it was created; to within a minute" example:"2026-01-31T08:15:30.123Z"`
	Workspace    workspaceRef    `json:"workspace" doc:"The workspace that it is in"`
}

// workspaceRef is the workspace of a project, as clients see it.
type workspaceRef struct {
	ID   string `json:"id" doc:"The workspace's id" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name string `json:"name" doc:"Its name" example:"ada's workspace"`
}

// ProjectDetails is a project with all its fields, as clients see it.
type ProjectDetails struct {
	ProjectItem
	Description string          `json:"description" doc:"What it is about" example:"Where the team meets."`
	CreatedAt   clock.Timestamp `json:"createdAt" doc:"When it was created" example:"2026-01-31T08:15:30.123Z"`
	UpdatedAt   clock.Timestamp `json:"updatedAt" doc:"When its settings last changed" example:"2026-01-31T08:15:30.123Z"`
}

// item returns the project for a list.
func (p projectRecord) item(workspaceName string) ProjectItem {
	return ProjectItem{
		ID: p.ID, Name: p.Name, Slug: p.Slug, Framework: p.Framework, Visibility: p.Visibility, LastOpenedAt: p.LastOpenedAt,
		Workspace: workspaceRef{ID: p.WorkspaceID, Name: workspaceName},
	}
}

// details returns the project with all its fields.
func (p projectRecord) details(workspaceName string) ProjectDetails {
	return ProjectDetails{
		ProjectItem: p.item(workspaceName), Description: p.Description, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
}
