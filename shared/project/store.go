package project

import (
	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// store keeps projects and their files: records in the projects table, contents in the contents table.
type store struct {
	client                     *db.Client
	projects, contents, events db.Table
}

// The records as stored; attribute names are part of the data format.

// projectRecord is a project, listed by its workspace.
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
	Revision     int             `dynamodbav:"revision"` // counts the changes, lastOpenedAt apart
}

// treeRecord finds a project by its id and stands for its existence: every write into a project demands it.
type treeRecord struct {
	WorkspaceID string `dynamodbav:"workspaceId"`
	Version     int    `dynamodbav:"version"` // counts what may make paths collide: creations and renames
	Files       int    `dynamodbav:"files"`
	Bytes       int    `dynamodbav:"bytes"` // of the current contents, decoded
}

type slugRecord struct {
	ProjectID string `dynamodbav:"projectId"`
}

// fileRecord is a file as it is now, without its content; its path is in its key.
type fileRecord struct {
	Size      int             `dynamodbav:"size"`
	SHA256    []byte          `dynamodbav:"sha256"`
	Encoding  Encoding        `dynamodbav:"encoding"`
	Version   string          `dynamodbav:"version"` // ULID, new with every change
	Content   string          `dynamodbav:"content"` // id of the content, kept over renames
	Chunks    int             `dynamodbav:"chunks"`
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
	UpdatedAt clock.Timestamp `dynamodbav:"updatedAt"`
	UpdatedBy string          `dynamodbav:"updatedBy"`
}

// versionRecord is a file as it was before it was replaced, renamed or deleted.
type versionRecord struct {
	fileRecord
	ExpiresAt int64 `dynamodbav:"expiresAt"`
}

// chunkRecord is a part of a compressed content.
type chunkRecord struct {
	Data []byte `dynamodbav:"data"`
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
