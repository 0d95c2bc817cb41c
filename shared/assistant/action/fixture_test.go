package action_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/shared/assistant/action"
	"devplatform/shared/project/file"
)

// fakeFiles is the storage of a project.
type fakeFiles struct {
	stored map[string]string // contents by path
	read   map[string]bool   // the paths of files whose content was read
	err    error             // returned by Read for other files, if it is set
}

func newFiles(stored map[string]string) *fakeFiles {
	return &fakeFiles{stored: stored, read: map[string]bool{}}
}

// exportedFields compares the exported fields of operations. The other fields are not set before the batch.
var exportedFields = cmpopts.IgnoreUnexported(file.Operation{})

func etagOf(path, content string) string { return fmt.Sprintf("%q", path+"@"+content) }

func (f *fakeFiles) Paths() iter.Seq[string] { return maps.Keys(f.stored) }

func (f *fakeFiles) Stat(path string) (string, bool) {
	content, ok := f.stored[path]
	return etagOf(path, content), ok
}

func (f *fakeFiles) Read(_ context.Context, path string) (string, bool, error) {
	if !f.read[path] && f.err != nil {
		return "", false, f.err
	}
	f.read[path] = true
	return f.stored[path], utf8.ValidString(f.stored[path]), nil
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
