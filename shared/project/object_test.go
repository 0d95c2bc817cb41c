package project

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
)

// record returns the stored record of a file.
func (client filesClient) record(path string) file.File {
	client.f.t.Helper()
	item, err := client.f.projects.Get(client.f.t.Context(), db.FileKey(client.projectID, path))
	if err != nil {
		client.f.t.Fatal(err)
	}
	record, err := db.Decode[file.File](item)
	if err != nil {
		client.f.t.Fatal(err)
	}
	return record
}

// putObject stores an object directly in S3.
func (f *fixture) putObject(key string, data []byte) {
	f.t.Helper()
	in := &s3.PutObjectInput{Bucket: &f.bucket, Key: &key, Body: bytes.NewReader(data)}
	if _, err := f.s3.PutObject(f.t.Context(), in); err != nil {
		f.t.Fatal(err)
	}
}

// Content whose packed form is larger than content.MaxInline is an object, and other content is a chunk. Clients see no
// difference.
func TestLargeContentsAreObjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	for _, tc := range []struct {
		path   string
		data   []byte
		chunks int
		object content.Format
	}{
		{"/empty", nil, 0, ""},
		{"/small", []byte("small"), 1, ""},
		{"/limit", randomBytes(content.MaxInline - 1), 1, ""}, // one byte is the format
		{"/above", randomBytes(content.MaxInline), 0, content.Raw},
		{"/text", []byte(strings.Repeat("export const x = 1\n", 5_000)), 1, ""},
		{"/zstd", append(randomBytes(100_000), make([]byte, 100_000)...), 0, content.Zstd},
		{"/largest", randomBytes(content.MaxBytes), 0, content.Raw},
	} {
		client.saveBytes(tc.path, tc.data).Want(t, http.StatusCreated)
		record := client.record(tc.path)
		if record.Chunks != tc.chunks || record.Object != tc.object {
			t.Errorf("%s: got %d chunks and the object format %q, want %d and %q",
				tc.path, record.Chunks, record.Object, tc.chunks, tc.object)
		}
		wantKey := "contents/" + client.projectID + "/" + record.ContentID
		if got := slices.Contains(f.objects(), wantKey); got != (tc.object != "") {
			t.Errorf("%s: the object %s exists: %v, want %v", tc.path, wantKey, got, !got)
		}
		if got := contentOf(t, client.read(tc.path).Want(t, http.StatusOK).Body); got != string(tc.data) {
			t.Errorf("%s: got %d bytes, want the %d bytes that were saved", tc.path, len(got), len(tc.data))
		}
	}
	if n := len(f.dump(f.tableNames.contents)); n != 3 {
		t.Errorf("got %d chunks, want 3", n)
	}
	first := client.record("/above")
	client.saveBytes("/above", randomBytes(10_000)).Want(t, http.StatusOK)
	client.batch(renaming("/above", "/renamed")).Want(t, http.StatusOK)
	client.Get(client.url()+"?path=/above&version="+first.Version).Want(t, http.StatusOK)
	client.read("/renamed").Want(t, http.StatusOK)
	for _, r := range f.storedEvents() {
		if r.Replaced != nil {
			t.Errorf("%s: got the replaced content %+v, want none, because an object needs no expiry", r.Type, r.Replaced)
		}
	}
}

// Contents that were stored before large contents were objects can be read, replaced and cleaned up.
func TestOldChunksRemainReadable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	client := f.newFilesClient("ada")
	data := randomBytes(content.MaxBytes)
	client.saveBytes("/old", data).Want(t, http.StatusCreated)
	record := client.record("/old")
	chunks, err := content.Pack(data)
	if err != nil {
		t.Fatal(err)
	}
	record.ContentID, record.Object, record.Chunks = f.newVersion(), "", len(chunks)
	items := map[db.Key]db.Item{}
	for n, data := range chunks {
		items[db.ChunkKey(client.projectID, record.ContentID, n)] = encode(t, chunk{data})
	}
	f.put(f.tableNames.contents, items)
	f.put(f.tableNames.projects, map[db.Key]db.Item{db.FileKey(client.projectID, "/old"): encode(t, record)})
	if got := contentOf(t, client.read("/old").Want(t, http.StatusOK).Body); got != string(data) || len(chunks) < 3 {
		t.Errorf("got %d bytes from %d chunks, want %d bytes from at least 3", len(got), len(chunks), len(data))
	}
	client.saveBytes("/old", randomBytes(10_000)).Want(t, http.StatusOK)
	client.Get(client.url()+"?path=/old&version="+record.Version).Want(t, http.StatusOK)
	c.handleAll()
	for key, at := range f.expiries(client.projectID) {
		if at == 0 {
			t.Errorf("the chunk %s does not expire", key)
		}
	}
	ada := client.user
	ada.Do(http.MethodDelete, projectURL(client.projectID), nil).Want(t, http.StatusOK)
	c.handleAll()
	if n := len(f.dump(f.tableNames.contents)) + len(f.objects()); n != 0 {
		t.Errorf("after the deletion of the project, %d chunks and objects remain, want 0", n)
	}
}

// A corrupt or missing object results in an error, never in other content.
func TestDamagedObjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	data := append(randomBytes(5_000), make([]byte, 5_000)...)
	for name, damage := range map[string]struct {
		change func(key string)
		status int
	}{
		"other bytes": {func(key string) { f.putObject(key, randomBytes(5_000)) }, http.StatusInternalServerError},
		"empty":       {func(key string) { f.putObject(key, nil) }, http.StatusInternalServerError},
		"another content": {func(key string) {
			client.saveBytes("/other", append(randomBytes(5_000), make([]byte, 5_000)...)).Want(t, http.StatusCreated)
			out, err := f.s3.GetObject(t.Context(), &s3.GetObjectInput{
				Bucket: &f.bucket, Key: aws.String(client.record("/other").ObjectKey(client.projectID)),
			})
			if err != nil {
				t.Fatal(err)
			}
			var buffer bytes.Buffer
			_, _ = buffer.ReadFrom(out.Body)
			f.putObject(key, buffer.Bytes())
		}, http.StatusInternalServerError},
		"missing": {func(key string) {
			if _, err := f.s3.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &f.bucket, Key: &key}); err != nil {
				t.Fatal(err)
			}
		}, http.StatusServiceUnavailable},
	} {
		path := "/" + strings.ReplaceAll(name, " ", "-")
		client.saveBytes(path, data).Want(t, http.StatusCreated)
		damage.change(client.record(path).ObjectKey(client.projectID))
		if r := client.read(path); r.Status != damage.status {
			t.Errorf("%s: got %d %s, want %d", name, r.Status, r.Raw, damage.status)
		}
	}
	if r := client.Get(client.url() + "?include=content"); r.Status < http.StatusInternalServerError {
		t.Errorf("list with contents: got %d, want an error", r.Status)
	}
}

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

// Without S3, requests for large contents return 503 and change nothing. Other requests do not need S3.
func TestFilesWhileS3IsUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	client.saveBytes("/large", randomBytes(5_000)).Want(t, http.StatusCreated)
	client.save("/small", "small").Want(t, http.StatusCreated)
	broken := s3test.Client("http://127.0.0.1:1", func(o *s3.Options) { o.Retryer = aws.NopRetryer{} })
	f.replaceService(f.sdk, broken)
	before := f.storedEvents()
	for name, r := range map[string]response{
		"save":   client.saveBytes("/large", randomBytes(6_000)),
		"create": client.saveBytes("/new", randomBytes(6_000)),
		"batch":  client.batch(update("/small", "other"), creation("/new", base64Of(randomBytes(6_000)))),
		"read":   client.read("/large"),
		"list":   client.Get(client.url() + "?include=content"),
	} {
		if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: got %d %s, want 503 with Retry-After", name, r.Status, r.Raw)
		}
	}
	if after := f.storedEvents(); len(after) != len(before) {
		t.Errorf("got %d events, want the %d events before the failed requests", len(after), len(before))
	}
	client.read("/small").Want(t, http.StatusOK)
	client.save("/small", "other").Want(t, http.StatusOK)
	client.Get(client.url()).Want(t, http.StatusOK)
	client.remove("/large").Want(t, http.StatusOK)
}

// A save that conflicts with another one, or whose response from DynamoDB is lost, stores its object only once.
func TestConflictingSaveStoresObjectOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	wire := f.useProxy(nil)
	for _, injected := range []dynamotest.Fault{dynamotest.Conflict, dynamotest.LostReply} {
		wire.Break("TransactWriteItems", injected)
		before := f.s3Calls.Load()
		client.saveBytes("/large", randomBytes(5_000))
		if n := f.s3Calls.Load() - before; n != 1 || wire.Hits() != 1 {
			t.Errorf("%s: got %d calls to S3 and %d faults, want 1 and 1", injected.Name, n, wire.Hits())
		}
		client.read("/large").Want(t, http.StatusOK)
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
