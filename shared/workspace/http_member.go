package workspace

import (
	"context"
	"net/http"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

func (s *Service) registerMembers(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listMembers", Method: http.MethodGet, Path: "/api/workspaces/{id}/members", Tag: tag,
		Summary: "List the members of a workspace", Description: "Requires membership in the workspace.",
		Errors: []*fault.Error{ErrNotFound},
	}, s.listMembers)
	httpapi.Private(r, httpapi.Operation{
		ID: "updateMember", Method: http.MethodPut, Path: "/api/workspaces/{id}/members/{userId}", Tag: tag,
		Summary: "Change a member's role",
		Description: "Admins and owners can change roles. They cannot change or grant a role above their own. The last owner of a workspace must remain an owner. " +
			"A member becomes an owner only by accepting an invitation: if an owner sends the role owner, the status is 202, the response contains the invitation, and the role stays the same.",
		OtherStatuses: []int{http.StatusAccepted},
		Errors: []*fault.Error{
			ErrNotFound, errMemberNotFound, ErrDenied, errRoleTooHigh, errLastOwner, errPersonalOwner, fault.ErrConflict,
			errInvitationQuota, errInvitedRecently,
		},
	}, s.updateMember)
	httpapi.Private(r, httpapi.Operation{
		ID: "removeMember", Method: http.MethodDelete, Path: "/api/workspaces/{id}/members/{userId}", Tag: tag,
		Summary: "Remove a member, or leave a workspace",
		Description: "Admins and owners can remove members whose role is not above their own. Every member can leave. The last owner of a workspace cannot be removed, " +
			"and neither can the user of a personal workspace. The removal takes effect immediately. Emits member.removed.",
		Errors: []*fault.Error{
			ErrNotFound, errMemberNotFound, ErrDenied, errRoleTooHigh, errLastOwner, errPersonalOwner, fault.ErrConflict,
		},
	}, s.removeMember)
}

// MemberItem is a member as clients see it.
type MemberItem struct {
	UserID   string          `json:"userId" doc:"The user's ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string          `json:"username" doc:"The user's username" example:"grace"`
	Role     Role            `json:"role" enum:"owner,admin,member,viewer" doc:"The role of the member" example:"member"`
	AddedAt  clock.Timestamp `json:"addedAt" doc:"When the user became a member" example:"2026-01-31T08:15:30.123Z"`

	InvitedEmail string `json:"invitedEmail,omitempty" doc:"The address of the invitation that the user accepted, if it is not the confirmed address of the user. Only admins and owners see it" example:"grace@example.com"`
	Email        string `json:"email,omitempty" doc:"The address of the user's account when the user accepted that invitation. Only admins and owners see it" example:"g.hopper@example.com"`
}

type removeMemberInput struct {
	ID     string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	UserID string `path:"userId" doc:"The member's user ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type updateMemberInput struct {
	ID     string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	UserID string `path:"userId" doc:"The member's user ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body   struct {
		Role *Role `json:"role,omitempty" nullable:"false" enum:"owner,admin,member,viewer" doc:"The new role. If absent, the role is not changed" example:"admin"`
	}
}

// updatedMemberItem is a member after a change.
type updatedMemberItem struct {
	MemberItem

	Invitation *InvitationItem `json:"invitation,omitempty" doc:"The invitation to become an owner. Absent unless the request offered ownership"`
}

type updatedMemberOutput struct {
	Status int
	Body   updatedMemberItem
}

type membersInput struct {
	httpapi.PageInput
	ID string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type membersOutput struct {
	Body struct {
		Members    []MemberItem `json:"members" nullable:"false" doc:"The members, sorted by user ID. This is the order in which the users signed up"`
		NextCursor string       `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page" example:"eyJrIjoiazEifQ"`
	}
}

func (m Membership) memberItem() MemberItem {
	return MemberItem{
		UserID: m.UserID, Username: m.Username, Role: m.Role, AddedAt: m.AddedAt,
		InvitedEmail: m.InvitedEmail, Email: m.Email,
	}
}

// listMembers returns a page of the members of a workspace, sorted by user ID.
func (s *Service) listMembers(
	ctx context.Context, caller httpapi.Caller, in *membersInput,
) (*membersOutput, error) {
	scope := httpapi.ListScope(caller, "members", in.ID)
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	var list []Membership
	var own Membership
	reads, readCtx := async.WithContext(ctx)
	reads.Go(func() (err error) {
		own, err = s.store.Membership(readCtx, caller.UserID, in.ID)
		return err
	})
	reads.Go(func() (err error) {
		list, err = s.store.members(db.WithoutGuardRead(readCtx), in.ID, after, in.Limit)
		return err
	})
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	items := make([]MemberItem, len(list))
	for i, m := range list {
		items[i] = m.memberItem()
		if !own.Role.May(ManageMembers) {
			items[i].InvitedEmail, items[i].Email = "", ""
		}
	}
	out := &membersOutput{}
	out.Body.Members, out.Body.NextCursor, err = httpapi.CutPage(ctx, s.cursors, scope, items, in.Limit,
		func(m MemberItem) string { return m.UserID })
	return out, err
}

// updateMember changes the role of a member. If there is no new role, it writes nothing. A member becomes an
// owner only with the member's consent: for the role Owner, it stores an invitation and does not change the role.
func (s *Service) updateMember(
	ctx context.Context, caller httpapi.Caller, in *updateMemberInput,
) (*updatedMemberOutput, error) {
	out, role := &updatedMemberOutput{}, in.Body.Role
	err := db.Retry(ctx, "change a role", func(ctx context.Context) error {
		t, err := s.store.readTeam(ctx, in.ID, caller.UserID, in.UserID)
		if err != nil {
			return err
		}
		if err := checkRoleChange(t.caller, t.target, role); err != nil {
			return err
		}
		member := *t.target
		out.Status, out.Body = http.StatusOK, updatedMemberItem{MemberItem: member.memberItem()}
		switch {
		case role == nil || *role == member.Role:
			return nil
		case *role == Owner:
			next := s.newInvitation(t.caller, invitee{UserID: member.UserID, Username: member.Username}, Owner, s.now())
			next, err := s.store.invite(ctx, t, next, s.store.checkRole(member))
			offer := next.item()
			out.Status, out.Body.Invitation = http.StatusAccepted, &offer
			return err
		}
		member.Role, out.Body.Role = *role, *role
		c := change{by: ActorOf(caller), caller: t.caller, before: t.target, after: &member, invitations: t.invitations}
		return s.apply(ctx, c, s.now())
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// removeMember removes a member, who may be the caller. The removal is effective on the next request.
func (s *Service) removeMember(
	ctx context.Context, caller httpapi.Caller, in *removeMemberInput,
) (*httpapi.DoneOutput, error) {
	message := "The member has been removed."
	if in.UserID == caller.UserID {
		message = "You have left the workspace."
	}
	return httpapi.ReplyDone(message, db.Retry(ctx, "remove a member", func(ctx context.Context) error {
		t, err := s.store.readTeam(ctx, in.ID, caller.UserID, in.UserID)
		if err != nil {
			return err
		}
		if err := checkRemove(t.caller, t.target); err != nil {
			return err
		}
		c := change{by: ActorOf(caller), caller: t.caller, before: t.target, invitations: t.invitations}
		return s.apply(ctx, c, s.now())
	}))
}
