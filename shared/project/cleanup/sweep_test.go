package cleanup_test

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
	"devplatform/infra/projecttest"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/project/content"
)

// The objects of a deleted project are removed with its other data.
func TestCleanupRemovesObjects(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	deleted, kept := f.NewFilesClient("ada"), f.NewFilesClient("grace")
	for _, client := range []filesClient{deleted, kept} {
		client.SaveBytes("/a", projecttest.RandomBytes(5_000)).Want(t, http.StatusCreated)
		client.SaveBytes("/a", projecttest.RandomBytes(5_000)).Want(t, http.StatusOK)
		f.PutObject("contents/"+client.ProjectID+"/"+f.NewVersion(), []byte("without a record"))
	}
	deleted.Do(http.MethodDelete, projecttest.URL(deleted.ProjectID), nil).Want(t, http.StatusOK)
	for range 2 { // events can be delivered more than once
		c.HandleAll()
		for _, key := range f.Objects() {
			if !strings.HasPrefix(key, "contents/"+kept.ProjectID+"/") {
				t.Errorf("the object %s remains", key)
			}
		}
		if n := len(f.Objects()); n != 3 {
			t.Errorf("the other project has %d objects, want 3", n)
		}
	}
}

// The sweep removes the objects to which no live record refers, if they are older than a day. It never removes others.
func TestSweep(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	client := f.NewFilesClient("ada")
	client.SaveBytes("/a", projecttest.RandomBytes(5_000)).Want(t, http.StatusCreated)
	replaced := client.Record("/a").ObjectKey(client.ProjectID)
	client.SaveBytes("/a", projecttest.RandomBytes(5_000)).Want(t, http.StatusOK)
	client.Batch(projecttest.Renaming("/a", "/b")).Want(t, http.StatusOK)
	current := client.Record("/b").ObjectKey(client.ProjectID)
	orphan := "contents/" + client.ProjectID + "/" + f.NewVersion()
	missing := "contents/" + f.IDs.New(id.Project) + "/" + f.NewVersion() // of a project that does not exist
	others := []string{"contents/", "contents/x", "contents/" + client.ProjectID, "sites/x/index.html"}
	for _, key := range append([]string{orphan, missing}, others...) {
		f.PutObject(key, []byte("x"))
	}
	check := func(age time.Duration, want ...string) {
		t.Helper()
		if err := c.Sweep(age); err != nil {
			t.Fatal(err)
		}
		want = append(want, others...)
		slices.Sort(want)
		if diff := cmp.Diff(want, f.Objects()); diff != "" {
			t.Errorf("objects after a sweep at an age of %v: mismatch (-want +got):\n%s", age, diff)
		}
	}
	check(0, replaced, current, orphan, missing)
	check(24*time.Hour-time.Minute, replaced, current, orphan, missing)
	check(24*time.Hour+time.Minute, replaced, current)
	f.Clock.Advance(content.Retention - time.Second)
	check(projecttest.Old, replaced, current)
	f.Clock.Advance(time.Second) // the version expires
	check(projecttest.Old, current)
	client.Remove("/b").Want(t, http.StatusOK)
	check(projecttest.Old, current)
	f.Clock.Advance(content.Retention)
	check(projecttest.Old)
}

// A project can have millions of old versions. The sweep reads their records without keeping them. This test is not
// parallel, because it measures the memory of the process.
func TestSweepNeedsConstantMemory(t *testing.T) {
	const pages, perPage, maxGrowth = 20, 2500, 2 << 20
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	projectID := f.IDs.New(id.Project)
	f.PutObject("contents/"+projectID+"/"+f.NewVersion(), []byte("x"))
	var first, last runtime.MemStats
	n := 0
	wire := dynamotest.NewWire(t, f.Endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
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
			_, _ = fmt.Fprintf(out, `,{"pk":{"S":"a"},"sk":{"S":"b"},"content":{"S":%q}}`, f.NewVersion())
		}
		_, _ = io.WriteString(out, `]`)
		if n < pages {
			_, _ = io.WriteString(out, `,"LastEvaluatedKey":{"pk":{"S":"a"},"sk":{"S":"b"}}`)
		}
		_, _ = io.WriteString(out, `}`)
	})
	aged := func() time.Time { return time.Now().Add(projecttest.Old) }
	err := c.WithClients(wire.Client(), f.S3, aged).Sweep(t.Context())
	if grown := int64(last.HeapAlloc) - int64(first.HeapAlloc); err != nil || n != pages || grown > maxGrowth {
		t.Errorf("got error %v, and %d more bytes in memory after %d pages, want at most %d after %d",
			err, grown, n, maxGrowth, pages)
	}
	if keys := f.Objects(); len(keys) != 0 {
		t.Errorf("got the objects %v, want none", keys)
	}
}

// A record that is not valid does not stop the sweep. The objects of its project are kept.
func TestSweepKeepsObjectsOfProjectWithInvalidRecord(t *testing.T) {
	t.Parallel()
	invalid := &types.AttributeValueMemberBOOL{Value: true}
	for name, record := range map[string]func(projectID string) (db.Key, db.Item){
		"file": func(projectID string) (db.Key, db.Item) {
			return db.FileKey(projectID, "/a"), db.Item{"content": invalid}
		},
		"tree": func(projectID string) (db.Key, db.Item) { return db.TreeKey(projectID), db.Item{"changes": invalid} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := projecttest.New(t)
			c := projecttest.NewCleaner(t, f)
			damaged := f.IDs.New(id.Project)
			key, item := record(damaged)
			f.Put(f.Tables.Projects, map[db.Key]db.Item{key: item})
			f.PutObject("contents/"+damaged+"/"+f.NewVersion(), []byte("x"))
			for range 50 {
				f.PutObject("contents/"+f.IDs.New(id.Project)+"/"+f.NewVersion(), []byte("x"))
			}
			err := c.Sweep(projecttest.Old)
			if err == nil || errors.Is(err, db.ErrUnavailable) || !strings.Contains(err.Error(), damaged) {
				t.Errorf("got error %v, want one with the ID of the project %s", err, damaged)
			}
			if keys := f.Objects(); len(keys) != 1 || !strings.Contains(keys[0], damaged) {
				t.Errorf("got %d objects, want only the one of the project %s", len(keys), damaged)
			}
		})
	}
}

// If the position of the last sweep is not valid, a sweep begins with the first object.
func TestSweepWithInvalidPosition(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	f.PutObject("contents/"+f.IDs.New(id.Project)+"/"+f.NewVersion(), []byte("x"))
	f.Put(f.Tables.Contents, map[db.Key]db.Item{
		db.SweepKey(): {"after": &types.AttributeValueMemberBOOL{Value: true}},
	})
	if err := c.Sweep(projecttest.Old); err != nil {
		t.Fatal(err)
	}
	if keys := f.Objects(); len(keys) != 0 {
		t.Errorf("got the objects %v, want none", keys)
	}
}

// A sweep continues after the position at which the last one stopped, and then begins with the first object again.
func TestSweepContinues(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	var keys []string
	for range 3 {
		keys = append(keys, "contents/"+f.IDs.New(id.Project)+"/"+f.NewVersion())
		f.PutObject(keys[len(keys)-1], []byte("x"))
	}
	f.Put(f.Tables.Contents, map[db.Key]db.Item{
		db.SweepKey(): {"after": &types.AttributeValueMemberS{Value: keys[1]}},
	})
	for _, want := range [][]string{keys[:2], {}} {
		if err := c.Sweep(projecttest.Old); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, f.Objects()); diff != "" {
			t.Errorf("objects: mismatch (-want +got):\n%s", diff)
		}
	}
}

// A sweep handles more than one page of objects.
func TestSweepPages(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	client := f.NewFilesClient("ada")
	client.SaveBytes("/a", projecttest.RandomBytes(5_000)).Want(t, http.StatusCreated)
	for range 1100 {
		f.PutObject("contents/"+client.ProjectID+"/"+f.NewVersion(), nil)
	}
	if err := c.Sweep(projecttest.Old); err != nil {
		t.Fatal(err)
	}
	if got, want := f.Objects(), []string{client.Record("/a").ObjectKey(client.ProjectID)}; !slices.Equal(got, want) {
		t.Errorf("got %d objects, want only %v", len(got), want)
	}
}

// A sweep that runs after a save has stored its object, and before the transaction, keeps the object.
func TestSweepDuringSave(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	client := f.NewFilesClient("ada")
	f.UseProxy(nil).Before("TransactWriteItems", func() {
		if n := len(f.Objects()); n != 1 {
			t.Errorf("got %d objects before the transaction, want 1", n)
		}
		if err := c.Sweep(0); err != nil {
			t.Error(err)
		}
	})
	client.SaveBytes("/a", projecttest.RandomBytes(5_000)).Want(t, http.StatusCreated)
	client.Read("/a").Want(t, http.StatusOK)
}

// A sweep reads the records of a large project with several calls. If a file is renamed between them, and its old
// version is deleted, the sweep keeps the file's object, whether the new path is before or after the old one. The next
// sweep handles the project.
func TestSweepDuringRename(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{"/a": "/z", "/z": "/a"} {
		f := projecttest.New(t)
		c := projecttest.NewCleaner(t, f)
		client := f.NewFilesClient("ada")
		version := client.SaveBytes(from, projecttest.RandomBytes(5_000)).Want(t, http.StatusCreated).Text("version")
		object := client.Record(from).ObjectKey(client.ProjectID)
		f.PutObject("contents/"+client.ProjectID+"/"+f.NewVersion(), []byte("without a record"))
		long := projecttest.Encode(t, longRecord)
		for _, path := range []string{"/m1", "/m2", "/m3", "/m4"} {
			f.Put(f.Tables.Projects, map[db.Key]db.Item{db.FileKey(client.ProjectID, path): long})
		}
		queries := 0
		wire := dynamotest.NewWire(t, f.Endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
			if dynamotest.Operation(r) == "Query" {
				if queries++; queries == 2 {
					client.Batch(projecttest.Renaming(from, to)).Want(t, http.StatusOK)
					client.DeleteVersion(from, version).Want(t, http.StatusOK)
				}
			}
			next.ServeHTTP(out, r)
		})
		sweeper := c.WithClients(wire.Client(), f.S3, func() time.Time { return time.Now().Add(projecttest.Old) })
		if err := sweeper.Sweep(t.Context()); err != nil || queries < 2 {
			t.Errorf("got error %v after %d queries, want none after at least 2", err, queries)
		}
		client.Read(to).Want(t, http.StatusOK)
		if err := sweeper.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if got := f.Objects(); len(got) != 1 || got[0] != object {
			t.Errorf("after the next sweep: got the objects %v, want only %s", got, object)
		}
	}
}
