package workspace

import (
	"context"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// store keeps workspaces and memberships in the projects table.
type store struct {
	Access
	client *db.Client
	quota  int // memberships of a user
}

// Personal returns the writes that create the personal workspace of a new user: the workspace, the membership, and its
// copy. They are part of the transaction that creates the user, and fail if one of the items exists. The count of the
// user's memberships is written with the second membership.
func Personal(projects db.Table, workspaceID, userID, username string, now time.Time) ([]db.Write, error) {
	at := clock.Stamp(now)
	w := Workspace{ID: workspaceID, Name: personalName(username), Personal: true, Owners: 1, CreatedAt: at}
	return founding(projects, w, Membership{
		WorkspaceID: workspaceID, UserID: userID, Username: username, Role: Owner, AddedAt: at,
		Name: w.Name, Personal: true, CreatedAt: at,
	})
}

// founding returns the writes of a workspace and its first owner.
func founding(projects db.Table, w Workspace, owner Membership) ([]db.Write, error) {
	record, err := db.Encode(w)
	if err != nil {
		return nil, err
	}
	membership, err := db.Encode(owner)
	if err != nil {
		return nil, err
	}
	return []db.Write{
		projects.Create(db.WorkspaceKey(w.ID), record),
		projects.Create(db.MemberKey(w.ID, owner.UserID), membership),
		projects.Create(db.MembershipKey(owner.UserID, w.ID), membership),
	}, nil
}

// create creates a workspace with its first owner. Error: errFull.
func (s store) create(ctx context.Context, w Workspace, owner Membership) error {
	writes, err := founding(s.Projects, w, owner)
	if err != nil {
		return err
	}
	err = s.client.Transact(ctx, append(writes, s.countUp(owner.UserID))...)
	if db.FailedAt(err, len(writes)) {
		return errFull
	}
	return err
}

// maxMembers is more members than a response of 4 MiB can hold.
const maxMembers = 40_000

// members returns the members of a workspace that come after a user ID, in the order of user IDs. With a limit, it
// returns one more than that, if there is one.
func (s store) members(ctx context.Context, workspaceID, after string, limit int) ([]Membership, error) {
	prefix := db.MembersOf(workspaceID)
	q := db.Query{Prefix: prefix, After: prefix.After(after)}
	enough := maxMembers
	if limit > 0 {
		enough = limit + 1
		q.Limit = enough
	}
	var list []Membership
	for {
		page, err := s.Projects.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		members, err := db.DecodeAll[Membership](page.Items)
		if err != nil {
			return nil, err
		}
		list = append(list, members...)
		if page.Next.IsZero() || len(list) >= enough {
			return list, nil
		}
		q.After = page.Next
	}
}

// pair returns the memberships of two users in a workspace, nil for a user who is not a member, in one call to storage.
func (s store) pair(ctx context.Context, workspaceID, userID, otherID string) (user, other *Membership, _ error) {
	keys := []db.Key{db.MemberKey(workspaceID, userID), db.MemberKey(workspaceID, otherID)}
	items, err := s.Projects.BatchGet(ctx, keys...)
	if err != nil {
		return nil, nil, err
	}
	var found [2]*Membership
	for i, key := range keys {
		if items[key] == nil {
			continue
		}
		m, err := db.Decode[Membership](items[key])
		if err != nil {
			return nil, nil, err
		}
		found[i] = &m
	}
	return found[0], found[1], nil
}
