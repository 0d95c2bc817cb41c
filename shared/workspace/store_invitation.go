package workspace

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/removal"
)

// All open invitations of a workspace are in one item, which decides whether an invitation is open. A second item, the
// pointer, is stored under the invited user or address. The pointer expires with the invitation, and is deleted if the
// invitation ends earlier. Otherwise, the list of a user would have to read all invitations that have ended.

// invitationPointer maps the ID of an invitation to its workspace.
type invitationPointer struct {
	ID          string `dynamodbav:"id"`
	WorkspaceID string `dynamodbav:"workspaceId"`
	ExpiresAt   int64  `dynamodbav:"expiresAt"` // seconds since 1970
}

var attrVersion = expression.Name("version")

// isVersion returns the condition that the open invitations of a workspace have not changed since they were read.
func (l invitations) isVersion() expression.ConditionBuilder {
	if l.Version == 0 {
		return attrVersion.AttributeNotExists()
	}
	return attrVersion.Equal(expression.Value(l.Version))
}

// putInvitations returns the write that replaces the open invitations of a workspace. l has the version that was read.
func (s store) putInvitations(workspaceID string, l invitations) db.Write {
	unchanged := l.isVersion()
	l.Version++
	return s.Projects.Put(db.InvitationsKey(workspaceID), l).If(unchanged)
}

// invitationsWrites returns the writes for the invitations that end because of a change of a member: at most
// maxOpenInvitations+1 writes. If no invitation ends, the write is a check that the open invitations have not changed.
// acceptWrites deletes the pointer of the accepted invitation.
func (s store) invitationsWrites(c change) []db.Write {
	workspaceID, rest := c.member().WorkspaceID, c.invitations.without(c.ends)
	if len(rest.List) == len(c.invitations.List) {
		return []db.Write{s.Projects.Check(db.InvitationsKey(workspaceID), c.invitations.isVersion())}
	}
	writes := []db.Write{s.putInvitations(workspaceID, rest)}
	for _, i := range c.invitations.List {
		// A damaged invitation has no key, and must not prevent the change.
		if key := i.pointerKey(); c.ends(i) && i.ID != c.accepted && !key.IsZero() {
			writes = append(writes, s.Projects.Delete(key))
		}
	}
	return writes
}

// pointerKey returns the key of the item that maps the ID of the invitation to its workspace.
func (i Invitation) pointerKey() db.Key {
	if i.Email != "" {
		return db.AddressInvitationKey(i.Email, i.ID)
	}
	return db.InvitationKey(i.UserID, i.ID)
}

// checkRole returns a check that the stored membership of a user is unchanged, see Membership.isUnchanged.
func (s store) checkRole(m Membership) db.Write {
	return s.Projects.Check(db.MemberKey(m.WorkspaceID, m.UserID), m.isUnchanged())
}

// invite stores an invitation by the caller of the team, and returns it as it was stored. more are further writes of
// the transaction. Call it within db.Retry. Errors: db.ErrStale, ErrNotFound, QUOTA_EXCEEDED, RATE_LIMITED, the errors
// of more.
func (s store) invite(ctx context.Context, t team, i Invitation, more ...db.Write) (Invitation, error) {
	open, replaced, err := t.invitations.with(&i, i.CreatedAt.Time())
	if err != nil {
		return i, err
	}
	workspaceID := t.workspace.ID
	tx := s.client.Tx(s.checkRole(t.caller), s.Exists(workspaceID))
	tx.Add(more...)
	tx.Add(
		s.counters.Write(s.invitationRule, t.caller.UserID), s.putInvitations(workspaceID, open),
		s.Projects.Put(i.pointerKey(), invitationPointer{
			ID: i.ID, WorkspaceID: workspaceID, ExpiresAt: i.ExpiresAt.Time().Unix(),
		}),
	)
	if replaced != "" {
		old := i
		old.ID = replaced
		tx.Add(s.Projects.Delete(old.pointerKey()))
	}
	return i, tx.CommitOnce(ctx)
}

// endInvitation ends an invitation that is in open. checks are checks in the same transaction. Error: db.ErrStale.
func (s store) endInvitation(
	ctx context.Context, workspaceID string, ended Invitation, open invitations, checks ...db.Write,
) error {
	rest := open.without(hasID(ended.ID))
	tx := s.client.Tx(checks...)
	tx.Add(s.putInvitations(workspaceID, rest), s.Projects.Delete(ended.pointerKey()))
	return tx.CommitOnce(ctx)
}

// acceptWrites returns writes of the acceptance of an invitation. The transaction fails with errInvitationNotFound if
// the inviter may no longer grant the role, or if the inviter's account is suspended or has ended. After the end of an
// account, its memberships and invitations remain until LeaveAll ends them.
func (s store) acceptWrites(workspaceID string, i Invitation) []db.Write {
	mayGrant := hasRoleIn(func(r Role) bool { return r.mayGrant(i.Role) }).And(attrSuspended.AttributeNotExists())
	return []db.Write{
		s.Projects.Check(db.MemberKey(workspaceID, i.InviterID), mayGrant).Else(errInvitationNotFound),
		removal.CheckNone(s.Projects, i.InviterID).Else(errInvitationNotFound),
		s.Projects.Delete(i.pointerKey()),
	}
}

// invitationOf returns an open invitation of a user, or of the user's confirmed address, with its team. It makes two
// calls to storage, and a third one for an address. It does not use Get, because the role of the function does not
// allow GetItem. Error: errInvitationNotFound.
func (s store) invitationOf(
	ctx context.Context, caller httpapi.Caller, invitationID string, now time.Time,
) (t team, i Invitation, err error) {
	key := db.InvitationKey(caller.UserID, invitationID)
	items, err := s.Projects.BatchGet(ctx, key)
	if err == nil && items[key] == nil && confirmedEmail(caller) != "" {
		key = db.AddressInvitationKey(confirmedEmail(caller), invitationID)
		items, err = s.Projects.BatchGet(ctx, key)
	}
	if err != nil {
		return t, i, err
	}
	if items[key] == nil {
		return t, i, errInvitationNotFound
	}
	pointer, err := db.Decode[invitationPointer](items[key])
	if err != nil {
		return t, i, err
	}
	return s.invitation(ctx, pointer.WorkspaceID, caller.UserID, now, hasID(invitationID))
}

// invitationWith returns the open invitation with a token, and its team with the user as target. userID may be "". It
// makes one call to storage. Error: errTokenInvalid.
func (s store) invitationWith(
	ctx context.Context, userID, token string, now time.Time,
) (t team, i Invitation, err error) {
	workspaceID, ok := id.Workspace.OfToken(token)
	if !ok {
		return t, i, errTokenInvalid
	}
	hash := id.HashToken(token)
	t, i, err = s.invitation(ctx, workspaceID, userID, now, func(i Invitation) bool { return i.TokenHash == hash })
	if errors.Is(err, errInvitationNotFound) {
		err = errTokenInvalid
	}
	return t, i, err
}

// invitation returns the wanted open invitation to a workspace, and the team with the invited user as target. userID
// may be "". The team has no caller. Error: errInvitationNotFound.
func (s store) invitation(
	ctx context.Context, workspaceID, userID string, now time.Time, isWanted func(Invitation) bool,
) (t team, i Invitation, err error) {
	t, err = s.readTeam(ctx, workspaceID, "", userID)
	switch {
	case errors.Is(err, ErrNotFound):
		return t, i, errInvitationNotFound
	case err != nil:
		return t, i, err
	}
	i, err = t.invitations.find(isWanted, now)
	return t, i, err
}

// invitationsTo returns the open invitations to a user or an address, in the order of their creation. It skips IDs up
// to and including lastID. It returns at most limit+1 invitations, so that the caller can detect a next page.
func (s store) invitationsTo(
	ctx context.Context, prefix db.Prefix, lastID string, limit int, now time.Time,
) ([]UserInvitationItem, error) {
	q := db.Query{Prefix: prefix, After: prefix.After(lastID), Limit: invitationsPerRead}
	var list []UserInvitationItem
	for page, err := range s.Projects.Pages(ctx, q) {
		if err != nil {
			return nil, err
		}
		open, err := s.openInvitations(ctx, db.DecodeAll(ctx, page.Items, db.Decode[invitationPointer]), now)
		if err != nil {
			return nil, err
		}
		list = append(list, open...)
		if len(list) > limit {
			return list[:limit+1], nil
		}
	}
	return list, nil
}

// invitationsPerRead is the number of invitations whose workspaces are read in one call to storage, with two items for
// each workspace.
const invitationsPerRead = 50

// openInvitations returns the open invitations to which pointers refer.
func (s store) openInvitations(
	ctx context.Context, pointers []invitationPointer, now time.Time,
) (list []UserInvitationItem, err error) {
	var keys []db.Key
	for _, p := range pointers {
		keys = append(keys, db.WorkspaceKey(p.WorkspaceID), db.InvitationsKey(p.WorkspaceID))
	}
	items, err := s.Projects.BatchGet(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, p := range pointers {
		workspace, ok := db.DecodeListed(ctx, items[db.WorkspaceKey(p.WorkspaceID)], db.Decode[Workspace])
		open, isDecoded := db.DecodeListed(ctx, items[db.InvitationsKey(p.WorkspaceID)], db.Decode[invitations])
		if !ok || !isDecoded || workspace.ID == "" {
			continue
		}
		if i, err := open.find(hasID(p.ID), now); err == nil {
			list = append(list, UserInvitationItem{i.item(), InvitingWorkspaceItem{ID: workspace.ID, Name: workspace.Name}})
		}
	}
	return list, nil
}
