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

// files is a project by path. It counts its calls.
type files struct {
	stored   map[string]string
	asked    map[string]int
	prepared map[string]bool
	broken   error
}

func newFiles(stored map[string]string) *files {
	return &files{stored: stored, asked: map[string]int{}, prepared: map[string]bool{}}
}

func etagOf(path, content string) string { return fmt.Sprintf("%q", path+"@"+content) }

func (f *files) Prepare(_ context.Context, paths ...string) error {
	f.asked["prepare"]++
	for _, p := range paths {
		f.prepared[p] = true
	}
	return f.broken
}

func (f *files) Stat(_ context.Context, path string) (action.File, bool, error) {
	f.asked["stat "+path]++
	if !f.prepared[path] {
		f.asked["unprepared"]++
	}
	content, ok := f.stored[path]
	return action.File{ETag: etagOf(path, content)}, ok, f.broken
}

func (f *files) HasInside(_ context.Context, path string) (bool, error) {
	f.asked["inside "+path]++
	return hasInside(f.stored, path), f.broken
}

func (f *files) Read(_ context.Context, path string) (string, bool, error) {
	f.asked["read "+path]++
	return f.stored[path], utf8.ValidString(f.stored[path]), f.broken
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
		"/a.ts": "one\ntwo\nthree\n", "/b.ts": "b\n", "/b2.ts": "b\n", "/src/deep/c.ts": "c\n", "/logo.png": "\x89PNG\xff", "/dos.txt": "one\r\ntwo\r\n",
		"/package.json": "{\n  \"dependencies\": {}\n}\n",
	}
}

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

func TestOperations(t *testing.T) {
	t.Parallel()
	stored := project()
	tag := func(path string) string { return etagOf(path, stored[path]) }
	type ops []action.Operation
	for name, c := range map[string]struct {
		actions []action.Action
		want    ops
	}{
		"nothing":                 {nil, nil},
		"create":                  {[]action.Action{create("/n.ts", "n")}, ops{{Op: "create", Path: "/n.ts", Content: "n"}}},
		"create an empty file":    {[]action.Action{create("/n.ts", "")}, ops{{Op: "create", Path: "/n.ts"}}},
		"update":                  {[]action.Action{update("/a.ts", "x")}, ops{{Op: "update", Path: "/a.ts", Content: "x", ETag: tag("/a.ts")}}},
		"update a binary file":    {[]action.Action{update("/logo.png", "x")}, ops{{Op: "update", Path: "/logo.png", Content: "x", ETag: tag("/logo.png")}}},
		"edit":                    {[]action.Action{edit("/a.ts", "two", "2")}, ops{{Op: "update", Path: "/a.ts", Content: "one\n2\nthree\n", ETag: tag("/a.ts")}}},
		"delete":                  {[]action.Action{remove("/logo.png")}, ops{{Op: "delete", Path: "/logo.png", ETag: tag("/logo.png")}}},
		"rename":                  {[]action.Action{rename("/logo.png", "/img/logo.png")}, ops{{Op: "rename", Path: "/logo.png", To: "/img/logo.png", ETag: tag("/logo.png")}}},
		"create, then edit":       {[]action.Action{create("/n.ts", "n"), edit("/n.ts", "n", "m")}, ops{{Op: "create", Path: "/n.ts", Content: "m"}}},
		"create, then delete":     {[]action.Action{create("/n.ts", "n"), remove("/n.ts")}, nil},
		"edit, then delete":       {[]action.Action{edit("/a.ts", "two", "2"), remove("/a.ts")}, ops{{Op: "delete", Path: "/a.ts", ETag: tag("/a.ts")}}},
		"delete, then create":     {[]action.Action{remove("/a.ts"), create("/a.ts", "x")}, ops{{Op: "update", Path: "/a.ts", Content: "x", ETag: tag("/a.ts")}}},
		"edit and revert":         {[]action.Action{edit("/a.ts", "two", "2"), edit("/a.ts", "2", "two")}, ops{{Op: "update", Path: "/a.ts", Content: stored["/a.ts"], ETag: tag("/a.ts")}}},
		"update without a change": {[]action.Action{update("/b.ts", "b\n")}, ops{{Op: "update", Path: "/b.ts", Content: "b\n", ETag: tag("/b.ts")}}},
		"delete, create the same": {[]action.Action{remove("/b.ts"), create("/b.ts", "b\n")}, ops{{Op: "update", Path: "/b.ts", Content: "b\n", ETag: tag("/b.ts")}}},
		"rename, then edit": {
			[]action.Action{rename("/b.ts", "/n.ts"), edit("/n.ts", "b", "n")},
			ops{{Op: "delete", Path: "/b.ts", ETag: tag("/b.ts")}, {Op: "create", Path: "/n.ts", Content: "n\n"}},
		},
		"edit, then rename": {
			[]action.Action{edit("/b.ts", "b", "n"), rename("/b.ts", "/n.ts")},
			ops{{Op: "delete", Path: "/b.ts", ETag: tag("/b.ts")}, {Op: "create", Path: "/n.ts", Content: "n\n"}},
		},
		"a chain of renames": {
			[]action.Action{rename("/b.ts", "/c.ts"), rename("/c.ts", "/d.ts"), rename("/d.ts", "/e/f.ts")},
			ops{{Op: "rename", Path: "/b.ts", To: "/e/f.ts", ETag: tag("/b.ts")}},
		},
		"rename and rename back": {[]action.Action{rename("/b.ts", "/c.ts"), rename("/c.ts", "/b.ts")}, nil},
		"swap": {
			[]action.Action{rename("/a.ts", "/t"), rename("/b.ts", "/a.ts"), rename("/t", "/b.ts")},
			ops{
				{Op: "update", Path: "/a.ts", Content: "b\n", ETag: tag("/a.ts")},
				{Op: "update", Path: "/b.ts", Content: "one\ntwo\nthree\n", ETag: tag("/b.ts")},
			},
		},
		"rename, and a new file in its place": {
			[]action.Action{rename("/b.ts", "/old.ts"), create("/b.ts", "new")},
			ops{{Op: "update", Path: "/b.ts", Content: "new", ETag: tag("/b.ts")}, {Op: "create", Path: "/old.ts", Content: "b\n"}},
		},
		"rename, and the same in its place": {
			[]action.Action{rename("/b.ts", "/copy.ts"), create("/b.ts", "b\n")},
			ops{{Op: "update", Path: "/b.ts", Content: "b\n", ETag: tag("/b.ts")}, {Op: "create", Path: "/copy.ts", Content: "b\n"}},
		},
		"rename to where a file was deleted": {
			[]action.Action{remove("/a.ts"), rename("/b.ts", "/a.ts")},
			ops{{Op: "update", Path: "/a.ts", Content: "b\n", ETag: tag("/a.ts")}, {Op: "delete", Path: "/b.ts", ETag: tag("/b.ts")}},
		},
		"rename to where the same was deleted": {
			[]action.Action{remove("/b.ts"), rename("/b2.ts", "/b.ts")},
			ops{{Op: "update", Path: "/b.ts", Content: "b\n", ETag: tag("/b.ts")}, {Op: "delete", Path: "/b2.ts", ETag: tag("/b2.ts")}},
		},
		"a new file where one moved away, then gone": {
			[]action.Action{rename("/logo.png", "/l.png"), rename("/l.png", "/m.png")},
			ops{{Op: "rename", Path: "/logo.png", To: "/m.png", ETag: tag("/logo.png")}},
		},
		"a file becomes a folder": {
			[]action.Action{remove("/b.ts"), create("/b.ts/index.ts", "x")},
			ops{{Op: "delete", Path: "/b.ts", ETag: tag("/b.ts")}, {Op: "create", Path: "/b.ts/index.ts", Content: "x"}},
		},
		"a file moves into a folder of its name": {
			[]action.Action{rename("/b.ts", "/b.ts/index.ts")},
			ops{{Op: "rename", Path: "/b.ts", To: "/b.ts/index.ts", ETag: tag("/b.ts")}},
		},
		"line endings of the file": {
			[]action.Action{edit("/dos.txt", "one\ntwo", "1\n2\r\n3")},
			ops{{Op: "update", Path: "/dos.txt", Content: "1\r\n2\r\n3\r\n", ETag: tag("/dos.txt")}},
		},
		"dependency": {
			[]action.Action{add("/package.json", "zod@^4.0.0")},
			ops{{Op: "update", Path: "/package.json", Content: "{\n  \"dependencies\": {\n    \"zod\": \"^4.0.0\"\n  }\n}\n", ETag: tag("/package.json")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := apply(t, newFiles(stored), c.actions...).Operations()
			if diff := cmp.Diff([]action.Operation(c.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<20)
	stored := project()
	stored["/many.ts"] = strings.Repeat("aaa\n", 300)
	stored["/broken/package.json"] = "{"
	stored["/big.ts"] = big
	stored["/indented.ts"] = "if (a) {\n\treturn b\n}\n"
	for _, c := range []struct {
		actions []action.Action // the last one is rejected
		want    string
	}{
		{[]action.Action{create("a.ts", "")}, `path "a.ts" is not a file's path: it must begin with a slash.`},
		{[]action.Action{remove("/../etc/passwd")}, `path "/../etc/passwd" is not a file's path: it must not contain . or .. segments.`},
		{[]action.Action{remove("/a\nb")}, `path "/a\nb" is not a file's path: it must not contain control characters.`},
		{[]action.Action{rename("/a.ts", "/b/")}, `to "/b/" is not a file's path: it must not contain empty segments or end with a slash.`},
		{[]action.Action{create("/a.ts", "")}, "There is a file /a.ts already: change it with edit_file or update_file, or choose another path."},
		{[]action.Action{create("/n", ""), create("/n", "")}, "There is a file /n already"},
		{[]action.Action{create("/a.ts/n", "")}, "/a.ts is a file, so /a.ts/n can't be inside it."},
		{[]action.Action{create("/n", ""), create("/n/m/o", "")}, "/n is a file, so /n/m/o can't be inside it."},
		{[]action.Action{create("/src", "")}, "/src is a folder of other files."},
		{[]action.Action{create("/n/m/o", ""), create("/n/m", "")}, "/n/m is a folder of other files."},
		{[]action.Action{rename("/b.ts", "/src/deep")}, "/src/deep is a folder of other files."},
		{[]action.Action{rename("/b.ts", "/a.ts")}, "There is a file /a.ts already"},
		{[]action.Action{rename("/b.ts", "/a.ts/b.ts")}, "/a.ts is a file, so "},
		{[]action.Action{rename("/b.ts", "/b.ts")}, "/b.ts can't be renamed to itself"},
		{[]action.Action{rename("/none", "/n")}, "There is no file /none."},
		{[]action.Action{{Type: action.RenameFile, Path: "/a.ts"}}, "rename_file needs the new path, to."},
		{[]action.Action{remove("/none")}, "There is no file /none."},
		{[]action.Action{remove("/src")}, "/src is a folder; actions are for files."},
		{[]action.Action{remove("/a.ts"), remove("/a.ts")}, "There is no file /a.ts."},
		{[]action.Action{rename("/a.ts", "/n"), update("/a.ts", "")}, "There is no file /a.ts."},
		{[]action.Action{update("/none", "")}, "There is no file /none."},
		{[]action.Action{{Type: action.UpdateFile, Path: "/a.ts"}}, "The content is missing."},
		{[]action.Action{update("/a.ts", "\xff")}, "The content is not UTF-8 text."},
		{[]action.Action{update("/a.ts", big+"x")}, "The content would be 1048577 bytes long; a file has at most 1 MiB."},
		{[]action.Action{edit("/big.ts", big, big+"y")}, "The content would be 1048577 bytes long; a file has at most 1 MiB."},
		{[]action.Action{edit("/none", "a", "b")}, "There is no file /none."},
		{[]action.Action{edit("/logo.png", "PNG", "b")}, "/logo.png is a binary file: it can be deleted, renamed and replaced, but not edited."},
		{[]action.Action{edit("/a.ts", "", "b")}, "The search is empty. To rewrite /a.ts use update_file."},
		{[]action.Action{edit("/a.ts", "two", "two")}, "The search and the replacement for /a.ts are the same: nothing would change."},
		{[]action.Action{edit("/a.ts", "four", "4")}, "The search does not occur in /a.ts. It must be there character for character"},
		{[]action.Action{edit("/a.ts", "two", "2"), edit("/a.ts", "two", "2")}, "The search does not occur in /a.ts."},
		{[]action.Action{edit("/a.ts", "one\r\ntwo", "2")}, "The search does not occur in /a.ts with line breaks CR LF; the file has LF."},
		{[]action.Action{edit("/indented.ts", "{\n  return b\n}", "x")}, "The search does not occur in /indented.ts with just this white space."},
		{[]action.Action{edit("/a.ts", "o", "0")}, "The search occurs 2 times in /a.ts. It must occur exactly once"},
		{[]action.Action{update("/b.ts", "aaa"), edit("/b.ts", "aa", "b")}, "The search occurs 2 times in /b.ts."},
		{[]action.Action{edit("/many.ts", "a", "b")}, "The search occurs 100 times or more in /many.ts."},
		{[]action.Action{{Type: action.EditFile, Path: "/a.ts", Search: new(string)}}, "edit_file needs both search and replace."},
		{[]action.Action{remove("/a.ts"), rename("/logo.png", "/a.ts")}, "/logo.png is a binary file: in one answer it can't take the place of another file"},
		{[]action.Action{rename("/logo.png", "/l.png"), create("/logo.png", "")}, "/logo.png is a binary file: in one answer"},
		{[]action.Action{add("/Cargo.toml", "serde@1")}, "/Cargo.toml is not a manifest that add_dependency supports: it supports package.json, go.mod and requirements.txt."},
		{[]action.Action{add("/web/package.json", "zod")}, "There is no file /web/package.json."},
		{[]action.Action{add("/broken/package.json", "zod")}, "/broken/package.json could not be changed: it is not valid JSON; repair it first, with edit_file."},
		{[]action.Action{add("/package.json")}, "The list of packages is empty."},
		{[]action.Action{{Type: "run", Path: "/a.ts"}}, `There is no action "run".`},
	} {
		last := len(c.actions) - 1
		d := apply(t, newFiles(stored), c.actions[:last]...)
		before, actions := slices.Clone(d.Operations()), len(d.Actions())
		err := d.Apply(t.Context(), c.actions[last])
		var problem *action.Problem
		if !errors.As(err, &problem) || !strings.HasPrefix(problem.Text, c.want) {
			t.Errorf("%s:\n%v, want\n%s", c.actions[last].Brief(), err, c.want)
		}
		if diff := cmp.Diff(before, d.Operations()); diff != "" || len(d.Actions()) != actions {
			t.Errorf("%s was rejected, but changed the draft: %s", c.actions[last].Brief(), diff)
		}
		// The next action is not affected.
		if err := d.Apply(t.Context(), create("/afterwards", "")); err != nil && last < action.Most-1 {
			t.Errorf("after %s: %v", c.actions[last].Brief(), err)
		}
	}
}

// The operations of an answer must not exceed the limits of a batch.
func TestLimits(t *testing.T) {
	t.Parallel()
	stored := map[string]string{}
	var renames, updates, deep, sized []action.Action
	for i := range 25 {
		p := fmt.Sprintf("/f%02d", i)
		stored[p] = "x"
		renames = append(renames, rename(p, p+".new"))
		updates = append(updates, update(p, "y"))
		deep = append(deep, create(p+strings.Repeat(fmt.Sprintf("/%d", i), 30)+"/x", ""))
		sized = append(sized, update(p, strings.Repeat("y", 1<<20)))
	}
	for i := range deep {
		deep[i].Path = "/d" + deep[i].Path
	}
	for _, c := range []struct {
		actions []action.Action
		fit     int
		want    string
	}{
		{renames, 10, "With this, the answer would change more than 20 files. A rename counts as two."},
		{updates, 20, "An answer has at most 20 actions; this one is too many."},
		{deep, 16, "With this, the answer would create files in more than 500 folders."},
		{sized, 3, "With this, the answer would write more than 3 MiB."},
	} {
		d := apply(t, newFiles(stored), c.actions[:c.fit]...)
		var problem *action.Problem
		if err := d.Apply(t.Context(), c.actions[c.fit]); !errors.As(err, &problem) || problem.Text != c.want {
			t.Errorf("%s: %v, want %s", c.actions[c.fit].Brief(), err, c.want)
		}
		if len(d.Operations()) != c.fit {
			t.Errorf("%d operations", len(d.Operations()))
		}
	}
	// Several actions on one file are one operation.
	d := apply(t, newFiles(stored), renames[:10]...)
	for i := range 5 {
		if err := d.Apply(t.Context(), rename("/f00.new"+strings.Repeat("x", i), "/f00.new"+strings.Repeat("x", i+1))); err != nil {
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
		t.Error(diff)
	}
}

// Storage is read only once for each path, and its errors are returned unchanged.
func TestStorage(t *testing.T) {
	t.Parallel()
	f := newFiles(project())
	d := apply(t, f, edit("/a.ts", "one", "1"), edit("/a.ts", "two", "2"), create("/src/x/y", ""), create("/src/x/z", ""), rename("/src/x/y", "/src/x/w"))
	for what, times := range f.asked {
		if times > 1 && what != "prepare" {
			t.Errorf("%s: %d times", what, times)
		}
	}
	if err := d.Apply(t.Context(), update("/b.ts", "c\n")); err != nil || f.asked["read /b.ts"] != 0 {
		t.Errorf("%v; a file was read before it was overwritten", err)
	}
	f.broken = errors.New("storage is down")
	before := slices.Clone(d.Operations())
	for _, a := range []action.Action{update("/dos.txt", "x"), create("/n", ""), edit("/logo.png", "a", "b"), rename("/a.ts", "/m")} {
		if err := d.Apply(t.Context(), a); !errors.Is(err, f.broken) {
			t.Errorf("%s: %v", a.Brief(), err)
		}
	}
	f.broken = nil
	if diff := cmp.Diff(before, d.Operations()); diff != "" {
		t.Error(diff)
	}
	if err := d.Apply(t.Context(), create("/n", "")); err != nil {
		t.Error(err)
	}
}

// An action announces all paths that it reads to storage in one call, even if they are deep. Known paths are not
// announced again.
func TestPrepare(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("/d", 250)
	for name, c := range map[string]struct {
		actions  []action.Action
		prepares int
	}{
		"create":          {[]action.Action{create(deep+"/a", "")}, 1},
		"create beside":   {[]action.Action{create(deep+"/a", ""), create(deep+"/b", "")}, 2},
		"rename":          {[]action.Action{rename("/a.ts", deep+"/a")}, 1},
		"update, edit":    {[]action.Action{update("/a.ts", "x"), edit("/a.ts", "x", "y"), remove("/a.ts")}, 1},
		"a dependency":    {[]action.Action{add("/package.json", "zod@^4.0.0")}, 1},
		"there and back":  {[]action.Action{rename("/a.ts", "/n"), rename("/n", "/a.ts")}, 1},
		"moved by itself": {[]action.Action{rename("/a.ts", "/a.ts/n")}, 1},
	} {
		f := newFiles(project())
		apply(t, f, c.actions...)
		if f.asked["prepare"] != c.prepares || f.asked["unprepared"] != 0 {
			t.Errorf("%s: %d calls of Prepare, %d unprepared reads", name, f.asked["prepare"], f.asked["unprepared"])
		}
	}
}
