package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// What a change can find in its way.
var (
	errStale      = errors.New("workspace: changed in the meantime")
	errExists     = errors.New("workspace: a member already")
	errFull       = errors.New("workspace: the user's memberships are used up")
	errNoOneOwner = errors.New("workspace: the last owner")
)

// change is one change of one membership, with what it was decided on.
type change struct {
	// by is the caller's membership at the time of the decision. The change only happens while they have that role.
	by Membership
	// before and after are the member's membership; nil before it is added and after it is removed.
	before, after *Membership
	// event travels in the same transaction; a change of role has none.
	event *db.Write
}

// member is whom the change is about.
func (c change) member() Membership {
	if c.after != nil {
		return *c.after
	}
	return *c.before
}

// owners is how the change moves the number of the workspace's owners.
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

// apply writes a change with its event, both copies of the membership and every count, or nothing. Errors: errStale when what it was
// decided on is no longer so, errExists, errFull, errNoOneOwner.
func (s store) apply(ctx context.Context, c change) error {
	m := c.member()
	var list []db.Write
	meaning := map[int]error{} // of a failed condition, by the write's place
	add := func(w db.Write, failed error) {
		meaning[len(list)] = failed
		list = append(list, w)
	}
	if c.by.UserID != m.UserID {
		add(s.Projects.Check(db.MemberKey(m.WorkspaceID, c.by.UserID), hasRole(c.by.Role)), errStale)
	}
	copies, err := s.copies(c)
	if err != nil {
		return err
	}
	failed := errStale
	if c.before == nil {
		failed = errExists
	}
	for _, w := range copies {
		add(w, failed)
	}
	switch {
	case c.before == nil:
		add(s.countUp(m.UserID), errFull)
	case c.after == nil:
		add(s.countDown(m.UserID), nil)
	}
	if n := c.owners(); n != 0 {
		add(s.countOwners(m.WorkspaceID, n), errNoOneOwner)
	}
	if c.event != nil {
		add(*c.event, nil)
	}
	return outcome(s.client.Transact(ctx, list...), meaning)
}

// outcome is what a transaction's error means. What was decided on comes first: nobody learns from a stale decision.
func outcome(err error, meaning map[int]error) error {
	for _, class := range []error{errStale, errExists, errFull, errNoOneOwner} {
		for i, m := range meaning {
			if errors.Is(m, class) && db.FailedAt(err, i) {
				return class
			}
		}
	}
	if err != nil {
		return fmt.Errorf("changing a membership: %w", err)
	}
	return nil
}

// copies are the writes of a membership and its mirror, which are the same but for the key.
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
			list = append(list, s.Projects.Update(key, expression.Set(attrRole, expression.Value(m.Role))).If(hasRole(c.before.Role)))
		}
	}
	return list, nil
}

// countOwners moves the number of a workspace's owners by n, which leaves at least one.
func (s store) countOwners(workspaceID string, n int) db.Write {
	return s.Projects.Update(db.WorkspaceKey(workspaceID), expression.Set(attrOwners, attrOwners.Plus(expression.Value(n)))).
		If(attrOwners.GreaterThan(expression.Value(max(0, -n))))
}

// firstMembership is what a user's count begins with: their personal workspace, before the count is written.
const firstMembership = 1

// countUp counts one more membership of a user, on the condition that the quota has room for it.
func (s store) countUp(userID string) db.Write {
	room := attrCount.LessThan(expression.Value(s.quota))
	if s.quota > firstMembership {
		room = room.Or(attrCount.AttributeNotExists())
	}
	next := expression.Plus(attrCount.IfNotExists(expression.Value(firstMembership)), expression.Value(1))
	return s.Projects.Update(db.MembershipCountKey(userID), expression.Set(attrCount, next)).If(room)
}

// countDown counts one membership of a user less. There is a count: whoever is removed was added before.
func (s store) countDown(userID string) db.Write {
	return s.Projects.Update(db.MembershipCountKey(userID), expression.Set(attrCount, attrCount.Minus(expression.Value(1)))).
		If(attrCount.AttributeExists())
}
