package workspace

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// UserInvitation is an open invitation as the invited user sees it.
type UserInvitation struct {
	Invitation

	WorkspaceID, WorkspaceName string
}

// ListUserInvitations returns a page of the open invitations of the caller and of the caller's confirmed address, in
// the order of their creation, and the cursor of the next page. Error: VALIDATION_FAILED if the cursor is not from this
// list.
func (s *Service) ListUserInvitations(
	ctx context.Context, caller httpapi.Caller, page httpapi.PageInput,
) ([]UserInvitationItem, string, error) {
	scope := httpapi.ListScope(caller, "userInvitations")
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	now, limit := s.now(), cmp.Or(page.Limit, httpapi.DefaultLimit)
	list, err := s.store.invitationsTo(ctx, db.InvitationsOf(caller.UserID), after, limit, now)
	if err != nil {
		return nil, "", err
	}
	if email := confirmedEmail(caller); email != "" {
		more, err := s.store.invitationsTo(ctx, db.AddressInvitationsOf(email), after, limit, now)
		if err != nil {
			return nil, "", err
		}
		list = append(list, more...)
		slices.SortFunc(list, func(a, b UserInvitation) int { return cmp.Compare(a.ID, b.ID) })
	}
	items := make([]UserInvitationItem, len(list))
	for i, invitation := range list {
		items[i] = invitation.userItem()
	}
	return httpapi.CutPage(ctx, s.cursors, scope, items, limit, func(i UserInvitationItem) string { return i.ID })
}

// confirmedEmail returns the caller's address if it is confirmed, otherwise "". The caller's session must have been
// read.
func confirmedEmail(caller httpapi.Caller) string {
	if account := caller.Account(); account.EmailVerified {
		return account.Email
	}
	return ""
}

// PreviewInvitation returns the invitation to which a token belongs. It changes nothing.
// Error: AUTH_CODE_INVALID.
func (s *Service) PreviewInvitation(ctx context.Context, token string) (UserInvitation, error) {
	t, i, err := s.store.invitationWith(ctx, "", token, s.now())
	return UserInvitation{Invitation: i, WorkspaceID: t.workspace.ID, WorkspaceName: t.workspace.Name}, err
}

// AcceptInvitation makes the caller a member of the workspace, or an owner if the invitation offers ownership to a
// member. Errors: INVITATION_NOT_FOUND, QUOTA_EXCEEDED, CONFLICT.
func (s *Service) AcceptInvitation(
	ctx context.Context, caller httpapi.Caller, invitationID string,
) (joined Membership, err error) {
	err = db.Retry(ctx, "accept an invitation", func(ctx context.Context) error {
		t, i, err := s.store.invitationOf(ctx, caller, invitationID, s.now())
		if err == nil {
			joined, err = s.accept(ctx, caller, t, i)
		}
		return err
	})
	return joined, err
}

// AcceptToken is like AcceptInvitation, for the invitation to which a token belongs. The caller may have another
// address than the invited one. Error for a wrong token: AUTH_CODE_INVALID.
func (s *Service) AcceptToken(
	ctx context.Context, caller httpapi.Caller, token string,
) (joined Membership, err error) {
	err = db.Retry(ctx, "accept an invitation", func(ctx context.Context) error {
		t, i, err := s.store.invitationWith(ctx, caller.UserID, token, s.now())
		if err == nil {
			joined, err = s.accept(ctx, caller, t, i)
		}
		return err
	})
	return joined, err
}

// accept stores the acceptance of an invitation. Call it within db.Retry. Errors: db.ErrStale, INVITATION_NOT_FOUND,
// QUOTA_EXCEEDED, CONFLICT.
func (s *Service) accept(ctx context.Context, caller httpapi.Caller, t team, i Invitation) (Membership, error) {
	switch {
	case t.target == nil && i.Role == Owner:
		return Membership{}, errInvitationNotFound // ownership is offered only to members
	case t.target != nil && i.Role != Owner:
		return Membership{}, errSelfMember
	case t.workspace.IsReadOnly():
		return Membership{}, ErrReadOnly
	}
	now := s.now()
	c := change{by: actor(caller), before: t.target, after: &Membership{}, accepted: i.ID, open: t.open}
	if t.target != nil {
		*c.after = *t.target
		c.after.Role = i.Role
	} else {
		*c.after = Membership{
			WorkspaceID: t.workspace.ID, UserID: caller.UserID, Username: caller.Account().Username, Role: i.Role,
			AddedAt: clock.Stamp(now), Name: t.workspace.Name, CreatedAt: t.workspace.CreatedAt,
		}
		if i.Email != "" && i.Email != confirmedEmail(caller) {
			c.after.InvitedEmail, c.after.Email = i.Email, caller.Account().Email
		}
	}
	c.more = s.store.acceptWrites(t.workspace.ID, i)
	err := s.apply(ctx, c, now)
	if errors.Is(err, ErrNotFound) { // the workspace has ended
		err = errInvitationNotFound.WithCause(err)
	}
	return *c.after, err
}

// DeclineInvitation ends an invitation of the caller. Errors: INVITATION_NOT_FOUND, CONFLICT.
func (s *Service) DeclineInvitation(ctx context.Context, caller httpapi.Caller, invitationID string) error {
	return db.Retry(ctx, "decline an invitation", func(ctx context.Context) error {
		t, declined, err := s.store.invitationOf(ctx, caller, invitationID, s.now())
		if err != nil {
			return err
		}
		return s.store.endInvitation(ctx, t.workspace.ID, declined, t.open)
	})
}
