package action_test

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/action"
)

// problems has one case in each paragraph: actions, and the problem of the last one. The draft accepts the others.
//
//go:embed testdata/problems.txt
var problems string

// An action that is not possible is rejected with a problem and changes nothing.
func TestProblems(t *testing.T) {
	t.Parallel()
	for paragraph := range strings.SplitSeq(strings.TrimSpace(problems), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		last := len(lines) - 1
		actions := make([]action.Action, last)
		for i := range actions {
			if err := json.Unmarshal([]byte(lines[i]), &actions[i]); err != nil {
				t.Fatalf("%s: %v", lines[i], err)
			}
		}
		checkProblem(t, actions[:last-1], actions[last-1], lines[last])
	}
	big := strings.Repeat("x", 1<<20)
	const tooLong = "The content would be 1048577 bytes long; a file can have at most 1 MiB."
	checkProblem(t, nil, update("/a.ts", "\xff"), "The content is not UTF-8 text.")
	checkProblem(t, nil, update("/a.ts", big+"x"), tooLong)
	checkProblem(t, []action.Action{update("/a.ts", big)}, edit("/a.ts", big, big+"y"), tooLong)
}

// checkProblem checks that an action is rejected after other actions.
func checkProblem(t *testing.T, before []action.Action, rejected action.Action, want string) {
	t.Helper()
	stored := project()
	stored["/many.ts"] = strings.Repeat("aaa\n", 300)
	stored["/broken/package.json"] = "{"
	stored["/indented.ts"] = "if (a) {\n\treturn b\n}\n"
	d := apply(t, newFiles(stored), before...)
	operations := slices.Clone(d.Operations())
	err := d.Apply(t.Context(), rejected)
	var problem *action.Problem
	if !errors.As(err, &problem) || problem.Text != want {
		t.Errorf("%s: got error %v, want the problem %s", rejected.Brief(), err, want)
	}
	if diff := cmp.Diff(operations, d.Operations(), exportedFields); diff != "" || len(d.Actions()) != len(before) {
		t.Errorf("%s was rejected, but changed the draft (-before +after):\n%s", rejected.Brief(), diff)
	}
	if err := d.Apply(t.Context(), create("/next", "")); err != nil {
		t.Errorf("the action after the rejected %s failed: %v", rejected.Brief(), err)
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
			actions:  deep, // each creates a path in 31 new folders
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
