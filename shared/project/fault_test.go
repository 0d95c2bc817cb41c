package project_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/shared/event"
	"devplatform/shared/workspace"
)

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
		return u.Do(http.MethodPut, projecttest.URL(projectID), object{"description": "new"})
	}},
	{"rename", event.ProjectUpdated, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodPut, projecttest.URL(projectID), object{"name": "Renamed " + projectID})
	}},
	{"set variables", event.ProjectUpdated, func(u *user, projectID, _ string) response {
		return u.SetVariables(projectID, []object{variable("VITE_A", "1", "all")})
	}},
	{"delete", event.ProjectDeleted, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodDelete, projecttest.URL(projectID), nil)
	}},
	{"comment", event.CommentCreated, func(u *user, projectID, _ string) response {
		return u.Do(http.MethodPost, projecttest.URL(projectID)+"/comments", object{"body": "x", "path": "/a.ts", "line": 1})
	}},
	{"delete comment", "", func(u *user, projectID, commentID string) response {
		return u.Do(http.MethodDelete, projecttest.URL(projectID)+"/comments/"+commentID, nil)
	}},
}

// A failed request has stored neither the change nor the event. If only the response was lost, it has stored both.
func TestChangesAreAtomicWithEventsUnderFaults(t *testing.T) {
	t.Parallel()
	for _, injected := range projecttest.Faults {
		t.Run(injected.Name, func(t *testing.T) {
			t.Parallel()
			f := projecttest.New(t)
			ada := f.NewUser("ada")
			wire := f.UseProxy(nil)
			for _, m := range mutations {
				for _, operation := range []string{"Query", "GetItem", "BatchGetItem", "TransactWriteItems"} {
					if projecttest.SkipsFault(injected, operation) {
						continue
					}
					project := ada.Project("", "App", workspace.Team)
					f.PutFile(project, "/a.ts")
					comment := ada.Comment(project)
					before, eventCount := f.Dump(f.Tables.Projects), len(f.StoredEvents())
					wire.Break(operation, injected)
					r := m.do(ada, project, comment)
					wire.Clear()
					after, events := f.Dump(f.Tables.Projects), f.StoredEvents()[eventCount:]

					changed := !cmp.Equal(before, after, projecttest.Unexported)
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
					projecttest.CheckResponse(t, name, injected, hit, changed, r)
					if operation == "TransactWriteItems" && (!hit || (injected.Executed && !changed)) {
						t.Errorf("%s: fault occurred: %t, want true; stored items changed: %t", name, hit, changed)
					}
				}
			}
		})
	}
}
