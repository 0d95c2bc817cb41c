package file_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/workspace"
)

// fileMutations are requests that change files, with their events.
var fileMutations = []struct {
	name   string
	events []string
	do     func(client filesClient) response
}{
	{"create", []string{"file.created /new"}, func(client filesClient) response { return client.Save("/new", "new") }},
	{"update", []string{"file.updated /a"}, func(client filesClient) response { return client.Save("/a", "new") }},
	{"update with If-Match", []string{"file.updated /a"}, func(client filesClient) response {
		return client.Save("/a", "new", slicetest.Header("If-Match", "*"))
	}},
	{"delete", []string{"file.deleted /a"}, func(client filesClient) response { return client.Remove("/a") }},
	{"rename", []string{"file.deleted /a", "file.created /c"}, func(client filesClient) response {
		return client.Batch(renaming("/a", "/c"))
	}},
	{"batch", []string{"file.created /new", "file.updated /a", "file.deleted /b"}, func(client filesClient) response {
		return client.Batch(creation("/new", "new"), update("/a", "new"), deletion("/b"))
	}},
}

// A failed request has stored neither the changes of files nor their events. If only the response was lost, it has
// stored both. The counters of the tree are always correct.
func TestFileChangesAreAtomicWithEventsUnderFaults(t *testing.T) {
	t.Parallel()
	for _, injected := range projecttest.Faults {
		t.Run(injected.Name, func(t *testing.T) {
			t.Parallel()
			f := projecttest.New(t)
			ada := f.NewUser("ada")
			wire := f.UseProxy(nil)
			for _, m := range fileMutations {
				for _, operation := range []string{"Query", "BatchGetItem", "TransactWriteItems"} {
					if projecttest.SkipsFault(injected, operation) {
						continue
					}
					name := m.name + " with " + injected.Name + " at " + operation
					client := ada.FilesOf(ada.Project("", "App", workspace.Private))
					client.Batch(creation("/a", "a"), creation("/b", "b")).Want(t, http.StatusOK)
					before, chunks := f.Dump(f.Tables.Projects), len(f.Dump(f.Tables.Contents))
					eventCount := len(client.FileEvents())
					wire.Break(operation, injected)
					r := m.do(client)
					wire.Clear()

					changed := !cmp.Equal(before, f.Dump(f.Tables.Projects), projecttest.Unexported)
					want := []string(nil)
					if changed {
						want = m.events
					} else if n := len(f.Dump(f.Tables.Contents)); n != chunks {
						t.Errorf("%s: the failed request stored %d chunks", name, n-chunks)
					}
					if diff := cmp.Diff(want, append([]string(nil), client.FileEvents()[eventCount:]...)); diff != "" {
						t.Errorf("%s: stored items changed: %t, events mismatch (-want +got):\n%s", name, changed, diff)
					}
					client.CheckTree()
					projecttest.CheckResponse(t, name, injected, wire.Hits() > 0, changed, r)
				}
			}
		})
	}
}
