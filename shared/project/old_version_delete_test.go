package project

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/project/content"
)

func TestDeleteVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	first := client.saveSized("/a", 10)
	second := client.saveSized("/a", 20)
	third := client.saveSized("/a", 30)
	events, changes := len(f.storedEvents()), client.tree().Changes
	r := client.deleteVersion("/a", second).Want(t, http.StatusOK)
	if r.Body["success"] != true || r.Text("message") == "" {
		t.Errorf("got %s, want success and a message", r.Raw)
	}
	if got := client.tree().Changes; got != changes+1 || len(f.storedEvents()) != events {
		t.Errorf("got %d changes and %d events, want %d and %d", got, len(f.storedEvents()), changes+1, events)
	}
	client.deleteVersion("/a", second).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	client.Get(client.url()+"?path=/a&version="+second).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	client.Get(client.url()+"?path=/a&version="+first).Want(t, http.StatusOK)
	if got := client.history("/a", "").Texts("versions", "version"); len(got) != 2 || got[0] != third || got[1] != first {
		t.Errorf("got the versions %v, want %s and %s", got, third, first)
	}
	client.deleteVersion("/a", third).Want(t, http.StatusConflict, fault.CodeConflict)
	client.deleteVersion("/b", first).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	for _, version := range []string{"unknown", "a#b", strings.Repeat("x", 2000)} {
		client.deleteVersion("/a", version).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	}
	client.deleteVersion("/a", "").Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	client.deleteVersion("a", first).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	client.deleteVersion("", first).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	f.newUser("eve").filesOf(client.projectID).deleteVersion("/a", first).
		Want(t, http.StatusNotFound, fault.CodeProjectNotFound)

	// The version of a deleted file, and a version that has expired.
	client.remove("/a").Want(t, http.StatusOK)
	client.deleteVersion("/a", third).Want(t, http.StatusOK)
	client.checkTree()
	f.clock.Advance(content.Retention)
	client.deleteVersion("/a", first).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
}

// Of concurrent deletions of one version, one succeeds. Its size is subtracted once.
func TestConcurrentDeletionsOfOneVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	first := client.saveSized("/a", 100)
	client.saveSized("/a", 200)
	client.saveSized("/a", 300)
	responses := slicetest.Concurrently(8, func(int) response { return client.deleteVersion("/a", first) })
	wantStatuses(t, responses, map[int]int{http.StatusOK: 1, http.StatusNotFound: 7})
	if got := client.tree().OldBytes; got != 200 {
		t.Errorf("got %d bytes of old versions, want 200", got)
	}
	client.checkTree()
}

// A deletion that fails has deleted nothing. If only the response was lost, the deletion has subtracted the size once.
func TestDeleteVersionUnderFaults(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	wire := f.useProxy(nil)
	for _, injected := range faults {
		for _, operation := range []string{"BatchGetItem", "TransactWriteItems"} {
			if injected.Name == dynamotest.Conflict.Name && operation != "TransactWriteItems" {
				continue
			}
			version := client.saveSized("/a", 100)
			client.saveSized("/a", 50)
			before := client.tree().OldBytes
			wire.Break(operation, injected)
			r := client.deleteVersion("/a", version)
			wire.Clear()
			changed := client.tree().OldBytes == before-100
			checkResponse(t, injected.Name+" at "+operation, injected, wire.Hits() > 0, changed, r)
			client.checkTree()
		}
	}
}

// A version can be deleted at the same time as a recount. Its size is subtracted if the recount has included it.
func TestRecountDuringDeletion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withOldBytes(1000))
	client := f.newFilesClient("ada")
	first := client.saveSized("/a", 400)
	client.saveSized("/a", 700)
	client.makeRecountDue(1000)
	wire := f.useProxy(nil)
	wire.Before("TransactWriteItems", func() { client.wantOldQuota(client.save("/a", "new")) })
	client.deleteVersion("/a", first).Want(t, http.StatusOK)
	if tree := client.tree(); tree.OldBytes != 0 || tree.OldRecountAt <= f.clock.Now().Unix() {
		t.Errorf("got the tree %+v, want 0 bytes of old versions after a count", tree)
	}
	client.checkTree()
}

// If a recount leaves a version out while the version is being deleted, its size is not subtracted.
func TestRecountWithoutVersionDuringDeletion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withOldBytes(1000))
	client := f.newFilesClient("ada")
	first := client.saveSized("/a", 400)
	client.saveSized("/a", 700)
	wire := f.useProxy(nil)
	wire.Before("TransactWriteItems", func() {
		f.clock.Advance(content.Retention) // by the clock of another server
		client.saveSized("/a", 10)         // stores 700
		f.clock.Advance(-content.Retention)
	})
	client.deleteVersion("/a", first).Want(t, http.StatusOK)
	if got := client.tree().OldBytes; got != 700 {
		t.Errorf("got %d bytes of old versions, want 700", got)
	}
}

// The tree of a new project is counted: it has no old versions.
func TestNewTreeIsCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	item := f.dump(f.tableNames.projects)[db.TreeKey(client.projectID)]
	if n, ok := item["oldBytes"].(*types.AttributeValueMemberN); !ok || n.Value != "0" {
		t.Errorf("got the attribute oldBytes %v, want 0", item["oldBytes"])
	}
	queries := f.countingQueries()
	client.saveSized("/a", 10)
	client.saveSized("/a", 20)
	if tree := client.tree(); tree.OldBytes != 10 || queries.Load() != 0 {
		t.Errorf("got %d bytes of old versions and %d queries of all versions, want 10 and 0", tree.OldBytes, queries.Load())
	}
}
