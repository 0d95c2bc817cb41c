package site

import (
	"net/http"
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
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
