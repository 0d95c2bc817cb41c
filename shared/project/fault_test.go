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
	do   func(u *user, projectID, commentID string) response
}

var mutations = []mutation{
	{"create", event.ProjectCreated, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodPost, "/api/projects", object{"name": "Next to " + projectID})
	}},
	{"update", event.ProjectUpdated, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodPut, projectURL(projectID), object{"description": "new"})
	}},
	{"rename", event.ProjectUpdated, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodPut, projectURL(projectID), object{"name": "Not " + projectID})
	}},
	{"delete", event.ProjectDeleted, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodDelete, projectURL(projectID), nil)
	}},
	{"comment", event.CommentCreated, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodPost, projectURL(projectID)+"/comments", object{"body": "x", "path": "/a.ts", "line": 1})
	}},
	{"delete comment", "", func(u *user, projectID, commentID string) response {
		return u.Do(http.MethodDelete, projectURL(projectID)+"/comments/"+commentID, nil)
	}},
}

// Every change has its event, and every event its change, whatever fails: a failed request has stored neither or, if
// only the response was lost, both.
func TestChangesAreAtomicWithEventsUnderFaults(t *testing.T) {
	t.Parallel()
	for _, injected := range faults {
		t.Run(injected.Name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			wire := f.useProxy(nil)
			for _, m := range mutations {
				for _, operation := range []string{"Query", "GetItem", "BatchGetItem", "TransactWriteItems"} {
					if injected.Name == dynamotest.Conflict.Name && operation != "TransactWriteItems" {
						continue
					}
					project := ada.project("", "App", Team)
					f.putFile(project, "/a.ts")
					comment := ada.Do(http.MethodPost, projectURL(project)+"/comments", object{"body": "x"}).Want(t, http.StatusCreated).Text("id")
					before, eventCount := f.dump(f.tableNames.projects), len(f.storedEvents())
					wire.Break(operation, injected)
					r := m.do(ada, project, comment)
					wire.Mend()
					after, events := f.dump(f.tableNames.projects), f.storedEvents()[eventCount:]

					changed := !cmp.Equal(before, after, unexported)
					name := m.name + " with " + injected.Name + " at " + operation
					if m.kind != "" && changed != (len(events) == 1) || len(events) > 1 {
						t.Errorf("%s: changed %t, %d events: %s", name, changed, len(events), r.Raw)
					}
					for _, e := range events {
						if e.Type != m.kind || e.ProjectID != project && m.kind != event.ProjectCreated {
							t.Errorf("%s: event %s of %s", name, e.Type, e.ProjectID)
						}
					}
					hit := wire.Hits() > 0
					checkResponse(t, name, injected, hit, changed, r)
					if operation == "TransactWriteItems" && (!hit || (injected.Done && !changed)) {
						t.Errorf("%s: hit %t, changed %t", name, hit, changed)
					}
				}
			}
		})
	}
}

// checkResponse compares the response with what the request has changed.
func checkResponse(t *testing.T, name string, injected dynamotest.Fault, hit, changed bool, r response) {
	t.Helper()
	succeeded := r.Status < http.StatusBadRequest
	switch {
	case succeeded && !changed:
		t.Errorf("%s: %d, and nothing changed", name, r.Status)
	case !hit || injected.Calls > 0: // a retry of the SDK or of the store succeeded
		if !succeeded {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	case injected.Name == dynamotest.MissingTable.Name:
		r.Want(t, http.StatusInternalServerError, fault.CodeInternal)
	default:
		r.Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	}
	if strings.Contains(r.Raw, "injected") || strings.Contains(r.Raw, "dynamo") {
		t.Errorf("%s: the response has internal details: %s", name, r.Raw)
	}
}
