package workspace

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// ReadPage returns a page of a list, and the cursor of the next page, "" if there is none. read returns up to n entries that
// come after a position, or all if n is 0. position returns the position of an entry.
func ReadPage[T any](
	ctx context.Context, cursors *db.Cursors, scope string, in httpapi.PageInput,
	read func(ctx context.Context, after string, n int) ([]T, error), position func(T) string,
) ([]T, string, error) {
	after, err := cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, "", err
	}
	n := 0
	if in.Limit > 0 {
		n = in.Limit + 1
	}
	entries, err := read(ctx, after, n)
	if err != nil {
		return nil, "", err
	}
	fitting := httpapi.Fit(entries, in.Limit)
	if fitting == len(entries) {
		return entries, "", nil
	}
	next, err := cursors.Seal(ctx, scope, position(entries[fitting-1]))
	return entries[:fitting], next, err
}
