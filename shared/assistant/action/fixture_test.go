package action_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/shared/assistant/action"
	"devplatform/shared/project/file"
)

// fakeFiles is the storage of a project. It counts the calls of its methods.
type fakeFiles struct {
	stored   map[string]string // contents by path
	calls    map[string]int    // by method and path
	prepared map[string]bool   // the paths that were passed to Prepare
	err      error             // returned by all methods, if it is set
}

func newFiles(stored map[string]string) *fakeFiles {
	return &fakeFiles{stored: stored, calls: map[string]int{}, prepared: map[string]bool{}}
}

// exportedFields compares the exported fields of operations. The other fields are not set before the batch.
var exportedFields = cmpopts.IgnoreUnexported(file.BatchOperation{})

func etagOf(path, content string) string { return fmt.Sprintf("%q", path+"@"+content) }

func (f *fakeFiles) Prepare(_ context.Context, paths ...string) error {
	f.calls["prepare"]++
	for _, p := range paths {
		f.prepared[p] = true
	}
	return f.err
}

func (f *fakeFiles) Stat(_ context.Context, path string) (action.File, bool, error) {
	f.calls["stat "+path]++
	if !f.prepared[path] {
		f.calls["unprepared"]++
	}
	content, ok := f.stored[path]
	return action.File{ETag: etagOf(path, content)}, ok, f.err
}

func (f *fakeFiles) Inside(_ context.Context, folder string, n int) ([]string, error) {
	f.calls["inside "+folder]++
	var inside []string
	for p := range f.stored {
		if strings.HasPrefix(p, folder+"/") && len(inside) < n {
			inside = append(inside, p)
		}
	}
	return inside, f.err
}

func (f *fakeFiles) Read(_ context.Context, path string) (string, bool, error) {
	f.calls["read "+path]++
	return f.stored[path], utf8.ValidString(f.stored[path]), f.err
}

func hasInside(files map[string]string, folder string) bool {
	for p := range files {
		if strings.HasPrefix(p, folder+"/") {
			return true
		}
	}
	return false
}

func create(path, content string) action.Action {
	return action.Action{Type: action.CreateFile, Path: path, Content: &content}
}

func update(path, content string) action.Action {
	return action.Action{Type: action.UpdateFile, Path: path, Content: &content}
}

func edit(path, search, replace string) action.Action {
	return action.Action{Type: action.EditFile, Path: path, Search: &search, Replace: &replace}
}

func remove(path string) action.Action { return action.Action{Type: action.DeleteFile, Path: path} }

func rename(path, to string) action.Action {
	return action.Action{Type: action.RenameFile, Path: path, To: &to}
}

func add(path string, packages ...string) action.Action {
	return action.Action{Type: action.AddDependency, Path: path, Packages: packages}
}

// project returns a small project. /logo.png is binary.
func project() map[string]string {
	return map[string]string{
		"/a.ts":          "one\ntwo\nthree\n",
		"/b.ts":          "b\n",
		"/b2.ts":         "b\n",
		"/src/deep/c.ts": "c\n",
		"/logo.png":      "\x89PNG\xff",
		"/dos.txt":       "one\r\ntwo\r\n",
		"/package.json":  "{\n  \"dependencies\": {}\n}\n",
	}
}

// apply returns a draft with the actions. All actions must be possible.
func apply(t *testing.T, f action.Files, actions ...action.Action) *action.Draft {
	t.Helper()
	d := action.NewDraft(f)
	for i, a := range actions {
		if err := d.Apply(t.Context(), a); err != nil {
			t.Fatalf("action %d, %s: %v", i, a.Brief(), err)
		}
	}
	return d
}
