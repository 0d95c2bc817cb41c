package workspace

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/limit"
	"devplatform/shared/removal"
)

// store stores workspaces and memberships in the projects table.
type store struct {
	Access
	client *db.Client
	quota  int // maximum number of memberships of a user

	counters       *limit.Counters
	invitationRule limit.Rule
}

// Personal returns the writes that create the personal workspace of a new user: the workspace and both copies of the
// membership. They are part of the transaction that creates the user, and fail if one of the items exists. The counter
// of the user's memberships is stored later, when the user gets a second membership.
func Personal(projects db.Table, workspaceID, userID, username string, now time.Time) []db.Write {
	at := clock.Stamp(now)
	w := Workspace{
		ID: workspaceID, Name: personalName(username), Personal: true, Owners: 1, Members: 1, CreatedAt: at,
	}
	return creationWrites(projects, w, Membership{
		WorkspaceID: workspaceID, UserID: userID, Username: username, Role: Owner, AddedAt: at,
		Personal: true, CreatedAt: at,
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

// rename stores the name of a workspace. Call it within db.Retry. Error: db.ErrStale.
func (s store) rename(ctx context.Context, d Details) error {
	name := expression.Set(attrName, expression.Value(d.Workspace.Name))
	return s.client.Tx(
		s.checkRole(d.Membership),
		s.Projects.Update(db.WorkspaceKey(d.Workspace.ID), name).If(s.Projects.Exists()),
	).CommitOnce(ctx)
}

// MembershipsUnchanged returns a check that the user's number of memberships is the stored one. Call it before the
// memberships are read: a transaction with the check fails if the user has joined, created or left a workspace since
// this call. Error of the check: db.ErrStale.
func (s Access) MembershipsUnchanged(ctx context.Context, userID string) (db.Write, error) {
	key := db.MembershipCountKey(userID)
	items, err := s.Projects.BatchGet(ctx, key)
	unchanged := attrCount.AttributeNotExists()
	if n := items[key]["n"]; n != nil {
		unchanged = attrCount.Equal(expression.Value(n))
	}
	return s.Projects.Check(key, unchanged).Else(db.ErrStale), err
}

// EndWrite returns the write that ends a workspace, on the condition that it has the name and the numbers of owners and
// members that were read. The removal of its data must be added in the same transaction (package removal). Error:
// db.ErrStale.
func (s Access) EndWrite(w Workspace) db.Write {
	unchanged := attrName.Equal(expression.Value(w.Name)).And(attrOwners.Equal(expression.Value(w.Owners))).
		And(attrMembers.Equal(expression.Value(w.Members)))
	return s.Projects.Delete(db.WorkspaceKey(w.ID)).If(unchanged).Else(db.ErrStale)
}

// end ends a workspace of an owner, and adds the removal of its data. Call it within db.Retry. Error: db.ErrStale.
func (s store) end(ctx context.Context, d Details, now time.Time) error {
	return s.client.Tx(
		s.checkRole(d.Membership), s.EndWrite(d.Workspace),
		removal.Create(s.Projects, removal.Workspace, d.Workspace.ID, now),
	).CommitOnce(ctx)
}

// maxMembers limits a list without a page limit. A response of 4 MiB has space for fewer members than this.
const maxMembers = 40_000

// members returns the members of a workspace, sorted by user ID. It skips user IDs up to and including lastID. If limit
// is not 0, it stops when it has limit+1 members or more, so that the caller can detect a next page.
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

// team is the stored data for a decision about the members of a workspace.
type team struct {
	workspace Workspace
	caller    Membership
	// target is the membership of the user to change, nil if the user is not a member.
	target      *Membership
	invitations invitations
}

// readTeam reads the team of a workspace. It makes one call to storage. For an invited user, callerID is "", and the
// team has no caller. targetID may be "", too. Error: ErrNotFound if the workspace has ended, or if the caller is not a
// member.
func (s store) readTeam(ctx context.Context, workspaceID, callerID, targetID string) (t team, err error) {
	caller, target := db.MemberKey(workspaceID, callerID), db.MemberKey(workspaceID, targetID)
	workspace, open := db.WorkspaceKey(workspaceID), db.InvitationsKey(workspaceID)
	items, err := s.Projects.BatchGet(ctx, caller, target, workspace, open)
	switch {
	case err != nil:
		return t, err
	case items[workspace] == nil:
		return t, ErrNotFound
	case callerID != "":
		_, t.caller, err = memberOf(items[workspace], items[caller])
	}
	if err == nil {
		t.workspace, err = db.Decode[Workspace](items[workspace])
	}
	if err == nil {
		t.invitations, err = db.Decode[invitations](items[open])
	}
	if err != nil || items[target] == nil {
		return t, err
	}
	_, found, err := memberOf(items[workspace], items[target])
	t.target = &found
	return t, err
}
