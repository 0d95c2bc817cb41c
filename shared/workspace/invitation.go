package workspace

import (
	"slices"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
)

// invitee is the recipient of an invitation: a user, or an e-mail address, which need not belong to a user.
type invitee struct {
	UserID   string `dynamodbav:"userId,omitempty"`
	Username string `dynamodbav:"username,omitempty"`
	Email    string `dynamodbav:"email,omitempty"` // normalized
}

// Invitation is an open invitation to a workspace. The attribute names are part of the data format.
type Invitation struct {
	ID string `dynamodbav:"id"`
	invitee
	TokenHash   string          `dynamodbav:"tokenHash,omitempty"` // of id.HashToken; only for an address
	Role        Role            `dynamodbav:"role"`                // Owner only for a user who is a member
	InviterID   string          `dynamodbav:"inviterId"`           // user ID
	InviterName string          `dynamodbav:"inviterName"`
	CreatedAt   clock.Timestamp `dynamodbav:"createdAt"`
	ExpiresAt   clock.Timestamp `dynamodbav:"expiresAt"`
}

// newInvitation returns an invitation that a member creates.
func (s *Service) newInvitation(inviter Membership, to invitee, role Role, now time.Time) Invitation {
	return Invitation{
		ID: s.ids.New(id.Invitation), invitee: to, Role: role,
		InviterID: inviter.UserID, InviterName: inviter.Username,
		CreatedAt: clock.Stamp(now), ExpiresAt: clock.Stamp(now.Add(invitationLifetime)),
	}
}

// invitations is the item with the open invitations of a workspace. It makes the invitation of a user unique, and
// limits the number of invitations. It is small: an invitation has about 300 bytes.
type invitations struct {
	Version int          `dynamodbav:"version"` // increases with each write; 0 if the item does not exist
	List    []Invitation `dynamodbav:"list"`    // can contain expired invitations
}

// open returns the invitations that have not expired.
func (l invitations) open(now time.Time) []Invitation {
	return slices.DeleteFunc(slices.Clone(l.List), func(i Invitation) bool { return !now.Before(i.ExpiresAt.Time()) })
}

func hasID(invitationID string) func(Invitation) bool {
	return func(i Invitation) bool { return i.ID == invitationID }
}

// find returns the open invitation that is wanted. Error: errInvitationNotFound.
func (l invitations) find(isWanted func(Invitation) bool, now time.Time) (Invitation, error) {
	open := l.open(now)
	if n := slices.IndexFunc(open, isWanted); n >= 0 {
		return open[n], nil
	}
	return Invitation{}, errInvitationNotFound
}

// with returns the list with a new invitation. If the user or the address was already invited with another role, the
// open invitation gets the new role and the new inviter, and next becomes that invitation. If it was the same role,
// next replaces the old invitation, and replaced is the ID of the old one. Errors: errInvitationQuota;
// errInvitedRecently if the open invitation was created less than repeatAfter ago.
func (l invitations) with(next *Invitation, now time.Time) (changed invitations, replaced string, err error) {
	l.List = l.open(now)
	i := slices.IndexFunc(l.List, func(old Invitation) bool { return old.invitee == next.invitee })
	if i < 0 {
		if len(l.List) >= maxOpenInvitations {
			return l, "", errInvitationQuota
		}
		l.List = append(l.List, *next)
		return l, "", nil
	}
	old := l.List[i]
	if old.Role != next.Role {
		next.ID, next.CreatedAt, next.ExpiresAt, next.TokenHash = old.ID, old.CreatedAt, old.ExpiresAt, old.TokenHash
		l.List[i] = *next
		return l, "", nil
	}
	if wait := old.CreatedAt.Time().Add(repeatAfter).Sub(now); wait > 0 {
		return l, "", limit.Status{Reset: wait}.WithRetryAfter(errInvitedRecently)
	}
	l.List = append(slices.Delete(l.List, i, i+1), *next)
	return l, old.ID, nil
}

// without returns the list without the invitations that end.
func (l invitations) without(ends func(Invitation) bool) invitations {
	l.List = slices.DeleteFunc(slices.Clone(l.List), ends)
	return l
}

// ends reports whether a change of a member ends an invitation. When a user joins or leaves, or gets the offered role
// or a higher one, the invitations of the user end. When a user loses the right to grant a role, the invitations by the
// user with that role end.
func (c change) ends(i Invitation) bool {
	m := c.member()
	switch {
	case i.ID == c.accepted:
		return true
	case i.UserID == m.UserID:
		return c.before == nil || c.after == nil || c.after.Role.Covers(i.Role)
	case i.InviterID == m.UserID:
		return c.after == nil || !c.after.Role.mayGrant(i.Role)
	}
	return false
}

// mayGrant reports whether a member with role r may invite users with a role.
func (r Role) mayGrant(role Role) bool { return r.May(ManageMembers) && r.Covers(role) }

// isRoleChange reports whether next only changes the role of an open invitation.
func (l invitations) isRoleChange(next Invitation) bool {
	return slices.ContainsFunc(l.open(next.CreatedAt.Time()), func(old Invitation) bool {
		return old.invitee == next.invitee && old.Role != next.Role
	})
}

// confirmedEmail returns the caller's address if it is confirmed, otherwise "". The caller's session must have been
// read.
func confirmedEmail(caller httpapi.Caller) string {
	if account := caller.Account(); account.EmailVerified {
		return account.Email
	}
	return ""
}
