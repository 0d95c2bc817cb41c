package project

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// Delete deletes a project. The project is unavailable immediately. Package cleanup removes its files and comments
// later.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, CONFLICT.
func (s *Service) Delete(ctx context.Context, caller httpapi.Caller, projectID string) error {
	return db.Retry(ctx, "delete a project", func() error {
		o, err := s.open(ctx, caller, projectID, workspace.DeleteOwnProject)
		if err != nil {
			return err
		}
		e, err := s.event(event.ProjectDeleted, caller, o.record, s.now())
		if err != nil {
			return err
		}
		return s.store.deleteProject(ctx, o.record, e)
	})
}
