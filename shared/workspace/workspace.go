// Package workspace is workspaces, their members, and what a role may do. A workspace owns projects and webhooks,
// which are slices of their own. They and the assistant use Access (access.go), the only rule about who may see or
// change a project.
//
// A change of a membership is decided by pure functions (rules.go) on the memberships that were read. It is written on
// the condition that these are still the same (store_change.go).
package workspace

import (
	"context"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

// Role is what a member may do in a workspace. Each role has all rights of the lower ones.
type Role string

// The roles, highest first.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Member Role = "member"
	Viewer Role = "viewer"
)

// Workspace is the record of a workspace. The attribute names are part of the data format.
type Workspace struct {
	ID        string          `dynamodbav:"id"`
	Name      string          `dynamodbav:"name"`
	Personal  bool            `dynamodbav:"personal"`
	Owners    int             `dynamodbav:"owners"`   // members with Role Owner, at least one
	Projects  int             `dynamodbav:"projects"` // number of projects
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
}

// Membership is the membership of a user in a workspace. It is stored twice, under the workspace and under the user,
// in one transaction, so that both can be listed with consistent reads. The attribute names are part of the data
// format.
type Membership struct {
	WorkspaceID string          `dynamodbav:"workspaceId"`
	UserID      string          `dynamodbav:"userId"`
	Username    string          `dynamodbav:"username"`
	Role        Role            `dynamodbav:"role"`
	AddedAt     clock.Timestamp `dynamodbav:"addedAt"`

	// Name and CreatedAt are copies of the workspace's. They never change. With them, a user's list is one read.
	Name      string          `dynamodbav:"name"`
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`

	// Personal means that this is the user's own personal workspace, in which the user stays an owner. Every user has
	// exactly one. Other members of the same workspace have ordinary memberships.
	Personal bool `dynamodbav:"personal"`
}

// personalName returns the name of a user's personal workspace.
func personalName(username string) string { return username + "'s workspace" }

// MaxMemberships is the largest number of workspaces of a user, including the personal one.
const MaxMemberships = 50

// People finds users by username.
type People interface {
	// FindByUsername returns the user's ID, and the username as the user spells it. It ignores case. Error:
	// USER_NOT_FOUND.
	FindByUsername(ctx context.Context, username string) (userID, canonical string, err error)
}

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Projects db.Table // has workspaces and memberships, too
	Outbox   event.Outbox
	Cursors  *db.Cursors
	People   People
	IDs      *id.Generator
	Clock    clock.Clock
	// MaxMemberships is lower in tests. 0 means the constant of that name.
	MaxMemberships int
}

// Service is workspaces and their members. Its methods return a *fault.Error or one of the errors of package db. It is
// safe for concurrent use.
type Service struct {
	store   store
	outbox  event.Outbox
	cursors *db.Cursors
	people  People
	ids     *id.Generator
	now     clock.Clock
	quota   int
}

// New returns a Service. It does no input or output.
func New(d Deps) *Service {
	if d.MaxMemberships == 0 {
		d.MaxMemberships = MaxMemberships
	}
	return &Service{
		store:  store{Access: Access{d.Projects}, client: d.DB, quota: d.MaxMemberships},
		outbox: d.Outbox, cursors: d.Cursors, people: d.People, ids: d.IDs, now: d.Clock, quota: d.MaxMemberships,
	}
}
