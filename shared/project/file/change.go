package file

import (
	"context"
	"errors"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// ApplyBatch validates operations and applies them in one transaction, for other packages. The handlers of this package
// call apply, because the input of their requests has been validated. Errors: VALIDATION_FAILED; the errors of apply,
// with the index of the failed operation in the message.
func (s *Service) ApplyBatch(ctx context.Context, caller httpapi.Caller, projectID string, ops []Operation) error {
	if problems := checkBatch(ops); len(problems) > 0 {
		return errInvalidBatch.WithCause(fault.Invalid(problems...))
	}
	_, err := s.apply(ctx, caller, projectID, ops...)
	return withOperationIndex(err)
}

// apply applies operations in one transaction, together with an event for each file that changes. The operations must
// have been validated. If another request changes the same files first, apply plans the operations again on the new
// state. So a precondition fails only if the file really has a different version. Errors: PROJECT_NOT_FOUND,
// ACCESS_DENIED, FILE_NOT_FOUND, PRECONDITION_FAILED, CONFLICT, QUOTA_EXCEEDED.
func (s *Service) apply(
	ctx context.Context, caller httpapi.Caller, projectID string, ops ...Operation,
) (p plan, err error) {
	for i := range ops {
		if op := &ops[i]; op.hasContent() && op.packed == nil {
			if op.packed, err = packContent(s.newVersion(""), op.data, op.Encoding); err != nil {
				return p, &operationError{i, err}
			}
		}
	}
	err = db.Retry(ctx, "change files", func(ctx context.Context) error {
		by := author{userID: caller.UserID, at: s.now(), newVersion: s.newVersion}
		access, stored, err := s.store.readState(ctx, caller.UserID, projectID, ops)
		if err != nil {
			return err
		}
		p, err = planFiles(ops, stored, by, s.quotas)
		if errors.Is(err, errMustRecount) {
			return s.recountOld(ctx, projectID, stored.tree) // db.ErrStale: another attempt
		}
		if err != nil || p.isEmpty() {
			return s.releaseExpired(ctx, projectID, stored.tree, err) // db.ErrStale if an upload had expired
		}
		var events []db.Write
		for _, c := range p.changes {
			if c.isEmpty() {
				continue
			}
			w, err := s.outbox.Add(c.event(caller, access), p.at)
			if err != nil {
				return err
			}
			events = append(events, w)
		}
		if err := s.store.storeObjects(ctx, projectID, p); err != nil {
			return err
		}
		return s.store.commit(ctx, projectID, p, events)
	})
	return p, err
}

// event returns the event of a change. The event of a deletion contains the file as it was before the deletion.
func (c change) event(caller httpapi.Caller, access workspace.ProjectAccess) event.Change {
	e := event.Change{
		Type: event.FileUpdated, WorkspaceID: access.WorkspaceID, ProjectID: access.ProjectID,
		Data: event.Data{
			Actor:   event.Actor{ID: caller.UserID, Username: caller.Account().Username},
			Project: &event.Project{ID: access.ProjectID, Name: access.Name},
		},
	}
	f := c.after
	switch {
	case c.creates():
		e.Type = event.FileCreated
	case c.deletes():
		e.Type, f = event.FileDeleted, c.before
	}
	e.Data.File = f.event()
	if c.before != nil && !c.contentInUse && c.before.Chunks > 0 { // the cleanup's sweep removes objects without an event
		e.Replaced = &event.Content{ID: c.before.ContentID, Chunks: c.before.Chunks}
	}
	return e
}
