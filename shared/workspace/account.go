package workspace

import (
	"cmp"
	"context"
	"slices"

	"devplatform/shared/async"
	"devplatform/shared/db"
)

// The account of a workspace is the user whose limits apply to it: the owner who was added first. It is computed from
// the memberships. If the ownership changes, the next request uses the new account.

// Account returns the user ID of a workspace's account. It reads all members, usually in one call to storage.
// Error: ErrNotFound if the workspace has no owner, which means that it does not exist.
func (s Access) Account(ctx context.Context, workspaceID string) (userID string, err error) {
	var first *Membership
	err = db.EachRecord(ctx, s.Projects, db.MembersOf(workspaceID), db.Decode[Membership], func(m Membership) {
		if m.Role == Owner && (first == nil ||
			cmp.Or(m.AddedAt.Time().Compare(first.AddedAt.Time()), cmp.Compare(m.UserID, first.UserID)) < 0) {
			first = &m
		}
	}, "userId", "role", "addedAt")
	switch {
	case err != nil:
		return "", err
	case first == nil:
		return "", ErrNotFound
	}
	return first.UserID, nil
}

// accountReads is the number of workspaces whose members AccountWorkspaces reads concurrently.
const accountReads = 16

// AccountWorkspaces returns the IDs of the workspaces whose account is the user. It makes two calls to storage, and one
// for each workspace that the user owns together with other users.
func (s Access) AccountWorkspaces(ctx context.Context, userID string) ([]string, error) {
	all, err := s.UserWorkspaces(ctx, userID)
	if err != nil {
		return nil, err
	}
	owned := slices.DeleteFunc(all, func(d Details) bool { return d.Membership.Role != Owner })
	isAccount := make([]bool, len(owned))
	group, groupCtx := async.WithContext(ctx)
	group.SetLimit(accountReads)
	for i, d := range owned {
		if d.Workspace.Owners == 1 {
			isAccount[i] = true
			continue
		}
		group.Go(func() error {
			account, err := s.Account(groupCtx, d.Workspace.ID)
			isAccount[i] = account == userID
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var ids []string
	for i, d := range owned {
		if isAccount[i] {
			ids = append(ids, d.Workspace.ID)
		}
	}
	return ids, nil
}
