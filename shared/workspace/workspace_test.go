package workspace_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123_456_789, time.UTC)

func TestCheckName(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"":                                 {"T", "  Team  ", "Équipe 项目 👩‍👩‍👧", strings.Repeat("项", 100), "a#b/c"},
		"must be 1 to 100 characters long": {"", strings.Repeat("x", 101), strings.Repeat("项", 101)},
		"must not be blank":                {" ", "\u00a0\u2003", "\u200b", strings.Repeat(" ", 100)},
		"must not contain invisible or direction-changing characters": {"a\u200bb", "\u202etxt", "a\u2028b", "\ufeffTeam"},
		"must not contain control characters":                         {"a\tb", "a\n", "\x7f", "a\u0085b", "\r\n"},
	} {
		for _, name := range names {
			if got := workspace.CheckName(name); got != want {
				t.Errorf("CheckName(%q) = %q, want %q", name, got, want)
			}
		}
	}
}

// A user gets a personal workspace once, with both copies of the membership.
func TestPersonal(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	s, table := f.snapshot(), f.client.Table(f.projectsTable)
	w, m := s.workspaces[ada.personal], s.members[ada.personal+" "+ada.id]
	wantWorkspace := workspace.Workspace{
		ID: ada.personal, Name: "ada's workspace", Personal: true, Owners: 1, Members: 1, CreatedAt: w.CreatedAt,
	}
	wantMember := workspace.Membership{
		WorkspaceID: ada.personal, UserID: ada.id, Username: "ada", Role: workspace.Owner, AddedAt: w.CreatedAt,
		Personal: true, CreatedAt: w.CreatedAt,
	}
	if w != wantWorkspace || m != wantMember || w.CreatedAt.Time().IsZero() {
		t.Errorf("got the workspace %+v with the member %+v, want %+v and %+v", w, m, wantWorkspace, wantMember)
	}
	for want, ids := range map[error][2]string{
		db.ErrConditionFailed: {ada.personal, ada.id}, db.ErrInvalidKey: {ada.id, ada.personal},
	} {
		writes := workspace.Personal(table, ids[0], ids[1], "ada", noon)
		if err := f.client.Tx(writes...).Commit(t.Context()); !errors.Is(err, want) {
			t.Errorf("workspace %s of user %s: got error %v, want %v", ids[0], ids[1], err, want)
		}
	}
}
