package file_test

import (
	"net/http"
	"strings"
	"testing"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/project/content"
)

func TestDeleteVersion(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	first := saveSized(client, "/a", 10)
	second := saveSized(client, "/a", 20)
	third := saveSized(client, "/a", 30)
	events, changes := len(f.StoredEvents()), client.Tree().Revision
	r := client.DeleteVersion("/a", second).Want(t, http.StatusOK)
	if r.Body["success"] != true || r.Text("message") == "" {
		t.Errorf("got %s, want success and a message", r.Raw)
	}
	if got := client.Tree().Revision; got != changes+1 || len(f.StoredEvents()) != events {
		t.Errorf("got %d changes and %d events, want %d and %d", got, len(f.StoredEvents()), changes+1, events)
	}
	client.DeleteVersion("/a", second).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	client.Get(client.URL()+"?path=/a&version="+second).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	client.Get(client.URL()+"?path=/a&version="+first).Want(t, http.StatusOK)
	if got := client.History("/a", "").Texts("versions", "version"); len(got) != 2 || got[0] != third || got[1] != first {
		t.Errorf("got the versions %v, want %s and %s", got, third, first)
	}
	client.DeleteVersion("/a", third).Want(t, http.StatusConflict, fault.CodeConflict)
	client.DeleteVersion("/b", first).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	for _, version := range []string{"unknown", "a#b", strings.Repeat("x", 2000)} {
		client.DeleteVersion("/a", version).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	}
	client.DeleteVersion("/a", "").Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	client.DeleteVersion("a", first).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	client.DeleteVersion("", first).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	f.NewUser("eve").FilesOf(client.ProjectID).DeleteVersion("/a", first).
		Want(t, http.StatusNotFound, fault.CodeProjectNotFound)

	// The version of a deleted file, and a version that has expired.
	client.Remove("/a").Want(t, http.StatusOK)
	client.DeleteVersion("/a", third).Want(t, http.StatusOK)
	client.CheckTree()
	f.Clock.Advance(content.Retention)
	client.DeleteVersion("/a", first).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
}

// Of concurrent deletions of one version, one succeeds. Its size is subtracted once.
func TestConcurrentDeletionsOfOneVersion(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	first := saveSized(client, "/a", 100)
	saveSized(client, "/a", 200)
	saveSized(client, "/a", 300)
	responses := slicetest.Concurrently(8, func(int) response { return client.DeleteVersion("/a", first) })
	projecttest.WantStatuses(t, responses, map[int]int{http.StatusOK: 1, http.StatusNotFound: 7})
	if got := client.Tree().OldBytes; got != 200 {
		t.Errorf("got %d bytes of old versions, want 200", got)
	}
	client.CheckTree()
}

// A deletion that fails has deleted nothing. If only the response was lost, the deletion has subtracted the size once.
func TestDeleteVersionUnderFaults(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	wire := f.UseProxy(nil)
	for _, injected := range projecttest.Faults {
		for _, operation := range []string{"BatchGetItem", "TransactWriteItems"} {
			if projecttest.SkipsFault(injected, operation) {
				continue
			}
			version := saveSized(client, "/a", 100)
			saveSized(client, "/a", 50)
			before := client.Tree().OldBytes
			wire.Break(operation, injected)
			r := client.DeleteVersion("/a", version)
			wire.Clear()
			changed := client.Tree().OldBytes == before-100
			projecttest.CheckResponse(t, injected.Name+" at "+operation, injected, wire.Hits() > 0, changed, r)
			client.CheckTree()
		}
	}
}

// A version can be deleted at the same time as a recount. Its size is subtracted if the recount has included it.
func TestRecountDuringDeletion(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, withOldBytes(1000))
	client := f.NewFilesClient("ada")
	first := saveSized(client, "/a", 400)
	saveSized(client, "/a", 700)
	makeRecountDue(client, 1000)
	wire := f.UseProxy(nil)
	wire.Before("TransactWriteItems", func() { wantOldQuota(client, client.Save("/a", "new")) })
	client.DeleteVersion("/a", first).Want(t, http.StatusOK)
	if tree := client.Tree(); tree.OldBytes != 0 || tree.OldRecountAt <= f.Clock.Now().Unix() {
		t.Errorf("got the tree %+v, want 0 bytes of old versions after a count", tree)
	}
	client.CheckTree()
}

// If a recount leaves a version out while the version is being deleted, its size is not subtracted.
func TestRecountWithoutVersionDuringDeletion(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, withOldBytes(1000))
	client := f.NewFilesClient("ada")
	first := saveSized(client, "/a", 400)
	saveSized(client, "/a", 700)
	wire := f.UseProxy(nil)
	wire.Before("TransactWriteItems", func() {
		f.Clock.Advance(content.Retention) // by the clock of another server
		saveSized(client, "/a", 10)        // stores 700
		f.Clock.Advance(-content.Retention)
	})
	client.DeleteVersion("/a", first).Want(t, http.StatusOK)
	if got := client.Tree().OldBytes; got != 700 {
		t.Errorf("got %d bytes of old versions, want 700", got)
	}
}
