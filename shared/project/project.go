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
			Actor: workspace.ActorOf(caller),
			Project: &event.Project{
				ID: p.ID, Name: p.Name, Slug: p.Slug, Framework: p.Framework,
				Visibility: string(p.Visibility), WorkspaceID: p.WorkspaceID,
			},
			Changes: fields,
		},
	}
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
			s.logger.WarnContext(ctx, "lastOpenedAt of a project was not stored", "project", p.ID, "cause", err.Error())
		}
		return last
	}
	return clock.Stamp(now)
}

// apply returns the project with the new settings, and the names of the settings that changed. If slugOf returns
// different slugs for the old and the new name, the slug changes, too. The returned names do not include the slug.
func (in *projectSettingsInput) apply(p projectRecord, now time.Time) (projectRecord, []string) {
	var changes []string
	old, next := p, &in.Body
	if next.Name != nil && *next.Name != p.Name {
		p.Name, changes = *next.Name, append(changes, "name")
		if base := slugOf(p.Name); base != slugOf(old.Name) {
			p.Slug = base
		}
	}
	if next.Description != nil && *next.Description != p.Description {
		p.Description, changes = *next.Description, append(changes, "description")
	}
	if next.Framework != nil && *next.Framework != p.Framework {
		p.Framework, changes = *next.Framework, append(changes, "framework")
	}
	if next.RootDir != nil && strings.TrimSuffix(*next.RootDir, "/") != p.RootDir {
		p.RootDir, changes = strings.TrimSuffix(*next.RootDir, "/"), append(changes, "rootDir")
	}
	if next.Visibility != nil && *next.Visibility != p.Visibility {
		p.Visibility, changes = *next.Visibility, append(changes, "visibility")
	}
	if changes != nil {
		p.UpdatedAt, p.Revision = clock.Stamp(now), p.Revision+1
	}
	return p, changes
}
