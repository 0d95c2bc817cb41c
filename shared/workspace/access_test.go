package workspace_test

import (
	"errors"
	"testing"

	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// The access rules for every role, visibility and creator, written a second time, independently of the code.
func TestProjectAccess(t *testing.T) {
	t.Parallel()
	notFound, denied := workspace.ErrProjectNotFound, workspace.ErrDenied
	actions := []workspace.Action{
		workspace.View, workspace.Read, workspace.Write, workspace.DeleteOwnProject, workspace.Moderate, workspace.ManageWebhooks,
	}
	all := []error{nil, nil, nil, nil, nil, nil}
	member := []error{nil, nil, nil, denied, denied, denied}
	creator := []error{nil, nil, nil, nil, denied, denied}
	viewer := []error{nil, nil, denied, denied, denied, denied}
	outsider := []error{nil, denied, denied, denied, denied, denied}
	hidden := []error{notFound, notFound, notFound, notFound, notFound, notFound}
	for _, tc := range []struct {
		role       workspace.Role
		own        bool
		visibility workspace.Visibility
		want       []error
	}{
		{workspace.Owner, false, workspace.Private, all},
		{workspace.Admin, false, workspace.Private, all},
		{workspace.Admin, false, workspace.Public, all},
		{workspace.Member, false, workspace.Private, hidden},
		{workspace.Member, true, workspace.Private, creator},
		{workspace.Member, false, workspace.Team, member},
		{workspace.Member, true, workspace.Team, creator},
		{workspace.Member, false, workspace.Public, member},
		{workspace.Viewer, false, workspace.Private, hidden},
		{workspace.Viewer, true, workspace.Private, viewer},
		{workspace.Viewer, false, workspace.Team, viewer},
		{workspace.Viewer, true, workspace.Public, viewer},
		{"", true, workspace.Private, hidden},
		{"", true, workspace.Team, hidden},
		{"", true, workspace.Public, outsider},
		{"guest", true, workspace.Team, hidden},
		{workspace.Member, false, "unknown", member},
	} {
		a := workspace.ProjectAccess{
			UserID: "me", CreatedBy: "another", Visibility: tc.visibility, Member: workspace.Membership{Role: tc.role},
		}
		if tc.own {
			a.CreatedBy = "me"
		}
		for i, action := range actions {
			if got := a.Check(action); !errors.Is(got, tc.want[i]) {
				t.Errorf("%q, own %v, %s project, %s: %v, want %v", tc.role, tc.own, tc.visibility, action, got, tc.want[i])
			}
		}
	}
}

func TestProjectAccessMakesTwoCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unaudited = true
	ada, grace := w.person("ada"), w.person("grace")
	ws := ada.create("Team")
	projectID := w.ids.New(id.Project)
	tree, record := db.TreeKey(projectID), db.ProjectKey(ws, projectID)
	access := workspace.Access{Projects: w.client.Table(w.projects)}
	write := func(writes ...db.Write) {
		t.Helper()
		if err := w.client.Transact(t.Context(), writes...); err != nil {
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
	if _, err := access.Project(t.Context(), ada.id, projectID); !errors.Is(err, workspace.ErrProjectNotFound) {
		t.Errorf("a project that does not exist: %v", err)
	}
	write(
		access.Projects.Put(tree, encoded(workspace.ProjectAccess{WorkspaceID: ws})),
		access.Projects.Put(record, encoded(workspace.ProjectAccess{
			WorkspaceID: ws, Name: "App", Visibility: workspace.Team, CreatedBy: ada.id,
		})),
	)
	ctx := db.CountCalls(t.Context())
	a, err := access.Project(ctx, ada.id, projectID)
	if err != nil {
		t.Fatal(err)
	}
	if n := db.Calls(ctx); n != 2 {
		t.Errorf("%d calls", n)
	}
	if a.UserID != ada.id || a.ProjectID != projectID || a.WorkspaceID != ws || a.Name != "App" || a.Visibility != workspace.Team ||
		a.CreatedBy != ada.id || a.Workspace.Name != "Team" || a.Member.Role != workspace.Owner || a.Items[tree] == nil ||
		a.Items[record] == nil || a.Check(workspace.Write) != nil {
		t.Errorf("%+v", a)
	}
	a, err = access.Project(t.Context(), grace.id, projectID)
	if err != nil || a.Member.Role != "" || !errors.Is(a.Check(workspace.View), workspace.ErrProjectNotFound) {
		t.Errorf("a user who is not a member: %+v, %v", a, err)
	}
	write(access.ProjectExists(projectID), access.Projects.Delete(record))
	if _, err := access.Project(t.Context(), ada.id, projectID); !errors.Is(err, workspace.ErrProjectNotFound) {
		t.Errorf("a project without a record: %v", err)
	}
	write(access.Projects.Delete(tree))
	if err := w.client.Transact(t.Context(), access.ProjectExists(projectID)); !db.FailedAt(err, 0) {
		t.Errorf("a transaction in a project that does not exist: %v", err)
	}
}

func TestMembershipsOfAUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace := w.person("ada"), w.person("grace")
	ws := ada.create("Team")
	access := workspace.Access{Projects: w.client.Table(w.projects)}
	personal, err := access.MembershipOrPersonal(t.Context(), ada.id, nil)
	if err != nil || !personal.Personal || personal.Name != "ada's workspace" {
		t.Errorf("personal: %+v, %v", personal, err)
	}
	named, err := access.MembershipOrPersonal(t.Context(), ada.id, &ws)
	if err != nil || named.Role != workspace.Owner || named.Name != "Team" {
		t.Errorf("by ID: %+v, %v", named, err)
	}
	for _, userID := range []string{grace.id, "x"} {
		if _, err := access.MembershipOrPersonal(t.Context(), userID, &ws); !errors.Is(err, workspace.ErrNotFound) {
			t.Errorf("%q: %v", userID, err)
		}
	}
	if _, err := access.MembershipOrPersonal(t.Context(), "x", nil); !errors.Is(err, workspace.ErrNotFound) {
		t.Errorf("a user without a personal workspace: %v", err)
	}
}
