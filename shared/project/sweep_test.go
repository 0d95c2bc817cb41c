package project

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/project/content"
)

// The objects of a deleted project are removed with its other data.
func TestCleanupRemovesObjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	deleted, kept := f.newFilesClient("ada"), f.newFilesClient("grace")
	for _, client := range []filesClient{deleted, kept} {
		client.saveBytes("/a", randomBytes(5_000)).Want(t, http.StatusCreated)
		client.saveBytes("/a", randomBytes(5_000)).Want(t, http.StatusOK)
		f.putObject("contents/"+client.projectID+"/"+f.newVersion(), []byte("without a record"))
	}
	deleted.Do(http.MethodDelete, projectURL(deleted.projectID), nil).Want(t, http.StatusOK)
	for range 2 { // events can be delivered more than once
		c.handleAll()
		for _, key := range f.objects() {
			if !strings.HasPrefix(key, "contents/"+kept.projectID+"/") {
				t.Errorf("the object %s remains", key)
			}
		}
		if n := len(f.objects()); n != 3 {
			t.Errorf("the other project has %d objects, want 3", n)
		}
	}
}

// sweep runs the sweep as if the objects had an age.
func (c *cleaner) sweep(age time.Duration) error {
	return c.withClients(c.f.sdk, c.f.s3, func() time.Time { return time.Now().Add(age) }).Sweep(c.f.t.Context())
}

// The sweep removes the objects to which no live record refers, if they are older than a day. It never removes others.
func TestSweep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	client := f.newFilesClient("ada")
	client.saveBytes("/a", randomBytes(5_000)).Want(t, http.StatusCreated)
	replaced := client.record("/a").ObjectKey(client.projectID)
	client.saveBytes("/a", randomBytes(5_000)).Want(t, http.StatusOK)
	client.batch(renaming("/a", "/b")).Want(t, http.StatusOK)
	current := client.record("/b").ObjectKey(client.projectID)
	orphan := "contents/" + client.projectID + "/" + f.newVersion()
	missing := "contents/" + f.ids.New(id.Project) + "/" + f.newVersion() // of a project that does not exist
	others := []string{"contents/", "contents/x", "contents/" + client.projectID, "sites/x/index.html"}
	for _, key := range append([]string{orphan, missing}, others...) {
		f.putObject(key, []byte("x"))
	}
	check := func(age time.Duration, want ...string) {
		t.Helper()
		if err := c.sweep(age); err != nil {
			t.Fatal(err)
		}
		want = append(want, others...)
		slices.Sort(want)
		if diff := cmp.Diff(want, f.objects()); diff != "" {
			t.Errorf("objects after a sweep at an age of %v: mismatch (-want +got):\n%s", age, diff)
		}
	}
	check(0, replaced, current, orphan, missing)
	check(24*time.Hour-time.Minute, replaced, current, orphan, missing)
	check(24*time.Hour+time.Minute, replaced, current)
	f.clock.Advance(content.Retention - time.Second)
	check(old, replaced, current)
	f.clock.Advance(time.Second) // the version expires
	check(old, current)
	client.remove("/b").Want(t, http.StatusOK)
	check(old, current)
	f.clock.Advance(content.Retention)
	check(old)
}

// A project can have millions of old versions. The sweep reads their records without keeping them. This test is not
// parallel, because it measures the memory of the process.
func TestSweepNeedsConstantMemory(t *testing.T) {
	const pages, perPage, maxGrowth = 20, 2500, 2 << 20
	f := newFixture(t)
	c := newCleaner(t, f)
	projectID := f.ids.New(id.Project)
	f.putObject("contents/"+projectID+"/"+f.newVersion(), []byte("x"))
	var first, last runtime.MemStats
	n := 0
	wire := dynamotest.NewWire(t, f.endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if dynamotest.Operation(r) != "Query" {
			next.ServeHTTP(out, r)
			return
		}
		runtime.GC()
		if runtime.ReadMemStats(&last); n == 0 {
			first = last
		}
		n++
		out.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(out, `{"Items":[{"pk":{"S":"a"}}`)
		for range perPage {
			_, _ = fmt.Fprintf(out, `,{"pk":{"S":"a"},"sk":{"S":"b"},"content":{"S":%q}}`, f.newVersion())
		}
		_, _ = io.WriteString(out, `]`)
		if n < pages {
			_, _ = io.WriteString(out, `,"LastEvaluatedKey":{"pk":{"S":"a"},"sk":{"S":"b"}}`)
		}
		_, _ = io.WriteString(out, `}`)
	})
	err := c.withClients(wire.Client(), f.s3, func() time.Time { return time.Now().Add(old) }).Sweep(t.Context())
	if grown := int64(last.HeapAlloc) - int64(first.HeapAlloc); err != nil || n != pages || grown > maxGrowth {
		t.Errorf("got error %v, and %d more bytes in memory after %d pages, want at most %d after %d",
			err, grown, n, maxGrowth, pages)
	}
	if keys := f.objects(); len(keys) != 0 {
		t.Errorf("got the objects %v, want none", keys)
	}
}

// A record that is not valid does not stop the sweep. The objects of its project are kept.
func TestSweepKeepsObjectsOfProjectWithInvalidRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	damaged := f.ids.New(id.Project)
	f.put(f.tableNames.projects, map[db.Key]db.Item{
		db.FileKey(damaged, "/a"): {"content": &types.AttributeValueMemberBOOL{Value: true}},
	})
	f.putObject("contents/"+damaged+"/"+f.newVersion(), []byte("x"))
	for range 50 {
		f.putObject("contents/"+f.ids.New(id.Project)+"/"+f.newVersion(), []byte("x"))
	}
	err := c.sweep(old)
	if err == nil || errors.Is(err, db.ErrUnavailable) || !strings.Contains(err.Error(), damaged) {
		t.Errorf("got error %v, want one with the ID of the project %s", err, damaged)
	}
	if keys := f.objects(); len(keys) != 1 || !strings.Contains(keys[0], damaged) {
		t.Errorf("got %d objects, want only the one of the project %s", len(keys), damaged)
	}
}

// A sweep continues after the position at which the last one stopped, and then begins with the first object again.
func TestSweepContinues(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	var keys []string
	for range 3 {
		keys = append(keys, "contents/"+f.ids.New(id.Project)+"/"+f.newVersion())
		f.putObject(keys[len(keys)-1], []byte("x"))
	}
	f.put(f.tableNames.contents, map[db.Key]db.Item{
		db.SweepKey(): {"after": &types.AttributeValueMemberS{Value: keys[1]}},
	})
	for _, want := range [][]string{keys[:2], {}} {
		if err := c.sweep(old); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, f.objects()); diff != "" {
			t.Errorf("objects: mismatch (-want +got):\n%s", diff)
		}
	}
}

// A sweep of more than one page of objects.
func TestSweepPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	client := f.newFilesClient("ada")
	client.saveBytes("/a", randomBytes(5_000)).Want(t, http.StatusCreated)
	for range 1100 {
		f.putObject("contents/"+client.projectID+"/"+f.newVersion(), nil)
	}
	if err := c.sweep(old); err != nil {
		t.Fatal(err)
	}
	if got, want := f.objects(), []string{client.record("/a").ObjectKey(client.projectID)}; !slices.Equal(got, want) {
		t.Errorf("got %d objects, want only %v", len(got), want)
	}
}

// An event with an invalid project ID never removes objects.
func TestCleanupWithInvalidProjectIDKeepsObjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	client := f.newFilesClient("ada")
	client.saveBytes("/a", randomBytes(5_000)).Want(t, http.StatusCreated)
	for _, projectID := range []string{"", "x", client.projectID[:20], client.projectID} {
		image := f.eventImage(event.Record{ID: f.ids.New(id.Event), Type: event.ProjectDeleted, ProjectID: projectID})
		if err := c.Handle(t.Context(), insertRecord(image)); err == nil {
			t.Errorf("project ID %q: got no error", projectID)
		}
	}
	if n := len(f.objects()); n != 1 {
		t.Errorf("got %d objects, want 1", n)
	}
}

// A sweep that runs after a save has stored its object, and before the transaction, keeps the object.
func TestSweepDuringSave(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	client := f.newFilesClient("ada")
	f.useProxy(nil).Before("TransactWriteItems", func() {
		if n := len(f.objects()); n != 1 {
			t.Errorf("got %d objects before the transaction, want 1", n)
		}
		if err := c.sweep(0); err != nil {
			t.Error(err)
		}
	})
	client.saveBytes("/a", randomBytes(5_000)).Want(t, http.StatusCreated)
	client.read("/a").Want(t, http.StatusOK)
}

// A sweep reads the records of a large project with several calls. If a file is renamed between them, and its old
// version is deleted, the sweep keeps the file's object, whether the new path is before or after the old one. The next
// sweep handles the project.
func TestSweepDuringRename(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{"/a": "/z", "/z": "/a"} {
		f := newFixture(t)
		c := newCleaner(t, f)
		client := f.newFilesClient("ada")
		version := client.saveBytes(from, randomBytes(5_000)).Want(t, http.StatusCreated).Text("version")
		object := client.record(from).ObjectKey(client.projectID)
		f.putObject("contents/"+client.projectID+"/"+f.newVersion(), []byte("without a record"))
		long := encode(t, commentRecord{Body: strings.Repeat("long ", 76_000)})
		for _, path := range []string{"/m1", "/m2", "/m3", "/m4"} { // three of them are a page
			f.put(f.tableNames.projects, map[db.Key]db.Item{db.FileKey(client.projectID, path): long})
		}
		queries := 0
		wire := dynamotest.NewWire(t, f.endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
			if dynamotest.Operation(r) == "Query" {
				if queries++; queries == 2 {
					client.batch(renaming(from, to)).Want(t, http.StatusOK)
					client.deleteVersion(from, version).Want(t, http.StatusOK)
				}
			}
			next.ServeHTTP(out, r)
		})
		sweeper := c.withClients(wire.Client(), f.s3, func() time.Time { return time.Now().Add(old) })
		if err := sweeper.Sweep(t.Context()); err != nil || queries < 2 {
			t.Errorf("got error %v after %d queries, want none after at least 2", err, queries)
		}
		client.read(to).Want(t, http.StatusOK)
		if err := sweeper.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if got := f.objects(); len(got) != 1 || got[0] != object {
			t.Errorf("after the next sweep: got the objects %v, want only %s", got, object)
		}
	}
}
