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

// edited returns the content of a manifest after the packages were added.
func edited(t *testing.T, path, content string, packages ...string) (string, error) {
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
			got, err := edited(t, lines[1], before, strings.Split(lines[2], ", ")...)
			if err := errors.Join(beforeErr, wantErr, err); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

// Packages that are not valid, and manifests that can't be changed, result in a problem.
func TestManifestProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, content, pkg, want string }{
		{"/package.json", "{}", "", `The package "" does not have a valid npm name`},
		{"/package.json", "{}", "@", `The package "@" does not have a valid npm name`},
		{"/package.json", "{}", "a@", `The package "a@" has an @ but no range after it.`},
		{"/package.json", "{}", "@x/y@", "has an @ but no range"},
		{"/package.json", "{}", "a b@1", "does not have a valid npm name"},
		{"/package.json", "{}", "../a@1", "does not have a valid npm name"},
		{"/package.json", "{}", "a\n@1", `The package "a\n@1" does not have a valid npm name`},
		{"/package.json", "{}", "a@1\n", "has a range that is not valid for npm"},
		{"/package.json", "{}", "a@\x00", "has a range that is not valid for npm"},
		{"/package.json", "{}", `a@1","b":"2`, "has a range that is not valid for npm"},
		{"/package.json", "{}", "a@ 1", "has a range that is not valid for npm"},
		{"/package.json", "{}", strings.Repeat("a", 215), "does not have a valid npm name"},
		{"/package.json", "{}", "a@" + strings.Repeat("1", 400), "is too long."},
		{"/package.json", "[]", "a@1", "it is not a JSON object."},
		{"/package.json", "{}" + strings.Repeat(" ", 256<<10), "a@1", "/package.json is larger than 256 KiB"},
		{"/go.mod", strings.Repeat("\n", 256<<10+1), "example.com/a@v1.0.0", "/go.mod is larger than 256 KiB"},
		{"/requirements.txt", "a\n", "b@1", "/requirements.txt is not a manifest that add_dependency supports"},
		{"/package.json", "{} // comment", "a@1", "it is not valid JSON"},
		{"/package.json", `{"dependencies":{},"dependencies":{}}`, "a@1", "it is not valid JSON"},
		{"/package.json", `{"dependencies":["a"]}`, "a@1", "/package.json could not be changed: its dependencies is not an object."},
		{
			"/package.json", `{"devDependencies":{"a":{}}}`, "a@1",
			"it has a range that is not a string, for a.",
		},
		{"/go.mod", "module x\n", "uuid@v1.0.0", "does not have a valid module path"},
		{
			"/go.mod", "module x\n", "github.com/google/uuid",
			"github.com/google/uuid is new in this file and needs a version, such as v1.2.3.",
		},
		{"/go.mod", "module x\n", "github.com/google/uuid@latest", "needs a full version"},
		{"/go.mod", "module x\n", "github.com/google/uuid@1.6.0", "needs a full version"},
		{"/go.mod", "module x\n", "github.com/google/uuid@v1.6", "needs a full version"},
		{"/go.mod", "module x\n", "github.com/google/uuid@v2.0.0", "needs a full version that is valid for its path"},
		{"/go.mod", "module x\n", "github.com/google/uuid@v1.6.0\n", "needs a full version"},
		{"/go.mod", "module x\n", "github.com/a b@v1.6.0", "does not have a valid module path"},
		{"/go.mod", "module example.com/x\n", "example.com/x@v1.0.0", "example.com/x is the module itself."},
		{"/go.mod", "modul x\n", "github.com/google/uuid@v1.6.0", "it is not a valid go.mod; repair it first"},
		{
			"/go.mod", "module x\nrequire example.com/a v1.0.0\nrequire example.com/a v1.1.0\n", "example.com/b@v1.0.0",
			"it requires example.com/a twice",
		},
	} {
		_, err := edited(t, c.path, c.content, c.pkg)
		var problem *action.Problem
		if !errors.As(err, &problem) || !strings.Contains(problem.Text, c.want) ||
			strings.ContainsAny(problem.Text, "\n\x00") {
			t.Errorf("%s %q: got error %v, want a problem with %q", c.path, c.pkg, err, c.want)
		}
	}
	for path, packages := range map[string][]string{
		"/package.json": {"a@1", "a@2"},
		"/go.mod":       {"example.com/a@v1.0.0", "example.com/a@v1.1.0"},
	} {
		if _, err := edited(t, path, "", packages...); err == nil || !strings.Contains(err.Error(), "is listed twice") {
			t.Errorf("%s: got error %v, want a problem with \"is listed twice\"", path, err)
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
		if _, err := edited(t, "/package.json", content, "a@1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", bracket, err, want)
		}
	}
}
