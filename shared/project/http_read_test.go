package project_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/projecttest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/project"
	"devplatform/shared/workspace"
)

func TestLastOpened(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada, eve := f.NewUser("ada"), f.NewUser("eve")
	id := ada.Project("", "App", workspace.Public)
	n := len(f.StoredEvents())
	created := f.Timestamp()
	opened := func(u *user) string {
		t.Helper()
		return u.Get(projecttest.URL(id)).Want(t, http.StatusOK).Text("lastOpenedAt")
	}
	stored := func() string {
		t.Helper()
		return ada.Get("/api/projects").List("projects")[0]["lastOpenedAt"].(string)
	}
	f.Clock.Advance(project.OpenedInterval - time.Millisecond)
	if got := opened(ada); got != created || stored() != created {
		t.Errorf("read less than a minute after the creation: got lastOpenedAt %s, want %s", got, created)
	}
	f.Clock.Advance(time.Millisecond)
	if got := opened(eve); got != created || stored() != created {
		t.Errorf("read by a user who is not a member: got lastOpenedAt %s, want %s", got, created)
	}
	if got := opened(ada); got != f.Timestamp() || stored() != f.Timestamp() {
		t.Errorf("read after a minute: got lastOpenedAt %s, want %s", got, f.Timestamp())
	}
	updated := ada.Get(projecttest.URL(id)).Text("updatedAt")
	if updated != created || len(f.StoredEvents()) != n {
		t.Error("a read has changed updatedAt or emitted an event")
	}
	// A read does not cause a conflict with an update, and an update does not reset lastOpenedAt.
	f.Clock.Advance(time.Hour)
	lastOpened := opened(ada)
	r := ada.Do(http.MethodPut, projecttest.URL(id), object{"name": "New"}).Want(t, http.StatusOK)
	if r.Text("lastOpenedAt") != lastOpened {
		t.Errorf("update: got %s, want lastOpenedAt %s", r.Raw, lastOpened)
	}
	// A read succeeds even if lastOpenedAt cannot be stored.
	f.Clock.Advance(time.Hour)
	f.UseProxy(nil).Break("UpdateItem", dynamotest.ServerError)
	if got := opened(ada); got != lastOpened {
		t.Errorf("read with a failing update: got lastOpenedAt %s, want the stored time %s", got, lastOpened)
	}
	if !strings.Contains(f.Log.String(), "lastOpenedAt of a project was not stored") {
		t.Error("the failure was not logged")
	}
}

func TestReadCallCounts(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada, bob := f.NewUser("ada"), f.NewUser("bob")
	const workspaces = 5
	var project string
	for i := range workspaces - 1 {
		team := bob.Workspace(fmt.Sprint("Team ", i))
		f.SetRole(team, ada, workspace.Member)
		project = bob.Project(team, "App", workspace.Team)
	}
	list := ada.Get("/api/projects").Want(t, http.StatusOK)
	if list.Calls != 3+workspaces || len(list.List("projects")) != workspaces-1 {
		t.Errorf("listing projects: got %d calls and %s, want %d calls and %d projects",
			list.Calls, list.Raw, 3+workspaces, workspaces-1)
	}
	f.Clock.Advance(time.Hour)
	if r := ada.Get(projecttest.URL(project)).Want(t, http.StatusOK); r.Calls > 5 {
		t.Errorf("reading a project: got %d calls, want at most 5", r.Calls)
	}
	f.Clock.Advance(time.Hour)
	if r := ada.Get(projecttest.URL(project)+"?include=").Want(t, http.StatusOK); r.Calls != 3 {
		t.Errorf("reading a project without files: got %d calls, want 3", r.Calls)
	}
	for _, path := range []string{"/events", "/comments", "/comments?path=/a"} {
		if r := ada.Get(projecttest.URL(project)+path).Want(t, http.StatusOK); r.Calls > 5 {
			t.Errorf("%s: got %d calls, want at most 5", path, r.Calls)
		}
	}
}

// The parameter include selects whether the response has files. Without files, the response is otherwise the same.
func TestReadProjectWithoutFiles(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada, eve := f.NewUser("ada"), f.NewUser("eve")
	project := ada.Project("", "App", workspace.Public)
	for _, files := range []int{0, 1} {
		f.Clock.Advance(time.Hour)
		with := ada.Get(projecttest.URL(project)+"?include=files").Want(t, http.StatusOK)
		if other := ada.Get(projecttest.URL(project)); other.Raw != with.Raw || len(with.List("files")) != files {
			t.Errorf("got %s, and without the parameter %s, want the same with %d files", with.Raw, other.Raw, files)
		}
		f.Clock.Advance(time.Hour)
		without := ada.Get(projecttest.URL(project)+"?include=").Want(t, http.StatusOK)
		if without.Text("lastOpenedAt") != f.Timestamp() {
			t.Errorf("got %s, want lastOpenedAt %s", without.Raw, f.Timestamp())
		}
		if _, has := with.Body["files"]; !has {
			t.Errorf("got %s, want the field files", with.Raw)
		}
		delete(with.Body, "files")
		with.Body["lastOpenedAt"] = f.Timestamp()
		if diff := cmp.Diff(with.Body, without.Body); diff != "" {
			t.Errorf("response without files: mismatch (-want +got):\n%s", diff)
		}
		if r := eve.Get(projecttest.URL(project) + "?include"); r.Raw != without.Raw {
			t.Errorf("a user who is not a member got %s, want %s", r.Raw, without.Raw)
		}
		f.PutFile(project, "/a.ts")
	}
	for _, value := range []string{"content", "Files", "files,", ",", "files%20"} {
		r := ada.Get(projecttest.URL(project)+"?include="+value).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		if r.Text("error") != "include: must be files or empty" {
			t.Errorf("%s: got %s, want the rule", value, r.Raw)
		}
	}
	eve.Get("/api/projects/prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK?include=").
		Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
}

// If a project has more files than fit into a response, the response has a cursor for the remaining files.
func TestReadProjectWithManyFiles(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	project := ada.Project("", "App", workspace.Team)
	const files = 5000
	var paths []any
	var writes []db.Write
	for i := range files {
		path := fmt.Sprintf("/%s/%[1]s/%05[2]d.ts", strings.Repeat("x", 247), i)
		paths = append(paths, path)
		writes = append(writes, f.FileWrite(project, path))
	}
	for chunk := range slices.Chunk(writes, 100) {
		f.Transact(chunk...)
	}
	r := ada.Get(projecttest.URL(project)).Want(t, http.StatusOK)
	got := r.Values("files", "path")
	if len(r.Raw) > 4<<20 || len(got) == files || r.Text("name") != "App" {
		t.Errorf("got a response of %d bytes with %d files, want at most 4 MiB and not all files", len(r.Raw), len(got))
	}
	for next := r.Text("nextCursor"); next != ""; next = r.Text("nextCursor") {
		r = ada.Get(projecttest.URL(project)+"/files?cursor="+url.QueryEscape(next)).Want(t, http.StatusOK)
		got = append(got, r.Values("files", "path")...)
	}
	if diff := cmp.Diff(paths, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}
