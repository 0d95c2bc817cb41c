package project

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

func TestConcurrentCreationWithSameName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	const n = 8
	responses := slicetest.Concurrently(n, func(int) response {
		return ada.Do(http.MethodPost, "/api/projects", object{"name": "Todo"})
	})
	slugs := map[string]bool{}
	for _, r := range responses {
		r.Want(t, http.StatusCreated)
		slugs[r.Text("slug")] = true
	}
	if len(slugs) != n || !slugs["todo"] || !slugs["todo-2"] || f.storedProjectCount(ada.personal) != n {
		t.Errorf("slugs %v, counted %d", slugs, f.storedProjectCount(ada.personal))
	}
	// Renamed to one name, too.
	renamed := slicetest.Concurrently(n, func(i int) response {
		return ada.Do(http.MethodPut, projectURL(responses[i].Text("id")), object{"name": "Shop"})
	})
	clear(slugs)
	for _, r := range renamed {
		slugs[r.Want(t, http.StatusOK).Text("slug")] = true
	}
	stored := 0
	for key := range f.dump(f.tableNames.projects) {
		if strings.HasPrefix(key.SK, "SLUG#") {
			stored++
		}
	}
	if len(slugs) != n || !slugs["shop"] || stored != n {
		t.Errorf("slugs %v, %d stored", slugs, stored)
	}
}

func TestProjectQuotaUnderConcurrency(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withMaxProjects(5))
	ada := f.newUser("ada")
	responses := slicetest.Concurrently(9, func(i int) response {
		return ada.Do(http.MethodPost, "/api/projects", object{"name": fmt.Sprint("App ", i)})
	})
	if diff := cmp.Diff(map[int]int{http.StatusCreated: 5, http.StatusPaymentRequired: 4}, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	if listed := len(ada.Get("/api/projects").List("projects")); listed != 5 || f.storedProjectCount(ada.personal) != 5 || len(f.storedEvents()) != 5 {
		t.Errorf("%d projects, %d counted, %d events", listed, f.storedProjectCount(ada.personal), len(f.storedEvents()))
	}
}

// Concurrent updates all succeed, one after the other, with one event each.
func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	project := ada.project("", "App", Team)
	changes := []object{
		{"description": "new"}, {"framework": "go"}, {"visibility": "public"}, {"name": "Shop"},
	}
	responses := slicetest.Concurrently(len(changes), func(i int) response {
		return ada.Do(http.MethodPut, projectURL(project), changes[i])
	})
	if diff := cmp.Diff(map[int]int{http.StatusOK: len(changes)}, slicetest.CountStatuses(responses)); diff != "" {
		t.Fatal(diff, responses)
	}
	r := ada.Get(projectURL(project))
	for _, change := range changes {
		for field, want := range change {
			if r.Body[field] != want {
				t.Errorf("%s is %v", field, r.Body[field])
			}
		}
	}
	if n := len(f.storedEvents()); n != 1+len(changes) {
		t.Errorf("%d events", n)
	}
}

// A project is deleted only once, even with concurrent writes, and nothing is stored in it afterwards.
func TestDeletionWithConcurrentWrites(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for round := range 10 {
		project := ada.project("", "App", Team)
		f.putFile(project, "/a.ts")
		responses := slicetest.Concurrently(7, func(i int) response {
			switch {
			case i < 2:
				return ada.Do(http.MethodDelete, projectURL(project), nil)
			case i < 4:
				return ada.Do(http.MethodPut, projectURL(project), object{"name": fmt.Sprint("New ", round, i)})
			case i < 6:
				return ada.Do(http.MethodPost, projectURL(project)+"/comments", object{"body": "x", "path": "/a.ts"})
			}
			return ada.Do(http.MethodGet, projectURL(project), nil)
		})
		if n := slicetest.CountStatuses(responses[:2]); n[http.StatusOK] != 1 || n[http.StatusNotFound] != 1 {
			t.Errorf("deletions: %v", n)
		}
		for _, r := range responses[2:] {
			if r.Status != http.StatusOK && r.Status != http.StatusCreated && r.Status != http.StatusNotFound {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
		}
		made := map[event.Type]int{}
		var kinds []event.Type
		for _, record := range f.storedEvents() {
			if record.ProjectID == project {
				made[record.Type]++
				kinds = append(kinds, record.Type)
			}
		}
		if made[event.ProjectDeleted] != 1 {
			t.Errorf("%v", kinds)
		}
		if want := slicetest.CountStatuses(responses[2:4])[http.StatusOK]; made[event.ProjectUpdated] != want {
			t.Errorf("%d updates succeeded: %v", want, kinds)
		}
		if want := slicetest.CountStatuses(responses[4:6])[http.StatusCreated]; made[event.CommentCreated] != want {
			t.Errorf("%d comments succeeded: %v", want, kinds)
		}
	}
	for key := range f.dump(f.tableNames.projects) {
		if strings.HasPrefix(key.SK, "PROJECT#") || strings.HasPrefix(key.SK, "SLUG#") || key.SK == "TREE" {
			t.Errorf("left: %v", key)
		}
	}
	if n := f.storedProjectCount(ada.personal); n != 0 {
		t.Errorf("counted %d", n)
	}
}

// A change between the read and the write of a request has the same effect as a change before the read.
func TestChangesBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	wire := f.useProxy(nil)
	var project, comment string
	deletion := func() { ada.Do(http.MethodDelete, projectURL(project), nil).Want(t, http.StatusOK) }
	update := func() {
		ada.Do(http.MethodPut, projectURL(project), object{"name": "Meanwhile"}).Want(t, http.StatusOK)
	}
	fileGoes := func() { f.transact(f.projects.Delete(db.FileKey(project, "/a.ts"))) }
	commentGoes := func() {
		ada.Do(http.MethodDelete, projectURL(project)+"/comments/"+comment, nil).Want(t, http.StatusOK)
	}
	slugGoes := func() { ada.project("", "Renamed "+project, Team) }
	for _, tc := range []struct {
		mutation  string
		meanwhile func()
		status    int
		code      fault.Code
	}{
		{"update", deletion, http.StatusNotFound, fault.CodeProjectNotFound},
		{"rename", deletion, http.StatusNotFound, fault.CodeProjectNotFound},
		{"delete", deletion, http.StatusNotFound, fault.CodeProjectNotFound},
		{"comment", deletion, http.StatusNotFound, fault.CodeProjectNotFound},
		{"delete comment", deletion, http.StatusNotFound, fault.CodeProjectNotFound},
		{"update", update, http.StatusOK, ""},
		{"rename", update, http.StatusOK, ""},
		{"rename", slugGoes, http.StatusOK, ""},
		{"delete", update, http.StatusOK, ""},
		{"comment", update, http.StatusCreated, ""},
		{"comment", fileGoes, http.StatusCreated, ""},
		{"delete comment", commentGoes, http.StatusNotFound, fault.CodeCommentNotFound},
	} {
		project = ada.project("", "App", Team)
		f.putFile(project, "/a.ts")
		comment = ada.Do(http.MethodPost, projectURL(project)+"/comments", object{"body": "x"}).Want(t, http.StatusCreated).Text("id")
		i := slices.IndexFunc(mutations, func(m mutation) bool { return m.name == tc.mutation })
		wire.Before("TransactWriteItems", tc.meanwhile)
		r := mutations[i].do(ada, project, comment)
		if r.Status != tc.status || r.Text("code") != string(tc.code) {
			t.Errorf("%s: %d %s, want %d %s", tc.mutation, r.Status, r.Raw, tc.status, tc.code)
		}
		if tc.mutation == "update" && tc.status == http.StatusOK && (r.Text("name") != "Meanwhile" || r.Text("description") != "new") {
			t.Errorf("one of two updates was lost: %s", r.Raw)
		}
		records := f.storedEvents()
		if last := decodePayload(t, records[len(records)-1]); tc.mutation == "delete" && last.Data.Project.Name != "Meanwhile" && tc.status == http.StatusOK {
			t.Errorf("the event has an old state: %v", last.Data.Project)
		}
	}
	// Every slug belongs to a project that has it.
	slugs := map[string]string{}
	owners := map[string]string{}
	for key, item := range f.dump(f.tableNames.projects) {
		if slug, ok := strings.CutPrefix(key.SK, "SLUG#"); ok {
			record, err := db.Decode[slugRecord](item)
			if err != nil {
				t.Fatal(err)
			}
			slugs[slug] = record.ProjectID
		}
		if strings.HasPrefix(key.SK, "PROJECT#") {
			record, err := db.Decode[projectRecord](item)
			if err != nil {
				t.Fatal(err)
			}
			owners[record.Slug] = record.ID
		}
	}
	if diff := cmp.Diff(owners, slugs); diff != "" || f.storedProjectCount(ada.personal) != len(owners) {
		t.Errorf("slugs and their projects, of which %d are counted: %s", f.storedProjectCount(ada.personal), diff)
	}
}

// A member who is removed or demoted loses access immediately.
func TestRemovedMemberLosesAccessImmediately(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, bob := f.newUser("ada"), f.newUser("bob")
	team := ada.workspace("Team")
	f.setRole(team, bob, workspace.Admin)
	project := bob.project(team, "App", Private)
	bob.Get(projectURL(project)).Want(t, http.StatusOK)
	f.setRole(team, bob, workspace.Viewer)
	bob.Get(projectURL(project)).Want(t, http.StatusOK) // their own, still
	bob.Do(http.MethodDelete, projectURL(project), nil).Want(t, http.StatusForbidden)
	f.removeMember(team, bob)
	bob.Get(projectURL(project)).Want(t, http.StatusNotFound)
	if got := bob.Get("/api/projects").Values("projects", "id"); slices.Contains(got, any(project)) {
		t.Error("still listed")
	}
}

// A change with repeated conflicts fails after 20 attempts and writes nothing.
func TestUpdateGivesUpAfterRepeatedConflicts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	project := ada.project("", "App", Team)
	eventCount := len(f.storedEvents())
	var attempts atomic.Int32
	f.useProxy(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if dynamotest.Operation(r) == "TransactWriteItems" {
			attempts.Add(1)
			revision := expression.Name("revision")
			_, err := f.client.Do(r.Context(), f.projects.Update(db.ProjectKey(ada.personal, project),
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
		m.do(ada, project, "").Want(t, http.StatusConflict, fault.CodeConflict)
		if n := attempts.Load(); n != 20 {
			t.Errorf("%s: %d attempts, want 20", m.name, n)
		}
	}
	ada.Get(projectURL(project)).Want(t, http.StatusOK)
	if n := len(f.storedEvents()); n != eventCount {
		t.Errorf("%d events", n-eventCount)
	}
}
