package workspace

import (
	"context"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
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
	reads, readCtx := async.WithContext(ctx)
	reads.Go(func() error {
		_, err := s.store.Membership(readCtx, caller.UserID, workspaceID)
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
	}
	return httpapi.CutPage(ctx, s.cursors, scope, items, page.Limit, func(m MemberItem) string { return m.UserID })
}

// AddMember adds a user to a workspace.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, USER_NOT_FOUND, QUOTA_EXCEEDED, CONFLICT.
func (s *Service) AddMember(
	ctx context.Context, caller httpapi.Caller, workspaceID, username string, role Role,
) (added Membership, err error) {
	userID := ""
	err = db.Retry(ctx, "add a member", func(ctx context.Context) error {
		own, err := s.store.Membership(ctx, caller.UserID, workspaceID)
		if err == nil {
			err = checkAdd(own, role)
		}
		if err == nil && userID == "" {
			userID, username, err = s.people.FindByUsername(ctx, username)
		}
		if err != nil {
			return err
		}
		now := s.now()
		added = Membership{
			WorkspaceID: workspaceID, UserID: userID, Username: username, Role: role, AddedAt: clock.Stamp(now),
			Name: own.Name, CreatedAt: own.CreatedAt,
		}
		return s.apply(ctx, caller, change{caller: own, after: &added}, now)
	})
	return added, err
}

// UpdateMember changes the role of a member. If role is nil or the current role, it writes nothing.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, MEMBER_NOT_FOUND, CONFLICT.
func (s *Service) UpdateMember(
	ctx context.Context, caller httpapi.Caller, workspaceID, userID string, role *Role,
) (changed Membership, err error) {
	err = db.Retry(ctx, "change a role", func(ctx context.Context) error {
		own, target, err := s.store.callerAndTarget(ctx, workspaceID, caller.UserID, userID)
		if err != nil {
			return err
		}
		if err := checkRoleChange(own, target, role); err != nil {
			return err
		}
		changed = *target
		if role == nil || *role == target.Role {
			return nil
		}
		changed.Role = *role
		return s.apply(ctx, caller, change{caller: own, before: target, after: &changed}, s.now())
	})
	return changed, err
}

// RemoveMember removes a member, who may be the caller. The removal is effective on the next request.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, MEMBER_NOT_FOUND, CONFLICT.
func (s *Service) RemoveMember(ctx context.Context, caller httpapi.Caller, workspaceID, userID string) error {
	return db.Retry(ctx, "remove a member", func(ctx context.Context) error {
		own, target, err := s.store.callerAndTarget(ctx, workspaceID, caller.UserID, userID)
		if err != nil {
			return err
		}
		if err := checkRemove(own, target); err != nil {
			return err
		}
		return s.apply(ctx, caller, change{caller: own, before: target}, s.now())
	})
}

// apply stores a change with its event. If the member loses the right to manage webhooks, apply disables the webhooks
// that the member created. Errors: db.ErrStale, QUOTA_EXCEEDED, CONFLICT.
func (s *Service) apply(ctx context.Context, caller httpapi.Caller, c change, at time.Time) error {
	if kind := c.eventType(); kind != "" {
		m := c.member()
		w, err := s.outbox.Add(event.Change{Type: kind, WorkspaceID: m.WorkspaceID, Data: event.Data{
			Actor:     event.Actor{ID: caller.UserID, Username: caller.Account().Username},
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

// checkAdd returns an error if the caller may not add a member with a role.
func checkAdd(caller Membership, role Role) error {
	switch {
	case !caller.Role.May(ManageMembers):
		return ErrDenied
	case !caller.Role.Covers(role):
		return errRoleTooHigh
	}
	return nil
}

// checkRoleChange returns an error if the caller may not give the target this role. If role is nil, the target keeps
// its role. The transaction that writes the change checks that an owner remains.
func checkRoleChange(caller Membership, target *Membership, role *Role) error {
	switch {
	case !caller.Role.May(ManageMembers):
		return ErrDenied
	case target == nil:
		return errMemberNotFound
	case !caller.Role.Covers(target.Role) || role != nil && !caller.Role.Covers(*role):
		return errRoleTooHigh
	case target.Personal && role != nil && *role != Owner:
		return errPersonalOwner
	}
	return nil
}

// checkRemove returns an error if the caller may not remove the target. Every member may leave.
func checkRemove(caller Membership, target *Membership) error {
	isLeaving := target != nil && target.UserID == caller.UserID
	switch {
	case !isLeaving && !caller.Role.May(ManageMembers):
		return ErrDenied
	case target == nil:
		return errMemberNotFound
	case !caller.Role.Covers(target.Role):
		return errRoleTooHigh
	case target.Personal:
		return errPersonalOwner
	}
	return nil
}
