package project

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
	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

func TestLastOpened(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, eve := f.newUser("ada"), f.newUser("eve")
	id := ada.project("", "App", Public)
	n := len(f.storedEvents())
	created := f.timestamp()
	opened := func(u *user) string {
		t.Helper()
		return u.Get(projectURL(id)).Want(t, http.StatusOK).Text("lastOpenedAt")
	}
	stored := func() string {
		t.Helper()
		return ada.Get("/api/projects").List("projects")[0]["lastOpenedAt"].(string)
	}
	f.clock.Advance(openedInterval - time.Millisecond)
	if got := opened(ada); got != created || stored() != created {
		t.Errorf("updated within a minute: %s", got)
	}
	f.clock.Advance(time.Millisecond)
	if got := opened(eve); got != created || stored() != created {
		t.Errorf("updated by a user who is not a member: %s", got)
	}
	if got := opened(ada); got != f.timestamp() || stored() != f.timestamp() {
		t.Errorf("not updated: %s", got)
	}
	updated := ada.Get(projectURL(id)).Text("updatedAt")
	if updated != created || len(f.storedEvents()) != n {
		t.Error("a read has changed updatedAt or emitted an event")
	}
	// A read does not cause a conflict with an update, and an update does not reset lastOpenedAt.
	f.clock.Advance(time.Hour)
	moved := opened(ada)
	if r := ada.Do(http.MethodPut, projectURL(id), object{"name": "New"}).Want(t, http.StatusOK); r.Text("lastOpenedAt") != moved {
		t.Errorf("%s, opened %s", r.Raw, moved)
	}
	// A read succeeds even if lastOpenedAt cannot be stored.
	f.clock.Advance(time.Hour)
	f.useProxy(nil).Break("UpdateItem", dynamotest.ServerError)
	if got := opened(ada); got != moved {
		t.Errorf("%s is not what is stored", got)
	}
	if !strings.Contains(f.log.String(), "lastOpenedAt of a project was not stored") {
		t.Error("the failure was not logged")
	}
}

func TestReadCallCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, bob := f.newUser("ada"), f.newUser("bob")
	const workspaces = 5
	var project string
	for i := range workspaces - 1 {
		team := bob.workspace(fmt.Sprint("Team ", i))
		f.setRole(team, ada, workspace.Member)
		project = bob.project(team, "App", Team)
	}
	if r := ada.Get("/api/projects").Want(t, http.StatusOK); r.Calls != 2+workspaces || len(r.List("projects")) != workspaces-1 {
		t.Errorf("list: %d calls, %s", r.Calls, r.Raw)
	}
	f.clock.Advance(time.Hour)
	if r := ada.Get(projectURL(project)).Want(t, http.StatusOK); r.Calls > 5 {
		t.Errorf("read: %d calls", r.Calls)
	}
	for path, n := range map[string]int64{"/events": 5, "/comments": 5, "/comments?path=/a": 5} {
		if r := ada.Get(projectURL(project)+path).Want(t, http.StatusOK); r.Calls > n {
			t.Errorf("%s: %d calls", path, r.Calls)
		}
	}
}

// If a project has more files than fit into r response, there is a cursor for the other files.
func TestReadProjectWithManyFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	project := ada.project("", "App", Team)
	const files = 5000
	var paths []any
	var writes []db.Write
	for i := range files {
		path := fmt.Sprintf("/%s/%05d.ts", strings.Repeat("x", 495), i)
		paths = append(paths, path)
		writes = append(writes, f.fileWrite(project, path))
	}
	for chunk := range slices.Chunk(writes, 100) {
		f.transact(chunk...)
	}
	r := ada.Get(projectURL(project)).Want(t, http.StatusOK)
	got := r.Values("files", "path")
	if len(r.Raw) > 4<<20 || len(got) == files || r.Text("name") != "App" {
		t.Errorf("%d bytes, %d files", len(r.Raw), len(got))
	}
	for next := r.Text("nextCursor"); next != ""; next = r.Text("nextCursor") {
		r = ada.Get(projectURL(project)+"/files?cursor="+url.QueryEscape(next)).Want(t, http.StatusOK)
		got = append(got, r.Values("files", "path")...)
	}
	if diff := cmp.Diff(paths, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}
