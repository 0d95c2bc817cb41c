package project

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/event"
	"devplatform/shared/fault"
)

var faults = []dynamotest.Fault{
	dynamotest.ServerError, dynamotest.Throttled, dynamotest.CutLine, dynamotest.LostReply, dynamotest.LostReplies, dynamotest.Conflict,
	dynamotest.MissingTable,
}

// mutation is a request that changes something.
type mutation struct {
	name string
	kind event.Type // of its event, "" if it has none
	do   func(b *browser, projectID, commentID string) answer
}

var mutations = []mutation{
	{"create", event.ProjectCreated, func(b *browser, projectID, _ string) answer {
		return b.Do(http.MethodPost, "/api/projects", object{"name": "Next to " + projectID})
	}},
	{"update", event.ProjectUpdated, func(b *browser, projectID, _ string) answer {
		return b.Do(http.MethodPut, projectURL(projectID), object{"description": "new"})
	}},
	{"rename", event.ProjectUpdated, func(b *browser, projectID, _ string) answer {
		return b.Do(http.MethodPut, projectURL(projectID), object{"name": "Not " + projectID})
	}},
	{"delete", event.ProjectDeleted, func(b *browser, projectID, _ string) answer {
		return b.Do(http.MethodDelete, projectURL(projectID), nil)
	}},
	{"comment", event.CommentCreated, func(b *browser, projectID, _ string) answer {
		return b.Do(http.MethodPost, projectURL(projectID)+"/comments", object{"body": "x", "path": "/a.ts", "line": 1})
	}},
	{"delete comment", "", func(b *browser, projectID, commentID string) answer {
		return b.Do(http.MethodDelete, projectURL(projectID)+"/comments/"+commentID, nil)
	}},
}

// Every change has its event, and every event its change, whatever fails: a failed request has stored neither or, if
// only the response was lost, both.
func TestChangesAreAtomicWithEventsUnderFaults(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.user("ada")
			wire := w.interpose(nil)
			for _, m := range mutations {
				for _, operation := range []string{"Query", "GetItem", "BatchGetItem", "TransactWriteItems"} {
					if f.Name == dynamotest.Conflict.Name && operation != "TransactWriteItems" {
						continue
					}
					project := ada.project("", "App", Team)
					w.file(project, "/a.ts")
					comment := ada.Do(http.MethodPost, projectURL(project)+"/comments", object{"body": "x"}).Want(t, http.StatusCreated).Text("id")
					before, eventCount := w.dump(w.names.projects), len(w.storedEvents())
					wire.Break(operation, f)
					a := m.do(ada, project, comment)
					wire.Mend()
					after, events := w.dump(w.names.projects), w.storedEvents()[eventCount:]

					changed := !cmp.Equal(before, after, unexported)
					name := m.name + " with " + f.Name + " at " + operation
					if m.kind != "" && changed != (len(events) == 1) || len(events) > 1 {
						t.Errorf("%s: changed %t, %d events: %s", name, changed, len(events), a.Raw)
					}
					for _, e := range events {
						if e.Type != m.kind || e.ProjectID != project && m.kind != event.ProjectCreated {
							t.Errorf("%s: event %s of %s", name, e.Type, e.ProjectID)
						}
					}
					hit := wire.Hits() > 0
					checkResponse(t, name, f, hit, changed, a)
					if operation == "TransactWriteItems" && (!hit || (f.Done && !changed)) {
						t.Errorf("%s: hit %t, changed %t", name, hit, changed)
					}
				}
			}
		})
	}
}

// checkResponse compares the response with what the request has changed.
func checkResponse(t *testing.T, name string, f dynamotest.Fault, hit, changed bool, a answer) {
	t.Helper()
	succeeded := a.Status < http.StatusBadRequest
	switch {
	case succeeded && !changed:
		t.Errorf("%s: %d, and nothing changed", name, a.Status)
	case !hit || f.Calls > 0: // a retry of the SDK or of the store succeeded
		if !succeeded {
			t.Errorf("%s: %d %s", name, a.Status, a.Raw)
		}
	case f.Name == dynamotest.MissingTable.Name:
		a.Want(t, http.StatusInternalServerError, fault.CodeInternal)
	default:
		a.Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	}
	if strings.Contains(a.Raw, "injected") || strings.Contains(a.Raw, "dynamo") {
		t.Errorf("%s: the response has internal details: %s", name, a.Raw)
	}
}
