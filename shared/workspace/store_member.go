package workspace

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
)

// change is the change of one membership, with the state on which the decision was based.
type change struct {
	by event.Actor // who makes the change
	// caller is the membership on which the caller's right is based, zero for the acceptance of an invitation. The write
	// fails if the caller's role has changed in the meantime.
	caller Membership
	// before and after are the states of the membership. before is nil for a new member, after is nil for a removed
	// member.
	before, after *Membership
	// accepted is the ID of the invitation that the user accepts, or "".
	accepted string
	// invitations are the open invitations of the workspace. The write fails if they have changed in the meantime.
	invitations invitations
	// heir becomes the owner of the workspace, whose only owner leaves; nil if it has another owner.
	heir *Membership
	// accountEnded reports that the account of the user has ended, so that the user's memberships are no longer counted.
	accountEnded bool
	// more are further writes of the same transaction: for the accepted invitation, the event, and the webhooks.
	more []db.Write
}

// revokesWebhooks reports whether the member may manage webhooks before the change and not after it.
func (c change) revokesWebhooks() bool {
	return c.before != nil && c.before.Role.May(ManageWebhooks) &&
		(c.after == nil || !c.after.Role.May(ManageWebhooks))
}

// member returns the changed membership: after, or before if the member is removed.
func (c change) member() Membership { return *cmp.Or(c.after, c.before) }

// addedMembers returns the change of the workspace's number of members: -1, 0 or 1.
func (c change) addedMembers() int {
	switch {
	case c.before == nil:
		return 1
	case c.after == nil:
		return -1
	}
	return 0
}

// addedOwners returns the change of the workspace's number of owners: -1, 0 or 1.
func (c change) addedOwners() int {
	n := 0
	if c.after != nil && c.after.Role == Owner {
		n++
	}
	if c.before != nil && c.before.Role == Owner && c.heir == nil {
		n--
	}
	return n
}

// addedSuspendedOwners returns the change of the workspace's number of owners whose accounts are suspended: -1, 0 or 1.
func (c change) addedSuspendedOwners() int {
	n := 0
	if c.after != nil && c.after.Role == Owner && c.after.Suspended {
		n++
	}
	if c.before != nil && c.before.Role == Owner && c.before.Suspended {
		n--
	}
	if c.heir != nil && c.heir.Suspended {
		n++
	}
	return n
}

var (
	attrName    = expression.Name("name")
	attrRole    = expression.Name("role")
	attrOwners  = expression.Name("owners")
	attrMembers = expression.Name("members")
	attrCount   = expression.Name("n")

	// attrSuspended is an attribute of members, and of the items that count the memberships of users.
	attrSuspended       = expression.Name("suspended")
	attrSuspendedOwners = expression.Name("suspendedOwners")
)

// formerMembership records that a user was a member of a workspace. Comments and deployments there can have the name of
// the user.
type formerMembership struct {
	WorkspaceID string `dynamodbav:"workspaceId"`
}

func hasRole(r Role) expression.ConditionBuilder { return attrRole.Equal(expression.Value(r)) }

// hasRoleIn returns the condition that a member has one of the roles that are allowed. Owner is always allowed.
func hasRoleIn(allowed func(Role) bool) expression.ConditionBuilder {
	cond := hasRole(Owner) // may do everything
	for role := range permissions {
		if role != Owner && allowed(role) {
			cond = cond.Or(hasRole(role))
		}
	}
	return cond
}

// isUnchanged returns the condition that a stored membership still has the role of m, and that the account of the user
// is still suspended or not.
func (m Membership) isUnchanged() expression.ConditionBuilder {
	if m.Suspended {
		return hasRole(m.Role).And(attrSuspended.AttributeExists())
	}
	return hasRole(m.Role).And(attrSuspended.AttributeNotExists())
}

// Allows returns a check that the user's role in the workspace allows the action, and that the account of the user is
// not suspended. Error of the check: ErrDenied.
func (s Access) Allows(userID, workspaceID string, a Action) db.Write {
	allowed := hasRoleIn(func(r Role) bool { return r.May(a) }).And(attrSuspended.AttributeNotExists())
	return s.Projects.Check(db.MemberKey(workspaceID, userID), allowed).Else(ErrDenied)
}

// apply writes a change in one transaction: both copies of the membership, the counters, the invitations that end, and
// c.more. Call it within db.Retry. Errors: db.ErrStale, ErrNotFound if the workspace has ended, errSelfMember,
// errCallerQuota, AUTH_SUSPENDED, errLastOwner, the errors of c.more.
func (s store) apply(ctx context.Context, c change) error {
	m := c.member()
	tx := s.client.Tx()
	if c.caller.UserID != "" && c.caller.UserID != m.UserID {
		tx.Add(s.Projects.Check(db.MemberKey(m.WorkspaceID, c.caller.UserID), c.caller.isUnchanged()))
	}
	// If the decision is stale, the other conditions are irrelevant.
	tx.Add(s.invitationsWrites(c)...)
	tx.Add(c.more...)
	tx.Add(s.membershipWrites(c.before, c.after)...)
	if c.heir != nil {
		owner := *c.heir
		owner.Role = Owner
		tx.Add(s.membershipWrites(c.heir, &owner)...)
	}
	switch {
	case c.before == nil:
		tx.Add(s.countUp(m.UserID))
	case c.after == nil:
		tx.Add(s.Projects.Put(db.FormerMembershipKey(m.UserID, m.WorkspaceID), formerMembership{m.WorkspaceID}))
		if !c.accountEnded {
			tx.Add(s.countDown(m.UserID))
		}
	}
	if members, owners := c.addedMembers(), c.addedOwners(); members != 0 || owners != 0 {
		tx.Add(s.countMembers(m.WorkspaceID, members, owners, c.addedSuspendedOwners()))
	}
	return tx.CommitOnce(ctx)
}

// membershipWrites returns the writes that replace both copies of a membership, which differ only in the key. before is
// nil for a new member, after is nil for a removed member. Error: errSelfMember.
func (s store) membershipWrites(before, after *Membership) (writes []db.Write) {
	m := cmp.Or(after, before)
	for _, key := range []db.Key{db.MemberKey(m.WorkspaceID, m.UserID), db.MembershipKey(m.UserID, m.WorkspaceID)} {
		switch {
		case before == nil:
			writes = append(writes, s.Projects.Create(key, *m).Else(errSelfMember))
		case after == nil:
			writes = append(writes, s.Projects.Delete(key).If(before.isUnchanged()))
		default:
			role := expression.Set(attrRole, expression.Value(m.Role))
			writes = append(writes, s.Projects.Update(key, role).If(before.isUnchanged()))
		}
	}
	return writes
}

// countMembers returns the write that adds to the workspace's numbers of members, of owners, and of owners whose
// accounts are suspended. Errors: ErrNotFound; errLastOwner if no owner would remain.
func (s store) countMembers(workspaceID string, members, owners, suspendedOwners int) db.Write {
	update := expression.Set(attrMembers, attrMembers.Plus(expression.Value(members))).
		Set(attrOwners, attrOwners.Plus(expression.Value(owners)))
	if suspendedOwners != 0 {
		update = update.Add(attrSuspendedOwners, expression.Value(suspendedOwners))
	}
	return s.Projects.Update(db.WorkspaceKey(workspaceID), update).
		If(attrOwners.GreaterThan(expression.Value(max(0, -owners)))).
		ElseFunc(func(stored db.Item) error {
			if stored == nil {
				return ErrNotFound
			}
			return errLastOwner
		})
}

// IsSuspended reports whether the account of a user is suspended, by the item that counts the user's memberships.
func IsSuspended(memberships db.Item) bool { return memberships["suspended"] != nil }

// initialMemberships is the number of memberships of a user without a stored number. The user has only the personal
// workspace.
const initialMemberships = 1

// countUp returns the write that increments the user's number of memberships, on the condition that the user has not
// reached the quota, and that the account of the user is not suspended. Errors: errCallerQuota, AUTH_SUSPENDED.
func (s store) countUp(userID string) db.Write {
	belowQuota := attrCount.LessThan(expression.Value(s.quota))
	if s.quota > initialMemberships {
		belowQuota = belowQuota.Or(attrCount.AttributeNotExists())
	}
	next := expression.Plus(attrCount.IfNotExists(expression.Value(initialMemberships)), expression.Value(1))
	return s.Projects.Update(db.MembershipCountKey(userID), expression.Set(attrCount, next)).
		If(belowQuota.And(attrSuspended.AttributeNotExists())).
		ElseFunc(func(stored db.Item) error {
			if IsSuspended(stored) {
				return httpapi.ErrSuspended
			}
			return errCallerQuota(s.quota)
		})
}

// countDown returns the write that decrements the user's number of memberships. The number is always stored at this
// point: a member who can be removed was added earlier, and countUp stored the number then.
func (s store) countDown(userID string) db.Write {
	update := expression.Set(attrCount, attrCount.Minus(expression.Value(1)))
	return s.Projects.Update(db.MembershipCountKey(userID), update).If(attrCount.AttributeExists())
}
