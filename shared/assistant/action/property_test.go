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
	"devplatform/shared/project/path"
)

// There are only few paths and contents, so that actions conflict: files and folders with the same names, equal
// contents, and searches that match once or several times.
var (
	somePaths    = rapid.SampledFrom([]string{"/a", "/b", "/c", "/d", "/a/x", "/a/y", "/b/x", "/c/d/e", "/c/d"})
	someContents = rapid.SampledFrom([]string{"", "one", "two", "one two", "one one", "one\r\ntwo\r\n", "four\n"})
	someWords    = rapid.SampledFrom([]string{"one", "two", "four", "\n", ""})
)

func someProject(t *rapid.T) map[string]string {
	stored := map[string]string{}
	for _, p := range rapid.SliceOfN(somePaths, 0, 6).Draw(t, "stored") {
		content := rapid.OneOf(someContents, rapid.Just("\xff\xfe")).Draw(t, "content")
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

func someAction(t *rapid.T) action.Action {
	p := somePaths.Draw(t, "path")
	switch rapid.IntRange(0, 9).Draw(t, "type") {
	case 0, 1:
		return create(p, someContents.Draw(t, "content"))
	case 2:
		return update(p, someContents.Draw(t, "content"))
	case 3, 4:
		return edit(p, someWords.Draw(t, "search"), someWords.Draw(t, "replace"))
	case 5, 6:
		return remove(p)
	default:
		return rename(p, somePaths.Draw(t, "to"))
	}
}

// do is a simple implementation of actions on a map. ok is false if the action is not possible.
func do(files map[string]string, a action.Action) (after map[string]string, ok bool) {
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
			pairs := strings.NewReplacer("\r\n", "\r\n", "\n", "\r\n")
			search, replace = pairs.Replace(search), pairs.Replace(replace)
		}
		after[a.Path] = strings.Replace(content, search, replace, 1)
		exists = exists && search != "" && search != replace && strings.Count(content, search) == 1 && utf8.ValidString(content)
	case action.DeleteFile:
		delete(after, a.Path)
	case action.RenameFile:
		delete(after, a.Path)
		exists = exists && a.Path != *a.To && isFree(after, *a.To)
		after[*a.To] = content
	}
	return after, exists
}

// batch is a simple implementation of the batch endpoint: all operations apply to the stored files, regardless of
// their order.
func batch(stored map[string]string, operations []action.Operation) (map[string]string, error) {
	after, named, count := maps.Clone(stored), map[string]bool{}, 0
	created := map[string]bool{}
	name := func(p string) error {
		if named[p] || path.Check(p) != "" {
			return fmt.Errorf("%s occurs twice or is not a path", p)
		}
		named[p], count = true, count+1
		return nil
	}
	for _, op := range operations {
		content, exists := stored[op.Path]
		if err := name(op.Path); err != nil {
			return nil, err
		}
		if (op.Op == "create") == exists || (op.Op == "create") != (op.ETag == "") || exists && op.ETag != etagOf(op.Path, content) {
			return nil, fmt.Errorf("%+v does not match the stored content %q, exists: %v", op, content, exists)
		}
		switch op.Op {
		case "create", "update":
			if !utf8.ValidString(op.Content) {
				return nil, fmt.Errorf("%+v is not text", op)
			}
			after[op.Path], created[op.Path] = op.Content, op.Op == "create"
		case "delete":
			delete(after, op.Path)
		case "rename":
			if err := name(op.To); err != nil {
				return nil, err
			}
			if _, exists := stored[op.To]; exists {
				return nil, fmt.Errorf("%s exists", op.To)
			}
			delete(after, op.Path)
			after[op.To], created[op.To] = content, true
		}
	}
	for p := range created {
		if _, ok := after[p]; !ok {
			continue
		}
		rest := maps.Clone(after)
		delete(rest, p)
		if !isFree(rest, p) {
			return nil, fmt.Errorf("%s conflicts with a folder or a file", p)
		}
	}
	if count > 20 {
		return nil, fmt.Errorf("%d operations", count)
	}
	return after, nil
}

// The operations, applied as one batch, have the same effect as the actions one after the other. A possible action is
// not rejected, apart from the exceptions of mayBeRejected.
func TestOperationsHaveTheEffectOfActions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := someProject(t)
		files := maps.Clone(stored)
		d := action.NewDraft(newFiles(stored))
		accepted := 0
		for range rapid.IntRange(1, 25).Draw(t, "actions") {
			a := someAction(t)
			after, possible := do(files, a)
			err := d.Apply(t.Context(), a)
			var problem *action.Problem
			switch {
			case err == nil && !possible:
				t.Fatalf("%+v was accepted", a)
			case err == nil:
				files = after
				accepted++
				if a.Content != nil && !writes(d.Operations(), a.Path) {
					t.Fatalf("%+v does not write %s", d.Operations(), a.Path)
				}
			case !errors.As(err, &problem):
				t.Fatal(err)
			case possible && !mayBeRejected(stored, a, problem.Text, accepted):
				t.Fatalf("%+v on %v: %v", a, files, err)
			}
			got, err := batch(stored, d.Operations())
			if err != nil {
				t.Fatalf("%+v: %v", d.Operations(), err)
			}
			if diff := cmp.Diff(files, got); diff != "" {
				t.Fatalf("%+v: %s", d.Operations(), diff)
			}
		}
		if len(d.Actions()) != accepted {
			t.Fatalf("%d actions, %d accepted", len(d.Actions()), accepted)
		}
		// The returned actions can be applied literally.
		again := maps.Clone(stored)
		for _, a := range d.Actions() {
			after, possible := do(again, a)
			if !possible {
				t.Fatalf("%+v", a)
			}
			again = after
		}
		if diff := cmp.Diff(files, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// writes reports whether the operations write a path, even with the content that it already has.
func writes(operations []action.Operation, p string) bool {
	return slices.ContainsFunc(operations, func(op action.Operation) bool { return op.Path == p && (op.Op == "create" || op.Op == "update") })
}

// mayBeRejected reports whether an action that is possible may be rejected: because of the number of actions, because
// a stored folder remains a folder although the draft deleted its files, or because a binary file would have to be
// written as text.
func mayBeRejected(stored map[string]string, a action.Action, problem string, accepted int) bool {
	to := a.Path
	if a.To != nil {
		to = *a.To
	}
	return accepted == action.Most ||
		strings.Contains(problem, "is a folder") && hasInside(stored, to) ||
		strings.Contains(problem, "is a binary file: in one answer")
}
