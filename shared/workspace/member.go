package workspace

import (
	"context"
	"time"

	"devplatform/shared/event"
	"devplatform/shared/httpapi"
)

// apply stores a change with its event. If the member loses the right to manage webhooks, apply disables the webhooks
// that the member created. Errors: the errors of store.apply.
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

// ActorOf returns the caller as the actor of an event.
func ActorOf(caller httpapi.Caller) event.Actor {
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

// checkRemove returns an error if the caller may not remove the target. Every member may leave, even if the workspace
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
