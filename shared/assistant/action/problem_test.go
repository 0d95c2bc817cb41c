package action_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/action"
)

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
		{rejected: create("a.ts", ""), want: `path "a.ts" is not a valid file path: it must begin with a slash.`},
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
		{before: []action.Action{create("/n", "")}, rejected: create("/n", ""), want: "The file /n already exists"},
		{rejected: create("/a.ts/n", ""), want: "/a.ts is a file, so /a.ts/n can't be inside it."},
		{
			before:   []action.Action{create("/n", "")},
			rejected: create("/n/m/o", ""),
			want:     "/n is a file, so /n/m/o can't be inside it.",
		},
		{rejected: create("/src", ""), want: "/src is a folder: choose another path for the file."},
		{
			before:   []action.Action{create("/n/m/o", "")},
			rejected: create("/n/m", ""),
			want:     "/n/m is a folder: choose another path for the file.",
		},
		{rejected: rename("/b.ts", "/src/deep"), want: "/src/deep is a folder: choose another path for the file."},
		{rejected: rename("/b.ts", "/a.ts"), want: "The file /a.ts already exists"},
		{rejected: rename("/b.ts", "/a.ts/b.ts"), want: "/a.ts is a file, so "},
		{rejected: rename("/b.ts", "/b.ts"), want: "/b.ts can't be renamed to itself"},
		{rejected: rename("/none", "/n"), want: "The file /none does not exist."},
		{
			rejected: action.Action{Type: action.RenameFile, Path: "/a.ts"},
			want:     "rename_file requires the new path in the field \"to\".",
		},
		{rejected: remove("/none"), want: "The file /none does not exist."},
		{rejected: remove("/src"), want: "/src is a folder. Only files can be changed."},
		{before: []action.Action{remove("/a.ts")}, rejected: remove("/a.ts"), want: "The file /a.ts does not exist."},
		{
			before:   []action.Action{rename("/a.ts", "/n")},
			rejected: update("/a.ts", ""),
			want:     "The file /a.ts does not exist.",
		},
		{rejected: update("/none", ""), want: "The file /none does not exist."},
		{rejected: action.Action{Type: action.UpdateFile, Path: "/a.ts"}, want: "The content is missing."},
		{rejected: update("/a.ts", "\xff"), want: "The content is not UTF-8 text."},
		{
			rejected: update("/a.ts", big+"x"),
			want:     "The content would be 1048577 bytes long; a file can have at most 1 MiB.",
		},
		{
			rejected: edit("/big.ts", big, big+"y"),
			want:     "The content would be 1048577 bytes long; a file can have at most 1 MiB.",
		},
		{rejected: edit("/none", "a", "b"), want: "The file /none does not exist."},
		{
			rejected: edit("/logo.png", "PNG", "b"),
			want:     "/logo.png is a binary file, or larger than 1 MiB: it can be deleted, renamed and replaced, but not edited.",
		},
		{rejected: edit("/a.ts", "", "b"), want: "The search is empty. To rewrite /a.ts use update_file."},
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
		{rejected: edit("/a.ts", "o", "0"), want: "The search occurs more than once in /a.ts. It must occur exactly once"},
		{
			before:   []action.Action{update("/b.ts", "aaa")},
			rejected: edit("/b.ts", "aa", "b"),
			want:     "The search occurs more than once in /b.ts.",
		},
		{rejected: edit("/many.ts", "a", "b"), want: "The search occurs more than once in /many.ts."},
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
			want:     "/Cargo.toml is not a manifest that add_dependency supports: it supports package.json and go.mod.",
		},
		{rejected: add("/web/package.json", "zod"), want: "The file /web/package.json does not exist."},
		{
			rejected: add("/broken/package.json", "zod"),
			want:     "/broken/package.json could not be changed: it is not valid JSON; repair it first, with edit_file.",
		},
		{rejected: add("/package.json"), want: "The list of packages is empty."},
		{rejected: action.Action{Type: "run", Path: "/a.ts"}, want: `There is no action "run".`},
	} {
		f := newFiles(stored)
		d := apply(t, f, c.before...)
		operations := slices.Clone(d.Operations())
		err := d.Apply(t.Context(), c.rejected)
		var problem *action.Problem
		if !errors.As(err, &problem) || !strings.HasPrefix(problem.Text, c.want) {
			t.Errorf("%s: got error %v, want the problem %s", c.rejected.Brief(), err, c.want)
		}
		if diff := cmp.Diff(operations, d.Operations(), exportedFields); diff != "" || len(d.Actions()) != len(c.before) {
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
	const limit = "This action exceeds a limit: the changes of an answer "
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
			want:     limit + "must have at most 20 operations; a rename counts as two.",
		},
		{
			actions:  updates,
			accepted: 20,
			want:     "An answer can have at most 20 actions. This action exceeds the limit.",
		},
		{
			actions:  deep,
			accepted: 16,
			want:     limit + "must create paths in at most 500 folders.",
		},
		{actions: large, accepted: 3, want: limit + "must have at most 3 MiB of content after decoding."},
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
