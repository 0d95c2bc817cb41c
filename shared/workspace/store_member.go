package workspace

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// change is the change of one membership, with the state on which the decision was based.
type change struct {
	// caller is the caller's membership. The write fails if the caller's role has changed in the meantime.
	caller Membership
	// before and after are the states of the membership. before is nil for a new member, after is nil for a removed
	// member.
	before, after *Membership
	// more are more writes of the same transaction: of the event, and of Deps.DisableWebhooks.
	more []db.Write
}

// revokesWebhooks reports whether the member may manage webhooks before the change and not after it.
func (c change) revokesWebhooks() bool {
	return c.before != nil && c.before.Role.May(ManageWebhooks) &&
		(c.after == nil || !c.after.Role.May(ManageWebhooks))
}

// member returns the changed membership: after, or before if the member is removed.
func (c change) member() Membership {
	if c.after != nil {
		return *c.after
	}
	return *c.before
}

// owners returns the change in the workspace's number of owners: -1, 0 or 1.
func (c change) owners() int {
	n := 0
	if c.after != nil && c.after.Role == Owner {
		n++
	}
	if c.before != nil && c.before.Role == Owner {
		n--
	}
	return n
}

var (
	attrRole   = expression.Name("role")
	attrOwners = expression.Name("owners")
	attrCount  = expression.Name("n")
)

func hasRole(r Role) expression.ConditionBuilder { return attrRole.Equal(expression.Value(r)) }

// Allows returns a condition check. Error: ErrDenied if the user's role in the workspace does not allow the action.
func (s Access) Allows(userID, workspaceID string, a Action) db.Write {
	allowed := hasRole(Owner) // may do everything
	for role := range permissions {
		if role != Owner && role.May(a) {
			allowed = allowed.Or(hasRole(role))
		}
	}
	return s.Projects.Check(db.MemberKey(workspaceID, userID), allowed).Else(ErrDenied)
}

// apply writes a change in one transaction: both copies of the membership, the counters, and c.more. Call it within
// db.Retry. Errors: db.ErrStale, errAlreadyMember, errMemberQuota, errLastOwner.
func (s store) apply(ctx context.Context, c change) error {
	m := c.member()
	tx := s.client.Tx()
	if c.caller.UserID != m.UserID {
		tx.Add(s.Projects.Check(db.MemberKey(m.WorkspaceID, c.caller.UserID), hasRole(c.caller.Role)))
	}
	// If the decision is stale, the other conditions are irrelevant.
	tx.Add(c.more...)
	tx.Add(s.membershipWrites(c)...)
	switch {
	case c.before == nil:
		tx.Add(s.countUp(m.UserID).Else(errMemberQuota(s.quota)))
	case c.after == nil:
		tx.Add(s.countDown(m.UserID))
	}
	if n := c.owners(); n != 0 {
		tx.Add(s.countOwners(m.WorkspaceID, n))
	}
	return tx.CommitOnce(ctx)
}

// membershipWrites returns the writes of both copies of the membership. The copies differ only in the key. Error:
// errAlreadyMember.
func (s store) membershipWrites(c change) (writes []db.Write) {
	m := c.member()
	for _, key := range []db.Key{db.MemberKey(m.WorkspaceID, m.UserID), db.MembershipKey(m.UserID, m.WorkspaceID)} {
		switch {
		case c.before == nil:
			writes = append(writes, s.Projects.Create(key, m).Else(errAlreadyMember))
		case c.after == nil:
			writes = append(writes, s.Projects.Delete(key).If(hasRole(c.before.Role)))
		default:
			role := expression.Set(attrRole, expression.Value(m.Role))
			writes = append(writes, s.Projects.Update(key, role).If(hasRole(c.before.Role)))
		}
	}
	return writes
}

// countOwners returns the write that adds n to the workspace's number of owners. Error: errLastOwner if no owner
// would remain.
func (s store) countOwners(workspaceID string, n int) db.Write {
	update := expression.Set(attrOwners, attrOwners.Plus(expression.Value(n)))
	return s.Projects.Update(db.WorkspaceKey(workspaceID), update).
		If(attrOwners.GreaterThan(expression.Value(max(0, -n)))).Else(errLastOwner)
}

// firstMembership is a user's number of memberships while no number is stored. The user then has only the personal
// workspace.
const firstMembership = 1

// countUp returns the write that increments the user's number of memberships, on the condition that the user has not
// reached the quota.
func (s store) countUp(userID string) db.Write {
	belowQuota := attrCount.LessThan(expression.Value(s.quota))
	if s.quota > firstMembership {
		belowQuota = belowQuota.Or(attrCount.AttributeNotExists())
	}
	next := expression.Plus(attrCount.IfNotExists(expression.Value(firstMembership)), expression.Value(1))
	return s.Projects.Update(db.MembershipCountKey(userID), expression.Set(attrCount, next)).If(belowQuota)
}

// countDown returns the write that decrements the user's number of memberships. The number is always stored at this
// point: a member who can be removed was added earlier, and countUp stored the number then.
func (s store) countDown(userID string) db.Write {
	update := expression.Set(attrCount, attrCount.Minus(expression.Value(1)))
	return s.Projects.Update(db.MembershipCountKey(userID), update).If(attrCount.AttributeExists())
}
