package project

import (
	"context"
	"strings"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// Settings are the fields of a project that can be updated. A nil field is not changed.
type Settings struct {
	Name, Description, Framework *string
	RootDir                      *string // "" and "/" mean that it is not set
	Visibility                   *Visibility
}

// Update updates a project's settings. If no setting changes, it writes nothing and emits no event.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, CONFLICT.
func (s *Service) Update(
	ctx context.Context, caller httpapi.Caller, projectID string, in Settings,
) (details ProjectDetails, err error) {
	slugs := slugChooser{store: s.store}
	err = db.Retry(ctx, "update a project", func(ctx context.Context) error {
		o, err := s.open(ctx, caller, projectID, workspace.Write)
		if err != nil {
			return err
		}
		now := s.now()
		next, changes := in.apply(o.record, now)
		details = next.details(o.Workspace.Name, s.sites)
		if len(changes) == 0 {
			return nil
		}
		write := func(slug string) error {
			next.Slug, details.Slug = slug, slug
			e, err := s.event(event.ProjectUpdated, caller, next, now, changes...)
			if err != nil {
				return err
			}
			return s.store.updateProject(ctx, o.record, next, e)
		}
		if next.Slug == o.record.Slug {
			return write(next.Slug)
		}
		slugs.workspaceID, slugs.base = next.WorkspaceID, next.Slug
		return slugs.write(ctx, write)
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
