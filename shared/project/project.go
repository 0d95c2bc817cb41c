// Package project is projects and what is in them: files with their contents and versions, comments, and the feed of
// events. Who may do what follows from package workspace. Webhooks and the assistant are slices of their own that build on
// this one; nothing here knows of them.
package project

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

// Quotas (API.md §4, §5). Lower ones are for tests.
type Quotas struct {
	Projects int // a workspace
	Files    int // a project
	Bytes    int // a project, contents decoded
}

// DefaultQuotas are those of API.md.
func DefaultQuotas() Quotas { return Quotas{Projects: 1000, Files: 5000, Bytes: 200 << 20} }

// Deps are what projects are built on.
type Deps struct {
	DB       *db.Client
	Projects db.Table
	Contents db.Table
	Outbox   event.Outbox
	Cursors  *db.Cursors
	IDs      *id.Generator
	Clock    clock.Clock
	Logger   *slog.Logger
	Quotas   Quotas
}

// Service is projects, their files, comments and feed. Its methods answer with *api.Error or an error of storage's
// classes. It is safe for concurrent use.
type Service struct {
	store   store
	outbox  event.Outbox
	cursors *db.Cursors
	ids     *id.Generator
	now     clock.Clock
	logger  *slog.Logger
	quotas  Quotas
}

// New builds projects. It does no input or output.
func New(d Deps) *Service {
	return &Service{
		store:  store{client: d.DB, projects: d.Projects, contents: d.Contents, events: d.Outbox.Events},
		outbox: d.Outbox, cursors: d.Cursors, ids: d.IDs, now: d.Clock, logger: d.Logger, quotas: d.Quotas,
	}
}
