package project

import (
	"context"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// Settings are the fields of a project that can be changed. A nil field stays as it is.
type Settings struct {
	Name, Description, Framework *string
	Visibility                   *Visibility
}

// Update changes a project's settings. It writes nothing and emits no event if the project has these settings already.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, CONFLICT.
func (s *Service) Update(
	ctx context.Context, caller httpapi.Caller, projectID string, in Settings,
) (details ProjectDetails, err error) {
	slugs := slugChooser{store: s.store}
	err = db.Retry(ctx, "update a project", func() error {
		o, err := s.open(ctx, caller, projectID, workspace.Write)
		if err != nil {
			return err
		}
		now := s.now()
		next, changes := in.apply(o.record, now)
		details = next.details(o.Workspace.Name)
		if len(changes) == 0 {
			return nil
		}
		if next.Slug != o.record.Slug {
			slugs.workspaceID, slugs.base = next.WorkspaceID, next.Slug
			if next.Slug, err = slugs.next(ctx); err != nil {
				return err
			}
			details.Slug = next.Slug
		}
		e, err := s.event(event.ProjectUpdated, caller, next, now, changes...)
		if err != nil {
			return err
		}
		return slugs.note(s.store.updateProject(ctx, o.record, next, e))
	})
	return details, err
}

// apply returns the project with the settings, and the names of the settings that change it. The slug changes only if
// the new name has another plain slug; it is not one of the names.
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
	if in.Visibility != nil && *in.Visibility != p.Visibility {
		p.Visibility, changes = *in.Visibility, append(changes, "visibility")
	}
	if changes != nil {
		p.UpdatedAt, p.Revision = clock.Stamp(now), p.Revision+1
	}
	return p, changes
}
