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
func (w *world) lastEvent() event.Payload {
	w.t.Helper()
	records := w.storedEvents()
	if len(records) == 0 {
		w.t.Fatal("no event")
	}
	payload := decoded(w.t, records[len(records)-1])
	payload.ID = ""
	return payload
}

func TestCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	at := "2031-05-05T10:05:00.001Z"
	a := ada.Do(http.MethodPost, "/api/projects", object{"name": "Café Déjà"}).Want(t, http.StatusCreated)
	if !id.Project.Valid(a.Text("id")) {
		t.Errorf("id %q", a.Text("id"))
	}
	place := map[string]any{"id": ada.personal, "name": "ada's workspace"}
	want := map[string]any{
		"id": a.Text("id"), "name": "Café Déjà", "slug": "cafe-deja", "description": "", "framework": "static", "visibility": "private",
		"lastOpenedAt": at, "createdAt": at, "updatedAt": at, "workspace": place,
	}
	if diff := cmp.Diff(want, a.Body); diff != "" {
		t.Error(diff)
	}
	if a.Calls > 3 {
		t.Errorf("%d calls", a.Calls)
	}
	got := w.lastEvent()
	wantEvent := event.Payload{Type: event.ProjectCreated, Timestamp: got.Timestamp, Data: event.Data{
		Actor: event.Actor{ID: ada.userID, Username: "ada"},
		Project: &event.Project{
			ID: a.Text("id"), Name: "Café Déjà", Slug: "cafe-deja", Framework: "static", Visibility: "private", WorkspaceID: ada.personal,
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
		t.Error(diff)
	}
	read := ada.Get(projectURL(b.Text("id"))).Want(t, http.StatusOK)
	want["files"] = []any{}
	if diff := cmp.Diff(want, read.Body, times); diff != "" {
		t.Error(diff)
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
	w := newWorld(t)
	ada := w.user("ada")
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
			a := ada.Do(method, path, tc.body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
			for _, field := range tc.fields {
				if !strings.Contains(a.Text("error"), field+": ") {
					t.Errorf("%s %v: %s does not name %s", method, tc.body, a.Raw, field)
				}
			}
		}
	}
	if a := ada.Do(http.MethodPost, "/api/projects", object{}).Want(t, http.StatusBadRequest, fault.CodeValidationFailed); !strings.Contains(a.Text("error"), "name: is required") {
		t.Error(a.Raw)
	}
	ada.Do(http.MethodPost, "/api/projects", object{
		"name": long(100), "description": long(2000), "framework": strings.Repeat("🚀", 64), "visibility": "public",
	}).Want(t, http.StatusCreated)
	if n := len(w.storedEvents()); n != 2 {
		t.Errorf("%d events of 2 projects", n)
	}
}

func TestCreateInWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.user("ada"), w.user("bob")
	team := ada.workspace("Team")
	create := func(workspaceID string) answer {
		return bob.Do(http.MethodPost, "/api/projects", object{"name": "App", "workspaceId": workspaceID})
	}
	strange := create(w.ids.New(id.Workspace)).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	for _, other := range []string{team, "", "ws_", "prj_" + team[3:], strings.ToLower(team), ada.personal} {
		if a := create(other).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound); a.Raw != strange.Raw {
			t.Errorf("%q: %s, want the same response as for an unknown ID: %s", other, a.Raw, strange.Raw)
		}
	}
	w.join(team, bob, workspace.Viewer)
	create(team).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	w.join(team, bob, workspace.Member)
	create(team).Want(t, http.StatusCreated)
	w.leave(team, bob)
	create(team).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)

	// The default is the caller's own personal workspace, even if the caller is a member of another user's.
	w.join(ada.personal, bob, workspace.Owner)
	a := bob.Do(http.MethodPost, "/api/projects", object{"name": "Mine"}).Want(t, http.StatusCreated)
	if place, _ := a.Body["workspace"].(map[string]any); place["id"] != bob.personal {
		t.Errorf("created in %v", place)
	}
}

func TestSlugsAreUniqueInAWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	team := ada.workspace("Team")
	slug := func(a answer) string {
		t.Helper()
		if a.Status >= http.StatusBadRequest {
			t.Fatal(a.Raw)
		}
		return a.Text("slug")
	}
	create := func(name string) answer {
		return ada.Do(http.MethodPost, "/api/projects", object{"name": name, "workspaceId": team})
	}
	rename := func(a answer, name string) answer {
		return ada.Do(http.MethodPut, projectURL(a.Text("id")), object{"name": name})
	}
	first, second, third := create("Todo"), create("TODO!"), create("tödo")
	if got := []string{slug(first), slug(second), slug(third)}; !cmp.Equal(got, []string{"todo", "todo-2", "todo-3"}) {
		t.Fatalf("%v", got)
	}
	if got := slug(create("项目")) + " " + slug(create("日本")); got != "project project-2" {
		t.Errorf("%q", got)
	}
	if a := ada.Do(http.MethodPost, "/api/projects", object{"name": "Todo"}); slug(a) != "todo" {
		t.Errorf("another workspace: %s", a.Raw)
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
	for key := range w.dump(w.names.projects) {
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
	w := newWorld(t)
	ada := w.user("ada")
	url := projectURL(ada.project("", "App", Private))
	before := ada.Get(url).Want(t, http.StatusOK)
	w.clock.Advance(time.Second)
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
		w.clock.Advance(time.Second)
		n := len(w.storedEvents())
		a := ada.Do(http.MethodPut, url, tc.change).Want(t, http.StatusOK)
		if a.Calls > 5 {
			t.Errorf("%v: %d calls", tc.change, a.Calls)
		}
		want := before.Body
		delete(want, "files")
		for field, value := range tc.change {
			want[field] = value
		}
		want["slug"], want["updatedAt"] = slugOf(a.Text("name")), w.stamp()
		if diff := cmp.Diff(want, a.Body); diff != "" {
			t.Errorf("%v: %s", tc.change, diff)
		}
		got := w.lastEvent()
		wantEvent := event.Payload{Type: event.ProjectUpdated, Timestamp: got.Timestamp, Data: event.Data{
			Actor: event.Actor{ID: ada.userID, Username: "ada"}, Changes: tc.changes,
			Project: &event.Project{
				ID: a.Text("id"), Name: a.Text("name"), Slug: a.Text("slug"), Framework: a.Text("framework"),
				Visibility: a.Text("visibility"), WorkspaceID: ada.personal,
			},
		}}
		if diff := cmp.Diff(wantEvent, got); diff != "" || got.Timestamp.String() != w.stamp() {
			t.Errorf("%v: %s", tc.change, diff)
		}
		if got := len(w.storedEvents()); got != n+1 {
			t.Errorf("%v: %d events", tc.change, got-n)
		}
		before = a
	}
	// A request that changes nothing writes nothing.
	dump, n := w.dump(w.names.projects), len(w.storedEvents())
	w.clock.Advance(time.Hour)
	for _, same := range []object{
		{}, {"name": "Café"}, {"name": "Café", "description": "d", "framework": "go", "visibility": "public"}, {"slug": "mine", "id": "x"},
	} {
		a := ada.Do(http.MethodPut, url, same).Want(t, http.StatusOK)
		if diff := cmp.Diff(before.Body, a.Body); diff != "" {
			t.Errorf("%v: %s", same, diff)
		}
	}
	if diff := cmp.Diff(dump, w.dump(w.names.projects), unexported); diff != "" || len(w.storedEvents()) != n {
		t.Errorf("something was written: %s", diff)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	kept := ada.project("", "Kept", Private)
	dump := w.dump(w.names.projects)
	gone := ada.project("", "Gone", Team)
	w.clock.Advance(time.Second)
	a := ada.Do(http.MethodDelete, projectURL(gone), nil).Want(t, http.StatusOK)
	if diff := cmp.Diff(map[string]any{"success": true, "message": "Project deleted."}, a.Body); diff != "" || a.Calls > 4 {
		t.Error(diff, a.Calls)
	}
	if diff := cmp.Diff(dump, w.dump(w.names.projects), unexported); diff != "" {
		t.Error("items remain after the deletion:", diff)
	}
	got := w.lastEvent()
	wantEvent := event.Payload{Type: event.ProjectDeleted, Timestamp: got.Timestamp, Data: event.Data{
		Actor: event.Actor{ID: ada.userID, Username: "ada"},
		Project: &event.Project{
			ID: gone, Name: "Gone", Slug: "gone", Framework: "static", Visibility: "team", WorkspaceID: ada.personal,
		},
	}}
	if diff := cmp.Diff(wantEvent, got); diff != "" {
		t.Error(diff)
	}
	never := ada.Get(projectURL(w.ids.New(id.Project))).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	for _, call := range projectCalls {
		if a := call.do(ada, gone); a.Raw != never.Raw || a.Status != http.StatusNotFound {
			t.Errorf("%s: %d %s", call.name, a.Status, a.Raw)
		}
	}
	ada.Get(projectURL(kept)).Want(t, http.StatusOK)
}

func TestProjectQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMaxProjects(2))
	ada := w.user("ada")
	first := ada.project("", "One", Private)
	ada.project("", "Two", Private)
	create := func() answer { return ada.Do(http.MethodPost, "/api/projects", object{"name": "Two"}) }
	a := create().Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if !strings.Contains(a.Text("error"), "2 projects") {
		t.Errorf("%s does not name the quota", a.Raw)
	}
	ada.project(ada.workspace("Another"), "Three", Private)
	ada.Do(http.MethodDelete, projectURL(first), nil).Want(t, http.StatusOK)
	create().Want(t, http.StatusCreated)
	create().Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if got := w.counted(ada.personal); got != 2 {
		t.Errorf("counted %d", got)
	}
}

// counted returns the number of projects in a workspace's record.
func (w *world) counted(workspaceID string) int {
	w.t.Helper()
	item, err := w.projects.Get(w.t.Context(), db.WorkspaceKey(workspaceID))
	if err != nil {
		w.t.Fatal(err)
	}
	record, err := db.Decode[workspace.Workspace](item)
	if err != nil {
		w.t.Fatal(err)
	}
	return record.Projects
}
