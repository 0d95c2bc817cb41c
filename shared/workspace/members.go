package workspace

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// Create creates a workspace with the caller as its owner. The caller has checked the name.
// Errors: QUOTA_EXCEEDED, CONFLICT.
func (s *Service) Create(ctx context.Context, caller httpapi.Caller, name string) (Membership, error) {
	at := clock.Stamp(s.now())
	w := Workspace{ID: s.ids.New(id.Workspace), Name: name, Owners: 1, CreatedAt: at}
	owner := Membership{
		WorkspaceID: w.ID, UserID: caller.UserID, Username: caller.Username, Role: Owner, AddedAt: at,
		Name: name, CreatedAt: at,
	}
	err := s.store.create(ctx, w, owner)
	if errors.Is(err, errFull) {
		return Membership{}, errOwnQuota(s.quota).WithCause(err)
	}
	return owner, err
}

// AddMember adds the user with a username to a workspace.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, USER_NOT_FOUND, QUOTA_EXCEEDED, CONFLICT.
func (s *Service) AddMember(
	ctx context.Context, caller httpapi.Caller, workspaceID, username string, role Role,
) (added Membership, err error) {
	userID := ""
	err = db.Retry(ctx, "add a member", func() error {
		by, err := s.store.Membership(ctx, caller.UserID, workspaceID)
		if err == nil {
			err = checkAdd(by, role)
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
			Name: by.Name, CreatedAt: by.CreatedAt,
		}
		return s.apply(ctx, caller, change{by: by, after: &added}, now)
	})
	return added, err
}

// UpdateMember gives a member a role. If role is nil, or the member has it, nothing changes.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, MEMBER_NOT_FOUND, CONFLICT.
func (s *Service) UpdateMember(
	ctx context.Context, caller httpapi.Caller, workspaceID, userID string, role *Role,
) (changed Membership, err error) {
	err = db.Retry(ctx, "change a role", func() error {
		by, of, err := s.memberships(ctx, workspaceID, caller.UserID, userID)
		if err != nil {
			return err
		}
		wanted := wantedRole(of, role)
		if err := checkRoleChange(by, of, wanted); err != nil {
			return err
		}
		changed = *of
		changed.Role = wanted
		if of.Role == wanted {
			return nil
		}
		return s.apply(ctx, caller, change{by: by, before: of, after: &changed}, s.now())
	})
	return changed, err
}

// wantedRole returns role, or the role of the member if role is nil.
func wantedRole(of *Membership, role *Role) Role {
	switch {
	case role != nil:
		return *role
	case of != nil:
		return of.Role
	}
	return ""
}

// RemoveMember removes a member, who may be the caller. It has effect on the next request.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, MEMBER_NOT_FOUND, CONFLICT.
func (s *Service) RemoveMember(ctx context.Context, caller httpapi.Caller, workspaceID, userID string) error {
	return db.Retry(ctx, "remove a member", func() error {
		by, of, err := s.memberships(ctx, workspaceID, caller.UserID, userID)
		if err != nil {
			return err
		}
		if err := checkRemove(by, of); err != nil {
			return err
		}
		return s.apply(ctx, caller, change{by: by, before: of}, s.now())
	})
}

// memberships returns the membership of the caller and that of another user, nil if that user is not a member.
// Error: WORKSPACE_NOT_FOUND if the caller is not a member.
func (s *Service) memberships(
	ctx context.Context, workspaceID, userID, memberID string,
) (Membership, *Membership, error) {
	by, of, err := s.store.pair(ctx, workspaceID, userID, memberID)
	if err != nil {
		return Membership{}, nil, err
	}
	if by == nil || !by.Role.May(Read) {
		return Membership{}, nil, ErrNotFound
	}
	return *by, of, nil
}

// apply writes a change with its event. Errors: db.ErrStale, QUOTA_EXCEEDED, CONFLICT.
func (s *Service) apply(ctx context.Context, caller httpapi.Caller, c change, at time.Time) error {
	if kind := c.eventType(); kind != "" {
		m := c.member()
		w, err := s.outbox.Add(event.Change{Type: kind, WorkspaceID: m.WorkspaceID, Data: event.Data{
			Actor:     event.Actor{ID: caller.UserID, Username: caller.Username},
			Workspace: &event.Workspace{ID: m.WorkspaceID, Name: m.Name},
			Member:    &event.Member{UserID: m.UserID, Username: m.Username, Role: string(m.Role)},
		}}, at)
		if err != nil {
			return err
		}
		c.event = &w
	}
	err := s.store.apply(ctx, c)
	switch {
	case errors.Is(err, errExists):
		return errMember.WithCause(err)
	case errors.Is(err, errFull):
		return errTheirQuota(s.quota).WithCause(err)
	case errors.Is(err, errNoOwner):
		return errLastOwner.WithCause(err)
	}
	return err
}

// eventType returns the type of the event of a change. A change of role has none.
func (c change) eventType() event.Type {
	switch {
	case c.before == nil:
		return event.MemberAdded
	case c.after == nil:
		return event.MemberRemoved
	}
	return ""
}
