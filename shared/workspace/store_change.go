package workspace

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// Errors of a change, beside db.ErrStale.
var (
	errExists  = errors.New("workspace: the user is a member already")
	errFull    = errors.New("workspace: the user has reached the limit of memberships")
	errNoOwner = errors.New("workspace: no owner would remain")
)

// change is one change of one membership, and the state on which it was decided.
type change struct {
	// by is the caller's membership when the change was decided. The change fails if the caller's role is different.
	by Membership
	// before and after are the member's membership. before is nil if the member is added, after if the member is
	// removed.
	before, after *Membership
	// event is part of the same transaction. It is nil for a change of role.
	event *db.Write
}

// member returns the membership that changes.
func (c change) member() Membership {
	if c.after != nil {
		return *c.after
	}
	return *c.before
}

// owners returns the difference in the number of the workspace's owners.
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

// apply writes a change with its event, both copies of the membership, and the counts. It is for use within db.Retry.
// Errors: db.ErrStale, errExists, errFull, errNoOwner.
func (s store) apply(ctx context.Context, c change) error {
	m := c.member()
	var list []db.Write
	causes := map[int]error{} // the error if the condition of a write fails, by the write's index
	add := func(w db.Write, cause error) {
		causes[len(list)] = cause
		list = append(list, w)
	}
	if c.by.UserID != m.UserID {
		add(s.Projects.Check(db.MemberKey(m.WorkspaceID, c.by.UserID), hasRole(c.by.Role)), db.ErrStale)
	}
	copies, err := s.copies(c)
	if err != nil {
		return err
	}
	cause := db.ErrStale
	if c.before == nil {
		cause = errExists
	}
	for _, w := range copies {
		add(w, cause)
	}
	switch {
	case c.before == nil:
		add(s.countUp(m.UserID), errFull)
	case c.after == nil:
		add(s.countDown(m.UserID), nil)
	}
	if n := c.owners(); n != 0 {
		add(s.countOwners(m.WorkspaceID, n), errNoOwner)
	}
	if c.event != nil {
		add(*c.event, nil)
	}
	err = s.client.TransactOnce(ctx, list...)
	// A stale decision comes first: the other conditions do not matter then.
	for _, class := range []error{db.ErrStale, errExists, errFull, errNoOwner} {
		for i, cause := range causes {
			if errors.Is(cause, class) && db.FailedAt(err, i) {
				return class
			}
		}
	}
	return err
}

// copies returns the writes of both copies of a membership, which differ only in the key.
func (s store) copies(c change) ([]db.Write, error) {
	m := c.member()
	var list []db.Write
	for _, key := range []db.Key{db.MemberKey(m.WorkspaceID, m.UserID), db.MembershipKey(m.UserID, m.WorkspaceID)} {
		switch {
		case c.before == nil:
			item, err := db.Encode(m)
			if err != nil {
				return nil, err
			}
			list = append(list, s.Projects.Create(key, item))
		case c.after == nil:
			list = append(list, s.Projects.Delete(key).If(hasRole(c.before.Role)))
		default:
			role := expression.Set(attrRole, expression.Value(m.Role))
			list = append(list, s.Projects.Update(key, role).If(hasRole(c.before.Role)))
		}
	}
	return list, nil
}

// countOwners returns the write that adds n to the number of a workspace's owners. It fails if no owner would remain.
func (s store) countOwners(workspaceID string, n int) db.Write {
	update := expression.Set(attrOwners, attrOwners.Plus(expression.Value(n)))
	return s.Projects.Update(db.WorkspaceKey(workspaceID), update).
		If(attrOwners.GreaterThan(expression.Value(max(0, -n))))
}

// firstMembership is the count of a user's memberships before it is stored: the personal workspace.
const firstMembership = 1

// countUp returns the write that counts one more membership of a user. It fails if the user has reached the quota.
func (s store) countUp(userID string) db.Write {
	room := attrCount.LessThan(expression.Value(s.quota))
	if s.quota > firstMembership {
		room = room.Or(attrCount.AttributeNotExists())
	}
	next := expression.Plus(attrCount.IfNotExists(expression.Value(firstMembership)), expression.Value(1))
	return s.Projects.Update(db.MembershipCountKey(userID), expression.Set(attrCount, next)).If(room)
}

// countDown returns the write that counts one membership of a user less. The count exists, because a member who is
// removed was added before.
func (s store) countDown(userID string) db.Write {
	update := expression.Set(attrCount, attrCount.Minus(expression.Value(1)))
	return s.Projects.Update(db.MembershipCountKey(userID), update).
		If(attrCount.AttributeExists())
}
