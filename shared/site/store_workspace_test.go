package site

import (
	"net/http"
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/workspace/record"
)

// A site is offline at most half a minute after its workspace has ended, and the record is not read for each view.
func TestSiteOfEndedWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/index.html": {text: "home"}})
	f.live(first)
	f.wantStatus(http.StatusOK)
	f.write(f.projects.Delete(db.WorkspaceKey(team)))
	f.clock.Advance(workspaceInterval - time.Millisecond)
	f.wantStatus(http.StatusOK)
	f.clock.Advance(time.Millisecond)
	f.wantStatus(http.StatusNotFound)
}

// The site of a workspace whose owners are all suspended is blocked within a minute, and shown again after the
// suspension was lifted.
func TestSiteOfSuspendedOwners(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/index.html": {text: "home"}, "/assets/a.js": {text: "a", hashed: true}})
	f.live(first)
	for _, c := range []struct{ suspended, status int }{
		{0, http.StatusOK}, {1, http.StatusOK}, {2, http.StatusUnavailableForLegalReasons}, {1, http.StatusOK},
	} {
		f.write(f.projects.Put(db.WorkspaceKey(team), record.Workspace{ID: team, Owners: 2, SuspendedOwners: c.suspended}))
		f.clock.Advance(workspaceInterval)
		f.wantStatus(c.status)
		r := f.get(host, "/assets/a.js")
		if r.Code != c.status || (c.status != http.StatusOK && r.Header().Get("Cache-Control") != "no-store") {
			t.Errorf("%d suspended owners: got %d with %v for a file", c.suspended, r.Code, r.Header())
		}
	}
}

// If the record of the workspace can't be read, the last one decides for a minute, and no view is served after that.
func TestSiteWithUnreadableWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/index.html": {text: "home"}})
	f.live(first)
	f.wantStatus(http.StatusOK)
	f.reading.Break("GetItem", dynamotest.ServerError)
	f.clock.Advance(workspaceValid - time.Millisecond)
	f.wantStatus(http.StatusOK)
	f.clock.Advance(time.Millisecond)
	f.wantStatus(http.StatusServiceUnavailable)
}

// wantStatus checks the status of a view of the site.
func (f *fixture) wantStatus(want int) {
	f.t.Helper()
	if got := f.get(host, "/"); got.Code != want {
		f.t.Errorf("at %v: got status %d, want %d", f.clock.Now(), got.Code, want)
	}
}
