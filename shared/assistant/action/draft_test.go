package action_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/action"
	"devplatform/shared/project/file"
)

// Several actions on the same path result in one operation.
func TestOperations(t *testing.T) {
	t.Parallel()
	stored := project()
	etag := func(path string) *string { return new(etagOf(path, stored[path])) }
	created := func(path, content string) file.Operation {
		return file.Operation{Action: file.Create, Path: path, Content: &content}
	}
	updated := func(path, content string) file.Operation {
		return file.Operation{Action: file.Update, Path: path, Content: &content, ETag: etag(path)}
	}
	deleted := func(path string) file.Operation {
		return file.Operation{Action: file.Delete, Path: path, ETag: etag(path)}
	}
	renamed := func(path, to string) file.Operation {
		return file.Operation{Action: file.Rename, Path: path, To: to, ETag: etag(path)}
	}
	for name, c := range map[string]struct { // the property test checks the effect of all other combinations
		actions []action.Action
		want    []file.Operation
	}{
		"update a binary file": {
			actions: []action.Action{update("/logo.png", "x")},
			want:    []file.Operation{updated("/logo.png", "x")},
		},
		"rename": {
			actions: []action.Action{rename("/logo.png", "/img/logo.png")},
			want:    []file.Operation{renamed("/logo.png", "/img/logo.png")},
		},
		"edit and revert": {
			actions: []action.Action{edit("/a.ts", "two", "2"), edit("/a.ts", "2", "two")},
			want:    []file.Operation{updated("/a.ts", stored["/a.ts"])},
		},
		"rename, then edit": {
			actions: []action.Action{rename("/b.ts", "/n.ts"), edit("/n.ts", "b", "n")},
			want:    []file.Operation{deleted("/b.ts"), created("/n.ts", "n\n")},
		},
		"a chain of renames": {
			actions: []action.Action{rename("/b.ts", "/c.ts"), rename("/c.ts", "/d.ts"), rename("/d.ts", "/e/f.ts")},
			want:    []file.Operation{renamed("/b.ts", "/e/f.ts")},
		},
		"rename and rename back": {actions: []action.Action{rename("/b.ts", "/c.ts"), rename("/c.ts", "/b.ts")}},
		"swap two files": {
			actions: []action.Action{rename("/a.ts", "/t"), rename("/b.ts", "/a.ts"), rename("/t", "/b.ts")},
			want:    []file.Operation{updated("/a.ts", "b\n"), updated("/b.ts", "one\ntwo\nthree\n")},
		},
		"rename a binary file twice": {
			actions: []action.Action{rename("/logo.png", "/l.png"), rename("/l.png", "/m.png")},
			want:    []file.Operation{renamed("/logo.png", "/m.png")},
		},
		"rename into a folder that has the file's old path": {
			actions: []action.Action{rename("/b.ts", "/b.ts/index.ts")},
			want:    []file.Operation{renamed("/b.ts", "/b.ts/index.ts")},
		},
		"add a dependency": {
			actions: []action.Action{add("/package.json", "zod@^4.0.0")},
			want: []file.Operation{
				updated("/package.json", "{\n  \"dependencies\": {\n    \"zod\": \"^4.0.0\"\n  }\n}\n"),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := apply(t, newFiles(stored), c.actions...).Operations()
			if diff := cmp.Diff(c.want, got, exportedFields); diff != "" {
				t.Errorf("operations (-want +got):\n%s", diff)
			}
		})
	}
}

// The errors of storage are returned unchanged, and change nothing. A file that is overwritten is not read.
func TestStorage(t *testing.T) {
	t.Parallel()
	f := newFiles(project())
	d := apply(t, f, edit("/a.ts", "one", "1"), create("/src/x/y", ""), rename("/src/x/y", "/src/x/w"))
	if err := d.Apply(t.Context(), update("/b.ts", "c\n")); err != nil {
		t.Error(err)
	}
	if f.read["/b.ts"] {
		t.Error("a file was read before it was overwritten")
	}

	if err := d.Apply(t.Context(), remove("/b.ts")); err != nil {
		t.Error(err)
	}

	f.err = errors.New("storage is down")
	before := slices.Clone(d.Operations())
	for _, a := range []action.Action{
		edit("/logo.png", "a", "b"),
		edit("/b2.ts", "b", "c"),
		rename("/b2.ts", "/b.ts"),
	} {
		if err := d.Apply(t.Context(), a); !errors.Is(err, f.err) {
			t.Errorf("%s: got error %v, want the error of the storage", a.Brief(), err)
		}
	}
	f.err = nil
	if diff := cmp.Diff(before, d.Operations(), exportedFields); diff != "" {
		t.Errorf("failed actions changed the operations (-before +after):\n%s", diff)
	}
	if err := d.Apply(t.Context(), create("/n", "")); err != nil {
		t.Errorf("an action failed although the storage works again: %v", err)
	}
}
