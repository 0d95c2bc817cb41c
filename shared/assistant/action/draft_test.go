package action_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/action"
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

// Several actions on the same path result in one operation.
func TestOperations(t *testing.T) {
	t.Parallel()
	stored := project()
	created := func(path, content string) action.Operation {
		return action.Operation{Op: "create", Path: path, Content: content}
	}
	updated := func(path, content string) action.Operation {
		return action.Operation{Op: "update", Path: path, Content: content, ETag: etagOf(path, stored[path])}
	}
	deleted := func(path string) action.Operation {
		return action.Operation{Op: "delete", Path: path, ETag: etagOf(path, stored[path])}
	}
	renamed := func(path, to string) action.Operation {
		return action.Operation{Op: "rename", Path: path, To: to, ETag: etagOf(path, stored[path])}
	}
	for name, c := range map[string]struct {
		actions []action.Action
		want    []action.Operation
	}{
		"no actions": {},
		"create": {
			actions: []action.Action{create("/n.ts", "n")},
			want:    []action.Operation{created("/n.ts", "n")},
		},
		"create an empty file": {
			actions: []action.Action{create("/n.ts", "")},
			want:    []action.Operation{created("/n.ts", "")},
		},
		"update": {
			actions: []action.Action{update("/a.ts", "x")},
			want:    []action.Operation{updated("/a.ts", "x")},
		},
		"update a binary file": {
			actions: []action.Action{update("/logo.png", "x")},
			want:    []action.Operation{updated("/logo.png", "x")},
		},
		"edit": {
			actions: []action.Action{edit("/a.ts", "two", "2")},
			want:    []action.Operation{updated("/a.ts", "one\n2\nthree\n")},
		},
		"delete": {
			actions: []action.Action{remove("/logo.png")},
			want:    []action.Operation{deleted("/logo.png")},
		},
		"rename": {
			actions: []action.Action{rename("/logo.png", "/img/logo.png")},
			want:    []action.Operation{renamed("/logo.png", "/img/logo.png")},
		},
		"create, then edit": {
			actions: []action.Action{create("/n.ts", "n"), edit("/n.ts", "n", "m")},
			want:    []action.Operation{created("/n.ts", "m")},
		},
		"create, then delete": {
			actions: []action.Action{create("/n.ts", "n"), remove("/n.ts")},
		},
		"edit, then delete": {
			actions: []action.Action{edit("/a.ts", "two", "2"), remove("/a.ts")},
			want:    []action.Operation{deleted("/a.ts")},
		},
		"delete, then create": {
			actions: []action.Action{remove("/a.ts"), create("/a.ts", "x")},
			want:    []action.Operation{updated("/a.ts", "x")},
		},
		"edit and revert": {
			actions: []action.Action{edit("/a.ts", "two", "2"), edit("/a.ts", "2", "two")},
			want:    []action.Operation{updated("/a.ts", stored["/a.ts"])},
		},
		"update without a change": {
			actions: []action.Action{update("/b.ts", "b\n")},
			want:    []action.Operation{updated("/b.ts", "b\n")},
		},
		"delete, then create with the same content": {
			actions: []action.Action{remove("/b.ts"), create("/b.ts", "b\n")},
			want:    []action.Operation{updated("/b.ts", "b\n")},
		},
		"rename, then edit": {
			actions: []action.Action{rename("/b.ts", "/n.ts"), edit("/n.ts", "b", "n")},
			want:    []action.Operation{deleted("/b.ts"), created("/n.ts", "n\n")},
		},
		"edit, then rename": {
			actions: []action.Action{edit("/b.ts", "b", "n"), rename("/b.ts", "/n.ts")},
			want:    []action.Operation{deleted("/b.ts"), created("/n.ts", "n\n")},
		},
		"a chain of renames": {
			actions: []action.Action{rename("/b.ts", "/c.ts"), rename("/c.ts", "/d.ts"), rename("/d.ts", "/e/f.ts")},
			want:    []action.Operation{renamed("/b.ts", "/e/f.ts")},
		},
		"rename and rename back": {
			actions: []action.Action{rename("/b.ts", "/c.ts"), rename("/c.ts", "/b.ts")},
		},
		"swap two files": {
			actions: []action.Action{rename("/a.ts", "/t"), rename("/b.ts", "/a.ts"), rename("/t", "/b.ts")},
			want:    []action.Operation{updated("/a.ts", "b\n"), updated("/b.ts", "one\ntwo\nthree\n")},
		},
		"rename, then create at the old path": {
			actions: []action.Action{rename("/b.ts", "/old.ts"), create("/b.ts", "new")},
			want:    []action.Operation{updated("/b.ts", "new"), created("/old.ts", "b\n")},
		},
		"rename, then create at the old path with the same content": {
			actions: []action.Action{rename("/b.ts", "/copy.ts"), create("/b.ts", "b\n")},
			want:    []action.Operation{updated("/b.ts", "b\n"), created("/copy.ts", "b\n")},
		},
		"rename to the path of a deleted file": {
			actions: []action.Action{remove("/a.ts"), rename("/b.ts", "/a.ts")},
			want:    []action.Operation{updated("/a.ts", "b\n"), deleted("/b.ts")},
		},
		"rename to the path of a deleted file with the same content": {
			actions: []action.Action{remove("/b.ts"), rename("/b2.ts", "/b.ts")},
			want:    []action.Operation{updated("/b.ts", "b\n"), deleted("/b2.ts")},
		},
		"rename a binary file twice": {
			actions: []action.Action{rename("/logo.png", "/l.png"), rename("/l.png", "/m.png")},
			want:    []action.Operation{renamed("/logo.png", "/m.png")},
		},
		"replace a file with a folder": {
			actions: []action.Action{remove("/b.ts"), create("/b.ts/index.ts", "x")},
			want:    []action.Operation{deleted("/b.ts"), created("/b.ts/index.ts", "x")},
		},
		"rename into a folder that has the file's old path": {
			actions: []action.Action{rename("/b.ts", "/b.ts/index.ts")},
			want:    []action.Operation{renamed("/b.ts", "/b.ts/index.ts")},
		},
		"edit a file with CR LF": {
			actions: []action.Action{edit("/dos.txt", "one\ntwo", "1\n2\r\n3")},
			want:    []action.Operation{updated("/dos.txt", "1\r\n2\r\n3\r\n")},
		},
		"add a dependency": {
			actions: []action.Action{add("/package.json", "zod@^4.0.0")},
			want: []action.Operation{
				updated("/package.json", "{\n  \"dependencies\": {\n    \"zod\": \"^4.0.0\"\n  }\n}\n"),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := apply(t, newFiles(stored), c.actions...).Operations()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("operations (-want +got):\n%s", diff)
			}
		})
	}
}

// An action that is not possible is rejected with a problem and changes nothing.
func TestProblems(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<20)
	stored := project()
	stored["/many.ts"] = strings.Repeat("aaa\n", 300)
	stored["/broken/package.json"] = "{"
	stored["/big.ts"] = big
	stored["/indented.ts"] = "if (a) {\n\treturn b\n}\n"
	for _, c := range []struct {
		before   []action.Action
		rejected action.Action
		want     string // the beginning of the problem
	}{
		{
			rejected: create("a.ts", ""),
			want:     `path "a.ts" is not a valid file path: it must begin with a slash.`,
		},
		{
			rejected: remove("/../etc/passwd"),
			want:     `path "/../etc/passwd" is not a valid file path: it must not contain . or .. segments.`,
		},
		{
			rejected: remove("/a\nb"),
			want:     `path "/a\nb" is not a valid file path: it must not contain control characters.`,
		},
		{
			rejected: rename("/a.ts", "/b/"),
			want:     `to "/b/" is not a valid file path: it must not contain empty segments or end with a slash.`,
		},
		{
			rejected: create("/a.ts", ""),
			want:     "The file /a.ts already exists: change it with edit_file or update_file, or choose another path.",
		},
		{
			before:   []action.Action{create("/n", "")},
			rejected: create("/n", ""),
			want:     "The file /n already exists",
		},
		{
			rejected: create("/a.ts/n", ""),
			want:     "/a.ts is a file, so /a.ts/n can't be inside it.",
		},
		{
			before:   []action.Action{create("/n", "")},
			rejected: create("/n/m/o", ""),
			want:     "/n is a file, so /n/m/o can't be inside it.",
		},
		{
			rejected: create("/src", ""),
			want:     "/src is a folder: choose another path for the file.",
		},
		{
			before:   []action.Action{create("/n/m/o", "")},
			rejected: create("/n/m", ""),
			want:     "/n/m is a folder: choose another path for the file.",
		},
		{
			rejected: rename("/b.ts", "/src/deep"),
			want:     "/src/deep is a folder: choose another path for the file.",
		},
		{
			rejected: rename("/b.ts", "/a.ts"),
			want:     "The file /a.ts already exists",
		},
		{
			rejected: rename("/b.ts", "/a.ts/b.ts"),
			want:     "/a.ts is a file, so ",
		},
		{
			rejected: rename("/b.ts", "/b.ts"),
			want:     "/b.ts can't be renamed to itself",
		},
		{
			rejected: rename("/none", "/n"),
			want:     "The file /none does not exist.",
		},
		{
			rejected: action.Action{Type: action.RenameFile, Path: "/a.ts"},
			want:     "rename_file requires the new path in the field \"to\".",
		},
		{
			rejected: remove("/none"),
			want:     "The file /none does not exist.",
		},
		{
			rejected: remove("/src"),
			want:     "/src is a folder. Only files can be changed.",
		},
		{
			before:   []action.Action{remove("/a.ts")},
			rejected: remove("/a.ts"),
			want:     "The file /a.ts does not exist.",
		},
		{
			before:   []action.Action{rename("/a.ts", "/n")},
			rejected: update("/a.ts", ""),
			want:     "The file /a.ts does not exist.",
		},
		{
			rejected: update("/none", ""),
			want:     "The file /none does not exist.",
		},
		{
			rejected: action.Action{Type: action.UpdateFile, Path: "/a.ts"},
			want:     "The content is missing.",
		},
		{
			rejected: update("/a.ts", "\xff"),
			want:     "The content is not UTF-8 text.",
		},
		{
			rejected: update("/a.ts", big+"x"),
			want:     "The content would be 1048577 bytes long; a file can have at most 1 MiB.",
		},
		{
			rejected: edit("/big.ts", big, big+"y"),
			want:     "The content would be 1048577 bytes long; a file can have at most 1 MiB.",
		},
		{
			rejected: edit("/none", "a", "b"),
			want:     "The file /none does not exist.",
		},
		{
			rejected: edit("/logo.png", "PNG", "b"),
			want:     "/logo.png is a binary file, or larger than 1 MiB: it can be deleted, renamed and replaced, but not edited.",
		},
		{
			rejected: edit("/a.ts", "", "b"),
			want:     "The search is empty. To rewrite /a.ts use update_file.",
		},
		{
			rejected: edit("/a.ts", "two", "two"),
			want:     "The search and the replacement for /a.ts are the same, so nothing would change.",
		},
		{
			rejected: edit("/a.ts", "four", "4"),
			want:     "The search does not occur in /a.ts. It must match the file character for character",
		},
		{
			before:   []action.Action{edit("/a.ts", "two", "2")},
			rejected: edit("/a.ts", "two", "2"),
			want:     "The search does not occur in /a.ts.",
		},
		{
			rejected: edit("/a.ts", "one\r\ntwo", "2"),
			want:     "The search does not occur in /a.ts with line breaks CR LF; the file has LF.",
		},
		{
			rejected: edit("/indented.ts", "{\n  return b\n}", "x"),
			want:     "The search does not occur in /indented.ts with exactly this white space.",
		},
		{
			rejected: edit("/a.ts", "o", "0"),
			want:     "The search occurs 2 times in /a.ts. It must occur exactly once",
		},
		{
			before:   []action.Action{update("/b.ts", "aaa")},
			rejected: edit("/b.ts", "aa", "b"),
			want:     "The search occurs 2 times in /b.ts.",
		},
		{
			rejected: edit("/many.ts", "a", "b"),
			want:     "The search occurs 100 times or more in /many.ts.",
		},
		{
			rejected: action.Action{Type: action.EditFile, Path: "/a.ts", Search: new(string)},
			want:     "edit_file requires both search and replace.",
		},
		{
			before:   []action.Action{remove("/a.ts")},
			rejected: rename("/logo.png", "/a.ts"),
			want:     "/logo.png is a binary file, or larger than 1 MiB. One answer can't rename it to the path of another file",
		},
		{
			before:   []action.Action{rename("/logo.png", "/l.png")},
			rejected: create("/logo.png", ""),
			want:     "/logo.png is a binary file, or larger than 1 MiB. One answer can't rename it",
		},
		{
			rejected: add("/Cargo.toml", "serde@1"),
			want:     "/Cargo.toml is not a manifest that add_dependency supports: it supports package.json, go.mod and requirements.txt.",
		},
		{
			rejected: add("/web/package.json", "zod"),
			want:     "The file /web/package.json does not exist.",
		},
		{
			rejected: add("/broken/package.json", "zod"),
			want:     "/broken/package.json could not be changed: it is not valid JSON; repair it first, with edit_file.",
		},
		{
			rejected: add("/package.json"),
			want:     "The list of packages is empty.",
		},
		{
			rejected: action.Action{Type: "run", Path: "/a.ts"},
			want:     `There is no action "run".`,
		},
	} {
		f := newFiles(stored)
		d := apply(t, f, c.before...)
		operations := slices.Clone(d.Operations())
		err := d.Apply(t.Context(), c.rejected)
		var problem *action.Problem
		if !errors.As(err, &problem) || !strings.HasPrefix(problem.Text, c.want) {
			t.Errorf("%s: got error %v, want the problem %s", c.rejected.Brief(), err, c.want)
		}
		if diff := cmp.Diff(operations, d.Operations()); diff != "" || len(d.Actions()) != len(c.before) {
			t.Errorf("%s was rejected, but changed the draft (-before +after):\n%s", c.rejected.Brief(), diff)
		}
		if err := d.Apply(t.Context(), create("/next", "")); err != nil {
			t.Errorf("the action after the rejected %s failed: %v", c.rejected.Brief(), err)
		}
	}
}

// The operations of an answer must not exceed the limits of a batch.
func TestLimits(t *testing.T) {
	t.Parallel()
	stored := map[string]string{}
	var renames, updates, deep, large []action.Action
	for i := range 25 {
		p := fmt.Sprintf("/f%02d", i)
		stored[p] = "x"
		renames = append(renames, rename(p, p+".new"))
		updates = append(updates, update(p, "y"))
		deep = append(deep, create("/d"+p+strings.Repeat(fmt.Sprintf("/%d", i), 30)+"/x", ""))
		large = append(large, update(p, strings.Repeat("y", 1<<20)))
	}
	for _, c := range []struct {
		actions  []action.Action
		accepted int // the number of accepted actions; the next one is rejected
		want     string
	}{
		{
			actions:  renames,
			accepted: 10,
			want:     "With this action, the answer would change more than 20 files. A rename counts as two.",
		},
		{
			actions:  updates,
			accepted: 20,
			want:     "An answer can have at most 20 actions. This action exceeds the limit.",
		},
		{
			actions:  deep,
			accepted: 16,
			want:     "With this action, the answer would create files in more than 500 folders.",
		},
		{
			actions:  large,
			accepted: 3,
			want:     "With this action, the answer would write more than 3 MiB.",
		},
	} {
		d := apply(t, newFiles(stored), c.actions[:c.accepted]...)
		rejected := c.actions[c.accepted]
		var problem *action.Problem
		if err := d.Apply(t.Context(), rejected); !errors.As(err, &problem) || problem.Text != c.want {
			t.Errorf("%s: got error %v, want the problem %s", rejected.Brief(), err, c.want)
		}
		if len(d.Operations()) != c.accepted {
			t.Errorf("%s: got %d operations, want %d", rejected.Brief(), len(d.Operations()), c.accepted)
		}
	}
	// Several renames of one file are one operation, so they do not exceed the limit of operations.
	d := apply(t, newFiles(stored), renames[:10]...)
	for i := range 5 {
		from := "/f00.new" + strings.Repeat("x", i)
		if err := d.Apply(t.Context(), rename(from, from+"x")); err != nil {
			t.Error(err)
		}
	}
}

// The returned actions can be applied literally: the search has the line endings of the file.
func TestActionsCanBeAppliedLiterally(t *testing.T) {
	t.Parallel()
	d := apply(t, newFiles(project()), edit("/dos.txt", "one\ntwo", "1\n2"), edit("/a.ts", "one\ntwo", "1\n2"))
	want := []action.Action{edit("/dos.txt", "one\r\ntwo", "1\r\n2"), edit("/a.ts", "one\ntwo", "1\n2")}
	if diff := cmp.Diff(want, d.Actions()); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

// Storage is read only once for each path, and its errors are returned unchanged.
func TestStorage(t *testing.T) {
	t.Parallel()
	f := newFiles(project())
	d := apply(t, f,
		edit("/a.ts", "one", "1"),
		edit("/a.ts", "two", "2"),
		create("/src/x/y", ""),
		create("/src/x/z", ""),
		rename("/src/x/y", "/src/x/w"))
	for call, count := range f.calls {
		if count > 1 && call != "prepare" {
			t.Errorf("got %d calls of %s, want 1", count, call)
		}
	}
	if err := d.Apply(t.Context(), update("/b.ts", "c\n")); err != nil {
		t.Error(err)
	}
	if f.calls["read /b.ts"] != 0 {
		t.Error("a file was read before it was overwritten")
	}

	f.err = errors.New("storage is down")
	before := slices.Clone(d.Operations())
	for _, a := range []action.Action{
		update("/dos.txt", "x"),
		create("/n", ""),
		edit("/logo.png", "a", "b"),
		rename("/a.ts", "/m"),
	} {
		if err := d.Apply(t.Context(), a); !errors.Is(err, f.err) {
			t.Errorf("%s: got error %v, want the error of the storage", a.Brief(), err)
		}
	}
	f.err = nil
	if diff := cmp.Diff(before, d.Operations()); diff != "" {
		t.Errorf("failed actions changed the operations (-before +after):\n%s", diff)
	}
	if err := d.Apply(t.Context(), create("/n", "")); err != nil {
		t.Errorf("an action failed although the storage works again: %v", err)
	}
}

// Before an action reads paths from storage, it announces all of them in one call, even if the paths are deep. Known
// paths are not announced again.
func TestPrepare(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("/d", 250)
	for name, c := range map[string]struct {
		actions  []action.Action
		prepares int // calls of Prepare
	}{
		"create": {
			actions:  []action.Action{create(deep+"/a", "")},
			prepares: 1,
		},
		"create two files in a folder": {
			actions:  []action.Action{create(deep+"/a", ""), create(deep+"/b", "")},
			prepares: 2,
		},
		"rename": {
			actions:  []action.Action{rename("/a.ts", deep+"/a")},
			prepares: 1,
		},
		"update, edit and delete": {
			actions:  []action.Action{update("/a.ts", "x"), edit("/a.ts", "x", "y"), remove("/a.ts")},
			prepares: 1,
		},
		"add a dependency": {
			actions:  []action.Action{add("/package.json", "zod@^4.0.0")},
			prepares: 1,
		},
		"rename and rename back": {
			actions:  []action.Action{rename("/a.ts", "/n"), rename("/n", "/a.ts")},
			prepares: 1,
		},
		"rename into a folder that has the file's old path": {
			actions:  []action.Action{rename("/a.ts", "/a.ts/n")},
			prepares: 1,
		},
	} {
		f := newFiles(project())
		apply(t, f, c.actions...)
		if f.calls["prepare"] != c.prepares {
			t.Errorf("%s: got %d calls of Prepare, want %d", name, f.calls["prepare"], c.prepares)
		}
		if f.calls["unprepared"] != 0 {
			t.Errorf("%s: %d calls of Stat for paths that were not announced", name, f.calls["unprepared"])
		}
	}
}
