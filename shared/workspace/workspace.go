// Package workspace implements workspaces, their members and the permissions of roles. Projects and webhooks belong to
// a workspace, but are in other packages. All packages use Access (access.go) to decide who may see or change a
// project.
//
// Pure functions (rules.go) decide about a change of a membership, based on the memberships that were read. The change
// is written on the condition that these memberships have not changed (store_change.go).
package workspace

import (
	"context"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

// Role is the role of a member in a workspace. Each role has all permissions of the lower roles.
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

	// Name and CreatedAt are copies of the workspace's fields, which never change. With them, a user's workspaces can
	// be listed in one call to storage.
	Name      string          `dynamodbav:"name"`
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`

	// Personal means that this is the user's own personal workspace. The user remains an owner of it. Every user has
	// exactly one personal workspace. The field is false for other members of that workspace.
	Personal bool `dynamodbav:"personal"`
}

// position returns the membership's position in the user's list of workspaces.
func (m Membership) position() string { return listPosition(m.WorkspaceID, m.Personal) }

// listPosition returns the sort key of a workspace in a user's list: the user's personal workspace first, then the
// others by ID, which is the order in which they were created.
func listPosition(workspaceID string, personal bool) string {
	if personal {
		return "0" + workspaceID
	}
	return "1" + workspaceID
}

// personalName returns the name of a user's personal workspace.
func personalName(username string) string { return username + "'s workspace" }

// MaxMemberships is the maximum number of workspaces of a user, including the personal workspace.
const MaxMemberships = 50

// People finds users by username.
type People interface {
	// FindByUsername finds a user, ignoring case. It returns the user's ID, and the username with the spelling that the
	// user chose. Error: USER_NOT_FOUND.
	FindByUsername(ctx context.Context, username string) (userID, canonical string, err error)
}

// DisableWebhooks is the type of Deps.DisableWebhooks. If a condition of the writes fails, the webhooks have changed,
// and the function is called again.
type DisableWebhooks func(ctx context.Context, workspaceID, userID string, at time.Time) ([]db.Write, error)

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Projects db.Table // also stores workspaces and memberships
	Outbox   event.Outbox
	Cursors  *db.Cursors
	People   People
	// DisableWebhooks returns writes that disable the active webhooks that a user created in a workspace. The
	// transaction that takes away the user's right to manage webhooks contains them.
	DisableWebhooks DisableWebhooks
	IDs             *id.Generator
	Clock           clock.Clock
	// MaxMemberships is the maximum number of workspaces of a user. 0 means the constant MaxMemberships.
	MaxMemberships int
}

// Service implements the operations on workspaces and their members. Its methods return a *fault.Error or an error of
// package db. It is safe for concurrent use.
type Service struct {
	store   store
	outbox  event.Outbox
	cursors *db.Cursors
	people  People
	ids     *id.Generator
	now     clock.Clock
	quota   int

	disableWebhooks DisableWebhooks
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	if d.MaxMemberships == 0 {
		d.MaxMemberships = MaxMemberships
	}
	return &Service{
		store:  store{Access: Access{d.Projects}, client: d.DB, quota: d.MaxMemberships},
		outbox: d.Outbox, cursors: d.Cursors, people: d.People, ids: d.IDs, now: d.Clock, quota: d.MaxMemberships,
		disableWebhooks: d.DisableWebhooks,
	}
}
