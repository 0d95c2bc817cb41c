package project

import (
	"context"

	"devplatform/shared/event"
	"devplatform/shared/workspace"
)

// logPage asks for a page of a log.
type logPage struct {
	Limit  int    // 0: defaultLimit
	Cursor string // "": the first page
}

// limit is how many entries the page has at most.
func (p logPage) limit() int {
	if p.Limit == 0 {
		return defaultLimit
	}
	return p.Limit
}

// feed is a page of what happened to a project and in it, newest first, and where the next one begins.
func (s *Service) feed(ctx context.Context, projectID string, page logPage) ([]event.Text, string, error) {
	scope := scopeOf(ctx, "feed", projectID)
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
