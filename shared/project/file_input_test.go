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
	w := newWorld(t)
	d := w.desk("ada")
	d.save("/there", "x").Want(t, http.StatusCreated)
	before := len(w.dump(w.names.projects)) + len(w.dump(w.names.contents)) + len(w.dump(w.names.events))
	bad := func(a answer, status int, code fault.Code, message string) {
		t.Helper()
		if a.Status != status || a.Text("code") != string(code) || !strings.Contains(a.Text("error"), message) {
			t.Errorf("%d %s, want %d %s %q", a.Status, a.Raw, status, code, message)
		}
	}
	invalid := func(a answer, message string) {
		t.Helper()
		bad(a, http.StatusBadRequest, fault.CodeValidationFailed, message)
	}
	for path, rule := range map[string]string{
		"": "path: must not be empty", "/": "path: must not contain empty segments", "a": "path: must begin with a slash", "/a/../b": "path: must not contain . or .. segments",
		"//a": "path: must not contain empty segments", "/a/": "path: must not contain empty segments", `/a\b`: "path: must not contain a backslash", "/a\nb": "path: must not contain control characters",
		"/a\u0085": "path: must not contain control characters", "/" + strings.Repeat("a", 512): "path: must be at most 512 bytes long",
		"/cafe\u0301": "path: must be in Unicode normal form C",
	} {
		invalid(d.save(path, "x"), rule)
		invalid(d.read(path), rule)
		invalid(d.remove(path), rule)
		invalid(d.Do(http.MethodDelete, d.files(), object{"path": path}), "path: ")
		invalid(d.history(path, ""), "path: ")
		invalid(d.batch(object{"op": "create", "path": path, "content": ""}), "operations[0]."+rule)
		invalid(d.batch(object{"op": "rename", "path": "/there", "to": path}), "operations[0].to: ")
	}
	invalid(d.save("/a\x00", "x"), "path: must not contain ")
	invalid(d.Do(http.MethodPost, d.files(), object{"path": "/a"}), "content: is required")
	invalid(d.Do(http.MethodPost, d.files(), object{"content": "a"}), "path: is required")
	invalid(d.Do(http.MethodPost, d.files(), object{}), "path: is required")
	invalid(d.Do(http.MethodPost, d.files(), object{"path": 1, "content": "a"}), "path: must be a string")
	invalid(d.Do(http.MethodPost, d.files(), object{"path": "/a", "content": nil}), "content: must be a string")
	invalid(d.Do(http.MethodPost, d.files(), object{"path": "/a", "content": "a", "encoding": "utf8"}), "encoding: must be one of")
	invalid(d.Do(http.MethodPost, d.files(), nil), "body: is required")
	invalid(d.Do(http.MethodPost, d.files(), `{"path":"/a","content":"\ud800"}`), "body: is not valid JSON")
	for _, text := range []string{"A", "AA", "AB==", "AA==\n", "-_-_", " "} {
		invalid(d.Do(http.MethodPost, d.files(), object{"path": "/a", "content": text, "encoding": "base64"}), "content: must be base64")
		invalid(d.batch(object{"op": "create", "path": "/a", "content": text, "encoding": "base64"}), "operations[0].content: must be base64")
	}
	bad(d.save("/a", strings.Repeat("a", 1<<20+1)), http.StatusBadRequest, fault.CodeValidationFailed, "content: must be at most 1 MiB")
	bad(d.saveBytes("/a", noise(1<<20+1)), http.StatusBadRequest, fault.CodeValidationFailed, "content: must be at most 1 MiB")
	invalid(d.Get(d.files()+"?include=contents"), "include: must be one of")
	invalid(d.Get(d.files()+"?limit=0"), "limit")
	invalid(d.Get(d.files()+"?limit=101"), "limit")
	invalid(d.Get(d.files()+"?limit=x"), "limit")
	invalid(d.Get(d.files()+"?version=01K9ZQ3V7M8T5XW2ABCDEFGHJK"), "path: is required with a version")
	invalid(d.Get(d.files()+"/history"), "path: is required")
	for _, other := range []string{"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK", d.userID, "x", w.ids.New(id.Project), strings.ToLower(d.projectID)} {
		p := d.at(other)
		for _, a := range []answer{p.save("/a", "x"), p.read("/a"), p.Get(p.files()), p.remove("/a"), p.history("/a", ""), p.batch(object{"op": "delete", "path": "/a"})} {
			bad(a, http.StatusNotFound, fault.CodeProjectNotFound, "The project does not exist")
		}
	}
	if after := len(w.dump(w.names.projects)) + len(w.dump(w.names.contents)) + len(w.dump(w.names.events)); after != before {
		t.Errorf("invalid requests stored %d items", after-before)
	}
}
