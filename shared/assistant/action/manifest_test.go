package action_test

import (
	"errors"
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

type manifestCase struct {
	content  string
	packages []string
	want     string
}

func checkManifest(t *testing.T, path string, cases map[string]manifestCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := edited(t, path, c.content, c.packages...)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("got error %v, content (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestPackageJSON(t *testing.T) {
	t.Parallel()
	checkManifest(t, "/web/package.json", map[string]manifestCase{
		"new packages are appended": {
			content:  "{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"b\": \"1\",\n    \"d\": \"1\"\n  }\n}\n",
			packages: []string{"c@^1", "a@^2", "e@3"},
			want:     "{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"b\": \"1\",\n    \"d\": \"1\",\n    \"c\": \"^1\",\n    \"a\": \"^2\",\n    \"e\": \"3\"\n  }\n}\n",
		},
		"tabs and CR LF": {
			content:  "{\r\n\t\"dependencies\": {\r\n\t\t\"a\": \"1\"\r\n\t}\r\n}",
			packages: []string{"b@2"},
			want:     "{\r\n\t\"dependencies\": {\r\n\t\t\"a\": \"1\",\r\n\t\t\"b\": \"2\"\r\n\t}\r\n}",
		},
		"in one line": {
			content:  `{"name":"x","dependencies":{"a":"1"}}`,
			packages: []string{"b@2"},
			want:     `{"name":"x","dependencies":{"a":"1","b":"2"}}`,
		},
		"commas at the beginning of lines": {
			content:  "{\n  \"dependencies\": { \"a\" : \"1\"\n  , \"c\" : \"1\" }\n}",
			packages: []string{"b@2", "d@3"},
			want:     "{\n  \"dependencies\": { \"a\" : \"1\"\n  , \"c\" : \"1\", \"b\" : \"2\", \"d\" : \"3\" }\n}",
		},
		"no dependencies": {
			content:  "{\n    \"name\": \"x\"\n}\n",
			packages: []string{"a@^1", "b@^2"},
			want:     "{\n    \"name\": \"x\",\n    \"dependencies\": {\n        \"a\": \"^1\",\n        \"b\": \"^2\"\n    }\n}\n",
		},
		"no dependencies, but devDependencies": {
			content:  "{\n  \"name\": \"x\",\n  \"devDependencies\": {}\n}\n",
			packages: []string{"a@^1"},
			want:     "{\n  \"name\": \"x\",\n  \"devDependencies\": {},\n  \"dependencies\": {\n    \"a\": \"^1\"\n  }\n}\n",
		},
		"no dependencies, in one line": {
			content:  `{"name":"x"}`,
			packages: []string{"a@1"},
			want:     `{"name":"x","dependencies":{"a":"1"}}`,
		},
		"empty dependencies": {
			content:  "{\n\t\"dependencies\": {},\n\t\"x\": 1\n}\n",
			packages: []string{"a@^1"},
			want:     "{\n\t\"dependencies\": {\n\t\t\"a\": \"^1\"\n\t},\n\t\"x\": 1\n}\n",
		},
		"empty file": {
			content:  "{}\n",
			packages: []string{"a@^1"},
			want:     "{\n  \"dependencies\": {\n    \"a\": \"^1\"\n  }\n}\n",
		},
		"packages in other sections": {
			content:  `{"devDependencies": {"a": "1"}, "peerDependencies": {"b": "1"}}`,
			packages: []string{"a@2", "b@2"},
			want:     `{"devDependencies": {"a": "2"}, "peerDependencies": {"b": "2"}}`,
		},
		"package in two sections": {
			content:  `{"devDependencies": {"a": "1"}, "peerDependencies": {"a": ">=1"}}`,
			packages: []string{"a@2"},
			want:     `{"devDependencies": {"a": "2"}, "peerDependencies": {"a": ">=1"}}`,
		},
		"no change": {
			content:  `{ "dependencies" : {"a":"1"} }`,
			packages: []string{"a@1"},
			want:     `{ "dependencies" : {"a":"1"} }`,
		},
		"without a range": {
			content:  `{"dependencies":{"a":"1"}}`,
			packages: []string{"a", "b"},
			want:     `{"dependencies":{"a":"1","b":"latest"}}`,
		},
		"scoped packages": {
			content:  `{"dependencies":{}}`,
			packages: []string{"@types/node@^24", "@x/y"},
			want:     `{"dependencies":{"@types/node":"^24","@x/y":"latest"}}`,
		},
		"other ranges": {
			content:  `{"dependencies":{}}`,
			packages: []string{"a@npm:@b/c@^1", "d@>=1.2 <2", "e@^1 || ^2", "f@workspace:*", "g@github:x/y#v1", "JSONStream@*"},
			want:     `{"dependencies":{"a":"npm:@b/c@^1","d":">=1.2 <2","e":"^1 || ^2","f":"workspace:*","g":"github:x/y#v1","JSONStream":"*"}}`,
		},
		"names in nested objects": {
			content:  `{"x":{"dependencies":{"a":"0"}},"a":"}{","dependencies":{"b":"1"}}`,
			packages: []string{"a@1"},
			want:     `{"x":{"dependencies":{"a":"0"}},"a":"}{","dependencies":{"b":"1","a":"1"}}`,
		},
		"escaped names": {
			content:  `{"dep\u0065ndencies":{"\u0061":"1"}}`,
			packages: []string{"a@2"},
			want:     `{"dep\u0065ndencies":{"\u0061":"2"}}`,
		},
		"byte order mark": {
			content:  "\uFEFF{\"dependencies\":{}}",
			packages: []string{"a@1"},
			want:     "\uFEFF{\"dependencies\":{\"a\":\"1\"}}",
		},
	})
}

func TestGoMod(t *testing.T) {
	t.Parallel()
	const head = "module example.com/app\n\ngo 1.26\n"
	checkManifest(t, "/go.mod", map[string]manifestCase{
		"first requirement": {
			content:  head,
			packages: []string{"github.com/google/uuid@v1.6.0"},
			want:     head + "\nrequire github.com/google/uuid v1.6.0\n",
		},
		"more requirements": {
			content:  head + "\nrequire (\n\tgithub.com/b/b v1.0.0 // why\n\tgithub.com/d/d v1.0.0\n)\n\nrequire github.com/x/y v1.0.0 // indirect\n\nreplace github.com/x/y => ./y\n",
			packages: []string{"github.com/a/a/v2@v2.1.0", "github.com/c/c@v0.1.0"},
			want:     head + "\nrequire (\n\tgithub.com/b/b v1.0.0 // why\n\tgithub.com/d/d v1.0.0\n)\n\nrequire (\n\tgithub.com/a/a/v2 v2.1.0\n\tgithub.com/c/c v0.1.0\n)\n\nrequire github.com/x/y v1.0.0 // indirect\n\nreplace github.com/x/y => ./y\n",
		},
		"update": {
			content:  head + "\nrequire github.com/b/b v1.0.0 // why\n",
			packages: []string{"github.com/b/b@v1.2.0"},
			want:     head + "\nrequire github.com/b/b v1.2.0 // why\n",
		},
		"update an indirect requirement": {
			content:  head + "\nrequire github.com/b/b v1.0.0 // indirect\n",
			packages: []string{"github.com/b/b@v1.1.0"},
			want:     head + "\nrequire github.com/b/b v1.1.0 // indirect\n",
		},
		"only indirect requirements": {
			content:  head + "\nrequire (\n\tgithub.com/b/b v1.0.0 // indirect\n\tgithub.com/c/c v1.0.0 // indirect\n)\n",
			packages: []string{"github.com/a/a@v1.1.0"},
			want:     head + "\nrequire github.com/a/a v1.1.0\n\nrequire (\n\tgithub.com/b/b v1.0.0 // indirect\n\tgithub.com/c/c v1.0.0 // indirect\n)\n",
		},
		"existing and new requirement": {
			content:  "module   x\nrequire   github.com/b/b   v1.0.0\n",
			packages: []string{"github.com/b/b@v1.0.0", "github.com/b/b/v2@v2.0.0"},
			want:     "module x\n\nrequire (\n\tgithub.com/b/b v1.0.0\n\tgithub.com/b/b/v2 v2.0.0\n)\n",
		},
		"no change keeps the formatting": {
			content:  "module   x\nrequire   github.com/b/b   v1.0.0\n",
			packages: []string{"github.com/b/b@v1.0.0"},
			want:     "module   x\nrequire   github.com/b/b   v1.0.0\n",
		},
		"without a version": {
			content:  head + "\nrequire github.com/b/b v1.0.0\n",
			packages: []string{"github.com/b/b"},
			want:     head + "\nrequire github.com/b/b v1.0.0\n",
		},
		"incompatible version": {
			content:  head,
			packages: []string{"github.com/b/b@v2.0.0+incompatible"},
			want:     head + "\nrequire github.com/b/b v2.0.0+incompatible\n",
		},
		"pseudo-version": {
			content:  head,
			packages: []string{"golang.org/x/exp@v0.0.0-20240112132812-db7319d0e0e3"},
			want:     head + "\nrequire golang.org/x/exp v0.0.0-20240112132812-db7319d0e0e3\n",
		},
	})
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
