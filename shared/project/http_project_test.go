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
		f.t.Fatal("no event")
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
		t.Errorf("id %q", r.Text("id"))
	}
	place := map[string]any{"id": ada.personal, "name": "ada's workspace"}
	want := map[string]any{
		"id": r.Text("id"), "name": "Café Déjà", "slug": "cafe-deja", "description": "", "framework": "static", "visibility": "private",
		"lastOpenedAt": at, "createdAt": at, "updatedAt": at, "workspace": place,
	}
	if diff := cmp.Diff(want, r.Body); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	if r.Calls > 3 {
		t.Errorf("%d calls", r.Calls)
	}
	got := f.lastEvent()
	wantEvent := event.Payload{Type: event.ProjectCreated, Timestamp: got.Timestamp, Data: event.Data{
		Actor: event.Actor{ID: ada.userID, Username: "ada"},
		Project: &event.Project{
			ID: r.Text("id"), Name: "Café Déjà", Slug: "cafe-deja", Framework: "static", Visibility: "private", WorkspaceID: ada.personal,
		},
	}}
	if diff := cmp.Diff(wantEvent, got); diff != "" || got.Timestamp.String() != at {
		t.Error(diff, got.Timestamp)
	}

	team := ada.workspace("Team")
	b := ada.Do(http.MethodPost, "/api/projects", object{
		"name": " x ", "description": "What\nit is", "framework": "ReAct", "visibility": "team", "workspaceId": team, "unknown": 1,
	}).Want(t, http.StatusCreated)
	want = map[string]any{
		"id": b.Text("id"), "name": " x ", "slug": "x", "description": "What\nit is", "framework": "ReAct", "visibility": "team",
		"workspace": map[string]any{"id": team, "name": "Team"},
	}
	times := cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return strings.HasSuffix(k, "At") })
	if diff := cmp.Diff(want, b.Body, times); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	read := ada.Get(projectURL(b.Text("id"))).Want(t, http.StatusOK)
	want["files"] = []any{}
	if diff := cmp.Diff(want, read.Body, times); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	listed := ada.Get("/api/projects").Want(t, http.StatusOK)
	delete(want, "files")
	delete(want, "description")
	if diff := cmp.Diff(want, listed.List("projects")[0], times); diff != "" {
		t.Error("the list item has wrong fields:", diff)
	}
	if _, has := listed.List("projects")[0]["lastOpenedAt"]; !has || len(listed.List("projects")[0]) != 7 {
		t.Errorf("fields: %v", listed.List("projects")[0])
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
		fields []string // that the message names
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
		{object{"name": "a", "visibility": ""}, []string{"visibility"}},
		{object{"name": "a", "visibility": "Public"}, []string{"visibility"}},
		{object{"name": " ", "framework": "\x01", "visibility": 7, "description": []int{}}, []string{"name", "framework", "visibility", "description"}},
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
	if r := ada.Do(http.MethodPost, "/api/projects", object{}).Want(t, http.StatusBadRequest, fault.CodeValidationFailed); !strings.Contains(r.Text("error"), "name: is required") {
		t.Error(r.Raw)
	}
	ada.Do(http.MethodPost, "/api/projects", object{
		"name": long(100), "description": long(2000), "framework": strings.Repeat("🚀", 64), "visibility": "public",
	}).Want(t, http.StatusCreated)
	if n := len(f.storedEvents()); n != 2 {
		t.Errorf("%d events of 2 projects", n)
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
	strange := create(f.ids.New(id.Workspace)).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	for _, other := range []string{team, "", "ws_", "prj_" + team[3:], strings.ToLower(team), ada.personal} {
		if r := create(other).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound); r.Raw != strange.Raw {
			t.Errorf("%q: %s, want the same response as for an unknown ID: %s", other, r.Raw, strange.Raw)
		}
	}
	f.setRole(team, bob, workspace.Viewer)
	create(team).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	f.setRole(team, bob, workspace.Member)
	create(team).Want(t, http.StatusCreated)
	f.removeMember(team, bob)
	create(team).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)

	// The default is the caller's own personal workspace, even if the caller is a member of another user's.
	f.setRole(ada.personal, bob, workspace.Owner)
	r := bob.Do(http.MethodPost, "/api/projects", object{"name": "Mine"}).Want(t, http.StatusCreated)
	if place, _ := r.Body["workspace"].(map[string]any); place["id"] != bob.personal {
		t.Errorf("created in %v", place)
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
		t.Fatalf("%v", got)
	}
	if got := slug(create("项目")) + " " + slug(create("日本")); got != "project project-2" {
		t.Errorf("%q", got)
	}
	if r := ada.Do(http.MethodPost, "/api/projects", object{"name": "Todo"}); slug(r) != "todo" {
		t.Errorf("another workspace: %s", r.Raw)
	}
	// A rename changes the slug, unless the base of the slug is the same. The old slug is available again.
	if got := slug(rename(second, "Todo")); got != "todo-2" {
		t.Errorf("the same plain slug: %q", got)
	}
	if got := slug(rename(second, "Todo 2")); got != "todo-2" {
		t.Errorf("the slug that it has: %q", got)
	}
	if got := slug(rename(first, "Other")); got != "other" {
		t.Errorf("renamed: %q", got)
	}
	if got := slug(create("Todo")); got != "todo" {
		t.Errorf("slug of a renamed project: %q", got)
	}
	if got := slug(rename(first, "Todo")); got != "todo-4" {
		t.Errorf("renamed to a name that is taken: %q", got)
	}
	ada.Do(http.MethodDelete, projectURL(third.Text("id")), nil).Want(t, http.StatusOK)
	if got := slug(create("Todo")); got != "todo-3" {
		t.Errorf("slug of a deleted project: %q", got)
	}
	slugs := 0
	for key := range f.dump(f.tableNames.projects) {
		if strings.HasPrefix(key.SK, "SLUG#") && key.PK == "WS#"+team {
			slugs++
		}
	}
	if listed := len(ada.Get("/api/projects?workspaceId=" + team).List("projects")); slugs != listed {
		t.Errorf("%d slugs of %d projects", slugs, listed)
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
		{object{"description": "It sells."}, []string{"description"}},
		{object{"description": ""}, []string{"description"}},
		{object{"framework": "Vue", "visibility": "team"}, []string{"framework", "visibility"}},
		{object{"framework": "vue"}, []string{"framework"}},
		{object{"name": "Café", "description": "d", "framework": "go", "visibility": "public"}, []string{"name", "description", "framework", "visibility"}},
	} {
		f.clock.Advance(time.Second)
		n := len(f.storedEvents())
		r := ada.Do(http.MethodPut, url, tc.change).Want(t, http.StatusOK)
		if r.Calls > 5 {
			t.Errorf("%v: %d calls", tc.change, r.Calls)
		}
		want := before.Body
		delete(want, "files")
		for field, value := range tc.change {
			want[field] = value
		}
		want["slug"], want["updatedAt"] = slugOf(r.Text("name")), f.timestamp()
		if diff := cmp.Diff(want, r.Body); diff != "" {
			t.Errorf("%v: %s", tc.change, diff)
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
			t.Errorf("%v: %s", tc.change, diff)
		}
		if got := len(f.storedEvents()); got != n+1 {
			t.Errorf("%v: %d events", tc.change, got-n)
		}
		before = r
	}
	// A request that changes nothing writes nothing.
	dump, n := f.dump(f.tableNames.projects), len(f.storedEvents())
	f.clock.Advance(time.Hour)
	for _, same := range []object{
		{}, {"name": "Café"}, {"name": "Café", "description": "d", "framework": "go", "visibility": "public"}, {"slug": "mine", "id": "x"},
	} {
		r := ada.Do(http.MethodPut, url, same).Want(t, http.StatusOK)
		if diff := cmp.Diff(before.Body, r.Body); diff != "" {
			t.Errorf("%v: %s", same, diff)
		}
	}
	if diff := cmp.Diff(dump, f.dump(f.tableNames.projects), unexported); diff != "" || len(f.storedEvents()) != n {
		t.Errorf("something was written: %s", diff)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	kept := ada.project("", "Kept", Private)
	dump := f.dump(f.tableNames.projects)
	gone := ada.project("", "Gone", Team)
	f.clock.Advance(time.Second)
	r := ada.Do(http.MethodDelete, projectURL(gone), nil).Want(t, http.StatusOK)
	if diff := cmp.Diff(map[string]any{"success": true, "message": "Project deleted."}, r.Body); diff != "" || r.Calls > 4 {
		t.Error(diff, r.Calls)
	}
	if diff := cmp.Diff(dump, f.dump(f.tableNames.projects), unexported); diff != "" {
		t.Error("items remain after the deletion:", diff)
	}
	got := f.lastEvent()
	wantEvent := event.Payload{Type: event.ProjectDeleted, Timestamp: got.Timestamp, Data: event.Data{
		Actor: event.Actor{ID: ada.userID, Username: "ada"},
		Project: &event.Project{
			ID: gone, Name: "Gone", Slug: "gone", Framework: "static", Visibility: "team", WorkspaceID: ada.personal,
		},
	}}
	if diff := cmp.Diff(wantEvent, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	never := ada.Get(projectURL(f.ids.New(id.Project))).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	for _, call := range projectCalls {
		if r := call.do(ada, gone); r.Raw != never.Raw || r.Status != http.StatusNotFound {
			t.Errorf("%s: %d %s", call.name, r.Status, r.Raw)
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
		t.Errorf("counted %d", got)
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
