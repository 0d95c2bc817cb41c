package file_test

import (
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/project/content"
	"devplatform/shared/workspace"
)

const mib = 1 << 20

// A file of up to 25 MiB is uploaded to the object to which its record then refers. Files of more than 1 MiB are
// downloaded from a URL.
func TestUpload(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	sum := 0
	for _, tc := range []struct {
		path                  string
		data                  []byte
		sent                  string // the media type in the announcement
		contentType, encoding string
	}{
		{"/empty", nil, "", "text/plain; charset=utf-8", "utf-8"},
		{"/small.txt", []byte("smäll\x00\n"), "", "text/plain; charset=utf-8", "utf-8"},
		{"/small", randomBytes(2000), "", "application/octet-stream", "base64"},
		{"/limit", randomBytes(content.MaxBytes), "Image/PNG;q=1", "image/png; q=1", "base64"},
		{"/above.mp4", randomBytes(content.MaxBytes + 1), "", "video/mp4", "base64"},
		{"/above", randomBytes(content.MaxBytes + 1), "", "application/octet-stream", "base64"},
		{"/text.md", slices.Repeat([]byte("# Heading\n"), 200_000), "", "text/markdown; charset=utf-8", "utf-8"},
		{"/segment0.ts", randomBytes(content.MaxBytes + 1), "", "video/mp2t", "base64"},
		{`/a/Straße "1".webm`, randomBytes(2 * mib), "video/x-own", "video/x-own", "base64"},
		{"/largest", randomBytes(content.MaxUpload), "text/x-own", "text/x-own", "utf-8"},
	} {
		sum += len(tc.data)
		fields := object{}
		if tc.sent != "" {
			fields["contentType"] = tc.sent
		}
		r := client.Upload(tc.path, tc.data, fields).Want(t, http.StatusCreated)
		record := client.Record(tc.path)
		if record.ObjectFormat != content.Raw || record.Chunks != 0 || r.Header.Get("ETag") != record.ETag() {
			t.Errorf("%s: got the record %+v and the etag %s, want one with a raw object", tc.path, record, r.Header.Get("ETag"))
		}
		item := client.Read(tc.path).Want(t, http.StatusOK).Body
		for _, got := range []map[string]any{r.Body, item} {
			if got["contentType"] != tc.contentType || got["encoding"] != tc.encoding || got["sha256"] != hexSum(tc.data) {
				t.Errorf("%s: got %.300v, want the type %s and the encoding %s", tc.path, got, tc.contentType, tc.encoding)
			}
		}
		if len(tc.data) <= content.MaxBytes {
			if got := contentOf(t, item); got != string(tc.data) || item["url"] != nil {
				t.Errorf("%s: got %d bytes, want the %d bytes that were uploaded", tc.path, len(got), len(tc.data))
			}
			continue
		}
		for _, read := range []response{client.Read(tc.path), client.Get(versionURL(client, tc.path, record.Version))} {
			got := client.Download(read.Want(t, http.StatusOK).Body)
			if got.Raw != string(tc.data) || got.Header.Get("Content-Type") != tc.contentType {
				t.Errorf("%s: downloaded %d bytes of the type %s, want the %d bytes of the type %s", tc.path,
					len(got.Raw), got.Header.Get("Content-Type"), len(tc.data), tc.contentType)
			}
			if d := got.Header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment; filename") {
				t.Errorf("%s: got the Content-Disposition %q, want an attachment", tc.path, d)
			}
		}
	}
	client.CheckTree()
	client.WantTree("after all uploads", sum, 0, sum)
	if n := len(client.FileEvents()); n != 10 {
		t.Errorf("got %d events, want 10", n)
	}
}

func versionURL(client filesClient, path, version string) string {
	return client.URL() + "?path=" + url.QueryEscape(path) + "&version=" + version
}

// A list with contents has URLs of the large files. They do not count to the size of a page.
func TestListWithLargeFiles(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	large := randomBytes(2 * mib)
	for _, path := range []string{"/1", "/3", "/4", "/5"} {
		client.Upload(path, large, nil).Want(t, http.StatusCreated)
	}
	client.Save("/2", "two").Want(t, http.StatusCreated)
	client.Save("/6", "six").Want(t, http.StatusCreated)
	r := client.Get(client.URL()+"?include=content").Want(t, http.StatusOK)
	if got := r.Values("files", "content"); !cmp.Equal(got, []any{nil, "two", nil, nil, nil, "six"}) {
		t.Errorf("got the contents %v, want the contents of /2 and /6", got)
	}
	for _, item := range r.List("files") {
		if item["content"] == nil && client.Download(item).Raw != string(large) {
			t.Errorf("%s: the URL has other content", item["path"])
		}
	}
	for _, item := range client.Get(client.URL()).Want(t, http.StatusOK).List("files") {
		if item["url"] != nil {
			t.Errorf("%s: got a url in a list without contents", item["path"])
		}
	}
}

// Large files can be renamed, replaced, restored and deleted like others, without reading their contents.
func TestLargeFilesChangeLikeOthers(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	data := randomBytes(2 * mib)
	first := client.Upload("/a.mp4", data, object{"contentType": "video/own"}).Want(t, http.StatusCreated)
	before := f.S3Calls.Load()
	client.Batch(renaming("/a.mp4", "/b")).Want(t, http.StatusOK)
	item := client.Read("/b").Want(t, http.StatusOK).Body
	if n := f.S3Calls.Load() - before; n != 0 || item["contentType"] != "video/own" {
		t.Errorf("got %d calls to S3 and the file %v, want no call and the media type of the upload", n, item)
	}
	known := slicetest.Header("If-None-Match", item["etag"].(string))
	client.Read("/b", known).Want(t, http.StatusNotModified)
	second := client.Upload("/b", randomBytes(2*mib), nil).Want(t, http.StatusOK)
	client.Save("/b", "small").Want(t, http.StatusOK)
	if item := client.Read("/b").Body; item["contentType"] != "text/plain; charset=utf-8" {
		t.Errorf("got %v after a save, want the media type of the new content", item)
	}
	old := client.Get(versionURL(client, "/a.mp4", first.Text("version"))).Want(t, http.StatusOK)
	if client.Download(old.Body).Raw != string(data) {
		t.Error("the version before the rename has other content")
	}
	client.Get(versionURL(client, "/b", second.Text("version"))).Want(t, http.StatusOK)
	client.Upload("/b", data, nil).Want(t, http.StatusOK)
	client.Remove("/b").Want(t, http.StatusOK)
	client.CheckTree()
	want := []string{
		"file.created /a.mp4", "file.deleted /a.mp4", "file.created /b", "file.updated /b", "file.updated /b",
		"file.updated /b", "file.deleted /b",
	}
	if diff := cmp.Diff(want, client.FileEvents()); diff != "" {
		t.Errorf("events: mismatch (-want +got):\n%s", diff)
	}
}

// Storage accepts exactly the announced content, once, with the URL that the API returned.
func TestUploadURLAcceptsOnlyAnnouncedContent(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	data := randomBytes(2000)
	a := client.Announce("/a", data, nil)
	otherSum, _ := base64.StdEncoding.DecodeString(a.Headers["X-Amz-Checksum-Sha256"])
	otherSum[0]++
	body := func(data []byte) func(*http.Request) {
		return func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(string(data))), int64(len(data))
		}
	}
	other := slices.Clone(data)
	other[0]++
	changes := map[string]func(*http.Request){
		"other content":   body(other),
		"longer content":  body(append(slices.Clone(data), 0)),
		"shorter content": body(data[1:]),
		"in chunks":       func(r *http.Request) { r.ContentLength = -1 },
		"another header":  slicetest.Header("X-Amz-Meta-A", "b"),
		"other key":       func(r *http.Request) { r.URL.Path += "x" },
		"other checksum":  slicetest.Header("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(otherSum)),
		"longer validity": func(r *http.Request) {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "X-Amz-Expires=900", "X-Amz-Expires=9000", 1)
		},
		"DELETE": func(r *http.Request) { r.Method = http.MethodDelete },
	}
	names, want := slices.Sorted(maps.Keys(a.Headers)), []string{"If-None-Match", "X-Amz-Checksum-Sha256"}
	if !slices.Equal(names, want) {
		t.Fatalf("got the headers %v, want %v", names, want)
	}
	for name := range a.Headers {
		changes["without "+name] = func(r *http.Request) { r.Header.Del(name) }
		changes["changed "+name] = slicetest.Header(name, "x")
	}
	for name, change := range changes {
		if status := a.Put(change); status < 400 || status > 499 {
			t.Errorf("%s: got %d, want the request to be refused", name, status)
		}
	}
	a.Complete().Want(t, http.StatusConflict, fault.CodeConflict)
	if n := len(f.Objects()); n != 0 {
		t.Errorf("got %d objects, want 0", n)
	}
	for _, want := range []int{http.StatusOK, http.StatusPreconditionFailed} {
		if status := a.Put(nil); status != want {
			t.Errorf("got %d, want %d", status, want)
		}
	}
	a.Complete().Want(t, http.StatusCreated)
	if status := a.Put(nil); status != http.StatusPreconditionFailed {
		t.Errorf("replacing a file's content: got %d, want 412", status)
	}
}

func TestUploadInput(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	client.Save("/folder/file", "x").Want(t, http.StatusCreated)
	for name, fields := range map[string]object{
		"path":        {"path": "a"},
		"size":        {"size": content.MaxUpload + 1},
		"negative":    {"size": -1},
		"no integer":  {"size": 1.5},
		"hash":        {"sha256": strings.Repeat("g", 64)},
		"short hash":  {"sha256": strings.Repeat("a", 63)},
		"empty":       {"size": 0}, // with the hash of other content, which the URL would accept whatever its size is
		"media type":  {"contentType": "text"},
		"list":        {"contentType": "text/html, text/plain"},
		"line break":  {"contentType": "text/html\r\nX: y"},
		"tab":         {"contentType": "text/html; a=\"\t\""},
		"long type":   {"contentType": "text/" + strings.Repeat("x", 251)},
		"number":      {"contentType": 1},
		"null path":   {"path": nil},
		"NUL in path": {"path": "/a\x00"},
	} {
		r := client.TryAnnounce("/a", []byte("a"), fields)
		if r.Status != http.StatusBadRequest || r.Text("code") != string(fault.CodeValidationFailed) {
			t.Errorf("%s: got %d %s, want 400", name, r.Status, r.Raw)
		}
	}
	longest := object{"contentType": "text/" + strings.Repeat("x", 250)}
	client.TryAnnounce("/a", []byte("a"), longest).Want(t, http.StatusCreated)
	for path, code := range map[string]fault.Code{"/folder": fault.CodeConflict, "/folder/file/x": fault.CodeConflict} {
		client.TryAnnounce(path, []byte("a"), nil).Want(t, http.StatusConflict, code)
	}
	for _, id := range []string{"upl_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "x", "%00"} {
		r := client.Do(http.MethodPost, projecttest.URL(client.ProjectID)+"/uploads/"+id+"/complete", nil)
		r.Want(t, http.StatusNotFound, fault.CodeUploadNotFound)
	}
	// Another project's upload cannot be completed.
	a := client.Announce("/b", []byte("b"), nil)
	a.Put(nil)
	a.Client = client.FilesOf(client.Project("", "Other", workspace.Private))
	a.Complete().Want(t, http.StatusNotFound, fault.CodeUploadNotFound)
}

// Members can announce and complete uploads, viewers and others cannot. A member can complete the upload of another
// member.
func TestUploadPermissions(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	owner := f.NewUser("owner")
	team := owner.Workspace("Team")
	client := owner.FilesOf(owner.Project(team, "App", workspace.Public))
	a := client.Announce("/a", []byte("a"), nil)
	a.Put(nil)
	for role, status := range map[workspace.Role]int{
		"": http.StatusForbidden, workspace.Viewer: http.StatusForbidden, workspace.Member: http.StatusCreated,
	} {
		u := f.NewUser("user-" + string(role))
		if role != "" {
			f.SetRole(team, u, role)
		}
		theirs := u.FilesOf(client.ProjectID)
		theirs.TryAnnounce("/"+u.Name, []byte("b"), nil).Want(t, status)
		a.Client = theirs
		a.Complete().Want(t, status)
	}
	if updatedBy := client.Record("/a").UpdatedBy; updatedBy == owner.UserID || updatedBy == "" {
		t.Errorf("got the author %s, want the member who completed the upload", updatedBy)
	}
}

// The project of an upload can be deleted at any time. Then nothing of the upload remains.
func TestUploadToDeletedProject(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	ada := f.NewUser("ada")
	client := ada.FilesOf(ada.Project("", "App", workspace.Private))
	a, b := client.Announce("/a", randomBytes(5000), nil), client.Announce("/b", randomBytes(5000), nil)
	a.Put(nil)
	wire := f.UseProxy(nil)
	deleteDuring := func(projectID string) {
		wire.Before("TransactWriteItems", func() {
			wire.Clear()
			ada.Do(http.MethodDelete, projecttest.URL(projectID), nil).Want(t, http.StatusOK)
		})
	}
	other := ada.FilesOf(ada.Project("", "Other", workspace.Private))
	deleteDuring(other.ProjectID)
	other.TryAnnounce("/a", []byte("a"), nil).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	deleteDuring(client.ProjectID)
	a.Complete().Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	b.Complete().Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	client.TryAnnounce("/c", nil, nil).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	c.HandleAll()
	b.Put(nil) // the URL is still valid
	if err := c.Sweep(projecttest.Old); err != nil {
		t.Fatal(err)
	}
	if keys := f.Objects(); len(keys) != 0 {
		t.Errorf("got the objects %v, want none", keys)
	}
	for key := range f.Dump(f.Tables.Projects) {
		if strings.Contains(key.PK, client.ProjectID) {
			t.Errorf("the item %v remains", key)
		}
	}
}

// A lost response or a conflict of storage does not count an upload twice.
func TestUploadUnderFaults(t *testing.T) {
	t.Parallel()
	for _, injected := range projecttest.Faults {
		t.Run(injected.Name, func(t *testing.T) {
			t.Parallel()
			f := projecttest.New(t)
			client := f.NewFilesClient("ada")
			wire := f.UseProxy(nil)
			for _, operation := range []string{"BatchGetItem", "Query", "TransactWriteItems"} {
				if projecttest.SkipsFault(injected, operation) {
					continue
				}
				path := "/" + operation
				before, records := client.Tree(), len(client.UploadKeys())
				wire.Break(operation, injected)
				r := client.TryAnnounce(path, []byte("announced"), nil)
				wire.Clear()
				stored := len(client.UploadKeys()) - records
				projecttest.CheckResponse(t, "announce, "+operation, injected, wire.Hits() > 0, stored > 0, r)
				client.WantTree("after the announcement", before.Bytes+9*stored, before.Uploads+stored, before.Bytes+9*stored)

				a := client.Announce(path, []byte("completed"), nil)
				a.Put(nil)
				before, events := client.Tree(), len(client.FileEvents())
				wire.Break(operation, injected)
				r = a.Complete()
				wire.Clear()
				completed := len(client.FileEvents()) - events
				projecttest.CheckResponse(t, "complete, "+operation, injected, wire.Hits() > 0, completed > 0, r)
				client.WantTree("after the completion", before.Bytes, before.Uploads-completed, before.Bytes)
				if again := a.Complete(); again.Status != http.StatusOK && again.Status != http.StatusCreated {
					t.Errorf("complete, %s, again: got %d %s, want success", operation, again.Status, again.Raw)
				}
				if n := len(client.FileEvents()) - events; n != 1 {
					t.Errorf("complete, %s: got %d events, want 1", operation, n)
				}
			}
		})
	}
}
