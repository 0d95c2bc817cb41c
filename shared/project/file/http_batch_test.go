package file_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
)

// contents returns the contents of all files, by path.
func contents(client filesClient) map[string]string {
	client.Fixture.T.Helper()
	all := map[string]string{}
	for _, r := range pages(client.Fixture.T, client, "?include=content", 0) {
		for _, item := range r.List("files") {
			all[item["path"].(string)] = contentOf(client.Fixture.T, item)
		}
	}
	return all
}

func TestBatchOfAllOperations(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	for _, path := range []string{"/update", "/delete", "/rename", "/same"} {
		client.Save(path, "old").Want(t, http.StatusCreated)
	}
	old := client.Read("/rename").Body
	eventCount := len(client.FileEvents())
	r := client.Batch(
		renaming("/rename", "/renamed.ts"),
		creation("/create", "new"),
		deletion("/delete"),
		update("/update", "new"),
		update("/same", "old"),
		creation("/bytes", base64Of([]byte{0xff, 0})).With("encoding", "base64"),
		creation("/nul", "a\x00b and more text"),
	).Want(t, http.StatusOK)
	wantPaths := []any{"/renamed.ts", "/create", "/update", "/same", "/bytes", "/nul"}
	if diff := cmp.Diff(wantPaths, r.Values("files", "path")); diff != "" {
		t.Errorf("paths in the response: mismatch (-want +got):\n%s", diff)
	}
	moved := r.List("files")[0]
	for _, kept := range []string{"size", "sha256", "encoding", "createdAt"} {
		if moved[kept] != old[kept] {
			t.Errorf("the rename changed %s: got %v, want %v", kept, moved[kept], old[kept])
		}
	}
	if moved["version"] == old["version"] || moved["contentType"] != "text/typescript; charset=utf-8" || len(moved) != 10 {
		t.Errorf("got the renamed file %v, want 10 fields, a new version and the content type of TypeScript", moved)
	}
	want := map[string]string{
		"/renamed.ts": "old", "/create": "new", "/update": "new", "/same": "old",
		"/bytes": "\xff\x00", "/nul": "a\x00b and more text",
	}
	if diff := cmp.Diff(want, contents(client)); diff != "" {
		t.Errorf("contents mismatch (-want +got):\n%s", diff)
	}
	events := []string{
		"file.deleted /rename", "file.created /renamed.ts", "file.created /create", "file.deleted /delete",
		"file.updated /update", "file.created /bytes", "file.created /nul",
	}
	if diff := cmp.Diff(events, client.FileEvents()[eventCount:]); diff != "" {
		t.Errorf("events mismatch (-want +got):\n%s", diff)
	}
	client.CheckTree()
	if r := client.Batch(deletion("/create"), deletion("/bytes")).Want(t, http.StatusOK); r.Raw != `{"files":[]}` {
		t.Errorf("a batch of deletions: got %s, want an empty list of files", r.Raw)
	}
}

// The error of a failed batch names the failed operation, and the batch changes nothing.
func TestFailedBatchChangesNothing(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, projecttest.WithQuotas(projecttest.Quotas(25, 2<<20)))
	client := f.NewFilesClient("ada")
	tag := client.Save("/a", "a").Want(t, http.StatusCreated).Header.Get("ETag")
	client.Save("/dir/b", "b").Want(t, http.StatusCreated)
	before := fmt.Sprint(storedItemCount(f), client.Tree())
	valid := creation("/valid", "x")
	many := func(n int, operation func(i int) object) []object {
		ops := []object{}
		for i := range n {
			ops = append(ops, operation(i))
		}
		return ops
	}
	type ops = []object
	const invalid, conflict = "400 VALIDATION_FAILED ", "409 CONFLICT "
	const missing, changed = "404 FILE_NOT_FOUND ", "412 PRECONDITION_FAILED "
	for _, tc := range []struct {
		want string // the beginning of the status, the code and the error
		ops  ops
	}{
		{conflict + "operations[1]: A file with this path already exists.", ops{valid, creation("/a", "")}},
		{missing + "operations[1]: The file does not exist.", ops{valid, update("/x", "")}},
		{missing + "operations[2]: The file does not exist.", ops{valid, valid.With("path", "/f2"), deletion("/x")}},
		{missing + "operations[0]: The file does not exist.", ops{renaming("/x", "/y"), valid}},
		{conflict + "operations[1]: A file with this path already exists.", ops{valid, renaming("/a", "/dir/b")}},
		{invalid + "operations[1].to: must be different from path", ops{valid, renaming("/a", "/a")}},
		{conflict + "operations[1]: This path is a folder that contains files.", ops{valid, creation("/dir", "")}},
		{conflict + "operations[1]: A parent folder of this path is a file.", ops{valid, creation("/a/b", "")}},
		{
			conflict + "operations[0]: A parent folder of this path is a file.",
			ops{creation("/n/o", ""), creation("/n", "")},
		},
		{changed + "operations[1]: ", ops{valid, update("/a", "b").With("etag", `"no"`)}},
		{changed + "operations[1]: ", ops{valid, update("/a", "a").With("etag", `"no"`)}},
		{changed + "operations[1]: ", ops{valid, deletion("/a").With("etag", `"no"`)}},
		{changed + "operations[1]: ", ops{valid, renaming("/a", "/c").With("etag", "no")}},
		{missing + "operations[1]: The file does not exist.", ops{valid, update("/x", "").With("etag", tag)}},
		{invalid + "operations: must not be empty", ops{}},
		{
			invalid + "operations: must have at most 20",
			many(21, func(i int) object { return creation(fmt.Sprint("/", i), "") }),
		},
		{
			invalid + "operations: must have at most 20 operations; a rename counts as two",
			many(11, func(i int) object { return renaming(fmt.Sprint("/a", i), fmt.Sprint("/b", i)) }),
		},
		{
			invalid + "operations[2].path: must not occur more than once",
			ops{valid, update("/a", "b"), deletion("/a")},
		},
		{
			invalid + "operations[1].path: must not occur more than once",
			ops{renaming("/a", "/c"), creation("/c", "")},
		},
		{
			invalid + "operations[1].path: must not occur more than once",
			ops{renaming("/a", "/c"), renaming("/c", "/d")},
		},
		{
			invalid + "operations[1].to: must not occur more than once",
			ops{renaming("/a", "/c"), renaming("/dir/b", "/c")},
		},
		{invalid + "operations[1].op: must be one of", ops{valid, valid.With("op", "copy")}},
		{invalid + "operations[0].op: is required", ops{{"path": "/a"}}},
		{invalid + "operations[0].path: is required", ops{{"op": "delete"}}},
		{invalid + "operations[0].content: is required", ops{{"op": "create", "path": "/c"}}},
		{invalid + "operations[0].content: is allowed only for", ops{deletion("/a").With("content", "x")}},
		{invalid + "operations[0].to: is allowed only for", ops{update("/a", "x").With("to", "/b")}},
		{invalid + "operations[0].to: is required", ops{{"op": "rename", "path": "/a"}}},
		{invalid + "operations[0].etag: is not allowed for create", ops{valid.With("etag", tag)}},
		{invalid + "operations[0].etag: must be an entity tag", ops{update("/a", "x").With("etag", `"a`)}},
		// A client that has lost the tag sends "". Without a condition, its write could destroy another change.
		{invalid + "operations[0].etag: must be an entity tag", ops{update("/a", "x").With("etag", "")}},
		{
			invalid + "operations[1].content: must be at most 1 MiB",
			ops{valid, creation("/c", strings.Repeat("x", 1<<20+1))},
		},
		{
			invalid + "operations: must have at most 3 MiB",
			many(4, func(i int) object { return creation(fmt.Sprint("/c", i), strings.Repeat("x", 3<<18+1)) }),
		},
		{
			"402 QUOTA_EXCEEDED The project has reached its limit of 2 MiB",
			many(3, func(i int) object { return creation(fmt.Sprint("/c", i), strings.Repeat("x", 1<<20)) }),
		},
	} {
		r := client.Batch(tc.ops...)
		if got := fmt.Sprint(r.Status, " ", r.Text("code"), " ", r.Text("error")); !strings.HasPrefix(got, tc.want) {
			t.Errorf("operations %.200v: got %.300s, want %s", tc.ops, got, tc.want)
		}
	}
	if after := fmt.Sprint(storedItemCount(f), client.Tree()); after != before {
		t.Errorf("a failed batch changed the number of stored items or the tree: got %s, want %s", after, before)
	}
	client.Batch(many(20, func(i int) object { return creation(fmt.Sprint("/c", i), "") })...).Want(t, http.StatusOK)
	newFiles := many(4, func(i int) object { return creation(fmt.Sprint("/d", i), "") })
	r := client.Batch(newFiles...).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if !strings.Contains(r.Text("error"), "files") {
		t.Errorf("got %s, want the error of the file quota", r.Raw)
	}
	client.Batch(append(newFiles, deletion("/c0"))...).Want(t, http.StatusOK)
	client.CheckTree()
}

// Each parent folder of a new path is read, so the number of folders is limited: a small request must not cause
// thousands of reads.
func TestBatchFolderLimit(t *testing.T) {
	t.Parallel()
	client := projecttest.New(t).NewFilesClient("ada")
	deep := func(n, levels int) (operations []object) {
		for i := range n {
			operations = append(operations, creation(fmt.Sprint("/", i)+strings.Repeat("/d", levels), "x"))
		}
		return operations
	}
	r := client.Batch(deep(20, 26)...).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	if !strings.Contains(r.Text("error"), "operations: must create paths in at most 500 folders") {
		t.Errorf("got %s, want the error of the folder limit", r.Raw)
	}
	client.Batch(deep(20, 25)...).Want(t, http.StatusOK)
}

// A batch with a precondition header is rejected. If the server ignored the header, updates could be lost.
func TestBatchRejectsPreconditionHeaders(t *testing.T) {
	t.Parallel()
	client := projecttest.New(t).NewFilesClient("ada")
	for _, name := range []string{"If-Match", "If-None-Match"} {
		body := object{"operations": []object{creation("/a", "x")}}
		r := client.Do(http.MethodPost, client.URL()+"/batch", body, slicetest.Header(name, "*"))
		r.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	if paths := client.Paths(); len(paths) != 0 {
		t.Errorf("the rejected requests created %v", paths)
	}
}

// Conflicts between files and folders are checked against the state after all operations.
func TestBatchReplacesFoldersWithFiles(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	client.Batch(creation("/dir/a", "a"), creation("/dir/b", "b"), creation("/file", "f")).Want(t, http.StatusOK)
	client.Batch(deletion("/dir/a"), creation("/dir", "x")).Want(t, http.StatusConflict, fault.CodeConflict)
	client.Batch(creation("/dir", "a file"), deletion("/dir/a"), renaming("/dir/b", "/b")).Want(t, http.StatusOK)
	client.Batch(creation("/file/inner", "i"), renaming("/file", "/file/f")).Want(t, http.StatusOK)
	if diff := cmp.Diff([]any{"/b", "/dir", "/file/f", "/file/inner"}, client.Paths()); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	client.Batch(renaming("/dir", "/dir/again/and/again"), renaming("/file/f", "/f"), renaming("/file/inner", "/file")).
		Want(t, http.StatusOK)
	if diff := cmp.Diff([]any{"/b", "/dir/again/and/again", "/f", "/file"}, client.Paths()); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	ops := []object{creation("/file", "")}
	client.Remove("/file").Want(t, http.StatusOK)
	for i := range 19 {
		path := fmt.Sprintf("/file/%02d", i)
		client.Save(path, "").Want(t, http.StatusCreated)
		ops = append(ops, deletion(path))
	}
	client.Save("/file/99", "").Want(t, http.StatusCreated)
	client.Batch(ops...).Want(t, http.StatusConflict, fault.CodeConflict)
	client.Remove("/file/99").Want(t, http.StatusOK)
	client.Batch(ops...).Want(t, http.StatusOK)
	client.CheckTree()
}
