package workspace

import (
	"context"
	"fmt"
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

// Personal are the writes that give a new user a workspace of their own: the record, the
// membership and its mirror. They travel in the transaction that makes the user, each on the condition that
// nothing of the kind exists. The count of the user's memberships begins with it and is not written until there is another.
func Personal(projects db.Table, workspaceID, userID, username string, now time.Time) ([]db.Write, error) {
	at := clock.Stamp(now)
	place := Workspace{ID: workspaceID, Name: personalName(username), Personal: true, Owners: 1, CreatedAt: at}
	return founding(projects, place, Membership{
		WorkspaceID: workspaceID, UserID: userID, Username: username, Role: Owner, AddedAt: at,
		Name: place.Name, Personal: true, CreatedAt: at,
	})
}

// founding are the writes of a workspace and its first owner.
func founding(projects db.Table, place Workspace, owner Membership) ([]db.Write, error) {
	record, err := db.Encode(place)
	if err != nil {
		return nil, err
	}
	membership, err := db.Encode(owner)
	if err != nil {
		return nil, err
	}
	return []db.Write{
		projects.Create(db.WorkspaceKey(place.ID), record),
		projects.Create(db.MemberKey(place.ID, owner.UserID), membership),
		projects.Create(db.MembershipKey(owner.UserID, place.ID), membership),
	}, nil
}

// create makes a workspace with its first owner. Error: errFull.
func (s store) create(ctx context.Context, place Workspace, owner Membership) error {
	writes, err := founding(s.Projects, place, owner)
	if err != nil {
		return err
	}
	err = s.client.Transact(ctx, append(writes, s.countUp(owner.UserID))...)
	if db.FailedAt(err, len(writes)) {
		return errFull
	}
	if err != nil {
		return fmt.Errorf("creating a workspace: %w", err)
	}
	return nil
}

// maxMembers is more members than an answer of 4 MiB holds.
const maxMembers = 40_000

// members lists the members of a workspace in the order of the users' ids, behind one of them if after is not "". With a limit it
// reads one more, if there is one: whether there is tells whether the list goes on.
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
			return nil, fmt.Errorf("listing members: %w", err)
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

// pair reads a user's place in a workspace and another's, nil where there is none, in one call.
func (s store) pair(ctx context.Context, workspaceID, userID, otherID string) (user, other *Membership, _ error) {
	keys := []db.Key{db.MemberKey(workspaceID, userID), db.MemberKey(workspaceID, otherID)}
	items, err := s.Projects.BatchGet(ctx, keys...)
	if err != nil {
		return nil, nil, fmt.Errorf("reading members: %w", err)
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
