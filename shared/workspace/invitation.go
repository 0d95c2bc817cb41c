package workspace

import (
	"cmp"
	"context"
	"slices"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
)

// The limits of invitations.
const (
	// InvitationsPerDay is the number of invitations that a user can create in one day (UTC).
	InvitationsPerDay = 20
	// maxOpenInvitations is the maximum number of open invitations of a workspace.
	maxOpenInvitations = 50
	// invitationLifetime is the time after which an invitation expires.
	invitationLifetime = 7 * 24 * time.Hour
	// repeatAfter is the time after which the same invitation can be created again.
	repeatAfter = 5 * time.Minute
)

// Invitation is an open invitation of a user to a workspace. The attribute names are part of the data format.
type Invitation struct {
	ID          string          `dynamodbav:"id"`
	UserID      string          `dynamodbav:"userId"`
	Username    string          `dynamodbav:"username"`
	Role        Role            `dynamodbav:"role"`      // Owner only for a user who is a member
	InviterID   string          `dynamodbav:"inviterId"` // user ID
	InviterName string          `dynamodbav:"inviterName"`
	CreatedAt   clock.Timestamp `dynamodbav:"createdAt"`
	ExpiresAt   clock.Timestamp `dynamodbav:"expiresAt"`
}

// newInvitation returns an invitation that a member creates.
func (s *Service) newInvitation(inviter Membership, userID, username string, role Role, now time.Time) Invitation {
	return Invitation{
		ID: s.ids.New(id.Invitation), UserID: userID, Username: username, Role: role,
		InviterID: inviter.UserID, InviterName: inviter.Username,
		CreatedAt: clock.Stamp(now), ExpiresAt: clock.Stamp(now.Add(invitationLifetime)),
	}
}

// invitations is the item with the open invitations of a workspace. It makes the
// invitation of a user unique, and counts the invitations. It is small: an invitation has about 300 bytes.
type invitations struct {
	Version int          `dynamodbav:"version"` // increases with each write; 0 if the item does not exist
	List    []Invitation `dynamodbav:"list"`    // can contain expired invitations
}

// open returns the invitations that have not expired.
func (l invitations) open(now time.Time) []Invitation {
	return slices.DeleteFunc(slices.Clone(l.List), func(i Invitation) bool { return !now.Before(i.ExpiresAt.Time()) })
}

// find returns an open invitation. Error: errInvitationNotFound.
func (l invitations) find(invitationID string, now time.Time) (Invitation, error) {
	for _, i := range l.open(now) {
		if i.ID == invitationID {
			return i, nil
		}
	}
	return Invitation{}, errInvitationNotFound
}

// with returns the list with a new invitation. If the user was already invited with another role, the open invitation
// gets the new role and the new inviter. If it was the same role, the new invitation replaces it. replaced is the ID of
// the replaced invitation, or "". Errors: errInvitationQuota; ErrTooMany if the open invitation was created less than
// repeatAfter ago.
func (l invitations) with(next *Invitation, now time.Time) (changed invitations, replaced string, err error) {
	l.List = l.open(now)
	i := slices.IndexFunc(l.List, func(old Invitation) bool { return old.UserID == next.UserID })
	if i < 0 {
		if len(l.List) >= maxOpenInvitations {
			return l, "", errInvitationQuota
		}
		l.List = append(l.List, *next)
		return l, "", nil
	}
	old := l.List[i]
	if old.Role != next.Role {
		next.ID, next.CreatedAt, next.ExpiresAt = old.ID, old.CreatedAt, old.ExpiresAt
		l.List[i] = *next
		return l, "", nil
	}
	if wait := old.CreatedAt.Time().Add(repeatAfter).Sub(now); wait > 0 {
		return l, "", limit.Status{Reset: wait}.WithRetryAfter(errInvitedRecently)
	}
	l.List = append(slices.Delete(l.List, i, i+1), *next)
	return l, old.ID, nil
}

// without returns the list without the invitations that end.
func (l invitations) without(ends func(Invitation) bool) invitations {
	l.List = slices.DeleteFunc(slices.Clone(l.List), ends)
	return l
}

// ends reports whether a change of a member ends an invitation. When a user joins or leaves, the invitations of the
// user end. When a user loses the right to grant a role, the invitations by the user with that role end.
func (c change) ends(i Invitation) bool {
	m := c.member()
	switch {
	case i.UserID == m.UserID:
		return c.before == nil || c.after == nil || c.after.Role.Covers(i.Role)
	case i.InviterID == m.UserID:
		return c.after == nil || !c.after.Role.mayGrant(i.Role)
	}
	return false
}

// mayGrant reports whether a member with role r may invite users with a role.
func (r Role) mayGrant(role Role) bool { return r.May(ManageMembers) && r.Covers(role) }

// Invite invites a user to a workspace. role is not Owner.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, USER_NOT_FOUND, QUOTA_EXCEEDED, RATE_LIMITED, CONFLICT.
func (s *Service) Invite(
	ctx context.Context, caller httpapi.Caller, workspaceID, username string, role Role,
) (invited Invitation, err error) {
	userID := ""
	err = db.Retry(ctx, "invite a user", func(ctx context.Context) error {
		t, err := s.store.team(ctx, workspaceID, caller.UserID, caller.UserID)
		if err == nil {
			err = checkGrant(t.caller, role)
		}
		if err == nil && userID == "" {
			userID, username, err = s.people.FindByUsername(ctx, username)
		}
		if err == nil && userID == caller.UserID {
			err = errAlreadyMember
		}
		if err != nil {
			return err
		}
		invited, err = s.invite(ctx, t, Membership{WorkspaceID: workspaceID, UserID: userID, Username: username}, role)
		return err
	})
	return invited, err
}

// invite stores an invitation of a user with a role. If invitee.Role is "", the user must not be a member. Otherwise
// the user must have that role. Call it within db.Retry.
// Errors: db.ErrStale, QUOTA_EXCEEDED, RATE_LIMITED, CONFLICT.
func (s *Service) invite(ctx context.Context, t team, invitee Membership, role Role) (Invitation, error) {
	now := s.now()
	next := s.newInvitation(t.caller, invitee.UserID, invitee.Username, role, now)
	open, replaced, err := t.open.with(&next, now)
	if err != nil {
		return next, err
	}
	return next, s.store.invite(ctx, invitee, t.caller, next, open, replaced,
		s.counters.Write(s.invitationRule, t.caller.UserID))
}

// ListInvitations returns a page of the open invitations of a workspace, in the order of their creation, and the cursor
// of the next page. Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED; VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) ListInvitations(
	ctx context.Context, caller httpapi.Caller, workspaceID string, page httpapi.PageInput,
) ([]InvitationItem, string, error) {
	scope := httpapi.ListScope(caller, "invitations", workspaceID)
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	t, err := s.store.team(ctx, workspaceID, caller.UserID, caller.UserID)
	if err != nil {
		return nil, "", err
	}
	if !t.caller.Role.May(ManageMembers) {
		return nil, "", ErrDenied
	}
	open := t.open.open(s.now())
	slices.SortFunc(open, func(a, b Invitation) int { return cmp.Compare(a.ID, b.ID) })
	items := []InvitationItem{}
	for _, i := range open {
		if i.ID > after {
			items = append(items, i.item())
		}
	}
	return httpapi.CutPage(ctx, s.cursors, scope, items, page.Limit, func(i InvitationItem) string { return i.ID })
}

// RevokeInvitation ends an invitation.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, INVITATION_NOT_FOUND, CONFLICT.
func (s *Service) RevokeInvitation(
	ctx context.Context, caller httpapi.Caller, workspaceID, invitationID string,
) error {
	return db.Retry(ctx, "revoke an invitation", func(ctx context.Context) error {
		t, err := s.store.team(ctx, workspaceID, caller.UserID, caller.UserID)
		if err != nil {
			return err
		}
		if !t.caller.Role.May(ManageMembers) {
			return ErrDenied
		}
		i, err := t.open.find(invitationID, s.now())
		if err != nil {
			return err
		}
		if !t.caller.Role.Covers(i.Role) {
			return errRoleTooHigh
		}
		return s.store.endInvitation(ctx, workspaceID, i, t.open,
			s.store.Projects.Check(db.MemberKey(workspaceID, caller.UserID), hasRole(t.caller.Role)))
	})
}

// UserInvitation is an open invitation as the invited user sees it.
type UserInvitation struct {
	Invitation

	WorkspaceID, WorkspaceName string
}

// ListUserInvitations returns a page of the caller's open invitations, in the order of their creation, and the cursor
// of the next page. Error: VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) ListUserInvitations(
	ctx context.Context, caller httpapi.Caller, page httpapi.PageInput,
) ([]UserInvitationItem, string, error) {
	scope := httpapi.ListScope(caller, "userInvitations")
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	list, err := s.store.userInvitations(ctx, caller.UserID, after, page.Limit, s.now())
	if err != nil {
		return nil, "", err
	}
	items := make([]UserInvitationItem, len(list))
	for i, invitation := range list {
		items[i] = invitation.userItem()
	}
	return httpapi.CutPage(ctx, s.cursors, scope, items, page.Limit, func(i UserInvitationItem) string { return i.ID })
}

// AcceptInvitation makes the caller a member of the workspace, or an owner if the invitation offers ownership to a
// member. Errors: INVITATION_NOT_FOUND, QUOTA_EXCEEDED, CONFLICT.
func (s *Service) AcceptInvitation(
	ctx context.Context, caller httpapi.Caller, invitationID string,
) (joined Membership, err error) {
	err = db.Retry(ctx, "accept an invitation", func(ctx context.Context) error {
		now := s.now()
		t, accepted, err := s.store.invitationOf(ctx, caller.UserID, invitationID, now)
		if err != nil {
			return err
		}
		if err := checkAccept(t.target, accepted); err != nil {
			return err
		}
		if t.target != nil {
			joined = *t.target
			joined.Role = accepted.Role
		} else {
			joined = Membership{
				WorkspaceID: t.workspace.ID, UserID: caller.UserID, Username: caller.Account().Username,
				Role: accepted.Role, AddedAt: clock.Stamp(now), Name: t.workspace.Name, CreatedAt: t.workspace.CreatedAt,
			}
		}
		c := change{by: caller, before: t.target, after: &joined, open: t.open}
		c.more = s.store.acceptWrites(t.workspace.ID, accepted)
		return s.apply(ctx, c, now)
	})
	return joined, err
}

// checkAccept returns an error if a user with this membership, nil for none, may not accept an invitation.
func checkAccept(target *Membership, i Invitation) error {
	switch {
	case target == nil && i.Role == Owner:
		return errInvitationNotFound // ownership is offered only to members
	case target != nil && i.Role != Owner:
		return errSelfMember
	}
	return nil
}

// DeclineInvitation ends an invitation of the caller. Errors: INVITATION_NOT_FOUND, CONFLICT.
func (s *Service) DeclineInvitation(ctx context.Context, caller httpapi.Caller, invitationID string) error {
	return db.Retry(ctx, "decline an invitation", func(ctx context.Context) error {
		t, declined, err := s.store.invitationOf(ctx, caller.UserID, invitationID, s.now())
		if err != nil {
			return err
		}
		return s.store.endInvitation(ctx, t.workspace.ID, declined, t.open)
	})
}
