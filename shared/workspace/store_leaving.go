package workspace

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/removal"
)

// LeaveAll removes a user whose account has ended from all workspaces that have not ended. A workspace whose only
// member is this user ends, and its removal is added. A workspace with other members gets another owner if it would
// have none. The webhooks and the invitations of the user end, as when a member leaves. Errors: the errors of storage.
func (s *Service) LeaveAll(ctx context.Context, userID string) error {
	all, err := s.store.Memberships(ctx, userID)
	if err != nil {
		return err
	}
	var failed error
	for _, m := range all {
		failed = errors.Join(failed, db.Retry(ctx, "leave a workspace", func(ctx context.Context) error {
			return s.leave(ctx, userID, m.WorkspaceID)
		}))
	}
	return failed
}

// leave removes a user whose account has ended from a workspace. Call it within db.Retry. Error: db.ErrStale.
func (s *Service) leave(ctx context.Context, userID, workspaceID string) error {
	now := s.now()
	t, err := s.store.readTeam(ctx, workspaceID, userID, userID)
	switch {
	case errors.Is(err, ErrNotFound):
		return s.store.leaveEnded(ctx, userID, workspaceID, now)
	case err != nil:
		return err
	}
	c := change{
		by: event.Actor{ID: userID, Username: t.caller.Username}, caller: t.caller, before: &t.caller,
		invitations: t.invitations, accountEnded: true,
	}
	if t.caller.Role == Owner && t.workspace.Owners == 1 {
		if c.heir, err = s.store.heir(ctx, t.caller); err != nil {
			return err
		}
		if c.heir == nil {
			return s.store.end(ctx, Details{t.workspace, t.caller}, now)
		}
	}
	return s.apply(ctx, c, now)
}

// leaveEnded adds the removal of a workspace that has ended, unless it was added before. If the user is not a member,
// it deletes the copy of the membership under the user. Error: db.ErrStale if the workspace has not ended.
func (s store) leaveEnded(ctx context.Context, userID, workspaceID string, now time.Time) error {
	member, workspace := db.MemberKey(workspaceID, userID), db.WorkspaceKey(workspaceID)
	items, err := s.Projects.BatchGet(ctx, member, workspace)
	if err != nil {
		return err
	}
	w := removal.Create(s.Projects, removal.Workspace, workspaceID, now)
	switch {
	case items[member] == nil:
		w = s.Projects.Delete(db.MembershipKey(userID, workspaceID))
	case items[workspace] != nil:
		return db.ErrStale
	}
	if _, err := s.client.Do(ctx, w); err != nil && !errors.Is(err, db.ErrConditionFailed) {
		return err
	}
	return nil
}

// heir returns the member who becomes the owner of a workspace after its only owner: among the members with the
// highest role, the member who was added first. It returns nil if there is no other member.
func (s store) heir(ctx context.Context, owner Membership) (heir *Membership, err error) {
	roles := []Role{Admin, Member, Viewer}
	err = db.EachRecord(ctx, s.Projects, db.MembersOf(owner.WorkspaceID), db.Decode[Membership], func(m Membership) {
		rank := slices.Index(roles, m.Role)
		if m.UserID == owner.UserID || rank < 0 {
			return
		}
		if heir == nil || cmp.Or(
			cmp.Compare(rank, slices.Index(roles, heir.Role)), m.AddedAt.Time().Compare(heir.AddedAt.Time()),
			cmp.Compare(m.UserID, heir.UserID),
		) < 0 {
			heir = &m
		}
	})
	return heir, err
}

// EndUserInvitations ends the invitations of a user whose account has ended. Errors: the errors of storage.
func (s *Service) EndUserInvitations(ctx context.Context, userID string) error {
	items, err := s.store.Projects.QueryAll(ctx, db.InvitationsOf(userID))
	if err != nil {
		return err
	}
	for _, item := range items {
		p, _ := db.DecodeListed(ctx, item, db.Decode[invitationPointer]) // a damaged pointer has no IDs
		err := db.Retry(ctx, "end an invitation", func(ctx context.Context) error {
			t, i, err := s.store.invitation(ctx, p.WorkspaceID, userID, s.now(), hasID(p.ID))
			if errors.Is(err, errInvitationNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			return s.store.endInvitation(ctx, p.WorkspaceID, i, t.invitations)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ForgetFormer calls forget for each former membership of a user whose account has ended, and then deletes the record
// of that membership. forget removes the name of the user from the data of the workspace.
func (s *Service) ForgetFormer(
	ctx context.Context, userID string, forget func(ctx context.Context, workspaceID, userID string) error,
) error {
	prefix := db.FormerMembershipsOf(userID)
	return s.store.Projects.Each(ctx, prefix, func(item db.Item) error {
		key := db.KeyOf(item)
		if err := forget(ctx, prefix.Rest(key), userID); err != nil {
			return err
		}
		_, err := s.store.client.Do(ctx, s.store.Projects.Delete(key))
		return err
	}, "workspaceId")
}
