package project

import (
	"context"

	"devplatform/shared/httpapi"
)

// defaultLimit is how many entries a page of a log has if the request does not say (API.md §1).
const defaultLimit = 50

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

// doneOutput is the answer that has nothing to show.
type doneOutput struct{ Body httpapi.Done }

// paged cuts entries, of which one more was read than a page has, to the page and makes the cursor behind its last.
func paged[T any](ctx context.Context, s *Service, scope string, entries []T, limit int, position func(T) string) ([]T, string, error) {
	n := httpapi.Fit(entries, limit)
	if n == len(entries) {
		return entries, "", nil
	}
	next, err := s.cursors.Seal(ctx, scope, position(entries[n-1]))
	return entries[:n], next, err
}
