package workspace_test

import (
	"errors"
	"testing"

	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// The access rules are the same as in the table of this test, which was written independently of the code.
func TestProjectAccess(t *testing.T) {
	t.Parallel()
	notFound, denied := workspace.ErrProjectNotFound, workspace.ErrDenied
	actions := []workspace.Action{
		workspace.View, workspace.Read, workspace.Write, workspace.DeleteOwnProject, workspace.Moderate,
		workspace.ManageWebhooks,
	}
	// The expected errors of these actions.
	all := []error{nil, nil, nil, nil, nil, nil}
	member := []error{nil, nil, nil, denied, denied, denied}
	creator := []error{nil, nil, nil, nil, denied, denied}
	viewer := []error{nil, nil, denied, denied, denied, denied}
	outsider := []error{nil, denied, denied, denied, denied, denied}
	hidden := []error{notFound, notFound, notFound, notFound, notFound, notFound}
	const own, foreign = true, false
	for _, tc := range []struct {
		role       workspace.Role
		own        bool // whether the user created the project
		visibility workspace.Visibility
		want       []error
	}{
		{workspace.Owner, foreign, workspace.Private, all},
		{workspace.Admin, foreign, workspace.Private, all},
		{workspace.Admin, foreign, workspace.Public, all},
		{workspace.Member, foreign, workspace.Private, hidden},
		{workspace.Member, own, workspace.Private, creator},
		{workspace.Member, foreign, workspace.Team, member},
		{workspace.Member, own, workspace.Team, creator},
		{workspace.Member, foreign, workspace.Public, member},
		{workspace.Viewer, foreign, workspace.Private, hidden},
		{workspace.Viewer, own, workspace.Private, viewer},
		{workspace.Viewer, foreign, workspace.Team, viewer},
		{workspace.Viewer, own, workspace.Public, viewer},
		{"", own, workspace.Private, hidden},
		{"", own, workspace.Team, hidden},
		{"", own, workspace.Public, outsider},
		{"guest", own, workspace.Team, hidden},
		{workspace.Member, foreign, "unknown", member},
	} {
		a := workspace.ProjectAccess{
			UserID: "usr_1", CreatedBy: "usr_2", Visibility: tc.visibility, Member: workspace.Membership{Role: tc.role},
		}
		if tc.own {
			a.CreatedBy = a.UserID
		}
		for i, action := range actions {
			if got := a.Check(action); !errors.Is(got, tc.want[i]) {
				t.Errorf("%s by role %q in a %s project (own: %v): got %v, want %v",
					action, tc.role, tc.visibility, tc.own, got, tc.want[i])
			}
		}
	}
}

func TestProjectAccessMakesTwoCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.skipConsistencyCheck = true
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.create("Team")
	projectID := f.ids.New(id.Project)
	tree, record := db.TreeKey(projectID), db.ProjectKey(ws, projectID)
	access := workspace.Access{Projects: f.client.Table(f.projectsTable)}
	write := func(writes ...db.Write) {
		t.Helper()
		if err := f.client.Tx(writes...).Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	encoded := func(record any) db.Item {
		t.Helper()
		item, err := db.Encode(record)
		if err != nil {
			t.Fatal(err)
		}
		return item
	}
	wantNotFound := func(userID, reason string) {
		t.Helper()
		_, err := access.Project(t.Context(), userID, projectID, workspace.View)
		if !errors.Is(err, workspace.ErrProjectNotFound) {
			t.Errorf("%s: got error %v, want ErrProjectNotFound", reason, err)
		}
	}
	wantNotFound(ada.id, "a project that does not exist")
	write(
		access.Projects.Put(tree, encoded(workspace.ProjectAccess{WorkspaceID: ws})),
		access.Projects.Put(record, encoded(workspace.ProjectAccess{
			WorkspaceID: ws, Name: "App", Visibility: workspace.Team, CreatedBy: ada.id,
		})),
	)
	ctx := db.CountCalls(t.Context())
	a, err := access.Project(ctx, ada.id, projectID, workspace.Write)
	if err != nil {
		t.Fatal(err)
	}
	if n := db.Calls(ctx); n != 2 {
		t.Errorf("got %d calls, want 2", n)
	}
	if a.UserID != ada.id || a.ProjectID != projectID || a.WorkspaceID != ws || a.CreatedBy != ada.id {
		t.Errorf("got IDs of %+v, want user %s, project %s, workspace %s", a, ada.id, projectID, ws)
	}
	if a.Name != "App" || a.Visibility != workspace.Team || a.Workspace.Name != "Team" {
		t.Errorf("got project %q (%s) in workspace %q, want App (team) in Team", a.Name, a.Visibility, a.Workspace.Name)
	}
	if a.Items[tree] == nil || a.Items[record] == nil {
		t.Errorf("got items %v, want the tree and the record of the project", a.Items)
	}
	if a.Member.Role != workspace.Owner {
		t.Errorf("got role %q, want owner", a.Member.Role)
	}
	wantNotFound(grace.id, "a user who is not a member")
	write(access.ProjectExists(projectID), access.Projects.Delete(record))
	wantNotFound(ada.id, "a project without a record")
	write(access.Projects.Delete(tree))
	err = f.client.Tx(access.ProjectExists(projectID)).Commit(t.Context())
	if !errors.Is(err, workspace.ErrProjectNotFound) {
		t.Errorf("a transaction with ProjectExists after the deletion: got error %v, want a failed condition", err)
	}
}

func TestMembershipsOfAUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.create("Team")
	access := workspace.Access{Projects: f.client.Table(f.projectsTable)}
	personal, err := access.MembershipOrPersonal(t.Context(), ada.id, nil)
	if err != nil || !personal.Personal || personal.Name != "ada's workspace" {
		t.Errorf("without a workspace ID: got %+v, %v, want the personal workspace", personal, err)
	}
	team, err := access.MembershipOrPersonal(t.Context(), ada.id, &ws)
	if err != nil || team.Role != workspace.Owner || team.Name != "Team" {
		t.Errorf("with the ID of Team: got %+v, %v, want the membership of its owner", team, err)
	}
	for _, userID := range []string{grace.id, "x"} {
		if _, err := access.MembershipOrPersonal(t.Context(), userID, &ws); !errors.Is(err, workspace.ErrNotFound) {
			t.Errorf("user %q, who is not a member: got error %v, want ErrNotFound", userID, err)
		}
	}
	if _, err := access.MembershipOrPersonal(t.Context(), "x", nil); !errors.Is(err, workspace.ErrNotFound) {
		t.Errorf("a user without a personal workspace: got error %v, want ErrNotFound", err)
	}
}
