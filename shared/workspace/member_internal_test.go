package workspace

import (
	"testing"

	"pgregory.net/rapid"
)

// For every pair of roles, the code allows the same changes as this test. The rules in this test were written
// independently of the code: a user can manage only roles up to their own, and only admins and owners can manage other
// members.
func TestMemberChangeRules(t *testing.T) {
	t.Parallel()
	level := map[Role]int{Viewer: 0, Member: 1, Admin: 2, Owner: 3}
	rapid.Check(t, func(t *rapid.T) {
		role := rapid.SampledFrom([]Role{Viewer, Member, Admin, Owner})
		caller := Membership{UserID: "usr_1", Role: role.Draw(t, "caller's role")}
		target := &Membership{UserID: rapid.SampledFrom([]string{"usr_1", "usr_2"}).Draw(t, "target")}
		isSelf := target.UserID == caller.UserID
		target.Role = role.Draw(t, "target's role")
		if isSelf {
			target.Role = caller.Role
		}
		newRole := role.Draw(t, "new role")
		target.Personal = target.Role == Owner && rapid.Bool().Draw(t, "personal")

		isManager := level[caller.Role] >= 2
		coversTarget := level[target.Role] <= level[caller.Role]
		coversNew := level[newRole] <= level[caller.Role]
		mayAdd := isManager && coversNew
		mayChange := isManager && coversTarget && coversNew && (!target.Personal || newRole == Owner)
		mayRemove := (isSelf || isManager && coversTarget) && !target.Personal
		if got := checkGrant(caller, newRole); (got == nil) != mayAdd {
			t.Errorf("%s invites a user with the role %s: got error %v, want allowed: %v", caller.Role, newRole, got, mayAdd)
		}
		if got := checkRoleChange(caller, target, &newRole); (got == nil) != mayChange {
			t.Errorf("%s changes %+v to %s: got error %v, want allowed: %v", caller.Role, target, newRole, got, mayChange)
		}
		if got := checkRemove(caller, target); (got == nil) != mayRemove {
			t.Errorf("%s removes %+v: got error %v, want allowed: %v", caller.Role, target, got, mayRemove)
		}
	})
}
