package workspace

import (
	"context"
	"slices"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// position returns the workspace's position in the user's list of workspaces.
func (w WorkspaceItem) position() string { return listPosition(w.ID, w.Personal) }

// List returns a page of the caller's workspaces, the personal workspace first, and the cursor of the next page.
// Error: VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) List(
	ctx context.Context, caller httpapi.Caller, page httpapi.PageInput,
) ([]WorkspaceItem, string, error) {
	scope := httpapi.ListScope(caller, "workspaces")
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	all, err := s.store.Memberships(ctx, caller.UserID)
	if err != nil {
		return nil, "", err
	}
	items := itemsOf(all, Membership.item)
	items = slices.DeleteFunc(items, func(w WorkspaceItem) bool { return w.position() <= after })
	return httpapi.CutPage(ctx, s.cursors, scope, items, page.Limit, WorkspaceItem.position)
}

// ListMembers returns a page of the members of a workspace, sorted by user ID, and the cursor of the next page.
// Errors: WORKSPACE_NOT_FOUND; VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) ListMembers(
	ctx context.Context, caller httpapi.Caller, workspaceID string, page httpapi.PageInput,
) ([]MemberItem, string, error) {
	scope := httpapi.ListScope(caller, "members", workspaceID)
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	var list []Membership
	reads, readCtx := async.WithContext(ctx)
	reads.Go(func() error {
		_, err := s.store.Membership(readCtx, caller.UserID, workspaceID)
		return err
	})
	reads.Go(func() (err error) {
		list, err = s.store.members(db.Beside(readCtx), workspaceID, after, page.Limit)
		return err
	})
	if err := reads.Wait(); err != nil {
		return nil, "", err
	}
	items := itemsOf(list, Membership.memberItem)
	return httpapi.CutPage(ctx, s.cursors, scope, items, page.Limit, func(m MemberItem) string { return m.UserID })
}

// itemsOf converts each membership to an item.
func itemsOf[T any](list []Membership, item func(Membership) T) []T {
	items := make([]T, len(list))
	for i, m := range list {
		items[i] = item(m)
	}
	return items
}
