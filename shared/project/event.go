package project

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// handleListEvents returns a page of a project's events, newest first.
func (s *Service) handleListEvents(
	ctx context.Context, caller httpapi.Caller, in *feedInput,
) (*feedOutput, error) {
	scope := httpapi.ListScope(caller, "feed", in.ProjectID)
	read := func(ctx context.Context, after string, n int) ([]event.Record, error) {
		events := func(ctx context.Context, _ map[db.Key]db.Item) ([]event.Record, error) {
			return s.store.eventsOf(ctx, in.ProjectID, after, n)
		}
		_, records, err := workspace.ReadWith(ctx, s.store.Access, caller.UserID, in.ProjectID, workspace.Read, events)
		return records, err
	}
	records, next, err := httpapi.ReadPage(ctx, s.cursors, scope, in.PageInput, read,
		func(r event.Record) string { return r.ID })
	out := &feedOutput{}
	out.Body.Events, out.Body.NextCursor = make([]event.Text, len(records)), next
	for i, record := range records {
		out.Body.Events[i] = record.Payload
	}
	return out, err
}
