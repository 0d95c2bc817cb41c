package project

import (
	"context"
	"errors"
	"strings"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// errMet says that what a plan was made for has changed before it could be written. Nothing was written.
var errMet = errors.New("project: the files have changed meanwhile")

var errBusy = fault.New(fault.CodeConflict, "Others keep changing these files. Please try again.")

// changeFiles does operations on a project's files, all or none, and answers with what they came to. Whoever is met on the
// way is waited for: the operations are decided anew on what the other left, so that without a precondition the last
// writer wins, and with one the others hear PRECONDITION_FAILED.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, what planFiles says, CONFLICT; storage's classes.
func (s *Service) changeFiles(ctx context.Context, projectID string, ops ...fileOperation) (filePlan, error) {
	for attempt := 1; ; attempt++ {
		plan, err := s.tryFiles(ctx, projectID, ops)
		if !errors.Is(err, errMet) {
			return plan, err
		}
		if attempt == maxAttempts || !pause(ctx, attempt) {
			return plan, errBusy.WithCause(err)
		}
	}
}

// tryFiles is one attempt. Error: also errMet.
func (s *Service) tryFiles(ctx context.Context, projectID string, ops []fileOperation) (filePlan, error) {
	o, before, err := s.openFiles(ctx, projectID, ops)
	if err != nil {
		return filePlan{}, err
	}
	now := s.now()
	by := author{userID: httpapi.CallerFrom(ctx).UserID, at: clock.Stamp(now), versionAfter: s.versionAfter}
	plan, err := planFiles(ops, before, by, s.quotas)
	if err != nil || plan.isNone() {
		return plan, err
	}
	writes, err := s.store.fileWrites(projectID, plan, before.tree, s.quotas, now)
	if err != nil {
		return plan, err
	}
	for _, change := range plan.changes {
		if change.isNone() {
			continue
		}
		happened, err := s.outbox.Add(change.event(ctx, o.project), now)
		if err != nil {
			return plan, err
		}
		writes = append(writes, happened)
	}
	err = s.store.commitFiles(ctx, writes)
	if errors.Is(err, db.ErrNotFound) {
		return plan, ErrNotFound
	}
	return plan, err
}

// openFiles reads the project for a caller who wants to change its files, and what the operations meet there.
func (s *Service) openFiles(ctx context.Context, projectID string, ops []fileOperation) (opened, filesBefore, error) {
	userID := httpapi.CallerFrom(ctx).UserID
	o, before, err := s.store.openFiles(ctx, projectID, userID, ops)
	switch {
	case errors.Is(err, db.ErrNotFound), err == nil && !o.visible(userID):
		return opened{}, filesBefore{}, ErrNotFound
	case err == nil && !o.member.Role.May(workspace.Write):
		return opened{}, filesBefore{}, ErrDenied
	}
	return o, before, err
}

// event is the change as the outbox takes it. A deleted file is told of as it was.
func (c fileChange) event(ctx context.Context, p projectRecord) event.Change {
	caller := httpapi.CallerFrom(ctx)
	happened := event.Change{
		Type: event.FileUpdated, WorkspaceID: p.WorkspaceID, ProjectID: p.ID,
		Data: event.Data{
			Actor:   event.Actor{ID: caller.UserID, Username: caller.Username},
			Project: &event.Project{ID: p.ID, Name: p.Name},
		},
	}
	shown := c.after
	switch {
	case c.creates():
		happened.Type = event.FileCreated
	case c.removes():
		happened.Type, shown = event.FileDeleted, c.before
	}
	happened.Data.File = file{Path: c.path, fileRecord: *shown}.event()
	if c.before != nil && !c.moved {
		happened.Replaced = &event.Content{ID: c.before.Content, Chunks: c.before.Chunks}
	}
	return happened
}

// newVersion makes the ULID of a content.
func (s *Service) newVersion() string { return s.versionAfter("") }

// versionAfter makes the ULID of a version. Those of one file sort in the order in which they were made, whatever the clocks say.
func (s *Service) versionAfter(version string) string {
	_, text, _ := strings.Cut(s.ids.NewAfter(versionKind, string(versionKind)+"_"+version), "_")
	return text
}

// versionKind is only there to make ids: versions are shown without a prefix.
const versionKind id.Kind = "ver"
