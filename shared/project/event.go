package project

import (
	"context"

	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// ListEvents returns a page of a project's events, newest first, and the cursor of the next page.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED; VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) ListEvents(
	ctx context.Context, caller httpapi.Caller, projectID string, page httpapi.PageInput,
) ([]event.Text, string, error) {
	scope := httpapi.ListScope(caller, "feed", projectID)
	read := func(ctx context.Context, after string, n int) ([]event.Record, error) {
		if _, err := s.open(ctx, caller, projectID, workspace.Read); err != nil {
			return nil, err
		}
		return s.store.eventsOf(ctx, projectID, after, n)
	}
	records, next, err := httpapi.ReadPage(ctx, s.cursors, scope, page, read, func(r event.Record) string { return r.ID })
	payloads := make([]event.Text, len(records))
	for i, record := range records {
		payloads[i] = record.Payload
	}
	return payloads, next, err
}
