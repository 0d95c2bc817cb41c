// Package project implements projects, their variables, their comments and their events. Package file implements the
// files of projects, and package cleanup removes the data of deleted projects. Webhooks and the assistant are separate
// packages. This package does not import them.
//
// Calls run in one direction: handlers (http*.go) call the Service (create.go, read.go, list.go, update.go, delete.go,
// variable.go, event.go, comment.go), which calls the store (store*.go). Package workspace decides whether a user may
// see or change a project.
package project

import (
	"context"
	"log/slog"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// Visibility defines which users can see a project.
type Visibility = workspace.Visibility

// The visibilities.
const (
	Private = workspace.Private
	Team    = workspace.Team
	Public  = workspace.Public
)

// MaxProjects is the maximum number of projects in a workspace.
const MaxProjects = 1000

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
	// RemoveSite returns the writes that remove the site of a project, as part of the transaction that deletes the
	// project. site is the item under db.SiteKey, nil if there is none. The writes may have conditions, which fail if the
	// site has changed. nil means that projects have no sites.
	RemoveSite func(deleted event.Change, site db.Item, now time.Time) ([]db.Write, error)
	// Sites is the origin of the sites. "" if they are not configured.
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

	removeSite func(deleted event.Change, site db.Item, now time.Time) ([]db.Write, error)
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

// opened is a project with the access rights of the user who opened it.
type opened struct {
	workspace.ProjectAccess
	record projectRecord
}

// open reads a project and checks that the caller may do the action. It also reads the items with the given keys, and
// adds them to Items of the result. It makes two calls to storage. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) open(
	ctx context.Context, caller httpapi.Caller, projectID string, action workspace.Action, keys ...db.Key,
) (o opened, err error) {
	access, err := s.store.Project(ctx, caller.UserID, projectID, keys...)
	if err == nil {
		err = access.Check(action)
	}
	if err != nil {
		return opened{}, err
	}
	return newOpened(access)
}

// newOpened decodes the record of a project that the caller may see.
func newOpened(access workspace.ProjectAccess) (o opened, err error) {
	o.ProjectAccess = access
	o.record, err = db.Decode[projectRecord](o.Items[db.ProjectKey(o.WorkspaceID, o.ProjectID)])
	return o, err
}

// event returns the write that stores the event of a change to a project. changes are the names of the changed fields.
func (s *Service) event(
	kind event.Type, caller httpapi.Caller, p projectRecord, at time.Time, changes ...string,
) (db.Write, error) {
	return s.outbox.Add(changeOf(kind, caller, p, changes...), at)
}

// changeOf returns the change of a project that an event describes.
func changeOf(kind event.Type, caller httpapi.Caller, p projectRecord, changes ...string) event.Change {
	return event.Change{
		Type: kind, WorkspaceID: p.WorkspaceID, ProjectID: p.ID,
		Data: event.Data{
			Actor: event.Actor{ID: caller.UserID, Username: caller.Account().Username},
			Project: &event.Project{
				ID: p.ID, Name: p.Name, Slug: p.Slug, Framework: p.Framework,
				Visibility: string(p.Visibility), WorkspaceID: p.WorkspaceID,
			},
			Changes: changes,
		},
	}
}
