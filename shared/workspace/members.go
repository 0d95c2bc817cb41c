package workspace

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
)

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
		own, target, err := s.memberships(ctx, workspaceID, caller.UserID, userID)
		if err != nil {
			return err
		}
		newRole := roleOrCurrent(role, target)
		if err := checkRoleChange(own, target, newRole); err != nil {
			return err
		}
		changed = *target
		changed.Role = newRole
		if target.Role == newRole {
			return nil
		}
		return s.apply(ctx, caller, change{caller: own, before: target, after: &changed}, s.now())
	})
	return changed, err
}

// roleOrCurrent returns role, or the role of the target if role is nil.
func roleOrCurrent(role *Role, target *Membership) Role {
	switch {
	case role != nil:
		return *role
	case target != nil:
		return target.Role
	}
	return ""
}

// RemoveMember removes a member, who may be the caller. The removal is effective on the next request.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, MEMBER_NOT_FOUND, CONFLICT.
func (s *Service) RemoveMember(ctx context.Context, caller httpapi.Caller, workspaceID, userID string) error {
	return db.Retry(ctx, "remove a member", func(ctx context.Context) error {
		own, target, err := s.memberships(ctx, workspaceID, caller.UserID, userID)
		if err != nil {
			return err
		}
		if err := checkRemove(own, target); err != nil {
			return err
		}
		return s.apply(ctx, caller, change{caller: own, before: target}, s.now())
	})
}

// memberships returns the caller's own membership and the membership of a target user. The second is nil if the target
// user is not a member. Error: WORKSPACE_NOT_FOUND if the caller is not a member.
func (s *Service) memberships(
	ctx context.Context, workspaceID, callerID, targetID string,
) (Membership, *Membership, error) {
	own, target, err := s.store.membershipPair(ctx, workspaceID, callerID, targetID)
	if err != nil {
		return Membership{}, nil, err
	}
	if own == nil || !own.Role.May(Read) {
		return Membership{}, nil, ErrNotFound
	}
	return *own, target, nil
}

// apply writes a change with its event. If the member loses the right to manage webhooks, it disables the webhooks that
// the member created. Errors: db.ErrStale, QUOTA_EXCEEDED, CONFLICT.
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
		c.event = &w
	}
	if c.revokesWebhooks() {
		var err error
		if c.disable, err = s.disableWebhooks(ctx, c.before.WorkspaceID, c.before.UserID, at); err != nil {
			return err
		}
	}
	err := s.store.apply(ctx, c)
	switch {
	case errors.Is(err, errExists):
		return errAlreadyMember.WithCause(err)
	case errors.Is(err, errFull):
		return errMemberQuota(s.quota).WithCause(err)
	case errors.Is(err, errNoOwner):
		return errLastOwner.WithCause(err)
	}
	return err
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
