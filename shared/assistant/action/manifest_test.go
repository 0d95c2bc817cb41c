package action_test

import (
	_ "embed"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/action"
)

// contentAfter returns the content of a manifest after the packages were added.
func contentAfter(t *testing.T, path, content string, packages ...string) (string, error) {
	t.Helper()
	d := action.NewDraft(newFiles(map[string]string{path: content}))
	if err := d.Apply(t.Context(), add(path, packages...)); err != nil {
		return "", err
	}
	if len(d.Operations()) == 0 {
		return content, nil
	}
	return *d.Operations()[0].Content, nil
}

// manifests has a case in each paragraph: its name, the path of the manifest, the packages to add, and the content
// before and after.
//
//go:embed testdata/manifests.txt
var manifests string

func TestManifests(t *testing.T) {
	t.Parallel()
	for paragraph := range strings.SplitSeq(strings.TrimSpace(manifests), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		t.Run(lines[0], func(t *testing.T) {
			t.Parallel()
			before, beforeErr := strconv.Unquote(lines[3])
			want, wantErr := strconv.Unquote(lines[4])
			got, err := contentAfter(t, lines[1], before, strings.Split(lines[2], ", ")...)
			if err := errors.Join(beforeErr, wantErr, err); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

// manifestProblems has a case in each paragraph: the path of the manifest, its content, the packages, and the problem.
//
//go:embed testdata/manifest_problems.txt
var manifestProblems string

// Packages that are not valid, and manifests that can't be changed, result in a problem.
func TestManifestProblems(t *testing.T) {
	t.Parallel()
	check := func(path, content, packages, want string) {
		t.Helper()
		_, err := contentAfter(t, path, content, strings.Split(packages, ", ")...)
		var problem *action.Problem
		if !errors.As(err, &problem) || problem.Text != want {
			t.Errorf("%s %q: got error %v, want the problem %s", path, packages, err, want)
		}
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(manifestProblems), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		content, contentErr := strconv.Unquote(lines[1])
		packages, err := strconv.Unquote(lines[2])
		if err := errors.Join(contentErr, err); err != nil {
			t.Fatal(err)
		}
		check(lines[0], content, packages, lines[3])
	}
	const tooLarge = " is larger than 256 KiB, so add_dependency cannot change it: use edit_file."
	check("/package.json", "{}"+strings.Repeat(" ", 256<<10), "a@1", "/package.json"+tooLarge)
	check("/go.mod", strings.Repeat("\n", 256<<10+1), "example.com/a@v1.0.0", "/go.mod"+tooLarge)
	longRange := strings.Repeat("1", 299)
	check("/package.json", `{"dependencies":{"a":"`+longRange+`"}}`, "a",
		`The package "a@`+longRange[:78]+`…" is too long.`)
}

// A package that is requested without a range gets the range that the manifest has after the action.
func TestPackagesWithoutRange(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		path, content  string
		packages, want []string
	}{
		{
			"/package.json", `{"devDependencies":{"a":"^1","@x/b":"\u007e2"}}`,
			[]string{"a", "@x/b", "c", "d@^4"},
			[]string{"a@^1", "@x/b@~2", "c@latest", "d@^4"},
		},
		{
			"/go.mod", "module m\n\nrequire github.com/b/b v1.0.0\n",
			[]string{"github.com/b/b", "github.com/c/c@v1.2.0"},
			[]string{"github.com/b/b@v1.0.0", "github.com/c/c@v1.2.0"},
		},
	} {
		d := action.NewDraft(newFiles(map[string]string{tc.path: tc.content}))
		if err := d.Apply(t.Context(), add(tc.path, tc.packages...)); err != nil {
			t.Fatalf("%s: %v", tc.path, err)
		}
		if diff := cmp.Diff(tc.want, d.Actions()[0].Packages); diff != "" {
			t.Errorf("%s: packages of the action (-want +got):\n%s", tc.path, diff)
		}
	}
}

// A manifest of brackets alone would exceed the stack of a parser without a limit of the nesting, which ends the
// process.
func TestDeepPackageJSON(t *testing.T) {
	t.Parallel()
	const want = "it is not valid JSON"
	for _, bracket := range []string{"[", `{"":`} {
		content := strings.Repeat(bracket, (256<<10)/len(bracket))
		if _, err := contentAfter(t, "/package.json", content, "a@1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", bracket, err, want)
		}
	}
}
