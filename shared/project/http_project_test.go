package project

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

func projectURL(id string) string { return "/api/projects/" + id }

// lastEvent returns the newest event without its ID.
func (f *fixture) lastEvent() event.Payload {
	f.t.Helper()
	records := f.storedEvents()
	if len(records) == 0 {
		f.t.Fatal("no event is stored")
	}
	payload := decodePayload(f.t, records[len(records)-1])
	payload.ID = ""
	return payload
}

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	at := "2031-05-05T10:05:00.001Z"
	r := ada.Do(http.MethodPost, "/api/projects", object{"name": "Café Déjà"}).Want(t, http.StatusCreated)
	if !id.Project.Valid(r.Text("id")) {
		t.Errorf("got the invalid ID %q", r.Text("id"))
	}
	want := map[string]any{
		"id": r.Text("id"), "name": "Café Déjà", "slug": "cafe-deja", "description": "", "rootDir": "",
		"framework": "static", "deployable": true, "visibility": "private",
		"lastOpenedAt": at, "createdAt": at, "updatedAt": at,
		"workspace": map[string]any{"id": ada.personal, "name": "ada's workspace"}, "site": nil,
	}
	if diff := cmp.Diff(want, r.Body); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	if r.Calls > 3 {
		t.Errorf("creating a project made %d calls, want at most 3", r.Calls)
	}
	got := f.lastEvent()
	wantEvent := event.Payload{Type: event.ProjectCreated, Timestamp: got.Timestamp, Data: event.Data{
		Actor: event.Actor{ID: ada.userID, Username: "ada"},
		Project: &event.Project{
			ID: r.Text("id"), Name: "Café Déjà", Slug: "cafe-deja", Framework: "static", Visibility: "private",
			WorkspaceID: ada.personal,
		},
	}}
	if diff := cmp.Diff(wantEvent, got); diff != "" || got.Timestamp.String() != at {
		t.Errorf("event at %s, want %s; mismatch (-want +got):\n%s", got.Timestamp, at, diff)
	}

	team := ada.workspace("Team")
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
	read := ada.Get(projectURL(inTeam.Text("id"))).Want(t, http.StatusOK)
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
	f := newFixture(t)
	ada := f.newUser("ada")
	project := projectURL(ada.project("", "App", Team))
	long := func(n int) string { return strings.Repeat("é", n) }
	for _, tc := range []struct {
		body   any
		fields []string // the fields that the message must name
	}{
		{nil, []string{"body"}},
		{"", []string{"body"}},
		{"[]", []string{"body"}},
		{"{", []string{"body"}},
		{`{"name":"a","name":"b"}`, []string{"name"}},
		{`{"name":"a\u0000"}`, []string{"name"}},
		{object{"name": ""}, []string{"name"}},
		{object{"name": " \u2003"}, []string{"name"}},
		{object{"name": "a\tb"}, []string{"name"}},
		{object{"name": "a\u0085b"}, []string{"name"}},
		{object{"name": long(101)}, []string{"name"}},
		{object{"name": 1}, []string{"name"}},
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
		{object{"name": "a", "rootDir": "/a\x00"}, []string{"rootDir"}},
		{object{"name": "a", "rootDir": nil}, []string{"rootDir"}},
		{`{"name":"a","rootDir":"/` + "\xff" + `"}`, []string{"rootDir"}},
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
	if n := len(f.storedEvents()); n != 2 {
		t.Errorf("got %d events, want 2: one for each created project", n)
	}
}

func TestCreateInWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, bob := f.newUser("ada"), f.newUser("bob")
	team := ada.workspace("Team")
	create := func(workspaceID string) response {
		return bob.Do(http.MethodPost, "/api/projects", object{"name": "App", "workspaceId": workspaceID})
	}
	unknown := create(f.ids.New(id.Workspace)).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	for _, other := range []string{team, "", "ws_", "prj_" + team[3:], strings.ToLower(team), ada.personal} {
		if r := create(other).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound); r.Raw != unknown.Raw {
			t.Errorf("%q: got %s, want the same response as for an unknown ID: %s", other, r.Raw, unknown.Raw)
		}
	}
	f.setRole(team, bob, workspace.Viewer)
	create(team).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	f.setRole(team, bob, workspace.Member)
	create(team).Want(t, http.StatusCreated)
	f.removeMember(team, bob)
	create(team).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)

	// The default is the caller's own personal workspace, even if the caller is a member of another user's personal
	// workspace.
	f.setRole(ada.personal, bob, workspace.Owner)
	r := bob.Do(http.MethodPost, "/api/projects", object{"name": "Mine"}).Want(t, http.StatusCreated)
	if got, _ := r.Body["workspace"].(map[string]any); got["id"] != bob.personal {
		t.Errorf("the project was created in workspace %v, want %s", got, bob.personal)
	}
}

func TestSlugsAreUniqueInAWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	team := ada.workspace("Team")
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
		return ada.Do(http.MethodPut, projectURL(r.Text("id")), object{"name": name})
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
	ada.Do(http.MethodDelete, projectURL(third.Text("id")), nil).Want(t, http.StatusOK)
	if got := slug(create("Todo")); got != "todo-3" {
		t.Errorf("creation with the slug of a deleted project: got %q, want todo-3", got)
	}
	slugs := 0
	for key := range f.dump(f.tableNames.projects) {
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
	f := newFixture(t)
	ada := f.newUser("ada")
	url := projectURL(ada.project("", "App", Private))
	before := ada.Get(url).Want(t, http.StatusOK)
	f.clock.Advance(time.Second)
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
		f.clock.Advance(time.Second)
		n := len(f.storedEvents())
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
		want["slug"], want["updatedAt"] = slugOf(r.Text("name")), f.timestamp()
		if diff := cmp.Diff(want, r.Body); diff != "" {
			t.Errorf("%v: response mismatch (-want +got):\n%s", tc.change, diff)
		}
		got := f.lastEvent()
		wantEvent := event.Payload{Type: event.ProjectUpdated, Timestamp: got.Timestamp, Data: event.Data{
			Actor: event.Actor{ID: ada.userID, Username: "ada"}, Changes: tc.changes,
			Project: &event.Project{
				ID: r.Text("id"), Name: r.Text("name"), Slug: r.Text("slug"), Framework: r.Text("framework"),
				Visibility: r.Text("visibility"), WorkspaceID: ada.personal,
			},
		}}
		if diff := cmp.Diff(wantEvent, got); diff != "" || got.Timestamp.String() != f.timestamp() {
			t.Errorf("%v: event at %s, want %s; mismatch (-want +got):\n%s", tc.change, got.Timestamp, f.timestamp(), diff)
		}
		if got := len(f.storedEvents()); got != n+1 {
			t.Errorf("%v: got %d events, want 1", tc.change, got-n)
		}
		before = r
	}
	// A request that changes nothing writes nothing.
	dump, n := f.dump(f.tableNames.projects), len(f.storedEvents())
	f.clock.Advance(time.Hour)
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
	if diff := cmp.Diff(dump, f.dump(f.tableNames.projects), unexported); diff != "" || len(f.storedEvents()) != n {
		t.Errorf("requests without a change changed stored items or events (-before +after):\n%s", diff)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	kept := ada.project("", "Kept", Private)
	dump := f.dump(f.tableNames.projects)
	deleted := ada.project("", "Deleted", Team)
	f.clock.Advance(time.Second)
	r := ada.Do(http.MethodDelete, projectURL(deleted), nil).Want(t, http.StatusOK)
	want := map[string]any{"success": true, "message": "Project deleted."}
	if diff := cmp.Diff(want, r.Body); diff != "" || r.Calls > 4 {
		t.Errorf("got %d calls, want at most 4; mismatch (-want +got):\n%s", r.Calls, diff)
	}
	if diff := cmp.Diff(dump, f.dump(f.tableNames.projects), unexported); diff != "" {
		t.Errorf("after the deletion, the stored items differ from those before the creation (-want +got):\n%s", diff)
	}
	got := f.lastEvent()
	wantEvent := event.Payload{Type: event.ProjectDeleted, Timestamp: got.Timestamp, Data: event.Data{
		Actor: event.Actor{ID: ada.userID, Username: "ada"},
		Project: &event.Project{
			ID: deleted, Name: "Deleted", Slug: "deleted", Framework: "static", Visibility: "team", WorkspaceID: ada.personal,
		},
	}}
	if diff := cmp.Diff(wantEvent, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	unknown := ada.Get(projectURL(f.ids.New(id.Project))).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	for _, request := range projectRequests {
		if r := request.do(ada, deleted); r.Raw != unknown.Raw || r.Status != http.StatusNotFound {
			t.Errorf("%s after the deletion: got %d %s, want the same as for an unknown ID: %s",
				request.name, r.Status, r.Raw, unknown.Raw)
		}
	}
	ada.Get(projectURL(kept)).Want(t, http.StatusOK)
}

func TestProjectQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withMaxProjects(2))
	ada := f.newUser("ada")
	first := ada.project("", "One", Private)
	ada.project("", "Two", Private)
	create := func() response { return ada.Do(http.MethodPost, "/api/projects", object{"name": "Two"}) }
	r := create().Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if !strings.Contains(r.Text("error"), "2 projects") {
		t.Errorf("%s does not name the quota", r.Raw)
	}
	ada.project(ada.workspace("Another"), "Three", Private)
	ada.Do(http.MethodDelete, projectURL(first), nil).Want(t, http.StatusOK)
	create().Want(t, http.StatusCreated)
	create().Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if got := f.storedProjectCount(ada.personal); got != 2 {
		t.Errorf("the workspace has the project counter %d, want 2", got)
	}
}

// storedProjectCount returns the number of projects in a workspace's record.
func (f *fixture) storedProjectCount(workspaceID string) int {
	f.t.Helper()
	item, err := f.projects.Get(f.t.Context(), db.WorkspaceKey(workspaceID))
	if err != nil {
		f.t.Fatal(err)
	}
	record, err := db.Decode[workspace.Workspace](item)
	if err != nil {
		f.t.Fatal(err)
	}
	return record.Projects
}
