package project

import (
	"context"
	"errors"
	"strings"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// projectRecord is the record of a project. It is stored in the partition of the workspace.
type projectRecord struct {
	ID           string               `dynamodbav:"id"`
	WorkspaceID  string               `dynamodbav:"workspaceId"`
	Name         string               `dynamodbav:"name"`
	Slug         string               `dynamodbav:"slug"`
	Description  string               `dynamodbav:"description,omitempty"`
	Framework    string               `dynamodbav:"framework"`
	RootDir      string               `dynamodbav:"rootDir,omitempty"` // "" if it is not set
	Visibility   workspace.Visibility `dynamodbav:"visibility"`
	CreatedBy    string               `dynamodbav:"createdBy"`
	CreatedAt    clock.Timestamp      `dynamodbav:"createdAt"`
	UpdatedAt    clock.Timestamp      `dynamodbav:"updatedAt"`
	LastOpenedAt clock.Timestamp      `dynamodbav:"lastOpenedAt"`
	// Revision is incremented by each update, except of LastOpenedAt and Site.
	Revision int `dynamodbav:"revision"`
	// Site is the site of the project, nil before the first deployment. Package deployment writes it.
	Site *site.Summary `dynamodbav:"site,omitempty"`
	// SiteBlocked reports that an operator has blocked the address of the site.
	SiteBlocked bool `dynamodbav:"siteBlocked,omitempty"`
}

// open reads a project and checks that the caller may do the action. It also reads the items with the given keys, and
// adds them to Items of the access. It makes two calls to storage. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) open(
	ctx context.Context, caller httpapi.Caller, projectID string, action workspace.Action, keys ...db.Key,
) (access workspace.ProjectAccess, p projectRecord, err error) {
	if access, err = s.store.Project(ctx, caller.UserID, projectID, action, keys...); err != nil {
		return workspace.ProjectAccess{}, p, err
	}
	p, err = db.Decode[projectRecord](access.Items[db.ProjectKey(access.WorkspaceID, projectID)])
	return access, p, err
}

// eventChange returns the change of a project that an event describes. fields are the names of the changed fields.
func eventChange(kind event.Type, caller httpapi.Caller, p projectRecord, fields ...string) event.Change {
	return event.Change{
		Type: kind, WorkspaceID: p.WorkspaceID, ProjectID: p.ID,
		Data: event.Data{
			Actor: event.Actor{ID: caller.UserID, Username: caller.Account().Username},
			Project: &event.Project{
				ID: p.ID, Name: p.Name, Slug: p.Slug, Framework: p.Framework,
				Visibility: string(p.Visibility), WorkspaceID: p.WorkspaceID,
			},
			Changes: fields,
		},
	}
}

// Draft is a project to create.
type Draft struct {
	WorkspaceID *string // nil means the caller's personal workspace
	Name        string
	Description string
	Framework   string
	Visibility  workspace.Visibility
}

// Create creates a project with a slug that is unique in its workspace.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, QUOTA_EXCEEDED, CONFLICT.
func (s *Service) Create(ctx context.Context, caller httpapi.Caller, in Draft) (ProjectDetails, error) {
	member, err := s.store.MembershipOrPersonal(ctx, caller.UserID, in.WorkspaceID)
	if err != nil {
		return ProjectDetails{}, err
	}
	if err := member.Check(workspace.Write); err != nil {
		return ProjectDetails{}, err
	}
	now := s.now()
	at := clock.Stamp(now)
	p := projectRecord{
		ID: s.ids.New(id.Project), WorkspaceID: member.WorkspaceID, Name: in.Name, Description: in.Description,
		Framework: in.Framework, Visibility: in.Visibility, CreatedBy: caller.UserID,
		CreatedAt: at, UpdatedAt: at, LastOpenedAt: at, Revision: 1,
	}
	slugs := slugChooser{store: s.store}
	err = db.Retry(ctx, "create a project", func(ctx context.Context) error {
		return slugs.try(ctx, p.WorkspaceID, slugOf(p.Name), func(slug string) error {
			p.Slug = slug
			e, err := s.outbox.Add(eventChange(event.ProjectCreated, caller, p), now)
			if err != nil {
				return err
			}
			return s.store.createProject(ctx, p, e)
		})
	})
	return p.details(member.Name, s.sites), err
}

const (
	// openedInterval is the minimum time between two updates of a project's lastOpenedAt.
	openedInterval = time.Minute
	// openedTimeout is the timeout for the update of lastOpenedAt. After a timeout, the next read updates it.
	openedTimeout = 500 * time.Millisecond
)

// updateLastOpened updates lastOpenedAt, and returns the stored time. It logs a failure and does not return it.
func (s *Service) updateLastOpened(ctx context.Context, p projectRecord) clock.Timestamp {
	now, last := s.now(), p.LastOpenedAt
	if now.Sub(last.Time()) < openedInterval {
		return last
	}
	ctx, cancel := context.WithTimeout(ctx, openedTimeout)
	defer cancel()
	if err := s.store.updateLastOpened(ctx, p, now); err != nil {
		if !errors.Is(err, db.ErrConditionFailed) { // db.ErrConditionFailed: a concurrent read has updated it
			s.logger.WarnContext(ctx, "lastOpenedAt of a project was not stored", "project", p.ID, "error", err)
		}
		return last
	}
	return clock.Stamp(now)
}

// Settings are the fields of a project that can be updated. A nil field is not changed.
type Settings struct {
	Name, Description, Framework *string
	RootDir                      *string // "" and "/" mean that it is not set
	Visibility                   *workspace.Visibility
}

// Update updates a project's settings. If no setting changes, it writes nothing and emits no event.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, CONFLICT.
func (s *Service) Update(
	ctx context.Context, caller httpapi.Caller, projectID string, in Settings,
) (details ProjectDetails, err error) {
	slugs := slugChooser{store: s.store}
	err = db.Retry(ctx, "update a project", func(ctx context.Context) error {
		access, old, err := s.open(ctx, caller, projectID, workspace.Write)
		if err != nil {
			return err
		}
		now := s.now()
		next, changes := in.apply(old, now)
		details = next.details(access.Workspace.Name, s.sites)
		if len(changes) == 0 {
			return nil
		}
		write := func(slug string) error {
			next.Slug, details.Slug = slug, slug
			e, err := s.outbox.Add(eventChange(event.ProjectUpdated, caller, next, changes...), now)
			if err != nil {
				return err
			}
			return s.store.updateProject(ctx, old, next, e)
		}
		if next.Slug == old.Slug {
			return write(next.Slug)
		}
		return slugs.try(ctx, next.WorkspaceID, next.Slug, write)
	})
	return details, err
}

// apply returns the project with the new settings, and the names of the settings that changed. If slugOf returns
// different slugs for the old and the new name, the slug changes, too. The returned names do not include the slug.
func (in Settings) apply(p projectRecord, now time.Time) (projectRecord, []string) {
	var changes []string
	old := p
	if in.Name != nil && *in.Name != p.Name {
		p.Name, changes = *in.Name, append(changes, "name")
		if base := slugOf(p.Name); base != slugOf(old.Name) {
			p.Slug = base
		}
	}
	if in.Description != nil && *in.Description != p.Description {
		p.Description, changes = *in.Description, append(changes, "description")
	}
	if in.Framework != nil && *in.Framework != p.Framework {
		p.Framework, changes = *in.Framework, append(changes, "framework")
	}
	if in.RootDir != nil && strings.TrimSuffix(*in.RootDir, "/") != p.RootDir {
		p.RootDir, changes = strings.TrimSuffix(*in.RootDir, "/"), append(changes, "rootDir")
	}
	if in.Visibility != nil && *in.Visibility != p.Visibility {
		p.Visibility, changes = *in.Visibility, append(changes, "visibility")
	}
	if changes != nil {
		p.UpdatedAt, p.Revision = clock.Stamp(now), p.Revision+1
	}
	return p, changes
}

// Delete deletes a project. The project and its site are unavailable immediately. Package cleanup removes its files and
// comments later. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, CONFLICT.
func (s *Service) Delete(ctx context.Context, caller httpapi.Caller, projectID string) error {
	return db.Retry(ctx, "delete a project", func(ctx context.Context) error {
		siteKey := db.SiteKey(projectID)
		access, p, err := s.open(ctx, caller, projectID, workspace.DeleteOwnProject, siteKey)
		if err != nil {
			return err
		}
		now, deletion := s.now(), eventChange(event.ProjectDeleted, caller, p)
		e, err := s.outbox.Add(deletion, now)
		if err != nil {
			return err
		}
		writes := []db.Write{e}
		if s.removeSite != nil {
			removal, err := s.removeSite(deletion, access.Items[siteKey], now)
			if err != nil {
				return err
			}
			writes = append(writes, removal...)
		}
		return s.store.deleteProject(ctx, p, writes...)
	})
}
