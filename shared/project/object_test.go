package project

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/shared/db"
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
