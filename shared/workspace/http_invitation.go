package workspace

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
	"devplatform/shared/mail"
)

func (s *Service) registerInvitations(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "createInvitation", Method: http.MethodPost, Path: "/api/workspaces/{id}/invitations", Tag: tag,
		Status: http.StatusCreated, Summary: "Invite a user to a workspace",
		Description: "Admins and owners can invite users. They cannot grant a role above their own. The user becomes a member by accepting the invitation, within 7 days. " +
			"Inviting a user again with another role changes the role of the open invitation. With the same role, a new invitation replaces the open one, at most every 5 minutes. " +
			"Send either a username or an address. An address gets a mail with a link, with which any user can accept the invitation once. The response does not depend on whether an account has the address.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("username", "is required")), ErrNotFound, errUserNotFound, ErrDenied, errRoleTooHigh,
			errAlreadyMember, fault.ErrConflict, errInvitationQuota, errInvitedRecently, limit.ErrTooMany,
			mail.ErrNotConfigured,
		},
	}, s.createInvitation)
	httpapi.Private(r, httpapi.Operation{
		ID: "listInvitations", Method: http.MethodGet, Path: "/api/workspaces/{id}/invitations", Tag: tag,
		Summary: "List the open invitations of a workspace", Description: "Admins and owners can list the invitations.",
		Errors: []*fault.Error{ErrNotFound, ErrDenied},
	}, s.listInvitations)
	httpapi.Private(r, httpapi.Operation{
		ID: "revokeInvitation", Method: http.MethodDelete, Path: "/api/workspaces/{id}/invitations/{invitationId}", Tag: tag,
		Summary:     "Revoke an invitation",
		Description: "Admins and owners can revoke invitations. They cannot revoke an invitation with a role above their own.",
		Errors:      []*fault.Error{ErrNotFound, errInvitationNotFound, ErrDenied, errRoleTooHigh, fault.ErrConflict},
	}, s.revokeInvitation)
	httpapi.Private(r, httpapi.Operation{
		ID: "listUserInvitations", Method: http.MethodGet, Path: "/api/invitations", Tag: tag,
		Summary: "List the caller's open invitations", Description: "Returns the invitations that the caller can accept. The list is always paged; the default limit is 50.",
	}, s.listUserInvitations)
	httpapi.Private(r, httpapi.Operation{
		ID: "acceptInvitation", Method: http.MethodPost, Path: "/api/invitations/{id}/accept", Tag: tag,
		Summary: "Accept an invitation",
		Description: "The caller becomes a member of the workspace, or an owner if the invitation offers ownership. " +
			"The invitation has ended if the inviter may no longer grant the role. Emits member.added, except for ownership.",
		Errors: []*fault.Error{
			errInvitationNotFound, errSelfMember, ErrReadOnly, fault.ErrConflict, errCallerQuota(MaxMemberships),
		},
	}, s.acceptInvitation)
	httpapi.Private(r, httpapi.Operation{
		ID: "declineInvitation", Method: http.MethodPost, Path: "/api/invitations/{id}/decline", Tag: tag,
		Summary: "Decline an invitation", Description: "Ends the invitation.",
		Errors: []*fault.Error{errInvitationNotFound, fault.ErrConflict},
	}, s.declineInvitation)
	httpapi.Public(r, httpapi.Operation{
		ID: "previewInvitation", Method: http.MethodPost, Path: "/api/invitations/preview", Tag: tag,
		Summary: "Preview the invitation of a mail", Description: "Changes nothing. It needs no session.",
		Errors: []*fault.Error{errTokenInvalid},
	}, s.previewInvitation)
	httpapi.Private(r, httpapi.Operation{
		ID: "acceptInvitationToken", Method: http.MethodPost, Path: "/api/invitations/accept", Tag: tag,
		Summary: "Accept the invitation of a mail",
		Description: "The caller becomes a member of the workspace. The account may have another address than the invited one. Admins then see both addresses in the list of members. " +
			"The address of the account does not become confirmed. Emits member.added.",
		Errors: []*fault.Error{
			errTokenInvalid, errInvitationNotFound, errSelfMember, ErrReadOnly, fault.ErrConflict,
			errCallerQuota(MaxMemberships),
		},
	}, s.acceptInvitationToken)
}

// InvitationItem is an open invitation as admins see it.
type InvitationItem struct {
	ID        string          `json:"id" doc:"The invitation's ID" example:"inv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Email     string          `json:"email,omitempty" doc:"The invited address. Absent if a user was invited" example:"grace@example.com"`
	Username  string          `json:"username,omitempty" doc:"The username of the invited user. Absent if an address was invited" example:"grace"`
	Role      Role            `json:"role" enum:"owner,admin,member,viewer" doc:"The role that the user gets" example:"member"`
	Status    string          `json:"status" enum:"open" doc:"Always open: an invitation that was accepted, declined or revoked, or that has expired, no longer exists" example:"open"`
	CreatedAt clock.Timestamp `json:"createdAt" doc:"When the invitation was created" example:"2026-01-31T08:15:30.123Z"`
	ExpiresAt clock.Timestamp `json:"expiresAt" doc:"When the invitation expires" example:"2026-02-07T08:15:30.123Z"`
	InvitedBy InviterItem     `json:"invitedBy" doc:"The member who created the invitation, or changed its role"`
}

// InviterItem is the member who created an invitation.
type InviterItem struct {
	ID       string `json:"id" doc:"The user's ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's username" example:"ada"`
}

// UserInvitationItem is an open invitation as the invited user sees it.
type UserInvitationItem struct {
	InvitationItem

	Workspace InvitingWorkspaceItem `json:"workspace" doc:"The workspace"`
}

// InvitingWorkspaceItem is the workspace of an invitation.
type InvitingWorkspaceItem struct {
	ID   string `json:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name string `json:"name" doc:"The name of the workspace" example:"Team"`
}

func (i Invitation) item() InvitationItem {
	return InvitationItem{
		ID: i.ID, Email: i.Email, Username: i.Username, Role: i.Role, Status: "open",
		CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt,
		InvitedBy: InviterItem{ID: i.InviterID, Username: i.InviterName},
	}
}

type createInvitationInput struct {
	ID   string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body struct {
		Username string `json:"username,omitempty" doc:"The username of the user to invite. It is not case-sensitive" example:"grace"`
		Email    string `json:"email,omitempty" doc:"The address to invite, instead of a username" example:"grace@example.com"`
		Role     Role   `json:"role" enum:"admin,member,viewer" doc:"The role that the user gets. It must not be higher than the caller's role. To make a member an owner, update the member" example:"member"`
	}
}

// Validate checks that the request has either a username or an address.
func (in *createInvitationInput) Validate(v *httpapi.Validation) {
	switch {
	case in.Body.Username == "" && in.Body.Email == "":
		v.Field("username", "is required, or an email")
	case in.Body.Username != "" && in.Body.Email != "":
		v.Field("email", "must be absent if there is a username")
	}
}

// createdInvitationItem is a new invitation. Only its response has the link.
type createdInvitationItem struct {
	InvitationItem

	URL string `json:"url,omitempty" doc:"The link of the mail, with which any user can accept the invitation. Absent if a user was invited, or if only the role of an open invitation changed. It is not returned again" example:"https://app.example.com/api/auth/page/invitation#token=01K9ZQ3V7M8T5XW2ABCDEFGHJKq2v0"`
}

type createdInvitationOutput struct{ Body createdInvitationItem }

type tokenInput struct {
	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"128" doc:"The token of the link" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJKq2v0"`
	}
}

// PreviewItem is an invitation as everyone with its link sees it.
type PreviewItem struct {
	Workspace struct {
		Name string `json:"name" doc:"The name of the workspace" example:"Team"`
	} `json:"workspace" doc:"The workspace"`
	InvitedBy struct {
		Username string `json:"username" doc:"The user's username" example:"ada"`
	} `json:"invitedBy" doc:"The member who created the invitation, or changed its role"`
	Role Role `json:"role" enum:"admin,member,viewer" doc:"The role that the user gets" example:"member"`
}

type previewOutput struct{ Body PreviewItem }

type invitationsInput struct {
	httpapi.PageInput
	ID string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type invitationsOutput struct {
	Body struct {
		Invitations []InvitationItem `json:"invitations" nullable:"false" doc:"The invitations, in the order of their creation"`
		NextCursor  string           `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page" example:"eyJrIjoiazEifQ"`
	}
}

type revokeInvitationInput struct {
	ID           string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	InvitationID string `path:"invitationId" doc:"The invitation's ID" example:"inv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type userInvitationsInput struct{ httpapi.PageInput }

type userInvitationsOutput struct {
	Body struct {
		Invitations []UserInvitationItem `json:"invitations" nullable:"false" doc:"The invitations, in the order of their creation"`
		NextCursor  string               `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page" example:"eyJrIjoiazEifQ"`
	}
}

type invitationInput struct {
	ID string `path:"id" doc:"The invitation's ID" example:"inv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type memberOutput struct{ Body MemberItem }

// listInvitations returns a page of the open invitations of a workspace, in the order of their creation.
func (s *Service) listInvitations(
	ctx context.Context, caller httpapi.Caller, in *invitationsInput,
) (*invitationsOutput, error) {
	scope := httpapi.ListScope(caller, "invitations", in.ID)
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	t, err := s.store.readTeam(ctx, in.ID, caller.UserID, caller.UserID)
	if err != nil {
		return nil, err
	}
	if !t.caller.Role.May(ManageMembers) {
		return nil, ErrDenied
	}
	open := t.invitations.open(s.now())
	slices.SortFunc(open, func(a, b Invitation) int { return cmp.Compare(a.ID, b.ID) })
	items := []InvitationItem{}
	for _, i := range open {
		if i.ID > after {
			items = append(items, i.item())
		}
	}
	out := &invitationsOutput{}
	out.Body.Invitations, out.Body.NextCursor, err = httpapi.CutPage(ctx, s.cursors, scope, items, in.Limit,
		func(i InvitationItem) string { return i.ID })
	return out, err
}

// revokeInvitation ends an invitation.
func (s *Service) revokeInvitation(
	ctx context.Context, caller httpapi.Caller, in *revokeInvitationInput,
) (*httpapi.DoneOutput, error) {
	err := db.Retry(ctx, "revoke an invitation", func(ctx context.Context) error {
		t, err := s.store.readTeam(ctx, in.ID, caller.UserID, caller.UserID)
		if err != nil {
			return err
		}
		if err := t.caller.Check(ManageMembers); err != nil {
			return err
		}
		i, err := t.invitations.find(hasID(in.InvitationID), s.now())
		if err != nil {
			return err
		}
		if !t.caller.Role.Covers(i.Role) {
			return errRoleTooHigh
		}
		return s.store.endInvitation(ctx, in.ID, i, t.invitations, s.store.checkRole(t.caller))
	})
	return httpapi.ReplyDone("The invitation has been revoked.", err)
}

// listUserInvitations returns a page of the open invitations of the caller and of the caller's confirmed address,
// in the order of their creation.
func (s *Service) listUserInvitations(
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

func (s *Service) previewInvitation(ctx context.Context, in *tokenInput) (*previewOutput, error) {
	t, i, err := s.store.invitationWith(ctx, "", in.Body.Token, s.now())
	if err != nil {
		return nil, err
	}
	out := &previewOutput{PreviewItem{Role: i.Role}}
	out.Body.Workspace.Name, out.Body.InvitedBy.Username = t.workspace.Name, i.InviterName
	return out, nil
}

func (s *Service) acceptInvitation(
	ctx context.Context, caller httpapi.Caller, in *invitationInput,
) (*memberOutput, error) {
	return s.accept(ctx, caller, func(ctx context.Context) (team, Invitation, error) {
		return s.store.invitationOf(ctx, caller, in.ID, s.now())
	})
}

// acceptInvitationToken accepts the invitation to which a token belongs. The caller may have another address than the
// invited one.
func (s *Service) acceptInvitationToken(
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
			by: ActorOf(caller), before: t.target, after: &joined, accepted: i.ID, invitations: t.invitations,
			more: s.store.acceptWrites(t.workspace.ID, i),
		}, now)
		if errors.Is(err, ErrNotFound) { // the workspace has ended
			err = errInvitationNotFound.WithCause(err)
		}
		return err
	})
}

func (s *Service) declineInvitation(
	ctx context.Context, caller httpapi.Caller, in *invitationInput,
) (*httpapi.DoneOutput, error) {
	err := db.Retry(ctx, "decline an invitation", func(ctx context.Context) error {
		t, declined, err := s.store.invitationOf(ctx, caller, in.ID, s.now())
		if err != nil {
			return err
		}
		return s.store.endInvitation(ctx, t.workspace.ID, declined, t.invitations)
	})
	return httpapi.ReplyDone("You have declined the invitation.", err)
}
