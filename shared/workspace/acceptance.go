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

// handleListUserInvitations returns a page of the open invitations of the caller and of the caller's confirmed address,
// in the order of their creation.
func (s *Service) handleListUserInvitations(
	ctx context.Context, caller httpapi.Caller, in *userInvitationsInput,
) (*userInvitationsOutput, error) {
	scope := httpapi.ListScope(caller, "userInvitations")
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	now, limit := s.now(), cmp.Or(in.Limit, httpapi.DefaultLimit)
	list, err := s.store.invitationsTo(ctx, db.InvitationsOf(caller.UserID), after, limit, now)
	if err != nil {
		return nil, err
	}
	if email := confirmedEmail(caller); email != "" {
		more, err := s.store.invitationsTo(ctx, db.AddressInvitationsOf(email), after, limit, now)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
		slices.SortFunc(list, func(a, b UserInvitationItem) int { return cmp.Compare(a.ID, b.ID) })
	}
	out := &userInvitationsOutput{}
	out.Body.Invitations, out.Body.NextCursor, err = httpapi.CutPage(ctx, s.cursors, scope, list, limit,
		func(i UserInvitationItem) string { return i.ID })
	return out, err
}

// confirmedEmail returns the caller's address if it is confirmed, otherwise "". The caller's session must have been
// read.
func confirmedEmail(caller httpapi.Caller) string {
	if account := caller.Account(); account.EmailVerified {
		return account.Email
	}
	return ""
}

func (s *Service) handlePreviewInvitation(ctx context.Context, in *tokenInput) (*previewOutput, error) {
	t, i, err := s.store.invitationWith(ctx, "", in.Body.Token, s.now())
	if err != nil {
		return nil, err
	}
	out := &previewOutput{PreviewItem{Role: i.Role}}
	out.Body.Workspace.Name, out.Body.InvitedBy.Username = t.workspace.Name, i.InviterName
	return out, nil
}

func (s *Service) handleAcceptInvitation(
	ctx context.Context, caller httpapi.Caller, in *invitationInput,
) (*memberOutput, error) {
	return s.accept(ctx, caller, func(ctx context.Context) (team, Invitation, error) {
		return s.store.invitationOf(ctx, caller, in.ID, s.now())
	})
}

// handleAcceptToken accepts the invitation to which a token belongs. The caller may have another address than the
// invited one.
func (s *Service) handleAcceptToken(
	ctx context.Context, caller httpapi.Caller, in *tokenInput,
) (*memberOutput, error) {
	return s.accept(ctx, caller, func(ctx context.Context) (team, Invitation, error) {
		return s.store.invitationWith(ctx, caller.UserID, in.Body.Token, s.now())
	})
}

// accept makes the caller a member of the workspace of an invitation, or an owner if the invitation offers ownership to
// a member. Errors: the errors of read; INVITATION_NOT_FOUND, QUOTA_EXCEEDED, CONFLICT.
func (s *Service) accept(
	ctx context.Context, caller httpapi.Caller, read func(context.Context) (team, Invitation, error),
) (*memberOutput, error) {
	out := &memberOutput{}
	return out, db.Retry(ctx, "accept an invitation", func(ctx context.Context) error {
		t, i, err := read(ctx)
		switch {
		case err != nil:
			return err
		case t.target == nil && i.Role == Owner:
			return errInvitationNotFound // ownership is offered only to members
		case t.target != nil && i.Role != Owner:
			return errSelfMember
		case t.workspace.IsReadOnly():
			return ErrReadOnly
		}
		now := s.now()
		joined := Membership{
			WorkspaceID: t.workspace.ID, UserID: caller.UserID, Username: caller.Account().Username,
			AddedAt: clock.Stamp(now), Name: t.workspace.Name, CreatedAt: t.workspace.CreatedAt,
		}
		if t.target != nil {
			joined = *t.target
		} else if i.Email != "" && i.Email != confirmedEmail(caller) {
			joined.InvitedEmail, joined.Email = i.Email, caller.Account().Email
		}
		joined.Role = i.Role
		out.Body = joined.memberItem()
		err = s.apply(ctx, change{
			by: actor(caller), before: t.target, after: &joined, accepted: i.ID, open: t.open,
			more: s.store.acceptWrites(t.workspace.ID, i),
		}, now)
		if errors.Is(err, ErrNotFound) { // the workspace has ended
			err = errInvitationNotFound.WithCause(err)
		}
		return err
	})
}

func (s *Service) handleDeclineInvitation(
	ctx context.Context, caller httpapi.Caller, in *invitationInput,
) (*httpapi.DoneOutput, error) {
	err := db.Retry(ctx, "decline an invitation", func(ctx context.Context) error {
		t, declined, err := s.store.invitationOf(ctx, caller, in.ID, s.now())
		if err != nil {
			return err
		}
		return s.store.endInvitation(ctx, t.workspace.ID, declined, t.open)
	})
	return httpapi.ReplyDone("You have declined the invitation.", err)
}
