package project_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/project"
	"devplatform/shared/retry"
	"devplatform/shared/workspace"
)

func TestConcurrentCreationWithSameName(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	const n = 8
	responses := slicetest.Concurrently(n, func(int) response {
		return ada.Do(http.MethodPost, "/api/projects", object{"name": "Todo"})
	})
	slugs := map[string]bool{}
	for _, r := range responses {
		r.Want(t, http.StatusCreated)
		slugs[r.Text("slug")] = true
	}
	if len(slugs) != n || !slugs["todo"] || !slugs["todo-2"] || storedProjectCount(f, ada.Personal) != n {
		t.Errorf("got slugs %v and the project counter %d, want %d different slugs",
			slugs, storedProjectCount(f, ada.Personal), n)
	}
	// All projects are renamed to the same name.
	renamed := slicetest.Concurrently(n, func(i int) response {
		return ada.Do(http.MethodPut, projecttest.URL(responses[i].Text("id")), object{"name": "Shop"})
	})
	clear(slugs)
	for _, r := range renamed {
		slugs[r.Want(t, http.StatusOK).Text("slug")] = true
	}
	stored := 0
	for key := range f.Dump(f.Tables.Projects) {
		if strings.HasPrefix(key.SK, "SLUG#") {
			stored++
		}
	}
	if len(slugs) != n || !slugs["shop"] || stored != n {
		t.Errorf("got slugs %v and %d stored slugs, want %d different slugs", slugs, stored, n)
	}
}

// Without other requests, the slug of a taken name is found without a wait: the requests have no retries.
func TestTakenNameCostsNoWait(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	caller := slicetest.NewCaller(ada.UserID, ada.Name)
	ctx := retry.WithBudget(t.Context(), 0, time.Hour)
	var todo project.NewProjectInput
	todo.Body.Name = "Todo"
	for _, want := range []string{"todo", "todo-2", "todo-3"} {
		p, err := project.CreateProject(f.Service, ctx, caller, &todo)
		if err != nil || p.Body.Slug != want {
			t.Errorf("create: got the response %+v and error %v, want the slug %s", p, err, want)
		}
	}
	var rename project.ProjectSettingsInput
	rename.ProjectID, rename.Body.Name = ada.Project("", "Shop", workspace.Team), &todo.Body.Name
	if p, err := project.UpdateProject(f.Service, ctx, caller, &rename); err != nil || p.Body.Slug != "todo-4" {
		t.Errorf("rename: got the response %+v and error %v, want the slug todo-4", p, err)
	}
	// The membership and the transaction; if the slug is taken, also the stored slugs and another transaction.
	for name, calls := range map[string]int64{"Todo": 4, "Free": 2} {
		r := ada.Do(http.MethodPost, "/api/projects", object{"name": name, "workspaceId": ada.Personal})
		if r.Want(t, http.StatusCreated); r.Calls != calls || r.Depth != calls {
			t.Errorf("%s: got %d calls with depth %d, want %d", name, r.Calls, r.Depth, calls)
		}
	}
}

// A change between the read and the write of a request has the same effect as a change before the read.
func TestChangesBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	wire := f.UseProxy(nil)
	var projectID, comment string
	deleteProject := func() { ada.Do(http.MethodDelete, projecttest.URL(projectID), nil).Want(t, http.StatusOK) }
	updateProject := func() {
		ada.Do(http.MethodPut, projecttest.URL(projectID), object{"name": "Concurrent"}).Want(t, http.StatusOK)
	}
	deleteFile := func() { f.Transact(f.Projects.Delete(db.FileKey(projectID, "/a.ts"))) }
	deleteComment := func() {
		ada.Do(http.MethodDelete, projecttest.URL(projectID)+"/comments/"+comment, nil).Want(t, http.StatusOK)
	}
	claimSlug := func() { ada.Project("", "Renamed "+projectID, workspace.Team) }
	for _, tc := range []struct {
		mutation string
		between  func() // runs between the read and the write of the mutation
		status   int
		code     fault.Code
	}{
		{"update", deleteProject, http.StatusNotFound, fault.CodeProjectNotFound},
		{"rename", deleteProject, http.StatusNotFound, fault.CodeProjectNotFound},
		{"delete", deleteProject, http.StatusNotFound, fault.CodeProjectNotFound},
		{"comment", deleteProject, http.StatusNotFound, fault.CodeProjectNotFound},
		{"delete comment", deleteProject, http.StatusNotFound, fault.CodeProjectNotFound},
		{"set variables", deleteProject, http.StatusNotFound, fault.CodeProjectNotFound},
		{"set variables", updateProject, http.StatusOK, ""},
		{"update", updateProject, http.StatusOK, ""},
		{"rename", updateProject, http.StatusOK, ""},
		{"rename", claimSlug, http.StatusOK, ""},
		{"delete", updateProject, http.StatusOK, ""},
		{"comment", updateProject, http.StatusCreated, ""},
		{"comment", deleteFile, http.StatusCreated, ""},
		{"delete comment", deleteComment, http.StatusNotFound, fault.CodeCommentNotFound},
	} {
		projectID = ada.Project("", "App", workspace.Team)
		f.PutFile(projectID, "/a.ts")
		comment = ada.Comment(projectID)
		i := slices.IndexFunc(mutations, func(m mutation) bool { return m.name == tc.mutation })
		wire.Before("TransactWriteItems", tc.between)
		r := mutations[i].do(ada, projectID, comment)
		if r.Status != tc.status || r.Text("code") != string(tc.code) {
			t.Errorf("%s: got %d %s, want %d %s", tc.mutation, r.Status, r.Raw, tc.status, tc.code)
		}
		if tc.status != http.StatusOK {
			continue
		}
		if tc.mutation == "update" && (r.Text("name") != "Concurrent" || r.Text("description") != "new") {
			t.Errorf("one of two updates was lost: %s", r.Raw)
		}
		if changes, ok := map[string]int{"delete": 0, "set variables": 1}[tc.mutation]; ok {
			last := lastEvent(f).Data
			isOwn := len(last.Changes) == changes && !slices.Contains(last.Changes, "name")
			if last.Project.Name != "Concurrent" || !isOwn {
				t.Errorf("%s: got the last event %+v, want its own event with the name Concurrent", tc.mutation, last)
			}
		}
	}
	// Each stored slug refers to the project that has the slug.
	slugs := map[string]string{}      // project ID by slug, from the slug records
	projectIDs := map[string]string{} // project ID by slug, from the projects
	for key, item := range f.Dump(f.Tables.Projects) {
		if slug, ok := strings.CutPrefix(key.SK, "SLUG#"); ok {
			record, err := db.Decode[project.SlugRecord](item)
			if err != nil {
				t.Fatal(err)
			}
			slugs[slug] = record.ProjectID
		}
		if strings.HasPrefix(key.SK, "PROJECT#") {
			record, err := db.Decode[project.ProjectRecord](item)
			if err != nil {
				t.Fatal(err)
			}
			projectIDs[record.Slug] = record.ID
		}
	}
	if diff := cmp.Diff(projectIDs, slugs); diff != "" {
		t.Errorf("slugs mismatch (-projects +slug records):\n%s", diff)
	}
	if n := storedProjectCount(f, ada.Personal); n != len(projectIDs) {
		t.Errorf("got the project counter %d, want %d", n, len(projectIDs))
	}
}

// A change with repeated conflicts fails after 20 attempts and writes nothing.
func TestUpdateGivesUpAfterRepeatedConflicts(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	projectID := ada.Project("", "App", workspace.Team)
	eventCount := len(f.StoredEvents())
	var attempts atomic.Int32
	f.UseProxy(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if dynamotest.Operation(r) == "TransactWriteItems" {
			attempts.Add(1)
			revision := expression.Name("revision")
			_, err := f.Client.Do(r.Context(), f.Projects.Update(db.ProjectKey(ada.Personal, projectID),
				expression.Set(revision, revision.Plus(expression.Value(1)))))
			if err != nil {
				t.Error(err)
			}
		}
		next.ServeHTTP(out, r)
	})
	for _, m := range mutations {
		if m.name != "update" && m.name != "delete" {
			continue
		}
		attempts.Store(0)
		m.do(ada, projectID, "").Want(t, http.StatusConflict, fault.CodeConflict)
		if n := attempts.Load(); n != 20 {
			t.Errorf("%s: got %d attempts, want 20", m.name, n)
		}
	}
	ada.Get(projecttest.URL(projectID)).Want(t, http.StatusOK)
	if n := len(f.StoredEvents()); n != eventCount {
		t.Errorf("the failed requests emitted %d events, want 0", n-eventCount)
	}
}
