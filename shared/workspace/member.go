package workspace

import (
	"context"
	"net/http"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
)

// handleListMembers returns a page of the members of a workspace, sorted by user ID.
func (s *Service) handleListMembers(
	ctx context.Context, caller httpapi.Caller, in *membersInput,
) (*membersOutput, error) {
	scope := httpapi.ListScope(caller, "members", in.ID)
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	var list []Membership
	var own Membership
	reads, readCtx := async.WithContext(ctx)
	reads.Go(func() (err error) {
		own, err = s.store.Membership(readCtx, caller.UserID, in.ID)
		return err
	})
	reads.Go(func() (err error) {
		list, err = s.store.members(db.WithoutGuardRead(readCtx), in.ID, after, in.Limit)
		return err
	})
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	items := make([]MemberItem, len(list))
	for i, m := range list {
		items[i] = m.memberItem()
		if !own.Role.May(ManageMembers) {
			items[i].InvitedEmail, items[i].Email = "", ""
		}
	}
	out := &membersOutput{}
	out.Body.Members, out.Body.NextCursor, err = httpapi.CutPage(ctx, s.cursors, scope, items, in.Limit,
		func(m MemberItem) string { return m.UserID })
	return out, err
}

// handleUpdateMember changes the role of a member. If there is no new role, it writes nothing. A member becomes an
// owner only with the member's consent: for the role Owner, it stores an invitation and does not change the role.
func (s *Service) handleUpdateMember(
	ctx context.Context, caller httpapi.Caller, in *updateMemberInput,
) (*updatedMemberOutput, error) {
	out, role := &updatedMemberOutput{}, in.Body.Role
	err := db.Retry(ctx, "change a role", func(ctx context.Context) error {
		t, err := s.store.team(ctx, in.ID, caller.UserID, in.UserID)
		if err != nil {
			return err
		}
		if err := checkRoleChange(t.caller, t.target, role); err != nil {
			return err
		}
		member := *t.target
		out.Status, out.Body = http.StatusOK, updatedMemberItem{MemberItem: member.memberItem()}
		switch {
		case role == nil || *role == member.Role:
			return nil
		case *role == Owner:
			next := s.newInvitation(t.caller, invitee{UserID: member.UserID, Username: member.Username}, Owner, s.now())
			next, err := s.store.invite(ctx, t, next, s.store.checkRole(member))
			offer := next.item()
			out.Status, out.Body.Invitation = http.StatusAccepted, &offer
			return err
		}
		member.Role, out.Body.Role = *role, *role
		c := change{by: actor(caller), caller: t.caller, before: t.target, after: &member, open: t.open}
		return s.apply(ctx, c, s.now())
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Service) handleRemoveMember(
	ctx context.Context, caller httpapi.Caller, in *removeMemberInput,
) (*httpapi.DoneOutput, error) {
	message := "The member has been removed."
	if in.UserID == caller.UserID {
		message = "You have left the workspace."
	}
	return httpapi.ReplyDone(message, s.RemoveMember(ctx, caller, in.ID, in.UserID))
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
