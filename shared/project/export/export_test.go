package export_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// The archive has exactly the files of the project.
func TestArchive(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.Project("", "Café Déjà", workspace.Private)
	want := map[string][]byte{
		"/empty": {}, "/src/app.ts": []byte("export {}\n"), "/日本語/é.md": []byte("# é"),
		"/binary.bin": projecttest.RandomBytes(content.MaxInline * 2), "/c.png": projecttest.RandomBytes(1000),
		"/text.txt":    bytes.Repeat([]byte("a line of text\n"), 60_000),
		"/largest.bin": projecttest.RandomBytes(content.MaxBytes),
		"/C:/drive":    []byte("c"),
	}
	for i := range 12 { // several batches of bytes, with a large file between them
		want[fmt.Sprintf("/batch/%02d", i)] = projecttest.RandomBytes(600_000)
	}
	want["/batch/05.mp4"] = projecttest.RandomBytes(content.MaxBytes + 1)
	ada.save(projectID, want)
	data := f.export(ada, projectID)
	got := unzip(t, data)
	want["/C_/drive"] = want["/C:/drive"] // no program takes this name for an absolute path
	delete(want, "/C:/drive")
	if list := string(got["/RENAMED.txt"]); !strings.HasSuffix(list, "\n\nC:/drive\tC_/drive\n") {
		t.Errorf("got the list of renamed files %q, want C:/drive as C_/drive", list)
	}
	delete(got, "/RENAMED.txt")
	if !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("got the files %v, want %v, with the contents that were saved",
			slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range archive.File {
		isUTF8 := entry.Flags&0x800 != 0
		hasTime := entry.Modified.Equal(f.Clock.Now().Truncate(time.Second))
		if !hasTime || (strings.Contains(entry.Name, "é") && !isUTF8) || entry.Mode() != 0o644 {
			t.Errorf("%s: got the time %v, mode %v, flags %b", entry.Name, entry.Modified, entry.Mode(), entry.Flags)
		}
		if entry.Name == "text.txt" && entry.CompressedSize64 > entry.UncompressedSize64/10 {
			t.Errorf("%s is not compressed: %d bytes", entry.Name, entry.CompressedSize64)
		}
	}
}

// Each state of the files has one export. The URL has the slug as the name of the file. An export expires.
func TestOneExportForEachState(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.Project("", "Todo List", workspace.Private)
	ada.save(projectID, map[string][]byte{"/a": []byte("1")})
	first, status := ada.start(projectID)
	if !id.Export.Valid(first) || status != "running" {
		t.Errorf("got the export %q with the status %q, want a valid ID and running", first, status)
	}
	if again, _ := ada.start(projectID); again != first {
		t.Errorf("got the exports %s and %s for one state, want one", first, again)
	}
	received := f.messages()
	if len(received) != 1 || received[0].Group != ada.UserID {
		t.Fatalf("got the messages %v, want one in the group of the user", received)
	}
	if r := ada.read(projectID, first); r.Text("status") != "running" || r.Text("url") != "" || r.Body["size"] != nil {
		t.Errorf("got %s, want a running export", r.Raw)
	}
	worker := f.clients(nil).worker
	for range 2 { // the second message has no effect
		if errs := worker.Handle(t.Context(), received); errs[0] != nil {
			t.Fatal(errs)
		}
	}
	r := ada.read(projectID, first)
	if !strings.Contains(r.Text("url"), "todo-list.zip") || !strings.Contains(r.Text("url"), "X-Amz-Expires=300") {
		t.Errorf("got the URL %s, want one for todo-list.zip that is valid for 5 minutes", r.Text("url"))
	}
	archive := ada.download(r)
	if again, status := ada.start(projectID); again != first || status != "ready" {
		t.Errorf("got the export %s with the status %q, want %s, ready", again, status, first)
	}
	ada.save(projectID, map[string][]byte{"/b": []byte("2")})
	second, _ := ada.start(projectID)
	f.work(f.clients(nil))
	if got := unzip(t, ada.download(ada.read(projectID, second))); second == first || len(got) != 2 {
		t.Errorf("got the export %s with %d files, want another than %s, with 2", second, len(got), first)
	}
	if got := ada.download(ada.read(projectID, first)); !bytes.Equal(got, archive) {
		t.Error("the first export has changed")
	}
	f.Clock.Advance(24 * time.Hour)
	ada.Get("/api/projects/"+projectID+"/exports/"+second).Want(t, http.StatusNotFound, fault.CodeExportNotFound)
	if again, status := ada.start(projectID); again != second || status != "running" {
		t.Errorf("got the export %s with the status %q, want %s, running", again, status, second)
	}
}

// Only members of the workspace can export a project.
func TestAccess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, viewer, stranger := f.newUser("ada"), f.newUser("viewer"), f.newUser("stranger")
	f.SetRole(ada.Personal, viewer.User, workspace.Viewer)
	for _, tc := range []struct {
		visibility       workspace.Visibility
		viewer, stranger int
	}{
		{workspace.Private, 404, 404},
		{workspace.Team, 202, 404},
		{workspace.Public, 202, 403},
	} {
		projectID := ada.Project("", string(tc.visibility), tc.visibility)
		at := "/api/projects/" + projectID + "/exports"
		exportID, _ := ada.start(projectID)
		viewer.Do(http.MethodPost, at, nil).Want(t, tc.viewer)
		stranger.Do(http.MethodPost, at, nil).Want(t, tc.stranger)
		stranger.Get(at+"/"+exportID).Want(t, tc.stranger)
		if tc.viewer == 202 {
			viewer.Get(at+"/"+exportID).Want(t, http.StatusOK)
		} else {
			viewer.Get(at+"/"+exportID).Want(t, tc.viewer)
		}
		for _, unknown := range []string{f.IDs.New(id.Export), f.IDs.New(id.Event), "x"} {
			ada.Get(at+"/"+unknown).Want(t, http.StatusNotFound, fault.CodeExportNotFound)
		}
	}
	ada.Do(http.MethodPost, "/api/projects/"+f.IDs.New(id.Project)+"/exports", nil).
		Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
}

// A user can start ten exports in one hour, also at the same time. Exports that exist do not count.
func TestHourlyLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	var projects []string
	for i := range 11 {
		projects = append(projects, ada.Project("", fmt.Sprint("P", i), workspace.Private))
	}
	responses := slicetest.Concurrently(22, func(i int) slicetest.Response {
		return ada.Do(http.MethodPost, "/api/projects/"+projects[i%10]+"/exports", nil)
	})
	if got := slicetest.CountStatuses(responses); got[http.StatusAccepted] != 22 {
		t.Errorf("got the statuses %v, want 202 only", got)
	}
	r := ada.Do(http.MethodPost, "/api/projects/"+projects[10]+"/exports", nil)
	r.Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	if r.Header.Get("Retry-After") == "" {
		t.Error("the response has no Retry-After")
	}
	if n := len(f.messages()); n != 10 {
		t.Errorf("got %d messages, want 10", n)
	}
	f.Clock.Advance(time.Hour)
	ada.start(projects[10])
}

// A content that does not match its record, or is missing, makes the export fail. So does a path that is not valid.
// There is never an archive with wrong content.
func TestCorruptContent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	large := projecttest.RandomBytes(content.MaxBytes + 1)
	keyOf := func(projectID, path string) string {
		return ada.FilesOf(projectID).Record(path).ObjectKey(projectID)
	}
	put := func(projectID, path string, data []byte) { f.PutObject(keyOf(projectID, path), data) }
	remove := func(projectID, path string) {
		key := keyOf(projectID, path)
		if _, err := f.S3.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &f.Bucket, Key: &key}); err != nil {
			t.Fatal(err)
		}
	}
	changed := bytes.Clone(large)
	changed[1000]++
	for name, corrupt := range map[string]func(projectID string){
		"small":         func(projectID string) { put(projectID, "/small", projecttest.RandomBytes(5000)) },
		"missing":       func(projectID string) { remove(projectID, "/small") },
		"large":         func(projectID string) { put(projectID, "/large", changed) },
		"large, short":  func(projectID string) { put(projectID, "/large", large[:len(large)-1]) },
		"large, long":   func(projectID string) { put(projectID, "/large", append(bytes.Clone(large), 0)) },
		"large missing": func(projectID string) { remove(projectID, "/large") },
		"path":          func(projectID string) { f.PutFile(projectID, "/a/../../b") },
	} {
		projectID := ada.Project("", name, workspace.Private)
		ada.save(projectID, map[string][]byte{"/small": projecttest.RandomBytes(5000), "/large": large})
		corrupt(projectID)
		exportID, _ := ada.start(projectID)
		if errs := f.work(f.clients(nil)); len(errs) != 1 || errs[0] != nil {
			t.Errorf("%s: got the errors %v, want a handled message", name, errs)
		}
		if r := ada.read(projectID, exportID); r.Text("status") != "failed" || r.Text("url") != "" {
			t.Errorf("%s: got %s, want a failed export", name, r.Raw)
		}
		line := `level=ERROR msg="an export failed" kind=export owner=` + projectID
		if !strings.Contains(f.Log.String(), line) {
			t.Errorf("%s: the log has no line %s", name, line)
		}
	}
	if keys := f.archives(); len(keys) != 0 {
		t.Errorf("got the archives %v, want none", keys)
	}
}

// If the files change while they are listed, the listing is repeated: an archive never has files of two states.
func TestConsistentSnapshot(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.Project("", "Busy", workspace.Private)
	ada.save(projectID, map[string][]byte{"/a": []byte("1"), "/b": []byte("1")})
	exportID, _ := ada.start(projectID)
	queries := 0
	between := slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			if queries++; queries == 1 {
				changed := "2"
				err := f.Files.ApplyBatch(t.Context(), ada.Caller(), projectID, []file.Operation{
					{Action: file.Delete, Path: "/a"}, {Action: file.Save, Path: "/b", Content: &changed},
				})
				if err != nil {
					t.Error(err)
				}
			}
		}
		return slicetest.Transfers.Do(r)
	})
	// The change happens after the tree was read, and before the files are listed.
	if errs := f.work(f.clients(between)); len(errs) != 1 || errs[0] != nil || queries != 2 {
		t.Fatalf("got the errors %v after %d listings, want success after 2", errs, queries)
	}
	want := map[string][]byte{"/b": []byte("2")}
	if diff := cmp.Diff(want, unzip(t, ada.download(ada.read(projectID, exportID)))); diff != "" {
		t.Errorf("files: mismatch (-want +got):\n%s", diff)
	}
}

// If the second read of a request fails, the response is 503. It must not be 404, as without access to the project.
func TestSecondReadFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.Project("", "Failing", workspace.Private)
	exportID, _ := ada.start(projectID)
	for method, path := range map[string]string{http.MethodPost: "/exports", http.MethodGet: "/exports/" + exportID} {
		var reads atomic.Int32
		f.serve(f.clients(slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchGetItem") && reads.Add(1) == 2 {
				return nil, errors.New("no connection")
			}
			return slicetest.Transfers.Do(r)
		})))
		ada.Do(method, "/api/projects/"+projectID+path, nil).
			Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
		if reads.Load() != 2 {
			t.Errorf("%s %s: got %d reads, want 2", method, path, reads.Load())
		}
	}
}

// archives returns the keys of the archives in the bucket.
func (f *fixture) archives() []string {
	f.T.Helper()
	return slices.DeleteFunc(f.Objects(), func(key string) bool { return !strings.HasPrefix(key, "exports/") })
}
