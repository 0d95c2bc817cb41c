package project

import (
	"devplatform/shared/db"
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

// slugRecord reserves a slug in a workspace.
type slugRecord struct {
	ProjectID string `dynamodbav:"projectId"`
}
