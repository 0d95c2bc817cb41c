package workspace_test

import (
	"errors"
	"testing"

	"devplatform/shared/workspace"
)

// roles has all roles, highest first.
var roles = []workspace.Role{workspace.Owner, workspace.Admin, workspace.Member, workspace.Viewer}

// The permissions are the same as in the table of this test, which was written independently of the code.
func TestPermissions(t *testing.T) {
	t.Parallel()
	table := []struct {
		action                       workspace.Action
		owner, admin, member, viewer bool
	}{
		{action: workspace.Read, owner: true, admin: true, member: true, viewer: true},
		{action: workspace.Write, owner: true, admin: true, member: true},
		{action: workspace.DeleteOwnProject, owner: true, admin: true, member: true},
		{action: workspace.Moderate, owner: true, admin: true},
		{action: workspace.ManageMembers, owner: true, admin: true},
		{action: workspace.ReadWebhooks, owner: true, admin: true},
		{action: workspace.ManageWebhooks, owner: true, admin: true},
		{action: "unknown"},
	}
	for _, row := range table {
		for i, want := range []bool{row.owner, row.admin, row.member, row.viewer} {
			if got := roles[i].May(row.action); got != want {
				t.Errorf("%s.May(%s) = %v, want %v", roles[i], row.action, got, want)
			}
		}
		for _, unknown := range []workspace.Role{"", "Owner", "guest"} {
			if unknown.May(row.action) {
				t.Errorf("%q.May(%s) = true, want false for an unknown role", unknown, row.action)
			}
		}
	}
}

// In a read-only workspace, each role may only read what it could read before.
func TestReadOnlyPermissions(t *testing.T) {
	t.Parallel()
	reads := map[workspace.Action]bool{workspace.View: true, workspace.Read: true, workspace.ReadWebhooks: true}
	for _, role := range append(roles, "guest") {
		for _, action := range []workspace.Action{
			workspace.View, workspace.Read, workspace.Write, workspace.DeleteOwnProject, workspace.Moderate,
			workspace.ManageMembers, workspace.ReadWebhooks, workspace.ManageWebhooks, "unknown",
		} {
			var want error
			switch {
			case !role.May(action):
				want = workspace.ErrDenied
			case !reads[action]:
				want = workspace.ErrReadOnly
			}
			if err := (workspace.Membership{Role: role, ReadOnly: true}).Check(action); !errors.Is(err, want) {
				t.Errorf("%s, %s: got the error %v, want %v", role, action, err, want)
			}
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for i, high := range roles {
		for j, low := range roles {
			if got := high.Covers(low); got != (i <= j) {
				t.Errorf("%s.Covers(%s) = %v, want %v", high, low, got, i <= j)
			}
		}
		for _, unknown := range []workspace.Role{"", "guest"} {
			if high.Covers(unknown) || unknown.Covers(high) || unknown.Covers(unknown) {
				t.Errorf("the unknown role %q covers a role or is covered by one", unknown)
			}
		}
	}
}
