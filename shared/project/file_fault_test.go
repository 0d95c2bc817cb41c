package project

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
)

// fileMutations are requests that change files, with their events.
var fileMutations = []struct {
	name   string
	events []string
	do     func(client filesClient) response
}{
	{"create", []string{"file.created /new"}, func(client filesClient) response { return client.save("/new", "new") }},
	{"update", []string{"file.updated /a"}, func(client filesClient) response { return client.save("/a", "new") }},
	{"update with If-Match", []string{"file.updated /a"}, func(client filesClient) response {
		return client.save("/a", "new", slicetest.Header("If-Match", "*"))
	}},
	{"delete", []string{"file.deleted /a"}, func(client filesClient) response { return client.remove("/a") }},
	{"rename", []string{"file.deleted /a", "file.created /c"}, func(client filesClient) response {
		return client.batch(renaming("/a", "/c"))
	}},
	{"batch", []string{"file.created /new", "file.updated /a", "file.deleted /b"}, func(client filesClient) response {
		return client.batch(creation("/new", "new"), update("/a", "new"), deletion("/b"))
	}},
}

// A failed request has stored neither the changes of files nor their events. If only the response was lost, it has
// stored both. The counters of the tree are always correct.
func TestFileChangesAreAtomicWithEventsUnderFaults(t *testing.T) {
	t.Parallel()
	for _, injected := range faults {
		t.Run(injected.Name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			wire := f.useProxy(nil)
			for _, m := range fileMutations {
				for _, operation := range []string{"Query", "BatchGetItem", "TransactWriteItems"} {
					if injected.Name == dynamotest.Conflict.Name && operation != "TransactWriteItems" {
						continue
					}
					name := m.name + " with " + injected.Name + " at " + operation
					client := ada.filesOf(ada.project("", "App", Private))
					client.batch(creation("/a", "a"), creation("/b", "b")).Want(t, http.StatusOK)
					before, chunks := f.dump(f.tableNames.projects), len(f.dump(f.tableNames.contents))
					eventCount := len(client.fileEvents())
					wire.Break(operation, injected)
					r := m.do(client)
					wire.Clear()

					changed := !cmp.Equal(before, f.dump(f.tableNames.projects), unexported)
					want := []string(nil)
					if changed {
						want = m.events
					} else if n := len(f.dump(f.tableNames.contents)); n != chunks {
						t.Errorf("%s: the failed request stored %d chunks", name, n-chunks)
					}
					if diff := cmp.Diff(want, append([]string(nil), client.fileEvents()[eventCount:]...)); diff != "" {
						t.Errorf("%s: stored items changed: %t, events mismatch (-want +got):\n%s", name, changed, diff)
					}
					client.checkTree()
					checkResponse(t, name, injected, wire.Hits() > 0, changed, r)
				}
			}
		})
	}
}
