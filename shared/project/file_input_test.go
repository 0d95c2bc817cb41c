package project

import (
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/fault"
	"devplatform/shared/id"
)

// Every invalid request has a clear error and stores nothing.
func TestBadInput(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	client.save("/there", "x").Want(t, http.StatusCreated)
	before := len(f.dump(f.tableNames.projects)) + len(f.dump(f.tableNames.contents)) + len(f.dump(f.tableNames.events))
	bad := func(r response, status int, code fault.Code, message string) {
		t.Helper()
		if r.Status != status || r.Text("code") != string(code) || !strings.Contains(r.Text("error"), message) {
			t.Errorf("%d %s, want %d %s %q", r.Status, r.Raw, status, code, message)
		}
	}
	invalid := func(r response, message string) {
		t.Helper()
		bad(r, http.StatusBadRequest, fault.CodeValidationFailed, message)
	}
	for path, rule := range map[string]string{
		"": "path: must not be empty", "/": "path: must not contain empty segments", "a": "path: must begin with a slash", "/a/../b": "path: must not contain . or .. segments",
		"//a": "path: must not contain empty segments", "/a/": "path: must not contain empty segments", `/a\b`: "path: must not contain a backslash", "/a\nb": "path: must not contain control characters",
		"/a\u0085": "path: must not contain control characters", "/" + strings.Repeat("a", 512): "path: must be at most 512 bytes long",
		"/cafe\u0301": "path: must be in Unicode normal form C",
	} {
		invalid(client.save(path, "x"), rule)
		invalid(client.read(path), rule)
		invalid(client.remove(path), rule)
		invalid(client.Do(http.MethodDelete, client.url(), object{"path": path}), "path: ")
		invalid(client.history(path, ""), "path: ")
		invalid(client.batch(object{"op": "create", "path": path, "content": ""}), "operations[0]."+rule)
		invalid(client.batch(object{"op": "rename", "path": "/there", "to": path}), "operations[0].to: ")
	}
	invalid(client.save("/a\x00", "x"), "path: must not contain ")
	invalid(client.Do(http.MethodPost, client.url(), object{"path": "/a"}), "content: is required")
	invalid(client.Do(http.MethodPost, client.url(), object{"content": "a"}), "path: is required")
	invalid(client.Do(http.MethodPost, client.url(), object{}), "path: is required")
	invalid(client.Do(http.MethodPost, client.url(), object{"path": 1, "content": "a"}), "path: must be a string")
	invalid(client.Do(http.MethodPost, client.url(), object{"path": "/a", "content": nil}), "content: must be a string")
	invalid(client.Do(http.MethodPost, client.url(), object{"path": "/a", "content": "a", "encoding": "utf8"}), "encoding: must be one of")
	invalid(client.Do(http.MethodPost, client.url(), nil), "body: is required")
	invalid(client.Do(http.MethodPost, client.url(), `{"path":"/a","content":"\ud800"}`), "body: is not valid JSON")
	for _, text := range []string{"A", "AA", "AB==", "AA==\n", "-_-_", " "} {
		invalid(client.Do(http.MethodPost, client.url(), object{"path": "/a", "content": text, "encoding": "base64"}), "content: must be base64")
		invalid(client.batch(object{"op": "create", "path": "/a", "content": text, "encoding": "base64"}), "operations[0].content: must be base64")
	}
	bad(client.save("/a", strings.Repeat("a", 1<<20+1)), http.StatusBadRequest, fault.CodeValidationFailed, "content: must be at most 1 MiB")
	bad(client.saveBytes("/a", randomBytes(1<<20+1)), http.StatusBadRequest, fault.CodeValidationFailed, "content: must be at most 1 MiB")
	invalid(client.Get(client.url()+"?include=contents"), "include: must be one of")
	invalid(client.Get(client.url()+"?limit=0"), "limit")
	invalid(client.Get(client.url()+"?limit=101"), "limit")
	invalid(client.Get(client.url()+"?limit=x"), "limit")
	invalid(client.Get(client.url()+"?version=01K9ZQ3V7M8T5XW2ABCDEFGHJK"), "path: is required with a version")
	invalid(client.Get(client.url()+"/history"), "path: is required")
	for _, other := range []string{"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK", client.userID, "x", f.ids.New(id.Project), strings.ToLower(client.projectID)} {
		p := client.filesOf(other)
		for _, r := range []response{p.save("/a", "x"), p.read("/a"), p.Get(p.url()), p.remove("/a"), p.history("/a", ""), p.batch(object{"op": "delete", "path": "/a"})} {
			bad(r, http.StatusNotFound, fault.CodeProjectNotFound, "The project does not exist")
		}
	}
	if after := len(f.dump(f.tableNames.projects)) + len(f.dump(f.tableNames.contents)) + len(f.dump(f.tableNames.events)); after != before {
		t.Errorf("invalid requests stored %d items", after-before)
	}
}
