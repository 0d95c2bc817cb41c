package project

import (
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// store keeps projects and their comments. The attribute names of its records are part of the data format.
type store struct {
	workspace.Access
	client *db.Client
	events db.Table
	quota  int // projects of a workspace
}

// projectRecord is a project. Its key begins with the workspace.
type projectRecord struct {
	ID           string          `dynamodbav:"id"`
	WorkspaceID  string          `dynamodbav:"workspaceId"`
	Name         string          `dynamodbav:"name"`
	Slug         string          `dynamodbav:"slug"`
	Description  string          `dynamodbav:"description,omitempty"`
	Framework    string          `dynamodbav:"framework"`
	Visibility   Visibility      `dynamodbav:"visibility"`
	CreatedBy    string          `dynamodbav:"createdBy"`
	CreatedAt    clock.Timestamp `dynamodbav:"createdAt"`
	UpdatedAt    clock.Timestamp `dynamodbav:"updatedAt"`
	LastOpenedAt clock.Timestamp `dynamodbav:"lastOpenedAt"`
	Revision     int             `dynamodbav:"revision"` // incremented by every change, except of lastOpenedAt
}

// slugRecord makes a slug unique in its workspace.
type slugRecord struct {
	ProjectID string `dynamodbav:"projectId"`
}

// commentRecord is a comment on a project, on a file or on a line of it.
type commentRecord struct {
	ID        string          `dynamodbav:"id"`
	Body      string          `dynamodbav:"body"`
	Path      *string         `dynamodbav:"path,omitempty"`
	Line      *int            `dynamodbav:"line,omitempty"`
	AuthorID  string          `dynamodbav:"authorId"`
	Author    string          `dynamodbav:"author"`
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
}
