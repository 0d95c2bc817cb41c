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
	w := newWorld(t)
	ada, eve := w.user("ada"), w.user("eve")
	id := ada.project("", "App", Public)
	n := len(w.storedEvents())
	created := w.stamp()
	opened := func(b *browser) string {
		t.Helper()
		return b.Get(projectURL(id)).Want(t, http.StatusOK).Text("lastOpenedAt")
	}
	stored := func() string {
		t.Helper()
		return ada.Get("/api/projects").List("projects")[0]["lastOpenedAt"].(string)
	}
	w.clock.Advance(openedInterval - time.Millisecond)
	if got := opened(ada); got != created || stored() != created {
		t.Errorf("updated within a minute: %s", got)
	}
	w.clock.Advance(time.Millisecond)
	if got := opened(eve); got != created || stored() != created {
		t.Errorf("updated by a user who is not a member: %s", got)
	}
	if got := opened(ada); got != w.stamp() || stored() != w.stamp() {
		t.Errorf("not updated: %s", got)
	}
	updated := ada.Get(projectURL(id)).Text("updatedAt")
	if updated != created || len(w.storedEvents()) != n {
		t.Error("a read has changed updatedAt or emitted an event")
	}
	// A read does not cause a conflict with an update, and an update does not reset lastOpenedAt.
	w.clock.Advance(time.Hour)
	moved := opened(ada)
	if a := ada.Do(http.MethodPut, projectURL(id), object{"name": "New"}).Want(t, http.StatusOK); a.Text("lastOpenedAt") != moved {
		t.Errorf("%s, opened %s", a.Raw, moved)
	}
	// A read succeeds even if lastOpenedAt cannot be stored.
	w.clock.Advance(time.Hour)
	w.interpose(nil).Break("UpdateItem", dynamotest.ServerError)
	if got := opened(ada); got != moved {
		t.Errorf("%s is not what is stored", got)
	}
	if !strings.Contains(w.log.String(), "lastOpenedAt of a project was not stored") {
		t.Error("the failure was not logged")
	}
}

func TestReadCallCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.user("ada"), w.user("bob")
	const workspaces = 5
	var project string
	for i := range workspaces - 1 {
		team := bob.workspace(fmt.Sprint("Team ", i))
		w.join(team, ada, workspace.Member)
		project = bob.project(team, "App", Team)
	}
	if a := ada.Get("/api/projects").Want(t, http.StatusOK); a.Calls != 2+workspaces || len(a.List("projects")) != workspaces-1 {
		t.Errorf("list: %d calls, %s", a.Calls, a.Raw)
	}
	w.clock.Advance(time.Hour)
	if a := ada.Get(projectURL(project)).Want(t, http.StatusOK); a.Calls > 5 {
		t.Errorf("read: %d calls", a.Calls)
	}
	for path, n := range map[string]int64{"/events": 5, "/comments": 5, "/comments?path=/a": 5} {
		if a := ada.Get(projectURL(project)+path).Want(t, http.StatusOK); a.Calls > n {
			t.Errorf("%s: %d calls", path, a.Calls)
		}
	}
}

// If a project has more files than fit into a response, there is a cursor for the other files.
func TestReadProjectWithManyFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	project := ada.project("", "App", Team)
	const files = 5000
	var paths []any
	var writes []db.Write
	for i := range files {
		path := fmt.Sprintf("/%s/%05d.ts", strings.Repeat("x", 495), i)
		paths = append(paths, path)
		writes = append(writes, w.fileWrite(project, path))
	}
	for chunk := range slices.Chunk(writes, 100) {
		w.transact(chunk...)
	}
	a := ada.Get(projectURL(project)).Want(t, http.StatusOK)
	got := a.Values("files", "path")
	if len(a.Raw) > 4<<20 || len(got) == files || a.Text("name") != "App" {
		t.Errorf("%d bytes, %d files", len(a.Raw), len(got))
	}
	for next := a.Text("nextCursor"); next != ""; next = a.Text("nextCursor") {
		a = ada.Get(projectURL(project)+"/files?cursor="+url.QueryEscape(next)).Want(t, http.StatusOK)
		got = append(got, a.Values("files", "path")...)
	}
	if diff := cmp.Diff(paths, got); diff != "" {
		t.Error(diff)
	}
}
