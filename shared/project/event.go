package project

import (
	"context"

	"devplatform/shared/db"
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
		events := func(ctx context.Context, _ map[db.Key]db.Item) ([]event.Record, error) {
			return s.store.eventsOf(ctx, projectID, after, n)
		}
		_, records, err := workspace.ReadWith(ctx, s.store.Access, caller.UserID, projectID, workspace.Read, events)
		return records, err
	}
	records, next, err := httpapi.ReadPage(ctx, s.cursors, scope, page, read, func(r event.Record) string { return r.ID })
	payloads := make([]event.Text, len(records))
	for i, record := range records {
		payloads[i] = record.Payload
	}
	return payloads, next, err
}
