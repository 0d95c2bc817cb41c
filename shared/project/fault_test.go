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
	dynamotest.ServerError, dynamotest.Throttled, dynamotest.DroppedConnection, dynamotest.LostReply,
	dynamotest.LostReplies, dynamotest.Conflict, dynamotest.MissingTable,
}

// mutation is a request that changes a project or its comments.
type mutation struct {
	name string
	kind event.Type // type of its event, or "" if it emits none
	do   func(u *user, projectID, commentID string) response
}

var mutations = []mutation{
	{"create", event.ProjectCreated, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodPost, "/api/projects", object{"name": "Second " + projectID})
	}},
	{"update", event.ProjectUpdated, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodPut, projectURL(projectID), object{"description": "new"})
	}},
	{"rename", event.ProjectUpdated, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodPut, projectURL(projectID), object{"name": "Renamed " + projectID})
	}},
	{"set variables", event.ProjectUpdated, func(u *user, projectID, _ string) response {
		return u.setVariables(projectID, []object{variable("VITE_A", "1", "all")})
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

// A failed request has stored neither the change nor the event. If only the response was lost, it has stored both.
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
					comment := ada.comment(project)
					before, eventCount := f.dump(f.tableNames.projects), len(f.storedEvents())
					wire.Break(operation, injected)
					r := m.do(ada, project, comment)
					wire.Clear()
					after, events := f.dump(f.tableNames.projects), f.storedEvents()[eventCount:]

					changed := !cmp.Equal(before, after, unexported)
					name := m.name + " with " + injected.Name + " at " + operation
					if m.kind != "" && changed != (len(events) == 1) || len(events) > 1 {
						t.Errorf("%s: got %d events (stored items changed: %t): %s", name, len(events), changed, r.Raw)
					}
					for _, e := range events {
						if e.Type != m.kind || e.ProjectID != project && m.kind != event.ProjectCreated {
							t.Errorf("%s: got event %s of project %s, want %s of %s", name, e.Type, e.ProjectID, m.kind, project)
						}
					}
					hit := wire.Hits() > 0
					checkResponse(t, name, injected, hit, changed, r)
					if operation == "TransactWriteItems" && (!hit || (injected.Executed && !changed)) {
						t.Errorf("%s: fault occurred: %t, want true; stored items changed: %t", name, hit, changed)
					}
				}
			}
		})
	}
}

// comment creates a comment on a project, and returns its ID.
func (u *user) comment(projectID string) string {
	u.f.t.Helper()
	r := u.Do(http.MethodPost, projectURL(projectID)+"/comments", object{"body": "x"})
	return r.Want(u.f.t, http.StatusCreated).Text("id")
}

// checkResponse checks the response to a request with an injected fault. hit means that the fault occurred, changed
// means that the request changed stored items.
func checkResponse(t *testing.T, name string, injected dynamotest.Fault, hit, changed bool, r response) {
	t.Helper()
	succeeded := r.Status < http.StatusBadRequest
	switch {
	case succeeded && !changed:
		t.Errorf("%s: got status %d, but no stored item changed", name, r.Status)
	case !hit || injected.Calls > 0: // the fault did not occur, or a retry succeeded
		if !succeeded {
			t.Errorf("%s: got %d %s, want success", name, r.Status, r.Raw)
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
