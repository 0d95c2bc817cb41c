package workspace_test

import (
	"testing"

	"devplatform/shared/workspace"
)

var roles = []workspace.Role{workspace.Owner, workspace.Admin, workspace.Member, workspace.Viewer}

// The permission table, written a second time, independently of the code.
func TestPermissions(t *testing.T) {
	t.Parallel()
	table := []struct {
		action                       workspace.Action
		owner, admin, member, viewer bool
	}{
		{workspace.Read, true, true, true, true},
		{workspace.Write, true, true, true, false},
		{workspace.DeleteOwnProject, true, true, true, false},
		{workspace.Moderate, true, true, false, false},
		{workspace.ManageMembers, true, true, false, false},
		{workspace.ManageWebhooks, true, true, false, false},
		{"something else", false, false, false, false},
	}
	for _, row := range table {
		for i, want := range []bool{row.owner, row.admin, row.member, row.viewer} {
			if got := roles[i].May(row.action); got != want {
				t.Errorf("%s may %s: %v", roles[i], row.action, got)
			}
		}
		for _, nobody := range []workspace.Role{"", "Owner", "guest"} {
			if nobody.May(row.action) {
				t.Errorf("%q may %s", nobody, row.action)
			}
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for i, high := range roles {
		for j, low := range roles {
			if got := high.Covers(low); got != (i <= j) {
				t.Errorf("%s covers %s: %v", high, low, got)
			}
		}
		for _, nobody := range []workspace.Role{"", "guest"} {
			if high.Covers(nobody) || nobody.Covers(high) || nobody.Covers(nobody) {
				t.Errorf("%q has a rank", nobody)
			}
		}
	}
}
