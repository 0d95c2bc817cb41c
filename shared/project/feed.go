package project

import (
	"context"

	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// feed is a page of what happened to a project and in it, newest first, and where the next one begins.
func (s *Service) feed(ctx context.Context, projectID string, page logPage) ([]event.Text, string, error) {
	scope := httpapi.ListScope(httpapi.CallerFrom(ctx), "feed", projectID)
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	if _, err := s.open(ctx, projectID, workspace.Read); err != nil {
		return nil, "", err
	}
	records, err := s.store.eventsOf(ctx, projectID, after, page.limit()+1)
	if err != nil {
		return nil, "", err
	}
	records, next, err := paged(ctx, s, scope, records, page.limit(), func(r event.Record) string { return r.ID })
	payloads := make([]event.Text, len(records))
	for i, record := range records {
		payloads[i] = record.Payload
	}
	return payloads, next, err
}
