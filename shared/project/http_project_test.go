package project_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/infra/projecttest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/project"
	"devplatform/shared/workspace"
)

// lastEvent returns the newest event without its ID.
func lastEvent(f *fixture) event.Payload {
	f.T.Helper()
	records := f.StoredEvents()
	if len(records) == 0 {
		f.T.Fatal("no event is stored")
	}
	payload := projecttest.DecodePayload(f.T, records[len(records)-1])
	payload.ID = ""
	return payload
}

// wantLastEvent checks the newest event, whose time is now, and whose actor is a user.
func wantLastEvent(u *user, kind event.Type, data event.Data) {
	u.Fixture.T.Helper()
	data.Actor = event.Actor{ID: u.UserID, Username: u.Name}
	got := lastEvent(u.Fixture)
	want := event.Payload{Type: kind, Timestamp: clock.Stamp(u.Fixture.Clock.Now()), Data: data}
	if diff := cmp.Diff(want, got); diff != "" {
		u.Fixture.T.Errorf("last event: mismatch (-want +got):\n%s", diff)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	at := "2031-05-05T10:05:00.001Z" // NewUser has advanced the clock by a millisecond
	r := ada.Do(http.MethodPost, "/api/projects", object{"name": "Café Déjà"}).Want(t, http.StatusCreated)
	if !id.Project.Valid(r.Text("id")) {
		t.Errorf("got the invalid ID %q", r.Text("id"))
	}
	want := map[string]any{
		"id": r.Text("id"), "name": "Café Déjà", "slug": "cafe-deja", "description": "", "rootDir": "",
		"framework": "static", "deployable": true, "visibility": "private",
		"lastOpenedAt": at, "createdAt": at, "updatedAt": at,
		"workspace": map[string]any{"id": ada.Personal, "name": "ada's workspace"}, "site": nil,
	}
	if diff := cmp.Diff(want, r.Body); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	if r.Calls > 4 {
		t.Errorf("creating a project made %d calls, want at most 4", r.Calls)
	}
	wantLastEvent(ada, event.ProjectCreated, event.Data{Project: &event.Project{
		ID: r.Text("id"), Name: "Café Déjà", Slug: "cafe-deja", Framework: "static", Visibility: "private",
		WorkspaceID: ada.Personal,
	}})

	team := ada.Workspace("Team")
	inTeam := ada.Do(http.MethodPost, "/api/projects", object{
		"name": " x ", "description": "Two\nlines", "framework": "ReAct", "visibility": "team", "workspaceId": team,
	}).Want(t, http.StatusCreated)
	want = map[string]any{
		"id": inTeam.Text("id"), "name": " x ", "slug": "x", "description": "Two\nlines", "framework": "ReAct",
		"deployable": true, "rootDir": "", "visibility": "team", "workspace": map[string]any{"id": team, "name": "Team"},
		"site": nil,
	}
	times := cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return strings.HasSuffix(k, "At") })
	if diff := cmp.Diff(want, inTeam.Body, times); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	read := ada.Get(projecttest.URL(inTeam.Text("id"))).Want(t, http.StatusOK)
	want["files"] = []any{}
	if diff := cmp.Diff(want, read.Body, times); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	listed := ada.Get("/api/projects").Want(t, http.StatusOK)
	for _, field := range []string{"files", "description", "rootDir"} {
		delete(want, field)
	}
	if diff := cmp.Diff(want, listed.List("projects")[0], times); diff != "" {
		t.Errorf("list item: mismatch (-want +got):\n%s", diff)
	}
	item := listed.List("projects")[0]
	if _, hasField := item["lastOpenedAt"]; !hasField || len(item) != 9 {
		t.Errorf("got the list item %v, want 9 fields with lastOpenedAt", item)
	}
}

func TestProjectValidation(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	project := projecttest.URL(ada.Project("", "App", workspace.Team))
	long := func(n int) string { return strings.Repeat("é", n) }
	for _, tc := range []struct {
		body   any
		fields []string // the fields that the message must name
	}{
		{object{"name": ""}, []string{"name"}},
		{object{"name": " \u2003"}, []string{"name"}},
		{object{"name": "a\tb"}, []string{"name"}},
		{object{"name": "a\u0085b"}, []string{"name"}},
		{object{"name": long(101)}, []string{"name"}},
		{object{"name": "a", "description": long(2001)}, []string{"description"}},
		{object{"name": "a", "framework": ""}, []string{"framework"}},
		{object{"name": "a", "framework": long(65)}, []string{"framework"}},
		{object{"name": "a", "framework": "a\nb"}, []string{"framework"}},
		{object{"name": "a", "rootDir": "client"}, []string{"rootDir"}},
		{object{"name": "a", "rootDir": "/client/"}, []string{"rootDir"}},
		{object{"name": "a", "rootDir": "//"}, []string{"rootDir"}},
		{object{"name": "a", "rootDir": "/../a"}, []string{"rootDir"}},
		{object{"name": "a", "rootDir": "/a/" + strings.Repeat("a", 510)}, []string{"rootDir"}},
		{object{"name": "a", "rootDir": "/a\nb"}, []string{"rootDir"}},
		{object{"name": "a", "rootDir": "/a/.git"}, []string{"rootDir"}},
		{object{"name": "a", "rootDir": "/a/node_modules/b"}, []string{"rootDir"}},
		{object{"name": "a", "visibility": ""}, []string{"visibility"}},
		{object{"name": "a", "visibility": "Public"}, []string{"visibility"}},
		{
			object{"name": " ", "framework": "\x01", "visibility": 7, "description": []int{}},
			[]string{"name", "framework", "visibility", "description"},
		},
	} {
		for method, path := range map[string]string{http.MethodPost: "/api/projects", http.MethodPut: project} {
			r := ada.Do(method, path, tc.body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
			for _, field := range tc.fields {
				if !strings.Contains(r.Text("error"), field+": ") {
					t.Errorf("%s %v: %s does not name %s", method, tc.body, r.Raw, field)
				}
			}
		}
	}
	empty := ada.Do(http.MethodPost, "/api/projects", object{})
	empty.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	if !strings.Contains(empty.Text("error"), "name: is required") {
		t.Errorf("got %s, want the error that name is required", empty.Raw)
	}
	ada.Do(http.MethodPost, "/api/projects", object{
		"name": long(100), "description": long(2000), "framework": strings.Repeat("🚀", 64), "visibility": "public",
	}).Want(t, http.StatusCreated)
	if n := len(f.StoredEvents()); n != 2 {
		t.Errorf("got %d events, want 2: one for each created project", n)
	}
}

func TestCreateInWorkspace(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada, bob := f.NewUser("ada"), f.NewUser("bob")
	team := ada.Workspace("Team")
	create := func(workspaceID string) response {
		return bob.Do(http.MethodPost, "/api/projects", object{"name": "App", "workspaceId": workspaceID})
	}
	unknown := create(f.IDs.New(id.Workspace)).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	for _, other := range []string{team, "", "ws_", "prj_" + team[3:], strings.ToLower(team), ada.Personal} {
		if r := create(other).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound); r.Raw != unknown.Raw {
			t.Errorf("%q: got %s, want the same response as for an unknown ID: %s", other, r.Raw, unknown.Raw)
		}
	}
	f.SetRole(team, bob, workspace.Viewer)
	create(team).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	f.SetRole(team, bob, workspace.Member)
	create(team).Want(t, http.StatusCreated)
	f.RemoveMember(team, bob)
	create(team).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)

	// The default is the caller's own personal workspace, even if the caller is a member of another user's personal
	// workspace.
	f.SetRole(ada.Personal, bob, workspace.Owner)
	r := bob.Do(http.MethodPost, "/api/projects", object{"name": "Mine"}).Want(t, http.StatusCreated)
	if got, _ := r.Body["workspace"].(map[string]any); got["id"] != bob.Personal {
		t.Errorf("the project was created in workspace %v, want %s", got, bob.Personal)
	}
}

func TestSlugsAreUniqueInAWorkspace(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	team := ada.Workspace("Team")
	slug := func(r response) string {
		t.Helper()
		if r.Status >= http.StatusBadRequest {
			t.Fatal(r.Raw)
		}
		return r.Text("slug")
	}
	create := func(name string) response {
		return ada.Do(http.MethodPost, "/api/projects", object{"name": name, "workspaceId": team})
	}
	rename := func(r response, name string) response {
		return ada.Do(http.MethodPut, projecttest.URL(r.Text("id")), object{"name": name})
	}
	first, second, third := create("Todo"), create("TODO!"), create("tödo")
	if got := []string{slug(first), slug(second), slug(third)}; !cmp.Equal(got, []string{"todo", "todo-2", "todo-3"}) {
		t.Fatalf("got slugs %v, want todo, todo-2, todo-3", got)
	}
	if got := slug(create("项目")) + " " + slug(create("日本")); got != "project project-2" {
		t.Errorf("names without ASCII letters: got the slugs %q, want project and project-2", got)
	}
	if got := slug(ada.Do(http.MethodPost, "/api/projects", object{"name": "Todo"})); got != "todo" {
		t.Errorf("the same name in another workspace: got slug %q, want todo", got)
	}
	// A rename changes the slug, unless the base of the slug is the same. The old slug is available again.
	if got := slug(rename(second, "Todo")); got != "todo-2" {
		t.Errorf("rename to a name with the same base slug: got %q, want todo-2", got)
	}
	if got := slug(rename(second, "Todo 2")); got != "todo-2" {
		t.Errorf("rename to a name that has the current slug as its base: got %q, want todo-2", got)
	}
	if got := slug(rename(first, "Other")); got != "other" {
		t.Errorf("rename to a free slug: got %q, want other", got)
	}
	if got := slug(create("Todo")); got != "todo" {
		t.Errorf("creation with the old slug of a renamed project: got %q, want todo", got)
	}
	if got := slug(rename(first, "Todo")); got != "todo-4" {
		t.Errorf("rename to a slug that is taken: got %q, want todo-4", got)
	}
	ada.Do(http.MethodDelete, projecttest.URL(third.Text("id")), nil).Want(t, http.StatusOK)
	if got := slug(create("Todo")); got != "todo-3" {
		t.Errorf("creation with the slug of a deleted project: got %q, want todo-3", got)
	}
	slugs := 0
	for key := range f.Dump(f.Tables.Projects) {
		if strings.HasPrefix(key.SK, "SLUG#") && key.PK == "WS#"+team {
			slugs++
		}
	}
	if listed := len(ada.Get("/api/projects?workspaceId=" + team).List("projects")); slugs != listed {
		t.Errorf("got %d stored slugs for %d projects", slugs, listed)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	url := projecttest.URL(ada.Project("", "App", workspace.Private))
	before := ada.Get(url).Want(t, http.StatusOK)
	f.Clock.Advance(time.Second)
	for _, tc := range []struct {
		change  object
		changes []string
	}{
		{object{"name": "Shop"}, []string{"name"}},
		{object{"description": "An online shop."}, []string{"description"}},
		{object{"description": ""}, []string{"description"}},
		{object{"framework": "Vue", "visibility": "team"}, []string{"framework", "visibility"}},
		{object{"framework": "vue"}, []string{"framework"}},
		{object{"rootDir": "/apps/my site.v2"}, []string{"rootDir"}},
		{object{"rootDir": ""}, []string{"rootDir"}},
		{
			object{"name": "Café", "description": "d", "framework": "go", "visibility": "public"},
			[]string{"name", "description", "framework", "visibility"},
		},
	} {
		f.Clock.Advance(time.Second)
		n := len(f.StoredEvents())
		r := ada.Do(http.MethodPut, url, tc.change).Want(t, http.StatusOK)
		if r.Calls > 5 {
			t.Errorf("%v: got %d calls, want at most 5", tc.change, r.Calls)
		}
		want := before.Body
		delete(want, "files")
		for field, value := range tc.change {
			want[field] = value
		}
		want["deployable"] = want["framework"] != "go"
		want["slug"], want["updatedAt"] = project.SlugOf(r.Text("name")), f.Timestamp()
		if diff := cmp.Diff(want, r.Body); diff != "" {
			t.Errorf("%v: response mismatch (-want +got):\n%s", tc.change, diff)
		}
		wantLastEvent(ada, event.ProjectUpdated, event.Data{Changes: tc.changes, Project: &event.Project{
			ID: r.Text("id"), Name: r.Text("name"), Slug: r.Text("slug"), Framework: r.Text("framework"),
			Visibility: r.Text("visibility"), WorkspaceID: ada.Personal,
		}})
		if got := len(f.StoredEvents()); got != n+1 {
			t.Errorf("%v: got %d events, want 1", tc.change, got-n)
		}
		before = r
	}
	// A request that changes nothing writes nothing.
	dump, n := f.Dump(f.Tables.Projects), len(f.StoredEvents())
	f.Clock.Advance(time.Hour)
	for _, same := range []object{
		{},
		{"name": "Café"},
		{"rootDir": "/"},
		{"name": "Café", "description": "d", "framework": "go", "visibility": "public"},
	} {
		r := ada.Do(http.MethodPut, url, same).Want(t, http.StatusOK)
		if diff := cmp.Diff(before.Body, r.Body); diff != "" {
			t.Errorf("%v: response mismatch (-before +after):\n%s", same, diff)
		}
	}
	diff := cmp.Diff(dump, f.Dump(f.Tables.Projects), projecttest.Unexported)
	if diff != "" || len(f.StoredEvents()) != n {
		t.Errorf("requests without a change changed stored items or events (-before +after):\n%s", diff)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	kept := ada.Project("", "Kept", workspace.Private)
	dump := f.Dump(f.Tables.Projects)
	deleted := ada.Project("", "Deleted", workspace.Team)
	f.Clock.Advance(time.Second)
	r := ada.Do(http.MethodDelete, projecttest.URL(deleted), nil).Want(t, http.StatusOK)
	want := map[string]any{"success": true, "message": "Project deleted."}
	if diff := cmp.Diff(want, r.Body); diff != "" || r.Calls > 4 {
		t.Errorf("got %d calls, want at most 4; mismatch (-want +got):\n%s", r.Calls, diff)
	}
	if diff := cmp.Diff(dump, f.Dump(f.Tables.Projects), projecttest.Unexported); diff != "" {
		t.Errorf("after the deletion, the stored items differ from those before the creation (-want +got):\n%s", diff)
	}
	wantLastEvent(ada, event.ProjectDeleted, event.Data{Project: &event.Project{
		ID: deleted, Name: "Deleted", Slug: "deleted", Framework: "static", Visibility: "team", WorkspaceID: ada.Personal,
	}})
	unknown := ada.Get(projecttest.URL(f.IDs.New(id.Project))).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	for _, request := range projectRequests {
		if r := request.do(ada, deleted); r.Raw != unknown.Raw || r.Status != http.StatusNotFound {
			t.Errorf("%s after the deletion: got %d %s, want the same as for an unknown ID: %s",
				request.name, r.Status, r.Raw, unknown.Raw)
		}
	}
	ada.Get(projecttest.URL(kept)).Want(t, http.StatusOK)
}

func TestProjectQuota(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, projecttest.WithMaxProjects(2))
	ada := f.NewUser("ada")
	first := ada.Project("", "One", workspace.Private)
	ada.Project("", "Two", workspace.Private)
	create := func() response { return ada.Do(http.MethodPost, "/api/projects", object{"name": "Two"}) }
	r := create().Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if !strings.Contains(r.Text("error"), "2 projects") {
		t.Errorf("%s does not name the quota", r.Raw)
	}
	ada.Project(ada.Workspace("Another"), "Three", workspace.Private)
	ada.Do(http.MethodDelete, projecttest.URL(first), nil).Want(t, http.StatusOK)
	create().Want(t, http.StatusCreated)
	create().Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if got := storedProjectCount(f, ada.Personal); got != 2 {
		t.Errorf("the workspace has the project counter %d, want 2", got)
	}
}

// storedProjectCount returns the number of projects in a workspace's record.
func storedProjectCount(f *fixture, workspaceID string) int {
	f.T.Helper()
	item, err := f.Projects.Get(f.T.Context(), db.WorkspaceKey(workspaceID))
	if err != nil {
		f.T.Fatal(err)
	}
	record, err := db.Decode[workspace.Workspace](item)
	if err != nil {
		f.T.Fatal(err)
	}
	return record.Projects
}
