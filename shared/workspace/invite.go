package workspace

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

// createInvitation invites a user or an e-mail address.
func (s *Service) createInvitation(
	ctx context.Context, caller httpapi.Caller, in *createInvitationInput,
) (*createdInvitationOutput, error) {
	if in.Body.Email != "" {
		return s.inviteAddress(ctx, caller, in)
	}
	return s.inviteUser(ctx, caller, in)
}

func (s *Service) inviteUser(
	ctx context.Context, caller httpapi.Caller, in *createInvitationInput,
) (*createdInvitationOutput, error) {
	var to invitee
	out := &createdInvitationOutput{}
	return out, db.Retry(ctx, "invite a user", func(ctx context.Context) error {
		t, err := s.store.readTeam(ctx, in.ID, caller.UserID, caller.UserID)
		if err == nil {
			err = checkGrant(t.caller, in.Body.Role)
		}
		if err == nil && to.UserID == "" {
			to.UserID, to.Username, err = s.people.FindByUsername(ctx, in.Body.Username)
		}
		if err == nil && to.UserID == caller.UserID {
			err = errAlreadyMember
		}
		if err != nil {
			return err
		}
		next := s.newInvitation(t.caller, to, in.Body.Role, s.now())
		isNoMember := s.store.Projects.Check(db.MemberKey(in.ID, to.UserID), attrRole.AttributeNotExists())
		next, err = s.store.invite(ctx, t, next, isNoMember.Else(errAlreadyMember))
		out.Body.InvitationItem = next.item()
		return err
	})
}

// inviteAddress invites the owner of an e-mail address, with a mail. The result does not depend on whether an account
// has the address. If the request only changes the role of an open invitation, there is no new mail, and the output has
// no URL.
func (s *Service) inviteAddress(
	ctx context.Context, caller httpapi.Caller, in *createInvitationInput,
) (*createdInvitationOutput, error) {
	if !s.mail.Enabled() {
		return nil, mail.ErrNotConfigured
	}
	email, rule := s.people.NormalizeEmail(in.Body.Email)
	if rule != "" {
		return nil, fault.Invalid(fault.Field("email", rule))
	}
	out := &createdInvitationOutput{}
	return out, db.Retry(ctx, "invite an address", func(ctx context.Context) error {
		t, err := s.store.readTeam(ctx, in.ID, caller.UserID, caller.UserID)
		if err == nil {
			err = checkGrant(t.caller, in.Body.Role)
		}
		if err != nil {
			return err
		}
		token := id.NewToken(in.ID)
		next := s.newInvitation(t.caller, invitee{Email: email}, in.Body.Role, s.now())
		next.TokenHash = id.HashToken(token)
		var writes []db.Write
		out.Body.URL = ""
		if !t.invitations.isRoleChange(next) {
			out.Body.URL = mail.Link(s.links.Origin, s.links.Path, mail.Invitation, token)
			w, err := s.mail.Write(ctx, mail.Message{
				Kind: mail.Invitation, To: email, Token: token, ExpiresAt: next.ExpiresAt.Time(),
				Values: map[string]string{
					"workspace": t.workspace.Name, "inviter": t.caller.Username, "role": string(next.Role),
				},
			})
			if err != nil {
				return err
			}
			writes = append(writes, w)
		}
		next, err = s.store.invite(ctx, t, next, writes...)
		out.Body.InvitationItem = next.item()
		return err
	})
}
