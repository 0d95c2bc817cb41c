// Package project implements projects, their variables, their comments and their events. Package file implements the
// files of projects, package export makes archives of them, and package cleanup removes the data of deleted projects.
// Package workspace decides whether a user may see or change a project.
package project

import (
	"log/slog"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// RemoveSite returns the writes that remove the site of a project, as part of the transaction that deletes the project.
// site is the item under db.SiteKey, nil if there is none. The writes may have conditions, which fail if the site has
// changed.
type RemoveSite func(deleted event.Change, site db.Item, now time.Time) ([]db.Write, error)

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Projects db.Table
	Outbox   event.Outbox
	Cursors  *db.Cursors
	Files    *file.Service
	IDs      *id.Generator
	Clock    clock.Clock
	Logger   *slog.Logger
	// MaxProjects is the maximum number of projects in a workspace. 0 means the constant MaxProjects.
	MaxProjects int
	RemoveSite  RemoveSite // nil means that projects have no sites
	// Sites is the origin of the sites, or "" if sites are not configured.
	Sites config.Origin
}

// Service implements the operations on projects, their comments and their events. Its methods return a *fault.Error or
// an error of package db. It is safe for concurrent use.
type Service struct {
	store   store
	outbox  event.Outbox
	cursors *db.Cursors
	files   *file.Service
	ids     *id.Generator
	now     clock.Clock
	logger  *slog.Logger

	removeSite RemoveSite
	sites      config.Origin
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	if d.MaxProjects == 0 {
		d.MaxProjects = MaxProjects
	}
	return &Service{
		store: store{
			Access: workspace.Access{Projects: d.Projects}, client: d.DB, events: d.Outbox.Events, quota: d.MaxProjects,
		},
		outbox: d.Outbox, cursors: d.Cursors, files: d.Files, ids: d.IDs, now: d.Clock, logger: d.Logger,
		removeSite: d.RemoveSite, sites: d.Sites,
	}
}
