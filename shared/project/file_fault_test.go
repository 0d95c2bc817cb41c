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
	do     func(d desk) answer
}{
	{"create", []string{"file.created /new"}, func(d desk) answer { return d.save("/new", "new") }},
	{"update", []string{"file.updated /a"}, func(d desk) answer { return d.save("/a", "new") }},
	{"update if", []string{"file.updated /a"}, func(d desk) answer { return d.save("/a", "new", slicetest.Header("If-Match", "*")) }},
	{"delete", []string{"file.deleted /a"}, func(d desk) answer { return d.remove("/a") }},
	{"rename", []string{"file.deleted /a", "file.created /c"}, func(d desk) answer { return d.batch(renaming("/a", "/c")) }},
	{"batch", []string{"file.created /new", "file.updated /a", "file.deleted /b"}, func(d desk) answer {
		return d.batch(creation("/new", "new"), update("/a", "new"), deletion("/b"))
	}},
}

// Every change of files has its events, and every event its change, whatever fails. The tree's counters are always
// right.
func TestFileChangesAreAtomicWithEventsUnderFaults(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.user("ada")
			wire := w.interpose(nil)
			for _, m := range fileMutations {
				for _, operation := range []string{"Query", "BatchGetItem", "TransactWriteItems"} {
					if f.Name == dynamotest.Conflict.Name && operation != "TransactWriteItems" {
						continue
					}
					name := m.name + " with " + f.Name + " at " + operation
					d := ada.at(ada.project("", "App", Private))
					d.batch(creation("/a", "a"), creation("/b", "b")).Want(t, http.StatusOK)
					before, eventCount, chunks := w.dump(w.names.projects), len(d.fileEvents()), len(w.dump(w.names.contents))
					wire.Break(operation, f)
					a := m.do(d)
					wire.Mend()

					changed := !cmp.Equal(before, w.dump(w.names.projects), unexported)
					want := []string(nil)
					if changed {
						want = m.events
					} else if n := len(w.dump(w.names.contents)); n != chunks {
						t.Errorf("%s: %d chunks without a file", name, n-chunks)
					}
					if diff := cmp.Diff(want, append([]string(nil), d.fileEvents()[eventCount:]...)); diff != "" {
						t.Errorf("%s: changed %t: %s", name, changed, diff)
					}
					d.checkTree()
					checkResponse(t, name, f, wire.Hits() > 0, changed, a)
				}
			}
		})
	}
}
