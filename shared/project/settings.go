package project

import (
	"context"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

func errFullWorkspace(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded, fmt.Sprintf("The workspace has its %d projects. Delete one first.", quota))
}

// newProject is what a project is made of.
type newProject struct {
	WorkspaceID *string // nil for the caller's personal one
	Name        string
	Description string
	Framework   string
	Visibility  Visibility
}

// settings are what of a project can be changed; nil stays as it is.
type settings struct {
	Name, Description, Framework *string
	Visibility                   *Visibility
}

// create makes a project and takes the first slug that is free.
func (s *Service) create(ctx context.Context, in newProject) (opened, error) {
	caller := httpapi.CallerFrom(ctx)
	member, err := s.placeOf(ctx, caller.UserID, in.WorkspaceID)
	if err != nil {
		return opened{}, err
	}
	if !member.Role.May(workspace.Write) {
		return opened{}, ErrDenied
	}
	now := s.now()
	at := clock.Stamp(now)
	p := projectRecord{
		ID: s.ids.New(id.Project), WorkspaceID: member.WorkspaceID, Name: in.Name, Description: in.Description,
		Framework: in.Framework, Visibility: in.Visibility, CreatedBy: caller.UserID,
		CreatedAt: at, UpdatedAt: at, LastOpenedAt: at, Revision: 1,
	}
	base := slugOf(p.Name)
	p.Slug = base
	for attempt := 1; ; attempt++ {
		told, err := s.tell(event.ProjectCreated, p, caller, nil, now)
		if err != nil {
			return opened{}, err
		}
		err = s.store.createProject(ctx, p, s.quotas.Projects, told)
		switch {
		case err == nil:
			place := workspace.Workspace{ID: member.WorkspaceID, Name: member.Name}
			return opened{project: p, member: member, place: place}, nil
		case errors.Is(err, db.ErrNotFound):
			return opened{}, workspace.ErrNotFound.WithCause(err)
		case errors.Is(err, errFull):
			return opened{}, errFullWorkspace(s.quotas.Projects).WithCause(err)
		case !errors.Is(err, errSlugTaken):
			return opened{}, err
		}
		if p.Slug, err = s.anotherSlug(ctx, p.WorkspaceID, base, attempt); err != nil {
			return opened{}, err
		}
	}
}

// placeOf is a user's place in a workspace; nil is their personal one.
func (s *Service) placeOf(ctx context.Context, userID string, workspaceID *string) (workspace.Membership, error) {
	if workspaceID != nil {
		member, err := s.store.membership(ctx, *workspaceID, userID)
		if errors.Is(err, db.ErrNotFound) {
			return member, workspace.ErrNotFound
		}
		return member, err
	}
	all, err := s.store.memberships(ctx, userID)
	if err != nil {
		return workspace.Membership{}, err
	}
	for _, member := range all {
		if member.Personal {
			return member, nil
		}
	}
	return workspace.Membership{}, workspace.ErrNotFound
}

// anotherSlug is one that was free a moment ago, after an attempt for one that was not.
func (s *Service) anotherSlug(ctx context.Context, workspaceID, base string, attempt int) (string, error) {
	if attempt > maxAttempts || (attempt > 1 && !pause(ctx, attempt)) {
		return "", fmt.Errorf("%w: no slug in %d attempts", db.ErrConflict, attempt)
	}
	taken, err := s.store.slugsLike(ctx, workspaceID, base)
	if err != nil {
		return "", err
	}
	return nextSlug(base, taken, attempt), nil
}

// update changes a project's settings. What is as asked for already is not written again and no event tells of it.
func (s *Service) update(ctx context.Context, projectID string, in settings) (opened, error) {
	caller := httpapi.CallerFrom(ctx)
	slug := "" // the one to take in place of the plain one, which was taken
	for attempt := 1; ; attempt++ {
		o, err := s.open(ctx, projectID, workspace.Write)
		if err != nil {
			return o, err
		}
		now := s.now()
		next, changes := in.applied(o.project, now)
		if len(changes) == 0 {
			return o, nil
		}
		if slug != "" && next.Slug != o.project.Slug {
			next.Slug = slug
		}
		told, err := s.tell(event.ProjectUpdated, next, caller, changes, now)
		if err != nil {
			return o, err
		}
		err = s.store.updateProject(ctx, o.project, next, told)
		switch {
		case err == nil:
			o.project = next
			return o, nil
		case errors.Is(err, db.ErrNotFound):
			return o, ErrNotFound.WithCause(err)
		case errors.Is(err, errSlugTaken):
			if slug, err = s.anotherSlug(ctx, next.WorkspaceID, slugOf(next.Name), attempt); err != nil {
				return o, err
			}
		case !errors.Is(err, errStale), attempt == maxAttempts, !pause(ctx, attempt):
			return o, conflicting(err)
		}
	}
}

// applied is the project with the settings, and the names of those that make a difference: a slug that follows its name is not
// one of them. A slug stays for as long as the plain slug of the name does.
func (in settings) applied(p projectRecord, now time.Time) (projectRecord, []string) {
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

// remove deletes a project: at once for every reader and writer. What it held is cleaned up behind the event.
func (s *Service) remove(ctx context.Context, projectID string) error {
	caller := httpapi.CallerFrom(ctx)
	for attempt := 1; ; attempt++ {
		o, err := s.open(ctx, projectID, workspace.Read)
		if err != nil {
			return err
		}
		if !o.mayDelete(caller.UserID) {
			return ErrDenied
		}
		told, err := s.tell(event.ProjectDeleted, o.project, caller, nil, s.now())
		if err != nil {
			return err
		}
		err = s.store.deleteProject(ctx, o.project, told)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, db.ErrNotFound):
			return ErrNotFound.WithCause(err)
		case !errors.Is(err, errStale), attempt == maxAttempts, !pause(ctx, attempt):
			return conflicting(err)
		}
	}
}

// mayDelete reports whether the caller may delete the project: their own as a member, any as an admin.
func (o opened) mayDelete(userID string) bool {
	return o.member.Role.May(workspace.Moderate) ||
		(o.project.CreatedBy == userID && o.member.Role.May(workspace.DeleteOwnProject))
}

// conflicting makes a conflict of what stayed stale in spite of all attempts; other errors are as they were.
func conflicting(err error) error {
	if errors.Is(err, errStale) {
		return fmt.Errorf("%w: %w", db.ErrConflict, err)
	}
	return err
}

// tell is the write of the event of a change to a project.
func (s *Service) tell(kind event.Type, p projectRecord, caller httpapi.Caller, changes []string, at time.Time) (db.Write, error) {
	return s.outbox.Add(event.Change{
		Type: kind, WorkspaceID: p.WorkspaceID, ProjectID: p.ID,
		Data: event.Data{
			Actor: event.Actor{ID: caller.UserID, Username: caller.Username},
			Project: &event.Project{
				ID: p.ID, Name: p.Name, Slug: p.Slug, Framework: p.Framework, Visibility: string(p.Visibility), WorkspaceID: p.WorkspaceID,
			},
			Changes: changes,
		},
	}, at)
}

// openedEvery is how often, at most, a project's lastOpenedAt is stored.
const openedEvery = time.Minute

// noteTimeout bounds a write that a read does not wait for any longer: the next read does it.
const noteTimeout = 500 * time.Millisecond

// noteOpened stores when a member opened a project and answers with what is stored. That it could not be stored harms nobody.
func (s *Service) noteOpened(ctx context.Context, o opened) clock.Timestamp {
	now, last := s.now(), o.project.LastOpenedAt
	if !o.isMember() || now.Sub(last.Time()) < openedEvery {
		return last
	}
	ctx, cancel := context.WithTimeout(ctx, noteTimeout)
	defer cancel()
	if err := s.store.noteOpened(ctx, o.project, now); err != nil {
		if !errors.Is(err, errStale) {
			s.logger.WarnContext(ctx, "the opening of a project was not noted", "project", o.project.ID, "error", err)
		}
		return last
	}
	return clock.Stamp(now)
}
