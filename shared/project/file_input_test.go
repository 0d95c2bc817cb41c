package project

import (
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
)

// Every invalid request returns a clear error and stores nothing.
func TestInvalidFileRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	client.save("/existing", "x").Want(t, http.StatusCreated)
	before := f.storedItemCount()
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
		wantInvalid(client.save(path, "x"), rule)
		wantInvalid(client.read(path), rule)
		wantInvalid(client.remove(path), rule)
		wantInvalid(client.Do(http.MethodDelete, client.url(), object{"path": path}), "path: ")
		wantInvalid(client.history(path, ""), "path: ")
		wantInvalid(client.Do(http.MethodPost, "/api/projects/"+client.projectID+"/uploads",
			object{"path": path, "size": 1, "sha256": hexSum(nil)}), rule)
		wantInvalid(client.batch(object{"op": "create", "path": path, "content": ""}), "operations[0]."+rule)
		wantInvalid(client.batch(object{"op": "rename", "path": "/existing", "to": path}), "operations[0].to: ")
	}
	wantInvalid(client.save("/a\x00", "x"), "path: must not contain ")
	wantInvalid(client.post(object{"path": "/a"}), "content: is required")
	wantInvalid(client.post(object{"content": "a"}), "path: is required")
	wantInvalid(client.post(object{}), "path: is required")
	wantInvalid(client.post(object{"path": 1, "content": "a"}), "path: must be a string")
	wantInvalid(client.post(object{"path": "/a", "content": nil}), "content: must be a string")
	wantInvalid(client.post(object{"path": "/a", "content": "a", "encoding": "utf8"}), "encoding: must be one of")
	wantInvalid(client.post(nil), "body: is required")
	wantInvalid(client.post(`{"path":"/a","content":"\ud800"}`), "content: contains an incomplete surrogate pair")
	for _, text := range []string{"A", "AA", "AB==", "AA==\n", "-_-_", " "} {
		wantInvalid(client.post(object{"path": "/a", "content": text, "encoding": "base64"}), "content: must be base64")
		batch := client.batch(creation("/a", text).with("encoding", "base64"))
		wantInvalid(batch, "operations[0].content: must be base64")
	}
	wantInvalid(client.save("/a", strings.Repeat("a", 1<<20+1)), "content: must be at most 1 MiB")
	wantInvalid(client.saveBytes("/a", randomBytes(1<<20+1)), "content: must be at most 1 MiB")
	wantInvalid(client.Get(client.url()+"?include=contents"), "include: must be one of")
	wantInvalid(client.Get(client.url()+"?limit=0"), "limit")
	wantInvalid(client.Get(client.url()+"?limit=101"), "limit")
	wantInvalid(client.Get(client.url()+"?limit=x"), "limit")
	wantInvalid(client.Get(client.url()+"?version=01K9ZQ3V7M8T5XW2ABCDEFGHJK"), "path: is required with a version")
	wantInvalid(client.Get(client.url()+"/history"), "path: is required")
	for _, unknownID := range []string{
		"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK", client.userID, "x", f.ids.New(id.Project), strings.ToLower(client.projectID),
	} {
		unknown := client.filesOf(unknownID)
		for _, r := range []response{
			unknown.save("/a", "x"), unknown.read("/a"), unknown.Get(unknown.url()), unknown.remove("/a"),
			unknown.history("/a", ""), unknown.batch(deletion("/a")),
		} {
			wantError(r, http.StatusNotFound, fault.CodeProjectNotFound, "The project does not exist")
		}
	}
	if after := f.storedItemCount(); after != before {
		t.Errorf("invalid requests stored %d items, want 0", after-before)
	}
}

// storedItemCount returns the number of items in the tables of projects, contents and events.
func (f *fixture) storedItemCount() int {
	return len(f.dump(f.tableNames.projects)) + len(f.dump(f.tableNames.contents)) + len(f.dump(f.tableNames.events))
}

// A new file must not have a path that looks like another one. A file that has had such a path since before this rule
// can still be read, changed by a batch, renamed and deleted.
func TestInvisibleCharactersInPaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	client.save("/plain", "x").Want(t, http.StatusCreated)
	const rule = "path: must not contain invisible or direction-changing characters"
	for _, path := range []string{"/in\u200bvisible.ts", "/invoice\u202egnp.exe", "/a\u2028b"} {
		for name, r := range map[string]response{
			"save":     client.save(path, "x"),
			"create":   client.batch(object{"op": "create", "path": path, "content": ""}),
			"announce": client.tryAnnounce(path, make([]byte, 9000), nil),
		} {
			r.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
			if !strings.Contains(r.Text("error"), rule) {
				t.Errorf("%s %q: got %s, want %q", name, path, r.Raw, rule)
			}
		}
		client.batch(object{"op": "rename", "path": "/plain", "to": path}).
			Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	plain, err := f.projects.Get(t.Context(), db.FileKey(client.projectID, "/plain"))
	if err != nil {
		t.Fatal(err)
	}
	old, other := "/invoice\u202egnp.exe", "/other\u200b"
	f.transact(f.projects.Put(db.FileKey(client.projectID, old), plain),
		f.projects.Put(db.FileKey(client.projectID, other), plain))
	if r := client.read(old).Want(t, http.StatusOK); r.Text("content") != "x" {
		t.Errorf("got %s, want the content x", r.Raw)
	}
	client.history(old, "").Want(t, http.StatusOK)
	client.batch(object{"op": "update", "path": old, "content": "y"}).Want(t, http.StatusOK)
	client.batch(object{"op": "rename", "path": old, "to": "/invoice.exe"}).Want(t, http.StatusOK)
	if r := client.read("/invoice.exe").Want(t, http.StatusOK); r.Text("content") != "y" {
		t.Errorf("got %s, want the content y", r.Raw)
	}
	client.remove(other).Want(t, http.StatusOK)
}
