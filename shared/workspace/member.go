package workspace

import (
	"context"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
)

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
	var own Membership
	reads, readCtx := async.WithContext(ctx)
	reads.Go(func() (err error) {
		own, err = s.store.Membership(readCtx, caller.UserID, workspaceID)
		return err
	})
	reads.Go(func() (err error) {
		list, err = s.store.members(db.WithoutGuardRead(readCtx), workspaceID, after, page.Limit)
		return err
	})
	if err := reads.Wait(); err != nil {
		return nil, "", err
	}
	items := make([]MemberItem, len(list))
	for i, m := range list {
		items[i] = m.memberItem()
		if !own.Role.May(ManageMembers) {
			items[i].InvitedEmail, items[i].Email = "", ""
		}
	}
	return httpapi.CutPage(ctx, s.cursors, scope, items, page.Limit, func(m MemberItem) string { return m.UserID })
}

// UpdateMember changes the role of a member. If role is nil or the current role, it writes nothing. A member becomes an
// owner only with the member's consent: for the role Owner, UpdateMember stores an invitation and does not change the
// role. Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, MEMBER_NOT_FOUND, QUOTA_EXCEEDED, RATE_LIMITED, CONFLICT.
func (s *Service) UpdateMember(
	ctx context.Context, caller httpapi.Caller, workspaceID, userID string, role *Role,
) (member Membership, offer *Invitation, err error) {
	err = db.Retry(ctx, "change a role", func(ctx context.Context) error {
		t, err := s.store.team(ctx, workspaceID, caller.UserID, userID)
		if err != nil {
			return err
		}
		if err := checkRoleChange(t.caller, t.target, role); err != nil {
			return err
		}
		member = *t.target
		switch {
		case role == nil || *role == member.Role:
			return nil
		case *role == Owner:
			next := s.newInvitation(t.caller, invitee{UserID: member.UserID, Username: member.Username}, Owner, s.now())
			next, err := s.store.invite(ctx, t, next, s.store.checkRole(member))
			offer = &next
			return err
		}
		member.Role = *role
		c := change{by: actor(caller), caller: t.caller, before: t.target, after: &member, open: t.open}
		return s.apply(ctx, c, s.now())
	})
	return member, offer, err
}

// RemoveMember removes a member, who may be the caller. The removal is effective on the next request.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, MEMBER_NOT_FOUND, CONFLICT.
func (s *Service) RemoveMember(ctx context.Context, caller httpapi.Caller, workspaceID, userID string) error {
	return db.Retry(ctx, "remove a member", func(ctx context.Context) error {
		t, err := s.store.team(ctx, workspaceID, caller.UserID, userID)
		if err != nil {
			return err
		}
		if err := checkRemove(t.caller, t.target); err != nil {
			return err
		}
		return s.apply(ctx, change{by: actor(caller), caller: t.caller, before: t.target, open: t.open}, s.now())
	})
}

// apply stores a change with its event. If the member loses the right to manage webhooks, apply disables the webhooks
// that the member created. Errors: db.ErrStale, QUOTA_EXCEEDED, CONFLICT.
func (s *Service) apply(ctx context.Context, c change, at time.Time) error {
	if kind := c.eventType(); kind != "" {
		m := c.member()
		w, err := s.outbox.Add(event.Change{Type: kind, WorkspaceID: m.WorkspaceID, Data: event.Data{
			Actor:     c.by,
			Workspace: &event.Workspace{ID: m.WorkspaceID, Name: m.Name},
			Member:    &event.Member{UserID: m.UserID, Username: m.Username, Role: string(m.Role)},
		}}, at)
		if err != nil {
			return err
		}
		c.more = append(c.more, w)
	}
	if c.revokesWebhooks() {
		writes, err := s.disableWebhooks(ctx, c.before.WorkspaceID, c.before.UserID, at)
		if err != nil {
			return err
		}
		c.more = append(c.more, writes...)
	}
	return s.store.apply(ctx, c)
}

func actor(caller httpapi.Caller) event.Actor {
	return event.Actor{ID: caller.UserID, Username: caller.Account().Username}
}

// eventType returns the type of a change's event, or "" for a role change, which has no event.
func (c change) eventType() event.Type {
	switch {
	case c.before == nil:
		return event.MemberAdded
	case c.after == nil:
		return event.MemberRemoved
	}
	return ""
}

// The functions below decide about changes of memberships. caller is the caller's membership. target is the membership
// to change, or nil if the user is not a member.

// checkGrant returns an error if the caller may not invite a user with a role.
func checkGrant(caller Membership, role Role) error {
	if err := caller.Check(ManageMembers); err != nil {
		return err
	}
	if !caller.Role.Covers(role) {
		return errRoleTooHigh
	}
	return nil
}

// checkRoleChange returns an error if the caller may not give the target this role. If role is nil, the target keeps
// its role. The transaction that writes the change checks that an owner remains.
func checkRoleChange(caller Membership, target *Membership, role *Role) error {
	if err := caller.Check(ManageMembers); err != nil {
		return err
	}
	switch {
	case target == nil:
		return errMemberNotFound
	case !caller.Role.Covers(target.Role) || role != nil && !caller.Role.Covers(*role):
		return errRoleTooHigh
	case target.Personal && role != nil && *role != Owner:
		return errPersonalOwner
	}
	return nil
}

// checkRemove returns an error if the caller may not remove the target. Every member may leave, also if the workspace
// is read-only.
func checkRemove(caller Membership, target *Membership) error {
	if target == nil || target.UserID != caller.UserID {
		if err := caller.Check(ManageMembers); err != nil {
			return err
		}
	}
	switch {
	case target == nil:
		return errMemberNotFound
	case !caller.Role.Covers(target.Role):
		return errRoleTooHigh
	case target.Personal:
		return errPersonalOwner
	}
	return nil
}
