package project

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/project/file"
)

func creation(path, content string) object {
	return object{"op": "create", "path": path, "content": content}
}

func update(path, content string) object {
	return object{"op": "update", "path": path, "content": content}
}

func deletion(path string) object { return object{"op": "delete", "path": path} }

func renaming(path, to string) object { return object{"op": "rename", "path": path, "to": to} }

// with returns a copy of the object with another field.
func (o object) with(field string, value any) object {
	o = maps.Clone(o)
	o[field] = value
	return o
}

// contents returns the contents of all files, by path.
func (d desk) contents() map[string]string {
	d.w.t.Helper()
	all := map[string]string{}
	for _, a := range pages(d.w.t, d, "?include=content", 0) {
		for _, f := range a.List("files") {
			all[f["path"].(string)] = contentOf(d.w.t, f)
		}
	}
	return all
}

func TestBatchOfAllOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	for _, path := range []string{"/update", "/delete", "/rename", "/same"} {
		d.save(path, "old").Want(t, http.StatusCreated)
	}
	old := d.read("/rename").Body
	eventCount := len(d.fileEvents())
	a := d.batch(
		renaming("/rename", "/renamed.ts"), creation("/create", "new"), deletion("/delete"), update("/update", "new"), update("/same", "old"),
		creation("/bytes", base64.StdEncoding.EncodeToString([]byte{0xff, 0})).with("encoding", "base64"), creation("/nul", "a\x00b and so on"),
	).Want(t, http.StatusOK)
	if diff := cmp.Diff([]any{"/renamed.ts", "/create", "/update", "/same", "/bytes", "/nul"}, a.Values("files", "path")); diff != "" {
		t.Error(diff)
	}
	moved := a.List("files")[0]
	for _, kept := range []string{"size", "sha256", "encoding", "createdAt"} {
		if moved[kept] != old[kept] {
			t.Errorf("a rename changes %s from %v to %v", kept, old[kept], moved[kept])
		}
	}
	if moved["version"] == old["version"] || moved["contentType"] != "text/typescript; charset=utf-8" || len(moved) != 10 {
		t.Errorf("renamed: %v", moved)
	}
	want := map[string]string{"/renamed.ts": "old", "/create": "new", "/update": "new", "/same": "old", "/bytes": "\xff\x00", "/nul": "a\x00b and so on"}
	if diff := cmp.Diff(want, d.contents()); diff != "" {
		t.Error(diff)
	}
	events := []string{"file.deleted /rename", "file.created /renamed.ts", "file.created /create", "file.deleted /delete", "file.updated /update", "file.created /bytes", "file.created /nul"}
	if diff := cmp.Diff(events, d.fileEvents()[eventCount:]); diff != "" {
		t.Error(diff)
	}
	d.checkTree()
	if a := d.batch(deletion("/create"), deletion("/bytes")).Want(t, http.StatusOK); a.Raw != `{"files":[]}` {
		t.Error(a.Raw)
	}
}

// The error of a failed batch names the failed operation, and the batch changes nothing.
func TestFailedBatchChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQuotas(file.Quotas{Files: 25, Bytes: 2 << 20}))
	d := w.desk("ada")
	tag := d.save("/a", "a").Want(t, http.StatusCreated).Header.Get("ETag")
	d.save("/dir/b", "b").Want(t, http.StatusCreated)
	before := fmt.Sprint(len(w.dump(w.names.projects)), len(w.dump(w.names.contents)), len(w.dump(w.names.events)), d.tree())
	fine := creation("/fine", "x")
	many := func(n int, make func(i int) object) []object {
		ops := []object{}
		for i := range n {
			ops = append(ops, make(i))
		}
		return ops
	}
	for name, tc := range map[string]struct {
		ops     []object
		status  int
		code    fault.Code
		message string
	}{
		"create an existing path":            {[]object{fine, creation("/a", "")}, 409, fault.CodeConflict, "operations[1]: A file with this path already exists."},
		"update a missing file":              {[]object{fine, update("/x", "")}, 404, fault.CodeFileNotFound, "operations[1]: There is no such file."},
		"delete a missing file":              {[]object{fine, fine.with("path", "/f2"), deletion("/x")}, 404, fault.CodeFileNotFound, "operations[2]: There is no such file."},
		"rename a missing file":              {[]object{renaming("/x", "/y"), fine}, 404, fault.CodeFileNotFound, "operations[0]: There is no such file."},
		"rename to an existing file":         {[]object{fine, renaming("/a", "/dir/b")}, 409, fault.CodeConflict, "operations[1]: A file with this path already exists."},
		"rename to the same path":            {[]object{fine, renaming("/a", "/a")}, 400, fault.CodeValidationFailed, "operations[1].to: must be different from path"},
		"path is a folder":                   {[]object{fine, creation("/dir", "")}, 409, fault.CodeConflict, "operations[1]: This path is a folder that contains files."},
		"parent is a file":                   {[]object{fine, creation("/a/b", "")}, 409, fault.CodeConflict, "operations[1]: A parent folder of this path is a file."},
		"parent is a file of the same batch": {[]object{creation("/n/o", ""), creation("/n", "")}, 409, fault.CodeConflict, "operations[0]: A parent folder of this path is a file."},
		"wrong etag of update":               {[]object{fine, update("/a", "b").with("etag", `"no"`)}, 412, fault.CodePreconditionFailed, "operations[1]: "},
		"wrong etag, no change":              {[]object{fine, update("/a", "a").with("etag", `"no"`)}, 412, fault.CodePreconditionFailed, "operations[1]: "},
		"wrong etag of delete":               {[]object{fine, deletion("/a").with("etag", `"no"`)}, 412, fault.CodePreconditionFailed, "operations[1]: "},
		"wrong etag of rename":               {[]object{fine, renaming("/a", "/c").with("etag", "no")}, 412, fault.CodePreconditionFailed, "operations[1]: "},
		"etag of a missing file":             {[]object{fine, update("/x", "").with("etag", tag)}, 404, fault.CodeFileNotFound, "operations[1]: There is no such file."},
		"no operations":                      {[]object{}, 400, fault.CodeValidationFailed, "operations: must not be empty"},
		"21 operations":                      {many(21, func(i int) object { return creation(fmt.Sprint("/", i), "") }), 400, fault.CodeValidationFailed, "operations: must have at most 20"},
		"11 renames":                         {many(11, func(i int) object { return renaming(fmt.Sprint("/a", i), fmt.Sprint("/b", i)) }), 400, fault.CodeValidationFailed, "operations: must be at most 20; a rename counts as two"},
		"a path twice":                       {[]object{fine, update("/a", "b"), deletion("/a")}, 400, fault.CodeValidationFailed, "operations[2].path: is used twice"},
		"renamed and created":                {[]object{renaming("/a", "/c"), creation("/c", "")}, 400, fault.CodeValidationFailed, "operations[1].path: is used twice"},
		"renamed twice":                      {[]object{renaming("/a", "/c"), renaming("/c", "/d")}, 400, fault.CodeValidationFailed, "operations[1].path: is used twice"},
		"renamed to one path":                {[]object{renaming("/a", "/c"), renaming("/dir/b", "/c")}, 400, fault.CodeValidationFailed, "operations[1].to: is used twice"},
		"an unknown operation":               {[]object{fine, fine.with("op", "copy")}, 400, fault.CodeValidationFailed, "operations[1].op: must be one of"},
		"no op":                              {[]object{{"path": "/a"}}, 400, fault.CodeValidationFailed, "operations[0].op: is required"},
		"no path":                            {[]object{{"op": "delete"}}, 400, fault.CodeValidationFailed, "operations[0].path: is required"},
		"no content":                         {[]object{{"op": "create", "path": "/c"}}, 400, fault.CodeValidationFailed, "operations[0].content: is required"},
		"content of a deletion":              {[]object{deletion("/a").with("content", "x")}, 400, fault.CodeValidationFailed, "operations[0].content: is allowed only for"},
		"to of an update":                    {[]object{update("/a", "x").with("to", "/b")}, 400, fault.CodeValidationFailed, "operations[0].to: is allowed only for"},
		"rename without to":                  {[]object{{"op": "rename", "path": "/a"}}, 400, fault.CodeValidationFailed, "operations[0].to: is required"},
		"etag of a creation":                 {[]object{fine.with("etag", tag)}, 400, fault.CodeValidationFailed, "operations[0].etag: is not allowed for create"},
		"an invalid etag":                    {[]object{update("/a", "x").with("etag", `"a`)}, 400, fault.CodeValidationFailed, "operations[0].etag: must be an entity tag"},
		"content too large":                  {[]object{fine, creation("/c", strings.Repeat("x", 1<<20+1))}, 400, fault.CodeValidationFailed, "operations[1].content: must be at most 1 MiB"},
		"batch too large":                    {many(4, func(i int) object { return creation(fmt.Sprint("/c", i), strings.Repeat("x", 3<<18+1)) }), 400, fault.CodeValidationFailed, "operations: must have at most 3 MiB"},
		"storage quota exceeded":             {many(3, func(i int) object { return creation(fmt.Sprint("/c", i), strings.Repeat("x", 1<<20)) }), 402, fault.CodeQuotaExceeded, "2 MiB"},
	} {
		a := d.batch(tc.ops...)
		if a.Status != tc.status || a.Text("code") != string(tc.code) || !strings.Contains(a.Text("error"), tc.message) {
			t.Errorf("%s: %d %.300s, want %d %s", name, a.Status, a.Raw, tc.status, tc.message)
		}
	}
	if after := fmt.Sprint(len(w.dump(w.names.projects)), len(w.dump(w.names.contents)), len(w.dump(w.names.events)), d.tree()); after != before {
		t.Errorf("a failed batch changed the stored items: %s, before %s", after, before)
	}
	d.batch(many(20, func(i int) object { return creation(fmt.Sprint("/c", i), "") })...).Want(t, http.StatusOK)
	if a := d.batch(many(4, func(i int) object { return creation(fmt.Sprint("/d", i), "") })...).Want(t, 402, fault.CodeQuotaExceeded); !strings.Contains(a.Text("error"), "files") {
		t.Error(a.Raw)
	}
	d.batch(deletion("/c0"), creation("/d0", ""), creation("/d1", ""), creation("/d2", ""), creation("/d3", "")).Want(t, http.StatusOK)
	d.checkTree()
}

// Each parent folder of a new path is read, so the number of folders is limited: a small request must not cause
// thousands of reads.
func TestBatchFolderLimit(t *testing.T) {
	t.Parallel()
	d := newWorld(t).desk("ada")
	deep := func(n, levels int) (operations []object) {
		for i := range n {
			operations = append(operations, object{"op": "create", "path": fmt.Sprint("/", i) + strings.Repeat("/d", levels), "content": "x"})
		}
		return operations
	}
	a := d.batch(deep(20, 26)...).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	if !strings.Contains(a.Text("error"), "operations: must create paths in at most 500 folders") {
		t.Errorf("%s", a.Raw)
	}
	d.batch(deep(20, 25)...).Want(t, http.StatusOK)
}

// If the server ignored the headers, updates could be lost.
func TestBatchRejectsPreconditionHeaders(t *testing.T) {
	t.Parallel()
	d := newWorld(t).desk("ada")
	for _, name := range []string{"If-Match", "If-None-Match"} {
		a := d.Do(http.MethodPost, d.files()+"/batch", object{"operations": []object{{"op": "create", "path": "/a", "content": "x"}}}, slicetest.Header(name, "*"))
		a.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	if paths := d.paths(); len(paths) != 0 {
		t.Errorf("written: %v", paths)
	}
}

// Conflicts between files and folders are checked against the state after all operations.
func TestBatchReplacesFoldersByFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	d.batch(creation("/dir/a", "a"), creation("/dir/b", "b"), creation("/file", "f")).Want(t, http.StatusOK)
	d.batch(deletion("/dir/a"), creation("/dir", "x")).Want(t, http.StatusConflict, fault.CodeConflict)
	d.batch(creation("/dir", "now a file"), deletion("/dir/a"), renaming("/dir/b", "/b")).Want(t, http.StatusOK)
	d.batch(creation("/file/inner", "i"), renaming("/file", "/file/f")).Want(t, http.StatusOK)
	if diff := cmp.Diff([]any{"/b", "/dir", "/file/f", "/file/inner"}, d.paths()); diff != "" {
		t.Error(diff)
	}
	d.batch(renaming("/dir", "/dir/again/and/again"), renaming("/file/f", "/f"), renaming("/file/inner", "/file")).Want(t, http.StatusOK)
	if diff := cmp.Diff([]any{"/b", "/dir/again/and/again", "/f", "/file"}, d.paths()); diff != "" {
		t.Error(diff)
	}
	ops := []object{creation("/file", "")}
	d.remove("/file").Want(t, http.StatusOK)
	for i := range 19 {
		path := fmt.Sprintf("/file/%02d", i)
		d.save(path, "").Want(t, http.StatusCreated)
		ops = append(ops, deletion(path))
	}
	d.save("/file/99", "").Want(t, http.StatusCreated)
	d.batch(ops...).Want(t, http.StatusConflict, fault.CodeConflict)
	d.remove("/file/99").Want(t, http.StatusOK)
	d.batch(ops...).Want(t, http.StatusOK)
	d.checkTree()
}
