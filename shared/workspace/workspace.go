// Package workspace holds workspaces, their members and what a role may do. A workspace owns projects and
// webhooks, which are slices of their own; people come from package account and are known here by id and username.
package workspace

import "devplatform/shared/clock"

// Role is what a member may do in a workspace: owner > admin > member > viewer (API.md §3).
type Role string

// The roles, from the highest to the lowest.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Member Role = "member"
	Viewer Role = "viewer"
)

// Workspace is a workspace's record.
type Workspace struct {
	ID        string          `dynamodbav:"id"`
	Name      string          `dynamodbav:"name"`
	Personal  bool            `dynamodbav:"personal"`
	Owners    int             `dynamodbav:"owners"`   // members with Role Owner: the last one can't leave
	Projects  int             `dynamodbav:"projects"` // at most MaxProjects
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
}

// Membership is one person's place in a workspace. It is stored twice, under the workspace and under
// the person, always in one transaction, so that both lists are strongly consistent reads.
type Membership struct {
	WorkspaceID string          `dynamodbav:"workspaceId"`
	UserID      string          `dynamodbav:"userId"`
	Username    string          `dynamodbav:"username"`
	Role        Role            `dynamodbav:"role"`
	AddedAt     clock.Timestamp `dynamodbav:"addedAt"`

	// What the workspace's own record says and never changes, so that a person's list is one read.
	Name      string          `dynamodbav:"name"`
	Personal  bool            `dynamodbav:"personal"`
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
}

// personalName is what a person's own workspace is called until they rename it.
func personalName(username string) string { return username + "'s workspace" }
