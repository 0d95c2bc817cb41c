package workspace

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"devplatform/shared/httpapi"
)

// rank is a membership's place in its person's list: their own personal workspace, then by the ids of the workspaces, which is the
// order in which they were made.
func (m Membership) rank() string {
	if m.Personal {
		return "0" + m.WorkspaceID
	}
	return "1" + m.WorkspaceID
}

func inOrder(list []Membership) []Membership {
	slices.SortFunc(list, func(a, b Membership) int { return cmp.Compare(a.rank(), b.rank()) })
	return list
}

// list is a page of a user's workspaces, with the cursor of the next one, "" if it is the last.
func (s *Service) list(ctx context.Context, userID string, page httpapi.PageInput) ([]workspaceItem, string, error) {
	scope := "workspaces " + userID
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	list, err := s.store.Memberships(ctx, userID)
	if err != nil {
		return nil, "", err
	}
	list = slices.DeleteFunc(list, func(m Membership) bool { return m.rank() <= after })
	items := itemsOf(list, Membership.workspaceItem)
	n := httpapi.Fit(items, page.Limit)
	if n == len(items) {
		return items, "", nil
	}
	next, err := s.cursors.Seal(ctx, scope, list[n-1].rank())
	return items[:n], next, err
}

// listMembers is a page of a workspace's members for somebody who is one of them, with the cursor of the next one, "" if it is the last.
func (s *Service) listMembers(ctx context.Context, userID, workspaceID string, page httpapi.PageInput) ([]memberItem, string, error) {
	scope := "members " + workspaceID + " " + userID
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	var list []Membership
	reads, readCtx := errgroup.WithContext(ctx)
	reads.Go(func() error {
		_, err := s.store.Membership(readCtx, userID, workspaceID)
		return err
	})
	reads.Go(func() error {
		var err error
		list, err = s.store.members(readCtx, workspaceID, after, page.Limit)
		return err
	})
	if err := reads.Wait(); err != nil {
		return nil, "", err //nolint:wrapcheck // one of the two above
	}
	items := itemsOf(list, Membership.memberItem)
	n := httpapi.Fit(items, page.Limit)
	if n == len(items) {
		return items, "", nil
	}
	next, err := s.cursors.Seal(ctx, scope, items[n-1].UserID)
	return items[:n], next, err
}

// itemsOf shows memberships, never as null.
func itemsOf[T any](list []Membership, show func(Membership) T) []T {
	items := make([]T, len(list))
	for i, m := range list {
		items[i] = show(m)
	}
	return items
}
