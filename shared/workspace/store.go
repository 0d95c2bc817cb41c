package workspace

import (
	"context"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// store stores workspaces and memberships in the projects table.
type store struct {
	Access
	client *db.Client
	quota  int // maximum number of memberships of a user
}

// Personal returns the writes that create the personal workspace of a new user: the workspace and both copies of the
// membership. They are part of the transaction that creates the user, and fail if one of the items exists. The counter
// of the user's memberships is stored later, when the user gets a second membership.
func Personal(projects db.Table, workspaceID, userID, username string, now time.Time) []db.Write {
	at := clock.Stamp(now)
	w := Workspace{ID: workspaceID, Name: personalName(username), Personal: true, Owners: 1, CreatedAt: at}
	return creationWrites(projects, w, Membership{
		WorkspaceID: workspaceID, UserID: userID, Username: username, Role: Owner, AddedAt: at,
		Name: w.Name, Personal: true, CreatedAt: at,
	})
}

// creationWrites returns the writes that create a workspace and the membership of its first owner.
func creationWrites(projects db.Table, w Workspace, owner Membership) []db.Write {
	return []db.Write{
		projects.Create(db.WorkspaceKey(w.ID), w),
		projects.Create(db.MemberKey(w.ID, owner.UserID), owner),
		projects.Create(db.MembershipKey(owner.UserID, w.ID), owner),
	}
}

// create creates a workspace with its first owner. Error: errCallerQuota.
func (s store) create(ctx context.Context, w Workspace, owner Membership) error {
	tx := s.client.Tx(creationWrites(s.Projects, w, owner)...)
	tx.Add(s.countUp(owner.UserID).Else(errCallerQuota(s.quota)))
	return tx.Commit(ctx)
}

// maxMembers limits a list without a page limit. A response of 4 MiB has space for fewer members than this.
const maxMembers = 40_000

// members returns the members of a workspace, sorted by user ID. It skips user IDs up to and including lastID. If limit
// is not 0, it returns at most limit+1 members, so that the caller can detect a next page.
func (s store) members(ctx context.Context, workspaceID, lastID string, limit int) ([]Membership, error) {
	prefix := db.MembersOf(workspaceID)
	q := db.Query{Prefix: prefix, After: prefix.After(lastID)}
	wanted := maxMembers
	if limit > 0 {
		wanted = limit + 1
		q.Limit = wanted
	}
	var list []Membership
	for page, err := range s.Projects.Pages(ctx, q) {
		if err != nil {
			return nil, err
		}
		list = append(list, db.DecodeAll(ctx, page.Items, db.DecodeByID(func(m Membership) string { return m.UserID }))...)
		if len(list) >= wanted {
			break
		}
	}
	return list, nil
}

// callerAndTarget returns the caller's membership in a workspace, and the membership of a target user, which is nil if
// the user is not a member. It makes one call to storage. Error: ErrNotFound if the caller is not a member.
func (s store) callerAndTarget(
	ctx context.Context, workspaceID, callerID, targetID string,
) (own Membership, target *Membership, _ error) {
	ownKey, targetKey := db.MemberKey(workspaceID, callerID), db.MemberKey(workspaceID, targetID)
	items, err := s.Projects.BatchGet(ctx, ownKey, targetKey)
	if err != nil {
		return Membership{}, nil, err
	}
	if own, err = db.Decode[Membership](items[ownKey]); err != nil {
		return Membership{}, nil, err
	}
	if !own.Role.May(Read) {
		return Membership{}, nil, ErrNotFound
	}
	if items[targetKey] == nil {
		return own, nil, nil
	}
	found, err := db.Decode[Membership](items[targetKey])
	return own, &found, err
}
