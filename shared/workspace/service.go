package workspace

import (
	"context"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

// MaxMemberships is the maximum number of workspaces of a user, including the personal workspace.
const MaxMemberships = 50

// People finds users by username.
type People interface {
	// FindByUsername finds a user, ignoring case. It returns the user's ID, and the username with the spelling that the
	// user chose. Error: USER_NOT_FOUND.
	FindByUsername(ctx context.Context, username string) (userID, canonical string, err error)
}

// DisableWebhooks returns writes that disable the active webhooks that a user created in a workspace. If a condition of
// the writes fails, the webhooks have changed, and the function is called again.
type DisableWebhooks func(ctx context.Context, workspaceID, userID string, at time.Time) ([]db.Write, error)

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Projects db.Table // also stores workspaces and memberships
	Outbox   event.Outbox
	Cursors  *db.Cursors
	People   People
	// DisableWebhooks returns writes for the transaction that takes away a user's right to manage webhooks.
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

	disableWebhooks DisableWebhooks
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	if d.MaxMemberships == 0 {
		d.MaxMemberships = MaxMemberships
	}
	return &Service{
		store:  store{Access: Access{d.Projects}, client: d.DB, quota: d.MaxMemberships},
		outbox: d.Outbox, cursors: d.Cursors, people: d.People, ids: d.IDs, now: d.Clock,
		disableWebhooks: d.DisableWebhooks,
	}
}
