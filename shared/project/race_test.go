package project_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/projecttest"
	"devplatform/shared/project"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
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
	for _, want := range []string{"todo", "todo-2", "todo-3"} {
		p, err := f.Service.Create(ctx, caller, project.Draft{Name: "Todo", Framework: "static", Visibility: workspace.Team})
		if err != nil || p.Slug != want {
			t.Errorf("create: got the slug %q and error %v, want %s", p.Slug, err, want)
		}
	}
	shop, name := ada.Project("", "Shop", workspace.Team), "todo"
	if p, err := f.Service.Update(ctx, caller, shop, project.Settings{Name: &name}); err != nil || p.Slug != "todo-4" {
		t.Errorf("rename: got the slug %q and error %v, want todo-4", p.Slug, err)
	}
	// The membership and the transaction; if the slug is taken, also the stored slugs and another transaction.
	for name, calls := range map[string]int64{"Todo": 4, "Free": 2} {
		r := ada.Do(http.MethodPost, "/api/projects", object{"name": name, "workspaceId": ada.Personal})
		if r.Want(t, http.StatusCreated); r.Calls != calls || r.Depth != calls {
			t.Errorf("%s: got %d calls with depth %d, want %d", name, r.Calls, r.Depth, calls)
		}
	}
}

func TestProjectQuotaUnderConcurrency(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, projecttest.WithMaxProjects(5))
	ada := f.NewUser("ada")
	responses := slicetest.Concurrently(9, func(i int) response {
		return ada.Do(http.MethodPost, "/api/projects", object{"name": fmt.Sprint("App ", i)})
	})
	projecttest.WantStatuses(t, responses, map[int]int{http.StatusCreated: 5, http.StatusPaymentRequired: 4})
	listed, counter := len(ada.Get("/api/projects").List("projects")), storedProjectCount(f, ada.Personal)
	if events := len(f.StoredEvents()); listed != 5 || counter != 5 || events != 5 {
		t.Errorf("got %d projects, the project counter %d and %d events, want 5 each", listed, counter, events)
	}
}

// Concurrent updates all succeed, one after the other, with one event each.
func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	projectID := ada.Project("", "App", workspace.Team)
	changes := []object{
		{"description": "new"}, {"framework": "go"}, {"visibility": "public"}, {"name": "Shop"},
	}
	responses := slicetest.Concurrently(len(changes), func(i int) response {
		return ada.Do(http.MethodPut, projecttest.URL(projectID), changes[i])
	})
	if diff := cmp.Diff(map[int]int{http.StatusOK: len(changes)}, slicetest.CountStatuses(responses)); diff != "" {
		t.Fatalf("number of responses by status: mismatch (-want +got):\n%s", diff)
	}
	r := ada.Get(projecttest.URL(projectID))
	for _, change := range changes {
		for field, want := range change {
			if r.Body[field] != want {
				t.Errorf("got %s %v, want %v", field, r.Body[field], want)
			}
		}
	}
	if n := len(f.StoredEvents()); n != 1+len(changes) {
		t.Errorf("got %d events, want %d", n, 1+len(changes))
	}
}

// A project is deleted only once, even with concurrent writes, and nothing is stored in it afterwards.
func TestDeletionWithConcurrentWrites(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	for round := range 10 {
		projectID := ada.Project("", "App", workspace.Team)
		f.PutFile(projectID, "/a.ts")
		responses := slicetest.Concurrently(8, func(i int) response {
			switch {
			case i < 2:
				return ada.Do(http.MethodDelete, projecttest.URL(projectID), nil)
			case i < 4:
				return ada.Do(http.MethodPut, projecttest.URL(projectID), object{"name": fmt.Sprint("New ", round, i)})
			case i < 6:
				return ada.Do(http.MethodPost, projecttest.URL(projectID)+"/comments", object{"body": "x", "path": "/a.ts"})
			case i < 7:
				return ada.SetVariables(projectID, []object{variable("VITE_A", "1", "all")})
			}
			return ada.Do(http.MethodGet, projecttest.URL(projectID), nil)
		})
		if n := slicetest.CountStatuses(responses[:2]); n[http.StatusOK] != 1 || n[http.StatusNotFound] != 1 {
			t.Errorf("deletions: got responses by status %v, want one 200 and one 404", n)
		}
		for _, r := range responses[2:] {
			if r.Status != http.StatusOK && r.Status != http.StatusCreated && r.Status != http.StatusNotFound {
				t.Errorf("got %d %s, want success or 404", r.Status, r.Raw)
			}
		}
		got := map[event.Type]int{}
		for _, record := range f.StoredEvents() {
			if record.ProjectID == projectID {
				got[record.Type]++
			}
		}
		want := map[event.Type]int{
			event.ProjectDeleted: 1,
			event.ProjectUpdated: slicetest.CountStatuses(slices.Concat(responses[2:4], responses[6:7]))[http.StatusOK],
			event.CommentCreated: slicetest.CountStatuses(responses[4:6])[http.StatusCreated],
		}
		for kind, n := range want {
			if got[kind] != n {
				t.Errorf("got %d events of type %s, want %d", got[kind], kind, n)
			}
		}
	}
	for key := range f.Dump(f.Tables.Projects) {
		if strings.HasPrefix(key.SK, "PROJECT#") || strings.HasPrefix(key.SK, "SLUG#") || key.SK == "TREE" {
			t.Errorf("the item %v remains after the deletions", key)
		}
	}
	if n := storedProjectCount(f, ada.Personal); n != 0 {
		t.Errorf("got the project counter %d, want 0", n)
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
