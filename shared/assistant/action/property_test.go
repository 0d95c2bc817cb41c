package action_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/assistant/action"
	"devplatform/shared/project/file"
	"devplatform/shared/project/path"
)

// There are only a few paths and contents, so that actions conflict: files and folders with the same names, equal
// contents, and searches that match once or several times.
var (
	paths    = rapid.SampledFrom([]string{"/a", "/b", "/c", "/d", "/a/x", "/a/y", "/b/x", "/c/d/e", "/c/d"})
	contents = rapid.SampledFrom([]string{"", "one", "two", "one two", "one one", "one\r\ntwo\r\n", "one\r\n", "four\n"})
	searches = rapid.SampledFrom([]string{"one", "two", "four", "\n", ""})
)

func drawProject(t *rapid.T) map[string]string {
	stored := map[string]string{}
	for _, p := range rapid.SliceOfN(paths, 0, 6).Draw(t, "stored") {
		content := rapid.OneOf(contents, rapid.Just("\xff\xfe")).Draw(t, "content")
		if isFree(stored, p) {
			stored[p] = content
		}
	}
	return stored
}

// isFree reports whether a file can be created at a path.
func isFree(files map[string]string, p string) bool {
	for _, folder := range path.Ancestors(p) {
		if _, ok := files[folder]; ok {
			return false
		}
	}
	_, exists := files[p]
	return !exists && !hasInside(files, p)
}

func drawAction(t *rapid.T) action.Action {
	p := paths.Draw(t, "path")
	switch rapid.IntRange(0, 9).Draw(t, "type") {
	case 0, 1:
		return create(p, contents.Draw(t, "content"))
	case 2:
		return update(p, contents.Draw(t, "content"))
	case 3, 4:
		return edit(p, searches.Draw(t, "search"), searches.Draw(t, "replace"))
	case 5, 6:
		return remove(p)
	default:
		return rename(p, paths.Draw(t, "to"))
	}
}

// applyTo is a simple implementation of actions on a map. ok is false if the action is not possible.
func applyTo(files map[string]string, a action.Action) (after map[string]string, ok bool) {
	after = maps.Clone(files)
	content, exists := files[a.Path]
	switch a.Type {
	case action.CreateFile:
		after[a.Path] = *a.Content
		return after, isFree(files, a.Path)
	case action.UpdateFile:
		after[a.Path] = *a.Content
	case action.EditFile:
		search, replace := *a.Search, *a.Replace
		if strings.Count(content, "\n") > 0 && strings.Count(content, "\n") == strings.Count(content, "\r\n") {
			toCRLF := strings.NewReplacer("\r\n", "\r\n", "\n", "\r\n")
			search, replace = toCRLF.Replace(search), toCRLF.Replace(replace)
		}
		after[a.Path] = strings.Replace(content, search, replace, 1)
		exists = exists && utf8.ValidString(content) &&
			search != "" && search != replace && strings.Count(content, search) == 1
	case action.DeleteFile:
		delete(after, a.Path)
	case action.RenameFile:
		delete(after, a.Path)
		exists = exists && a.Path != *a.To && isFree(after, *a.To)
		after[*a.To] = content
	}
	return after, exists
}

// applyBatch is a simple implementation of the batch endpoint: all operations apply to the stored files, regardless of
// their order.
func applyBatch(stored map[string]string, operations []file.Operation) (map[string]string, error) {
	after := maps.Clone(stored)
	used, written := map[string]bool{}, map[string]bool{}
	usePath := func(p string) error {
		if used[p] || path.Check(p) != "" {
			return fmt.Errorf("%s occurs twice or is not a path", p)
		}
		used[p] = true
		return nil
	}
	for _, op := range operations {
		content, exists := stored[op.Path]
		if err := usePath(op.Path); err != nil {
			return nil, err
		}
		want := ""
		if exists {
			want = etagOf(op.Path, content)
		}
		etag := ""
		if op.ETag != nil {
			etag = *op.ETag
		}
		if (op.Action == file.Create) == exists || etag != want {
			return nil, fmt.Errorf("%+v does not match the stored content %q, exists: %v", op, content, exists)
		}
		switch op.Action {
		case file.Create, file.Update:
			if !utf8.ValidString(*op.Content) {
				return nil, fmt.Errorf("%+v is not text", op)
			}
			after[op.Path], written[op.Path] = *op.Content, true
		case file.Delete:
			delete(after, op.Path)
		case file.Rename:
			if err := usePath(op.To); err != nil {
				return nil, err
			}
			if _, exists := stored[op.To]; exists {
				return nil, fmt.Errorf("%s exists", op.To)
			}
			delete(after, op.Path)
			after[op.To], written[op.To] = content, true
		}
	}
	for p := range written {
		if _, ok := after[p]; !ok {
			continue
		}
		rest := maps.Clone(after)
		delete(rest, p)
		if !isFree(rest, p) {
			return nil, fmt.Errorf("%s conflicts with a folder or a file", p)
		}
	}
	if len(used) > 20 {
		return nil, fmt.Errorf("the batch changes %d paths, want at most 20", len(used))
	}
	return after, nil
}

// One batch of all operations has the same effect as applying the actions one after the other. An action that is
// possible is not rejected, apart from the exceptions of mayBeRejected.
func TestOperationsHaveTheEffectOfActions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := drawProject(t)
		files := maps.Clone(stored)
		d := action.NewDraft(newFiles(stored))
		accepted := 0
		for range rapid.IntRange(1, 25).Draw(t, "actions") {
			a := drawAction(t)
			after, possible := applyTo(files, a)
			err := d.Apply(t.Context(), a)
			var problem *action.Problem
			switch {
			case err == nil && !possible:
				t.Fatalf("%+v was accepted, but is not possible", a)
			case err == nil:
				files = after
				accepted++
				if a.Content != nil && !writes(d.Operations(), a.Path) {
					t.Fatalf("the operations %+v do not write %s", d.Operations(), a.Path)
				}
			case !errors.As(err, &problem):
				t.Fatal(err)
			case possible && !mayBeRejected(problem.Text, accepted):
				t.Fatalf("%+v was rejected for the files %v: %v", a, files, err)
			}
			got, err := applyBatch(stored, d.Operations())
			if err != nil {
				t.Fatalf("the operations %+v are rejected: %v", d.Operations(), err)
			}
			if diff := cmp.Diff(files, got); diff != "" {
				t.Fatalf("files after the operations %+v (-want +got):\n%s", d.Operations(), diff)
			}
		}
		if len(d.Actions()) != accepted {
			t.Fatalf("got %d actions, want %d", len(d.Actions()), accepted)
		}
		// The returned actions can be applied literally.
		repeated := maps.Clone(stored)
		for _, a := range d.Actions() {
			after, possible := applyTo(repeated, a)
			if !possible {
				t.Fatalf("the returned action %+v is not possible", a)
			}
			repeated = after
		}
		if diff := cmp.Diff(files, repeated); diff != "" {
			t.Fatalf("files after the returned actions (-want +got):\n%s", diff)
		}
	})
}

// writes reports whether the operations write a path, even with the content that it already has.
func writes(operations []file.Operation, p string) bool {
	return slices.ContainsFunc(operations, func(op file.Operation) bool {
		return op.Path == p && (op.Action == file.Create || op.Action == file.Update)
	})
}

// mayBeRejected reports whether an action that is possible may be rejected: because of the number of actions, or
// because a binary file would have to be written as text.
func mayBeRejected(problem string, accepted int) bool {
	return accepted == action.MaxPerAnswer ||
		strings.Contains(problem, "is a binary file, or larger than 1 MiB. One answer can't rename it")
}
