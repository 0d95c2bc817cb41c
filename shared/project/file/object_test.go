package file_test

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
	"devplatform/infra/projecttest"
	"devplatform/shared/project/content"
)

// Content whose packed form is larger than content.MaxInline is an object, and other content is a chunk. Clients see no
// difference.
func TestLargeContentsAreObjects(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
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
		client.SaveBytes(tc.path, tc.data).Want(t, http.StatusCreated)
		record := client.Record(tc.path)
		if record.Chunks != tc.chunks || record.ObjectFormat != tc.object {
			t.Errorf("%s: got %d chunks and the object format %q, want %d and %q",
				tc.path, record.Chunks, record.ObjectFormat, tc.chunks, tc.object)
		}
		wantKey := "contents/" + client.ProjectID + "/" + record.ContentID
		if got := slices.Contains(f.Objects(), wantKey); got != (tc.object != "") {
			t.Errorf("%s: the object %s exists: %v, want %v", tc.path, wantKey, got, !got)
		}
		if got := contentOf(t, client.Read(tc.path).Want(t, http.StatusOK).Body); got != string(tc.data) {
			t.Errorf("%s: got %d bytes, want the %d bytes that were saved", tc.path, len(got), len(tc.data))
		}
	}
	if n := len(f.Dump(f.Tables.Contents)); n != 3 {
		t.Errorf("got %d chunks, want 3", n)
	}
	first := client.Record("/above")
	client.SaveBytes("/above", randomBytes(10_000)).Want(t, http.StatusOK)
	client.Batch(renaming("/above", "/renamed")).Want(t, http.StatusOK)
	client.Get(client.URL()+"?path=/above&version="+first.Version).Want(t, http.StatusOK)
	client.Read("/renamed").Want(t, http.StatusOK)
	for _, r := range f.StoredEvents() {
		if r.Replaced != nil {
			t.Errorf("%s: got the replaced content %+v, want none, because an object needs no expiry", r.Type, r.Replaced)
		}
	}
}

// A corrupt or missing object results in an error, never in other content.
func TestDamagedObjects(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	data := append(randomBytes(5_000), make([]byte, 5_000)...)
	for name, damage := range map[string]struct {
		change func(key string)
		status int
	}{
		"other bytes": {func(key string) { f.PutObject(key, randomBytes(5_000)) }, http.StatusInternalServerError},
		"empty":       {func(key string) { f.PutObject(key, nil) }, http.StatusInternalServerError},
		"another content": {func(key string) {
			client.SaveBytes("/other", append(randomBytes(5_000), make([]byte, 5_000)...)).Want(t, http.StatusCreated)
			out, err := f.S3.GetObject(t.Context(), &s3.GetObjectInput{
				Bucket: &f.Bucket, Key: aws.String(client.Record("/other").ObjectKey(client.ProjectID)),
			})
			if err != nil {
				t.Fatal(err)
			}
			var buffer bytes.Buffer
			_, _ = buffer.ReadFrom(out.Body)
			f.PutObject(key, buffer.Bytes())
		}, http.StatusInternalServerError},
		"missing": {func(key string) {
			if _, err := f.S3.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &f.Bucket, Key: &key}); err != nil {
				t.Fatal(err)
			}
		}, http.StatusServiceUnavailable},
	} {
		path := "/" + strings.ReplaceAll(name, " ", "-")
		client.SaveBytes(path, data).Want(t, http.StatusCreated)
		damage.change(client.Record(path).ObjectKey(client.ProjectID))
		if r := client.Read(path); r.Status != damage.status {
			t.Errorf("%s: got %d %s, want %d", name, r.Status, r.Raw, damage.status)
		}
	}
	if r := client.Get(client.URL() + "?include=content"); r.Status < http.StatusInternalServerError {
		t.Errorf("list with contents: got %d, want an error", r.Status)
	}
}

// Without S3, requests for large contents return 503 and change nothing. Other requests do not need S3.
func TestFilesWhileS3IsUnavailable(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	client.SaveBytes("/large", randomBytes(5_000)).Want(t, http.StatusCreated)
	client.Save("/small", "small").Want(t, http.StatusCreated)
	broken := s3test.Client("http://127.0.0.1:1", func(o *s3.Options) { o.Retryer = aws.NopRetryer{} })
	f.ReplaceService(f.SDK, broken)
	before := f.StoredEvents()
	for name, r := range map[string]response{
		"save":   client.SaveBytes("/large", randomBytes(6_000)),
		"create": client.SaveBytes("/new", randomBytes(6_000)),
		"batch":  client.Batch(update("/small", "other"), creation("/new", base64Of(randomBytes(6_000)))),
		"read":   client.Read("/large"),
		"list":   client.Get(client.URL() + "?include=content"),
	} {
		if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: got %d %s, want 503 with Retry-After", name, r.Status, r.Raw)
		}
	}
	if after := f.StoredEvents(); len(after) != len(before) {
		t.Errorf("got %d events, want the %d events before the failed requests", len(after), len(before))
	}
	client.Read("/small").Want(t, http.StatusOK)
	client.Save("/small", "other").Want(t, http.StatusOK)
	client.Get(client.URL()).Want(t, http.StatusOK)
	client.Remove("/large").Want(t, http.StatusOK)
}

// A save that conflicts with another one, or whose response from DynamoDB is lost, stores its object only once.
func TestConflictingSaveStoresObjectOnce(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	wire := f.UseProxy(nil)
	for _, injected := range []dynamotest.Fault{dynamotest.Conflict, dynamotest.LostReply} {
		wire.Break("TransactWriteItems", injected)
		before := f.S3Calls.Load()
		client.SaveBytes("/large", randomBytes(5_000))
		if n := f.S3Calls.Load() - before; n != 1 || wire.Hits() != 1 {
			t.Errorf("%s: got %d calls to S3 and %d faults, want 1 and 1", injected.Name, n, wire.Hits())
		}
		client.Read("/large").Want(t, http.StatusOK)
	}
}
