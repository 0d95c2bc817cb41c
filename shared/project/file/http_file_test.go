package file_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
)

func TestSaveAndReadFile(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	f.Clock.Advance(time.Second)
	const text = "export const x = \"é\"\n"
	created := client.Save("/src/app.ts", text).Want(t, http.StatusCreated)
	version, _ := created.Body["version"].(string)
	want := map[string]any{
		"path": "/src/app.ts", "size": float64(len(text)),
		"contentType": "text/typescript; charset=utf-8", "encoding": "utf-8",
		"sha256": hexSum([]byte(text)), "etag": `"` + version + `"`, "version": version,
		"createdAt": f.Timestamp(), "updatedAt": f.Timestamp(), "updatedBy": client.UserID,
	}
	if diff := cmp.Diff(want, created.Body); diff != "" {
		t.Errorf("created file: mismatch (-want +got):\n%s", diff)
	}
	if created.Header.Get("ETag") != want["etag"] || len(version) != 26 {
		t.Errorf("got ETag %s and version %s, want a ULID and its ETag", created.Header.Get("ETag"), version)
	}
	list := client.Get(client.URL()).Want(t, http.StatusOK)
	if diff := cmp.Diff(map[string]any{"files": []any{want}}, list.Body); diff != "" {
		t.Errorf("list: mismatch (-want +got):\n%s", diff)
	}
	read := client.Read("/src/app.ts").Want(t, http.StatusOK)
	withContent := map[string]any{"content": text}
	for k, v := range want {
		withContent[k] = v
	}
	if diff := cmp.Diff(withContent, read.Body); diff != "" || read.Header.Get("ETag") != want["etag"] {
		t.Errorf("read: got ETag %s; mismatch (-want +got):\n%s", read.Header.Get("ETag"), diff)
	}

	f.Clock.Advance(time.Second)
	updated := client.Save("/src/app.ts", "").Want(t, http.StatusOK)
	if updated.Text("createdAt") != created.Text("createdAt") || updated.Text("updatedAt") == created.Text("updatedAt") ||
		updated.Text("version") <= version || updated.Body["size"] != float64(0) || updated.Text("sha256") != hexSum(nil) {
		t.Errorf("updated: got %s, want an empty file with a new version and the old createdAt", updated.Raw)
	}
	r := client.Read("/src/app.ts").Want(t, http.StatusOK)
	if contentOf(t, r.Body) != "" || r.Text("encoding") != "utf-8" {
		t.Errorf("read after the update: got %s, want empty UTF-8 content", r.Raw)
	}
	client.CheckTree()
}

func TestSaveOfUnchangedContent(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	first := client.Save("/a.txt", "same").Want(t, http.StatusCreated)
	f.Clock.Advance(time.Minute)
	before := f.Dump(f.Tables.Projects)
	again := client.Save("/a.txt", "same").Want(t, http.StatusOK)
	batch := client.Batch(object{"op": "update", "path": "/a.txt", "content": "same"}).Want(t, http.StatusOK)
	if again.Raw != first.Raw || again.Header.Get("ETag") != first.Header.Get("ETag") {
		t.Errorf("second save: got %s, want the same response as for the first: %s", again.Raw, first.Raw)
	}
	if diff := cmp.Diff([]any{first.Body}, batch.Body["files"]); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	if events := client.FileEvents(); len(events) != 1 {
		t.Errorf("got the events %v, want only the event of the creation", events)
	}
	if len(f.Dump(f.Tables.Projects)) != len(before) || len(f.Dump(f.Tables.Contents)) != 1 {
		t.Error("saving unchanged content stored items")
	}
	if r := client.SaveBytes("/a.txt", []byte("same")).Want(t, http.StatusOK); r.Raw != first.Raw {
		t.Errorf("saving the same bytes as base64: got %s, want %s", r.Raw, first.Raw)
	}
}

func TestContentEncodings(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	for name, tc := range map[string]struct {
		data         []byte
		saveEncoding string
		readEncoding string
		contentType  string
	}{
		"/random.bin":   {randomBytes(1 << 20), "base64", "base64", "application/octet-stream"},
		"/text.txt":     {[]byte(strings.Repeat("0123456789abcde\n", 1<<16)), "utf-8", "utf-8", "text/plain; charset=utf-8"},
		"/nul.txt":      {[]byte("line one\x00line two"), "utf-8", "utf-8", "text/plain; charset=utf-8"},
		"/controls":     {bytes.Repeat([]byte{1, 0}, 1000), "utf-8", "base64", "text/plain; charset=utf-8"},
		"/quotes.json":  {bytes.Repeat([]byte(`"`), 1000), "utf-8", "base64", "application/json"},
		"/ascii.base64": {[]byte("hello"), "base64", "base64", "application/octet-stream"},
		"/logo.PNG":     {[]byte("\x89PNG\r\n\x1a\n"), "base64", "base64", "image/png"},
		"/emoji.md":     {[]byte("😀\u2028 <b>"), "utf-8", "utf-8", "text/markdown; charset=utf-8"},
		"/empty":        {nil, "utf-8", "utf-8", "text/plain; charset=utf-8"},
		"/empty.bin":    {nil, "base64", "base64", "application/octet-stream"},
	} {
		sent := string(tc.data)
		if tc.saveEncoding == "base64" {
			sent = base64.StdEncoding.EncodeToString(tc.data)
		}
		body := object{"path": name, "content": sent, "encoding": tc.saveEncoding}
		saved := client.Post(body).Want(t, http.StatusCreated)
		read := client.Read(name).Want(t, http.StatusOK)
		if contentOf(t, read.Body) != string(tc.data) || read.Text("encoding") != tc.readEncoding ||
			saved.Text("encoding") != tc.saveEncoding {
			t.Errorf("%s: got %d bytes as %s, want the saved %d bytes as %s",
				name, len(contentOf(t, read.Body)), read.Text("encoding"), len(tc.data), tc.readEncoding)
		}
		if read.Text("sha256") != hexSum(tc.data) || read.Body["size"] != float64(len(tc.data)) {
			t.Errorf("%s: got %.300s, want the hash and the size of the decoded content", name, read.Raw)
		}
		if got := saved.Text("contentType"); got != tc.contentType {
			t.Errorf("%s: got content type %q, want %q", name, got, tc.contentType)
		}
	}
	client.CheckTree()
}

func TestWritePreconditions(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	ifMatch := func(tag string) func(*http.Request) { return slicetest.Header("If-Match", tag) }
	ifNone := slicetest.Header("If-None-Match", "*")

	client.Save("/a", "1", ifMatch("*")).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	client.Save("/a", "1", ifMatch(`"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`)).
		Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	first := client.Save("/a", "1", ifNone).Want(t, http.StatusCreated).Header.Get("ETag")
	client.Save("/a", "2", ifNone).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	// A precondition is checked even if the content does not change.
	client.Save("/a", "1", ifNone).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	second := client.Save("/a", "2", ifMatch(first)).Want(t, http.StatusOK).Header.Get("ETag")
	client.Save("/a", "3", ifMatch(first)).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	client.Save("/a", "2", ifMatch(first)).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	client.Save("/a", "3", ifMatch("W/"+second)).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	third := client.Save("/a", "3", ifMatch(first+", "+second)).Want(t, http.StatusOK).Header.Get("ETag")
	client.Save("/a", "3", ifMatch(third)).Want(t, http.StatusOK)

	client.Remove("/a", ifMatch(first)).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	client.Remove("/a", ifNone).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	client.Remove("/a", ifMatch(third)).Want(t, http.StatusOK)
	client.Remove("/a", ifMatch(third)).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	want := []string{"file.created /a", "file.updated /a", "file.updated /a", "file.deleted /a"}
	if diff := cmp.Diff(want, client.FileEvents()); diff != "" {
		t.Errorf("events mismatch (-want +got):\n%s", diff)
	}
}

func TestConditionalReads(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	tag := client.Save("/a", "content").Want(t, http.StatusCreated).Header.Get("ETag")
	for _, value := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		r := client.Read("/a", slicetest.Header("If-None-Match", value)).Want(t, http.StatusNotModified)
		if r.Raw != "" || r.Header.Get("ETag") != tag {
			t.Errorf("%s: got body %q and ETag %s, want no body and ETag %s", value, r.Raw, r.Header.Get("ETag"), tag)
		}
		if r.Calls != 2 {
			t.Errorf("%s: got %d calls, want 2", value, r.Calls)
		}
	}
	client.Save("/a", "other").Want(t, http.StatusOK)
	r := client.Read("/a", slicetest.Header("If-None-Match", tag)).Want(t, http.StatusOK)
	if contentOf(t, r.Body) != "other" {
		t.Errorf("a read with the ETag of a replaced version: got %s, want the new content", r.Raw)
	}
	client.Read("/b", slicetest.Header("If-None-Match", "*")).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
}

func TestDeleteFile(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	for _, path := range []string{"/a", "/b", "/c", "/d#e?f"} {
		client.Save(path, path).Want(t, http.StatusCreated)
	}
	r := client.Remove("/a").Want(t, http.StatusOK)
	if r.Body["success"] != true || r.Text("message") == "" || len(r.Body) != 2 {
		t.Errorf("deletion: got %s, want success and a message", r.Raw)
	}
	client.Remove("/a").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	client.Read("/a").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	client.Do(http.MethodDelete, client.URL(), object{"path": "/b"}).Want(t, http.StatusOK)
	client.Do(http.MethodDelete, client.URL()+"?path=/c", object{"path": "/c"}).Want(t, http.StatusOK)
	client.Do(http.MethodDelete, client.URL()+"?path=/c", object{"path": "/d#e?f"}).
		Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	client.Do(http.MethodDelete, client.URL(), nil).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	client.Do(http.MethodDelete, client.URL(), object{}).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	if diff := cmp.Diff([]any{"/d#e?f"}, client.Paths()); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	client.Remove("/d#e?f").Want(t, http.StatusOK)
	client.CheckTree()
}

func TestPathIsEitherFileOrFolder(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	client.Save("/src/lib/x.ts", "x").Want(t, http.StatusCreated)
	for _, path := range []string{"/src", "/src/lib", "/src/lib/x.ts/y", "/src/lib/x.ts/y/z"} {
		client.Save(path, "no").Want(t, http.StatusConflict, fault.CodeConflict)
		client.Batch(object{"op": "create", "path": path, "content": ""}).Want(t, http.StatusConflict, fault.CodeConflict)
	}
	for _, path := range []string{
		"/src/lib/x.tsx", "/src/li", "/src/lib2", "/sr", "/src/lib/x.t", "/src.ts", "/src-/a", "/src0",
	} {
		client.Save(path, "x").Want(t, http.StatusCreated)
	}
	client.Save("/other", "o").Want(t, http.StatusCreated)
	for _, to := range []string{"/src", "/src/lib", "/src/lib/x.ts/deep"} {
		client.Batch(object{"op": "rename", "path": "/other", "to": to}).Want(t, http.StatusConflict, fault.CodeConflict)
	}
	client.Batch(object{"op": "rename", "path": "/other", "to": "/other/inner"}).Want(t, http.StatusOK)
	client.Batch(object{"op": "rename", "path": "/other/inner", "to": "/other"}).Want(t, http.StatusOK)
	client.Remove("/src/lib/x.ts").Want(t, http.StatusOK)
	client.Save("/src/lib/x.ts/y", "now it is a folder").Want(t, http.StatusCreated)
	client.Save("/src/lib/x.ts/y", "the file in the folder can be updated").Want(t, http.StatusOK)
	client.CheckTree()
}
