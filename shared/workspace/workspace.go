// Package workspace holds workspaces, their members and what a role may do. A workspace owns projects and
// webhooks, which are slices of their own; people come from package account and are known here by id and username.
//
// A change to a membership is decided by pure functions (rules.go) on what was read, and written on the condition that it is
// still so (store.go).
package workspace

import (
	"context"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

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
	Owners    int             `dynamodbav:"owners"`   // members with Role Owner, at least one
	Projects  int             `dynamodbav:"projects"` // how many it has
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
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`

	// Personal says that this is the person's own personal workspace, in which they stay an owner. Whoever is added to
	// somebody's personal workspace has an ordinary membership: everybody has exactly one that is Personal.
	Personal bool `dynamodbav:"personal"`
}

// personalName is what a person's own workspace is called.
func personalName(username string) string { return username + "'s workspace" }

// MaxMemberships is how many workspaces a person may be in, their personal one counted (API.md §3).
const MaxMemberships = 50

// People finds the person of a username.
type People interface {
	// FindByUsername answers with the person's id and the username as they spell it; case does not count.
	// Error: an *api.Error USER_NOT_FOUND, and those of storage's classes.
	FindByUsername(ctx context.Context, username string) (userID, canonical string, err error)
}

// Deps are what workspaces are built on.
type Deps struct {
	DB       *db.Client
	Projects db.Table // workspaces and memberships live in the projects table
	Outbox   event.Outbox
	Cursors  *db.Cursors
	People   People
	IDs      *id.Generator
	Clock    clock.Clock
	// MaxMemberships is lower in tests; 0 is the constant of that name.
	MaxMemberships int
}

// Service is workspaces and their members. Its methods answer with *api.Error or an error of storage's classes.
// It is safe for concurrent use.
type Service struct {
	store   store
	outbox  event.Outbox
	cursors *db.Cursors
	people  People
	ids     *id.Generator
	now     clock.Clock
	quota   int
}

// New builds workspaces. It does no input or output.
func New(d Deps) *Service {
	if d.MaxMemberships == 0 {
		d.MaxMemberships = MaxMemberships
	}
	return &Service{
		store:  store{Access: Access{d.Projects}, client: d.DB, quota: d.MaxMemberships},
		outbox: d.Outbox, cursors: d.Cursors, people: d.People, ids: d.IDs, now: d.Clock, quota: d.MaxMemberships,
	}
}
