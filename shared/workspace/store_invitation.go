package workspace

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// An invitation is stored in the item with the open invitations of its workspace, which decides whether it is open. An
// item below the invited user maps its ID to the workspace. That item can remain when the invitation ends. It expires
// with the invitation.

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

// endInvitations returns the write that ends the invitations that a change of a member ends. If there are none, it
// checks that no invitation was created since they were read.
func (s store) endInvitations(c change) db.Write {
	workspaceID, rest := c.member().WorkspaceID, c.open.without(c.ends)
	if len(rest.List) == len(c.open.List) {
		return s.Projects.Check(db.InvitationsKey(workspaceID), c.open.isVersion())
	}
	return s.putInvitations(workspaceID, rest)
}

// invite stores an invitation by a member. open contains it. replaced is the ID of the invitation that it replaces, or
// "". If invitee.Role is "", the user must not be a member, otherwise the user must have that role.
// Errors: db.ErrStale, ErrNotFound, errAlreadyMember, the error of count.
func (s store) invite(
	ctx context.Context, invitee, inviter Membership, i Invitation, open invitations, replaced string, count db.Write,
) error {
	workspaceID := invitee.WorkspaceID
	tx := s.client.Tx(
		s.Projects.Check(db.MemberKey(workspaceID, inviter.UserID), hasRole(inviter.Role)),
		s.Projects.Check(db.WorkspaceKey(workspaceID), s.Projects.Exists()).Else(ErrNotFound),
	)
	member := db.MemberKey(workspaceID, invitee.UserID)
	if invitee.Role == "" {
		tx.Add(s.Projects.Check(member, attrRole.AttributeNotExists()).Else(errAlreadyMember))
	} else {
		tx.Add(s.Projects.Check(member, hasRole(invitee.Role)))
	}
	tx.Add(s.putInvitations(workspaceID, open), count,
		s.Projects.Put(db.InvitationKey(i.UserID, i.ID), invitationPointer{
			ID: i.ID, WorkspaceID: workspaceID, ExpiresAt: i.ExpiresAt.Time().Unix(),
		}))
	if replaced != "" {
		tx.Add(s.Projects.Delete(db.InvitationKey(i.UserID, replaced)))
	}
	return tx.CommitOnce(ctx)
}

// endInvitation ends an invitation that is in open. checks are further writes of the transaction. Error: db.ErrStale.
func (s store) endInvitation(
	ctx context.Context, workspaceID string, ended Invitation, open invitations, checks ...db.Write,
) error {
	rest := open.without(func(i Invitation) bool { return i.ID == ended.ID })
	tx := s.client.Tx(checks...)
	tx.Add(s.putInvitations(workspaceID, rest), s.Projects.Delete(db.InvitationKey(ended.UserID, ended.ID)))
	return tx.CommitOnce(ctx)
}

// acceptWrites returns writes of the acceptance of an invitation. The transaction fails with errInvitationNotFound if
// the inviter may no longer grant the role.
func (s store) acceptWrites(workspaceID string, i Invitation) []db.Write {
	mayGrant := hasRoleIn(func(r Role) bool { return r.mayGrant(i.Role) })
	return []db.Write{
		s.Projects.Check(db.MemberKey(workspaceID, i.InviterID), mayGrant).Else(errInvitationNotFound),
		s.Projects.Delete(db.InvitationKey(i.UserID, i.ID)),
	}
}

// invitationOf returns an open invitation of a user with its team. The team has no caller. It makes two calls to
// storage. Error: errInvitationNotFound.
func (s store) invitationOf(
	ctx context.Context, userID, invitationID string, now time.Time,
) (t team, i Invitation, err error) {
	key := db.InvitationKey(userID, invitationID)
	items, err := s.Projects.BatchGet(ctx, key)
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
	workspace, open := db.WorkspaceKey(pointer.WorkspaceID), db.InvitationsKey(pointer.WorkspaceID)
	member := db.MemberKey(pointer.WorkspaceID, userID)
	if items, err = s.Projects.BatchGet(ctx, workspace, open, member); err != nil {
		return t, i, err
	}
	if items[workspace] == nil {
		return t, i, errInvitationNotFound
	}
	if t.workspace, err = db.Decode[Workspace](items[workspace]); err != nil {
		return t, i, err
	}
	if t.open, err = db.Decode[invitations](items[open]); err != nil {
		return t, i, err
	}
	if items[member] != nil {
		_, found, err := memberOf(items[workspace], items[member])
		if err != nil {
			return t, i, err
		}
		t.target = &found
	}
	i, err = t.open.find(invitationID, now)
	return t, i, err
}

// userInvitations returns the open invitations of a user, in the order of their creation. It skips IDs up to and
// including lastID. If limit is not 0, it returns at most limit+1 invitations, so that the caller can detect a next
// page.
func (s store) userInvitations(
	ctx context.Context, userID, lastID string, limit int, now time.Time,
) ([]UserInvitation, error) {
	prefix := db.InvitationsOf(userID)
	q := db.Query{Prefix: prefix, After: prefix.After(lastID), Limit: invitationsPerRead}
	var list []UserInvitation
	for page, err := range s.Projects.Pages(ctx, q) {
		if err != nil {
			return nil, err
		}
		open, err := s.openInvitations(ctx, db.DecodeAll(ctx, page.Items, db.Decode[invitationPointer]), now)
		if err != nil {
			return nil, err
		}
		list = append(list, open...)
		if limit > 0 && len(list) > limit {
			return list[:limit+1], nil
		}
	}
	return list, nil
}

// invitationsPerRead is the number of invitations whose workspaces are read in one call to storage, with two items for
// each workspace.
const invitationsPerRead = 50

// openInvitations returns the invitations of the pointers that are open.
func (s store) openInvitations(
	ctx context.Context, pointers []invitationPointer, now time.Time,
) (list []UserInvitation, err error) {
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
		if i, err := open.find(p.ID, now); err == nil {
			list = append(list, UserInvitation{Invitation: i, WorkspaceID: workspace.ID, WorkspaceName: workspace.Name})
		}
	}
	return list, nil
}
