package project

import (
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// store stores projects and their comments. Do not rename the attributes of its records: stored records use these
// names.
type store struct {
	workspace.Access
	client *db.Client
	events db.Table
	quota  int // maximum number of projects in a workspace
}

// projectRecord is the record of a project. It is stored in the partition of the workspace.
type projectRecord struct {
	ID           string          `dynamodbav:"id"`
	WorkspaceID  string          `dynamodbav:"workspaceId"`
	Name         string          `dynamodbav:"name"`
	Slug         string          `dynamodbav:"slug"`
	Description  string          `dynamodbav:"description,omitempty"`
	Framework    string          `dynamodbav:"framework"`
	RootDir      string          `dynamodbav:"rootDir,omitempty"` // "" if it is not set
	Visibility   Visibility      `dynamodbav:"visibility"`
	CreatedBy    string          `dynamodbav:"createdBy"`
	CreatedAt    clock.Timestamp `dynamodbav:"createdAt"`
	UpdatedAt    clock.Timestamp `dynamodbav:"updatedAt"`
	LastOpenedAt clock.Timestamp `dynamodbav:"lastOpenedAt"`
	Revision     int             `dynamodbav:"revision"` // incremented by every update, except of lastOpenedAt and Site
	// Site is the site of the project, nil before the first deployment. Package deployment writes it.
	Site *site.Summary `dynamodbav:"site,omitempty"`
	// SiteBlocked reports that an operator has blocked the address of the site.
	SiteBlocked bool `dynamodbav:"siteBlocked,omitempty"`
}

// slugRecord reserves a slug in a workspace.
type slugRecord struct {
	ProjectID string `dynamodbav:"projectId"`
}

// commentRecord is the record of a comment on a project, a file or a line of a file.
type commentRecord struct {
	ID        string          `dynamodbav:"id"`
	Body      string          `dynamodbav:"body"`
	Path      *string         `dynamodbav:"path,omitempty"`
	Line      *int            `dynamodbav:"line,omitempty"`
	AuthorID  string          `dynamodbav:"authorId"`
	Author    string          `dynamodbav:"author"` // the author's username
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
}
