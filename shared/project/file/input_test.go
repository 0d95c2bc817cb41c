package file_test

import (
	"net/http"
	"strings"
	"testing"

	"devplatform/infra/projecttest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
)

// Every invalid request returns a clear error and stores nothing.
func TestInvalidFileRequests(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	client.Save("/existing", "x").Want(t, http.StatusCreated)
	before := storedItemCount(f)
	wantError := func(r response, status int, code fault.Code, message string) {
		t.Helper()
		if r.Status != status || r.Text("code") != string(code) || !strings.Contains(r.Text("error"), message) {
			t.Errorf("got %d %s, want %d %s %q", r.Status, r.Raw, status, code, message)
		}
	}
	wantInvalid := func(r response, message string) {
		t.Helper()
		wantError(r, http.StatusBadRequest, fault.CodeValidationFailed, message)
	}
	for path, rule := range map[string]string{
		"":                             "path: must not be empty",
		"/":                            "path: must not contain empty segments",
		"a":                            "path: must begin with a slash",
		"/a/../b":                      "path: must not contain . or .. segments",
		"//a":                          "path: must not contain empty segments",
		"/a/":                          "path: must not contain empty segments",
		`/a\b`:                         "path: must not contain a backslash",
		"/a\nb":                        "path: must not contain control characters",
		"/a\u0085":                     "path: must not contain control characters",
		"/" + strings.Repeat("a", 512): "path: must be at most 512 bytes long",
		"/" + strings.Repeat("a", 256): "path: must have at most 255 bytes (UTF-8) between two slashes",
		"/cafe\u0301":                  "path: must be in Unicode normal form C",
	} {
		wantInvalid(client.Save(path, "x"), rule)
		wantInvalid(client.Read(path), rule)
		wantInvalid(client.Remove(path), rule)
		wantInvalid(client.Do(http.MethodDelete, client.URL(), object{"path": path}), "path: ")
		wantInvalid(client.History(path, ""), "path: ")
		wantInvalid(client.Do(http.MethodPost, "/api/projects/"+client.ProjectID+"/uploads",
			object{"path": path, "size": 1, "sha256": hexSum(nil)}), rule)
		wantInvalid(client.Batch(object{"op": "create", "path": path, "content": ""}), "operations[0]."+rule)
		wantInvalid(client.Batch(object{"op": "rename", "path": "/existing", "to": path}), "operations[0].to: ")
	}
	wantInvalid(client.Save("/a\x00", "x"), "path: must not contain ")
	wantInvalid(client.Post(object{"path": "/a"}), "content: is required")
	wantInvalid(client.Post(object{"content": "a"}), "path: is required")
	wantInvalid(client.Post(object{}), "path: is required")
	wantInvalid(client.Post(object{"path": "/a", "content": "a", "encoding": "utf8"}), "encoding: must be one of")
	for _, text := range []string{"A", "AA", "AB==", "AA==\n", "-_-_", " "} {
		wantInvalid(client.Post(object{"path": "/a", "content": text, "encoding": "base64"}), "content: must be base64")
		batch := client.Batch(creation("/a", text).With("encoding", "base64"))
		wantInvalid(batch, "operations[0].content: must be base64")
	}
	wantInvalid(client.Save("/a", strings.Repeat("a", 1<<20+1)), "content: must be at most 1 MiB")
	wantInvalid(client.SaveBytes("/a", randomBytes(1<<20+1)), "content: must be at most 1 MiB")
	wantInvalid(client.Get(client.URL()+"?include=contents"), "include: must be one of")
	wantInvalid(client.Get(client.URL()+"?version=01K9ZQ3V7M8T5XW2ABCDEFGHJK"), "path: is required with a version")
	wantInvalid(client.Get(client.URL()+"/history"), "path: is required")
	for _, unknownID := range []string{
		"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK", client.UserID, "x", f.IDs.New(id.Project), strings.ToLower(client.ProjectID),
	} {
		unknown := client.FilesOf(unknownID)
		for _, r := range []response{
			unknown.Save("/a", "x"), unknown.Read("/a"), unknown.Get(unknown.URL()), unknown.Remove("/a"),
			unknown.History("/a", ""), unknown.Batch(deletion("/a")),
		} {
			wantError(r, http.StatusNotFound, fault.CodeProjectNotFound, "The project does not exist")
		}
	}
	if after := storedItemCount(f); after != before {
		t.Errorf("invalid requests stored %d items, want 0", after-before)
	}
}

// storedItemCount returns the number of items in the tables of projects, contents and events.
func storedItemCount(f *fixture) int {
	return len(f.Dump(f.Tables.Projects)) + len(f.Dump(f.Tables.Contents)) + len(f.Dump(f.Tables.Events))
}

// A new file must not have a path that looks like another one. A file that has had such a path since before this rule
// can still be read, changed by a batch, renamed and deleted.
func TestInvisibleCharactersInPaths(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	client.Save("/plain", "x").Want(t, http.StatusCreated)
	const rule = "path: must not contain invisible or direction-changing characters"
	for _, path := range []string{"/in\u200bvisible.ts", "/invoice\u202egnp.exe", "/a\u2028b"} {
		for name, r := range map[string]response{
			"save":     client.Save(path, "x"),
			"create":   client.Batch(object{"op": "create", "path": path, "content": ""}),
			"announce": client.TryAnnounce(path, make([]byte, 9000), nil),
		} {
			r.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
			if !strings.Contains(r.Text("error"), rule) {
				t.Errorf("%s %q: got %s, want %q", name, path, r.Raw, rule)
			}
		}
		client.Batch(object{"op": "rename", "path": "/plain", "to": path}).
			Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	plain, err := f.Projects.Get(t.Context(), db.FileKey(client.ProjectID, "/plain"))
	if err != nil {
		t.Fatal(err)
	}
	old, other := "/invoice\u202egnp.exe", "/other\u200b"
	f.Transact(f.Projects.Put(db.FileKey(client.ProjectID, old), plain),
		f.Projects.Put(db.FileKey(client.ProjectID, other), plain))
	if r := client.Read(old).Want(t, http.StatusOK); r.Text("content") != "x" {
		t.Errorf("got %s, want the content x", r.Raw)
	}
	client.History(old, "").Want(t, http.StatusOK)
	client.Batch(object{"op": "update", "path": old, "content": "y"}).Want(t, http.StatusOK)
	client.Batch(object{"op": "rename", "path": old, "to": "/invoice.exe"}).Want(t, http.StatusOK)
	if r := client.Read("/invoice.exe").Want(t, http.StatusOK); r.Text("content") != "y" {
		t.Errorf("got %s, want the content y", r.Raw)
	}
	client.Remove(other).Want(t, http.StatusOK)
}
