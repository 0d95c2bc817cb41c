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
		return b.get(projectURL(id)).want(t, http.StatusOK).text("lastOpenedAt")
	}
	stored := func() string {
		t.Helper()
		return ada.get("/api/projects").list("projects")[0]["lastOpenedAt"].(string)
	}
	w.clock.Advance(openedEvery - time.Millisecond)
	if got := opened(ada); got != created || stored() != created {
		t.Errorf("moved within a minute: %s", got)
	}
	w.clock.Advance(time.Millisecond)
	if got := opened(eve); got != created || stored() != created {
		t.Errorf("moved by somebody from outside: %s", got)
	}
	if got := opened(ada); got != w.stamp() || stored() != w.stamp() {
		t.Errorf("not moved: %s", got)
	}
	updated := ada.get(projectURL(id)).text("updatedAt")
	if updated != created || len(w.storedEvents()) != n {
		t.Error("an opening is a change")
	}
	// The opening does not make an update stale, nor does the update turn it back.
	w.clock.Advance(time.Hour)
	moved := opened(ada)
	if a := ada.do(http.MethodPut, projectURL(id), object{"name": "New"}).want(t, http.StatusOK); a.text("lastOpenedAt") != moved {
		t.Errorf("%s, opened %s", a.raw, moved)
	}
	// A read does not depend on whether it can be noted.
	w.clock.Advance(time.Hour)
	w.interpose(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if operation(r) == "UpdateItem" {
				out.WriteHeader(http.StatusInternalServerError)
				return
			}
			next.ServeHTTP(out, r)
		})
	})
	if got := opened(ada); got != moved {
		t.Errorf("%s is not what is stored", got)
	}
	if !strings.Contains(w.log.String(), "the opening of a project was not noted") {
		t.Error("nothing in the log")
	}
}

func TestReadsStayWithinTheirCalls(t *testing.T) {
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
	if a := ada.get("/api/projects").want(t, http.StatusOK); a.calls != 2+workspaces || len(a.list("projects")) != workspaces-1 {
		t.Errorf("list: %d calls, %s", a.calls, a.raw)
	}
	w.clock.Advance(time.Hour)
	if a := ada.get(projectURL(project)).want(t, http.StatusOK); a.calls > 5 {
		t.Errorf("read: %d calls", a.calls)
	}
	for path, n := range map[string]int64{"/events": 5, "/comments": 5, "/comments?path=/a": 5} {
		if a := ada.get(projectURL(project)+path).want(t, http.StatusOK); a.calls > n {
			t.Errorf("%s: %d calls", path, a.calls)
		}
	}
}

// A project with more files than fit into one answer says where they go on.
func TestReadOfManyFiles(t *testing.T) {
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
	a := ada.get(projectURL(project)).want(t, http.StatusOK)
	got := a.values("files", "path")
	if len(a.raw) > 4<<20 || len(got) == files || a.text("name") != "App" {
		t.Errorf("%d bytes, %d files", len(a.raw), len(got))
	}
	for next := a.text("nextCursor"); next != ""; next = a.text("nextCursor") {
		a = ada.get(projectURL(project)+"/files?cursor="+url.QueryEscape(next)).want(t, http.StatusOK)
		got = append(got, a.values("files", "path")...)
	}
	if diff := cmp.Diff(paths, got); diff != "" {
		t.Error(diff)
	}
}
