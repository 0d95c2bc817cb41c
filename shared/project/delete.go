package project

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// Delete deletes a project. The project and its site are unavailable immediately. Package cleanup removes its files and
// comments later.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, CONFLICT.
func (s *Service) Delete(ctx context.Context, caller httpapi.Caller, projectID string) error {
	return db.Retry(ctx, "delete a project", func(ctx context.Context) error {
		site := db.SiteKey(projectID)
		o, err := s.open(ctx, caller, projectID, workspace.DeleteOwnProject, site)
		if err != nil {
			return err
		}
		now := s.now()
		e, err := s.event(event.ProjectDeleted, caller, o.record, now)
		if err != nil {
			return err
		}
		writes := []db.Write{e}
		if s.removeSite != nil {
			removal, err := s.removeSite(changeOf(event.ProjectDeleted, caller, o.record), o.Items[site], now)
			if err != nil {
				return err
			}
			writes = append(writes, removal...)
		}
		return s.store.deleteProject(ctx, o.record, writes...)
	})
}
