package workspace

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// Create makes a workspace whose owner the caller is. The name has been checked.
func (s *Service) Create(ctx context.Context, caller httpapi.Caller, name string) (Membership, error) {
	at := clock.Stamp(s.now())
	place := Workspace{ID: s.ids.New(id.Workspace), Name: name, Owners: 1, CreatedAt: at}
	owner := Membership{
		WorkspaceID: place.ID, UserID: caller.UserID, Username: caller.Username, Role: Owner, AddedAt: at,
		Name: name, CreatedAt: at,
	}
	err := s.store.create(ctx, place, owner)
	if errors.Is(err, errFull) {
		return Membership{}, errOwnQuota(s.quota).WithCause(err)
	}
	return owner, err
}

// Add makes the person of a username a member.
func (s *Service) Add(ctx context.Context, caller httpapi.Caller, workspaceID, username string, role Role) (Membership, error) {
	var added Membership
	userID := ""
	err := s.retried(func() error {
		by, err := s.store.Membership(ctx, caller.UserID, workspaceID)
		if err == nil {
			err = decideAdd(by, role)
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

// SetRole gives a member a role; nil, or the one that they have, changes nothing.
func (s *Service) SetRole(ctx context.Context, caller httpapi.Caller, workspaceID, userID string, role *Role) (Membership, error) {
	var changed Membership
	err := s.retried(func() error {
		by, of, err := s.places(ctx, workspaceID, caller.UserID, userID)
		if err != nil {
			return err
		}
		wanted := wantedRole(of, role)
		if err := decideRole(by, of, wanted); err != nil {
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

// wantedRole is the role given, or else the one that the member has.
func wantedRole(of *Membership, role *Role) Role {
	switch {
	case role != nil:
		return *role
	case of != nil:
		return of.Role
	}
	return ""
}

// Remove ends a membership, the caller's own or another's. It is over at once: every request reads the roles anew.
func (s *Service) Remove(ctx context.Context, caller httpapi.Caller, workspaceID, userID string) error {
	return s.retried(func() error {
		by, of, err := s.places(ctx, workspaceID, caller.UserID, userID)
		if err != nil {
			return err
		}
		if err := decideRemove(by, of); err != nil {
			return err
		}
		return s.apply(ctx, caller, change{by: by, before: of}, s.now())
	})
}

// places returns the caller's membership, and the membership of the user that the request is about, nil if that user is
// not a member. Error: ErrNotFound if the caller is not a member.
func (s *Service) places(ctx context.Context, workspaceID, userID, memberID string) (Membership, *Membership, error) {
	by, of, err := s.store.pair(ctx, workspaceID, userID, memberID)
	if err != nil {
		return Membership{}, nil, err
	}
	if by == nil || !by.Role.May(Read) {
		return Membership{}, nil, ErrNotFound
	}
	return *by, of, nil
}

// apply writes a change that is made at a time with its event. What stands in its way is told in the contract's words, but for errStale, which
// is to be decided again.
func (s *Service) apply(ctx context.Context, caller httpapi.Caller, c change, at time.Time) error {
	if kind := c.kind(); kind != "" {
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
	case errors.Is(err, errNoOneOwner):
		return errLastOwner.WithCause(err)
	}
	return err
}

// kind is the event of a change; a new role has none (API.md §7).
func (c change) kind() event.Type {
	switch {
	case c.before == nil:
		return event.MemberAdded
	case c.after == nil:
		return event.MemberRemoved
	}
	return ""
}

// attempts is how often a change is decided on before somebody else's changes have met it too often.
const attempts = 5

// retried decides and writes, and does so again when others have changed what was decided on. No wait in between: a
// decision is only stale when another's change has gone through.
func (s *Service) retried(do func() error) error {
	var err error
	for range attempts {
		if err = do(); !errors.Is(err, errStale) {
			return err
		}
	}
	return errMeanwhile.WithCause(err)
}
