package workspace_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// The account of a workspace is the owner who was added first. If that owner leaves or is no longer an owner, the
// account is the next one.
func TestAccount(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	users := f.newUsers("ada", "grace", "linus", "edith")
	ada, grace, linus, edith := users[0], users[1], users[2], users[3]
	access := workspace.Access{Projects: f.client.Table(f.projectsTable)}
	ws, alone := ada.create("Team"), grace.create("Alone")
	check := func(when string, want *user, wantCalls int) {
		t.Helper()
		got, err := access.Account(t.Context(), ws)
		if err != nil || got != want.id {
			t.Errorf("%s: got the account %s, %v, want %s (%s)", when, got, err, want.id, want.username)
		}
		for _, u := range users {
			var wantWorkspaces []string
			wantWorkspaces = append(wantWorkspaces, u.personal)
			if u == want {
				wantWorkspaces = append(wantWorkspaces, ws)
			}
			if u == grace {
				wantWorkspaces = append(wantWorkspaces, alone)
			}
			ctx := db.CountCalls(t.Context())
			got, err := access.AccountWorkspaces(ctx, u.id)
			if diff := cmp.Diff(wantWorkspaces, got); err != nil || diff != "" {
				t.Errorf("%s: the workspaces of %s, %v (-want +got):\n%s", when, u.username, err, diff)
			}
			if n := db.Calls(ctx); u == want && n != wantCalls {
				t.Errorf("%s: got %d calls for the workspaces of the account, want %d", when, n, wantCalls)
			}
		}
	}
	check("new workspace", ada, 2)
	ada.add(ws, edith, workspace.Member)
	ada.add(ws, linus, workspace.Admin)
	ada.add(ws, grace, workspace.Owner)
	check("two owners", ada, 3) // one call more, for the members
	ada.remove(ws, ada)
	check("the first owner left", grace, 2)
	grace.promote(ws, linus)
	check("an older member became an owner", linus, 3)
	linus.setRole(ws, linus, workspace.Admin)
	check("the older member is an admin again", grace, 2)
	damaged := map[string]any{"role": true}
	key := db.MemberKey(ws, "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK")
	if _, err := f.client.Do(t.Context(), access.Projects.Put(key, damaged)); err != nil {
		t.Fatal(err)
	}
	grace.promote(ws, linus)
	check("with a damaged membership", linus, 3)
	if _, err := f.client.Do(t.Context(), access.Projects.Delete(key)); err != nil { // for the audit
		t.Fatal(err)
	}
	for _, unknown := range []string{"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "team"} {
		if _, err := access.Account(t.Context(), unknown); !errors.Is(err, workspace.ErrNotFound) {
			t.Errorf("workspace %s: got error %v, want ErrNotFound", unknown, err)
		}
	}
	if got, err := access.AccountWorkspaces(t.Context(), "x"); err != nil || got != nil {
		t.Errorf("an unknown user: got %v, %v, want no workspaces", got, err)
	}
	linus.delete(ws, "Team").Want(t, http.StatusAccepted)
	got, err := access.AccountWorkspaces(t.Context(), linus.id)
	if err != nil || !slices.Equal(got, []string{linus.personal}) {
		t.Errorf("after the end of a workspace: got the workspaces %q, %v, want the personal one", got, err)
	}
}
