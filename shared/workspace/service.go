package workspace

import (
	"cmp"
	"context"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/mail"
)

// People finds users by username, and knows the rules of e-mail addresses.
type People interface {
	// FindByUsername finds a user, ignoring case. It returns the user's ID, and the username with the spelling that the
	// user chose. Error: USER_NOT_FOUND.
	FindByUsername(ctx context.Context, username string) (userID, canonical string, err error)
	// NormalizeEmail returns the form in which an e-mail address is stored, and the rule that the address breaks, or "".
	NormalizeEmail(email string) (normalized, rule string)
}

// Links are the settings of the links to invitations.
type Links struct {
	// Origin is the origin of the links.
	Origin config.Origin `env:"MAIL_ORIGIN"`
	// Path is the path of the front end's page for invitations. Without it, the page of the service is used.
	Path string `env:"INVITATION_PATH"`
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
	// Mail stores the mails of invitations to e-mail addresses.
	Mail  *mail.Outbox
	Links Links
	// DisableWebhooks returns writes for the transaction that takes away a user's right to manage webhooks.
	DisableWebhooks DisableWebhooks
	IDs             *id.Generator
	Clock           clock.Clock
	// MaxMemberships is the maximum number of workspaces of a user. 0 means the constant MaxMemberships.
	MaxMemberships int
	// InvitationsPerDay is the number of invitations that a user can create in one day. 0 means the constant
	// InvitationsPerDay.
	InvitationsPerDay int
}

// Service implements the operations on workspaces and their members. Its methods return a *fault.Error or an error of
// package db. It is safe for concurrent use.
type Service struct {
	store   store
	outbox  event.Outbox
	cursors *db.Cursors
	people  People
	mail    *mail.Outbox
	links   Links
	ids     *id.Generator
	now     clock.Clock

	disableWebhooks DisableWebhooks
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	return &Service{
		store: store{
			Access: Access{d.Projects}, client: d.DB, quota: cmp.Or(d.MaxMemberships, MaxMemberships),
			counters: limit.New(d.DB, d.Projects, d.Clock),
			invitationRule: limit.Rule{
				Name: "invitations", Limit: cmp.Or(d.InvitationsPerDay, InvitationsPerDay), Window: 24 * time.Hour,
			},
		},
		outbox: d.Outbox, cursors: d.Cursors, people: d.People, mail: d.Mail, links: d.Links, ids: d.IDs, now: d.Clock,
		disableWebhooks: d.DisableWebhooks,
	}
}
