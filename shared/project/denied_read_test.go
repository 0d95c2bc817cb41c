package project_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/projecttest"
	"devplatform/shared/fault"
)

// patience limits the wait for a read that must not begin.
const patience = time.Minute

// A user who cannot see a project does not wait for its data.
func TestDeniedReadDoesNotWaitForTheData(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada, grace := f.NewFilesClient("ada"), f.NewUser("grace")
	ada.Save("/a", "x").Want(t, http.StatusCreated)
	release := make(chan struct{})
	wire := f.UseProxy(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			select {
			case <-release:
			case <-r.Context().Done():
				return
			}
		}
		next.ServeHTTP(out, r)
	})
	defer wire.Clear()
	end := sync.OnceFunc(func() { close(release) })
	defer end()
	late := time.AfterFunc(patience, end)
	for _, path := range []string{"", "/files", "/files/history?path=/a", "/events", "/comments", "/comments?path=/a"} {
		grace.Get("/api/projects/"+ada.ProjectID+path).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	}
	if !late.Stop() {
		t.Error("a denied request waited for the data")
	}
}
