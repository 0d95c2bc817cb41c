package workspace

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	const tooLong, control, blank = "must be 1 to 100 characters long", "must not contain control characters", "must not be blank"
	for name, want := range map[string]string{
		"T": "", "  Team  ": "", "Équipe 项目 👩‍👩‍👧": "", strings.Repeat("项", 100): "", "a#b/c": "",
		"": tooLong, strings.Repeat("x", 101): tooLong, strings.Repeat("项", 101): tooLong,
		" ": blank, "\u00a0\u2003": blank, "\u200b": blank, strings.Repeat(" ", 100): blank,
		"a\tb": control, "a\n": control, "\x7f": control, "a\u0085b": control, "\r\n": control,
	} {
		if got := CheckName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// The rules for all pairs of roles, written a second time, independently of the code: a user can manage only roles up
// to their own, and only admins and owners can manage other members.
func TestMemberChangeRules(t *testing.T) {
	t.Parallel()
	level := map[Role]int{Viewer: 0, Member: 1, Admin: 2, Owner: 3}
	rapid.Check(t, func(t *rapid.T) {
		role := rapid.SampledFrom([]Role{Viewer, Member, Admin, Owner})
		by := Membership{UserID: "me", Role: role.Draw(t, "by")}
		of := &Membership{UserID: rapid.SampledFrom([]string{"me", "other"}).Draw(t, "whom"), Role: role.Draw(t, "of")}
		if of.UserID == by.UserID {
			of.Role = by.Role
		}
		to := role.Draw(t, "to")
		of.Personal = of.Role == Owner && rapid.Bool().Draw(t, "personal")
		manages := level[by.Role] >= 2
		reaches := level[of.Role] <= level[by.Role]
		grants := level[to] <= level[by.Role]
		if got, want := checkAdd(by, to) == nil, manages && grants; got != want {
			t.Errorf("%s adds %s: %v", by.Role, to, got)
		}
		if got, want := checkRoleChange(by, of, to) == nil, manages && reaches && grants && (!of.Personal || to == Owner); got != want {
			t.Errorf("%s makes %s %s: %v", by.Role, of.Role, to, got)
		}
		if got, want := checkRemove(by, of) == nil, (of.UserID == by.UserID || (manages && reaches)) && !of.Personal; got != want {
			t.Errorf("%s removes %s %s: %v", by.Role, of.UserID, of.Role, got)
		}
	})
}
