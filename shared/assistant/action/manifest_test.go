package action_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/action"
)

// edited returns a manifest with packages added.
func edited(t *testing.T, path, content string, packages ...string) (string, error) {
	t.Helper()
	d := action.NewDraft(newFiles(map[string]string{path: content}))
	if err := d.Apply(t.Context(), add(path, packages...)); err != nil {
		return "", err
	}
	if len(d.Operations()) == 0 {
		return content, nil
	}
	return d.Operations()[0].Content, nil
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
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestPackageJSON(t *testing.T) {
	t.Parallel()
	checkManifest(t, "/web/package.json", map[string]manifestCase{
		"sorted": {
			"{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"b\": \"1\",\n    \"d\": \"1\"\n  }\n}\n", []string{"c@^1", "a@^2", "e@3"},
			"{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"a\": \"^2\",\n    \"b\": \"1\",\n    \"c\": \"^1\",\n    \"d\": \"1\",\n    \"e\": \"3\"\n  }\n}\n",
		},
		"not sorted": {
			`{"dependencies": {"d": "1", "b": "1"}}`, []string{"c@^1"},
			`{"dependencies": {"d": "1", "b": "1", "c": "^1"}}`,
		},
		"tabs and CR LF": {
			"{\r\n\t\"dependencies\": {\r\n\t\t\"a\": \"1\"\r\n\t}\r\n}", []string{"b@2"},
			"{\r\n\t\"dependencies\": {\r\n\t\t\"a\": \"1\",\r\n\t\t\"b\": \"2\"\r\n\t}\r\n}",
		},
		"in one line":     {`{"name":"x","dependencies":{"a":"1"}}`, []string{"b@2"}, `{"name":"x","dependencies":{"a":"1","b":"2"}}`},
		"commas in front": {"{\n  \"dependencies\": { \"a\" : \"1\"\n  , \"c\" : \"1\" }\n}", []string{"b@2", "d@3"}, "{\n  \"dependencies\": { \"a\" : \"1\"\n  , \"b\" : \"2\", \"c\" : \"1\", \"d\" : \"3\" }\n}"},
		"no object": {
			"{\n    \"name\": \"x\"\n}\n", []string{"a@^1", "b@^2"},
			"{\n    \"name\": \"x\",\n    \"dependencies\": {\n        \"a\": \"^1\",\n        \"b\": \"^2\"\n    }\n}\n",
		},
		"no object, in front of devDependencies": {
			"{\n  \"name\": \"x\",\n  \"devDependencies\": {}\n}\n", []string{"a@^1"},
			"{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"a\": \"^1\"\n  },\n  \"devDependencies\": {}\n}\n",
		},
		"no object, in one line": {`{"name":"x"}`, []string{"a@1"}, `{"name":"x","dependencies":{"a":"1"}}`},
		"an empty object":        {"{\n\t\"dependencies\": {},\n\t\"x\": 1\n}\n", []string{"a@^1"}, "{\n\t\"dependencies\": {\n\t\t\"a\": \"^1\"\n\t},\n\t\"x\": 1\n}\n"},
		"nothing at all":         {"{}\n", []string{"a@^1"}, "{\n  \"dependencies\": {\n    \"a\": \"^1\"\n  }\n}\n"},
		"where it stands":        {`{"devDependencies": {"a": "1"}, "peerDependencies": {"b": "1"}}`, []string{"a@2", "b@2"}, `{"devDependencies": {"a": "2"}, "peerDependencies": {"b": "2"}}`},
		"a development one too":  {`{"devDependencies": {"a": "1"}, "peerDependencies": {"a": ">=1"}}`, []string{"a@2"}, `{"devDependencies": {"a": "2"}, "peerDependencies": {"a": ">=1"}}`},
		"the same":               {`{ "dependencies" : {"a":"1"} }`, []string{"a@1"}, `{ "dependencies" : {"a":"1"} }`},
		"without a range":        {`{"dependencies":{"a":"1"}}`, []string{"a", "b"}, `{"dependencies":{"a":"1","b":"latest"}}`},
		"scopes":                 {`{"dependencies":{}}`, []string{"@types/node@^24", "@x/y"}, `{"dependencies":{"@types/node":"^24","@x/y":"latest"}}`},
		"other ranges": {
			`{"dependencies":{}}`, []string{"a@npm:@b/c@^1", "d@>=1.2 <2", "e@^1 || ^2", "f@workspace:*", "g@github:x/y#v1", "JSONStream@*"},
			`{"dependencies":{"JSONStream":"*","a":"npm:@b/c@^1","d":">=1.2 <2","e":"^1 || ^2","f":"workspace:*","g":"github:x/y#v1"}}`,
		},
		"names in nested objects": {`{"x":{"dependencies":{"a":"0"}},"a":"}{","dependencies":{"b":"1"}}`, []string{"a@1"}, `{"x":{"dependencies":{"a":"0"}},"a":"}{","dependencies":{"a":"1","b":"1"}}`},
		"escapes":                 {`{"dep\u0065ndencies":{"\u0061":"1"}}`, []string{"a@2"}, `{"dep\u0065ndencies":{"\u0061":"2"}}`},
		"a byte order mark":       {"\uFEFF{\"dependencies\":{}}", []string{"a@1"}, "\uFEFF{\"dependencies\":{\"a\":\"1\"}}"},
	})
}

func TestGoMod(t *testing.T) {
	t.Parallel()
	const head = "module example.com/app\n\ngo 1.26\n"
	checkManifest(t, "/go.mod", map[string]manifestCase{
		"first": {head, []string{"github.com/google/uuid@v1.6.0"}, head + "\nrequire github.com/google/uuid v1.6.0\n"},
		"more": {
			head + "\nrequire (\n\tgithub.com/b/b v1.0.0 // why\n\tgithub.com/d/d v1.0.0\n)\n\nrequire github.com/x/y v1.0.0 // indirect\n\nreplace github.com/x/y => ./y\n",
			[]string{"github.com/a/a/v2@v2.1.0", "github.com/c/c@v0.1.0"},
			head + "\nrequire (\n\tgithub.com/a/a/v2 v2.1.0\n\tgithub.com/b/b v1.0.0 // why\n\tgithub.com/c/c v0.1.0\n\tgithub.com/d/d v1.0.0\n)\n\nrequire github.com/x/y v1.0.0 // indirect\n\nreplace github.com/x/y => ./y\n",
		},
		"update":             {head + "\nrequire github.com/b/b v1.0.0 // why\n", []string{"github.com/b/b@v1.2.0"}, head + "\nrequire github.com/b/b v1.2.0 // why\n"},
		"indirect so far":    {head + "\nrequire github.com/b/b v1.0.0 // indirect\n", []string{"github.com/b/b@v1.1.0"}, head + "\nrequire github.com/b/b v1.1.0 // indirect\n"},
		"only indirect ones": {head + "\nrequire (\n\tgithub.com/b/b v1.0.0 // indirect\n\tgithub.com/c/c v1.0.0 // indirect\n)\n", []string{"github.com/a/a@v1.1.0"}, head + "\nrequire github.com/a/a v1.1.0\n\nrequire (\n\tgithub.com/b/b v1.0.0 // indirect\n\tgithub.com/c/c v1.0.0 // indirect\n)\n"},
		"a new one beside":   {"module   x\nrequire   github.com/b/b   v1.0.0\n", []string{"github.com/b/b@v1.0.0", "github.com/b/b/v2@v2.0.0"}, "module x\n\nrequire (\n\tgithub.com/b/b v1.0.0\n\tgithub.com/b/b/v2 v2.0.0\n)\n"},
		"nothing to do":      {"module   x\nrequire   github.com/b/b   v1.0.0\n", []string{"github.com/b/b@v1.0.0"}, "module   x\nrequire   github.com/b/b   v1.0.0\n"},
		"without a version":  {head + "\nrequire github.com/b/b v1.0.0\n", []string{"github.com/b/b"}, head + "\nrequire github.com/b/b v1.0.0\n"},
		"an incompatible":    {head, []string{"github.com/b/b@v2.0.0+incompatible"}, head + "\nrequire github.com/b/b v2.0.0+incompatible\n"},
		"an unnamed version": {head, []string{"golang.org/x/exp@v0.0.0-20240112132812-db7319d0e0e3"}, head + "\nrequire golang.org/x/exp v0.0.0-20240112132812-db7319d0e0e3\n"},
	})
}

func TestRequirements(t *testing.T) {
	t.Parallel()
	checkManifest(t, "/requirements.txt", map[string]manifestCase{
		"empty":            {"", []string{"httpx@>=0.28"}, "httpx>=0.28\n"},
		"more":             {"a==1\n# end", []string{"httpx@0.28.1", "b", "c@latest", "d@*", "e@==1.*"}, "a==1\n# end\nhttpx==0.28.1\nb\nc\nd\ne==1.*\n"},
		"CR LF":            {"a==1\r\n", []string{"b@2"}, "a==1\r\nb==2\r\n"},
		"update":           {"x\nHTTPX==0.1 ; python_version < \"4\"  # why\ny\n", []string{"httpx@>=0.28,<1"}, "x\nHTTPX>=0.28,<1 ; python_version < \"4\"  # why\ny\n"},
		"any so far":       {"  flask # web\n", []string{"Flask@3.0"}, "  flask==3.0 # web\n"},
		"names fold":       {"Foo_Bar.baz==1\n", []string{"foo-bar-baz@2"}, "Foo_Bar.baz==2\n"},
		"not a part":       {"django-filter==1\n-r base.txt\n./django\n", []string{"django@5.2"}, "django-filter==1\n-r base.txt\n./django\ndjango==5.2\n"},
		"extras":           {"uvicorn[standard] >= 0.1\n", []string{"uvicorn@0.35.0"}, "uvicorn[standard] ==0.35.0\n"},
		"other extras":     {"uvicorn\n", []string{"uvicorn[standard]@~=0.35"}, "uvicorn[standard]~=0.35\n"},
		"as in the file":   {"", []string{"a>=1,<2", "b ~= 1.4"}, "a>=1,<2\nb~= 1.4\n"},
		"range of several": {"a >=1 , !=1.5 # x\n", []string{"a@2"}, "a ==2 # x\n"},
		"there already":    {"a>=1", []string{"a"}, "a>=1"},
		"continued":        {"a==1 \\\n  --hash=sha256:00\nb\n", []string{"b@2"}, "a==1 \\\n  --hash=sha256:00\nb==2\n"},
	})
}

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
		{"/package.json", "{} // comment", "a@1", "it is not valid JSON"},
		{"/package.json", `{"dependencies":{},"dependencies":{}}`, "a@1", "it is not valid JSON"},
		{"/package.json", `{"dependencies":["a"]}`, "a@1", "/package.json could not be changed: its dependencies is not an object."},
		{"/package.json", `{"devDependencies":{"a":{}}}`, "a@1", "its devDependencies has a value that is not a string for a."},
		{"/go.mod", "module x\n", "uuid@v1.0.0", "does not have a valid module path"},
		{"/go.mod", "module x\n", "github.com/google/uuid", "github.com/google/uuid is new in this file and needs a version, such as v1.2.3."},
		{"/go.mod", "module x\n", "github.com/google/uuid@latest", "needs a full version"},
		{"/go.mod", "module x\n", "github.com/google/uuid@1.6.0", "needs a full version"},
		{"/go.mod", "module x\n", "github.com/google/uuid@v1.6", "needs a full version"},
		{"/go.mod", "module x\n", "github.com/google/uuid@v2.0.0", "needs a full version that is valid for its path"},
		{"/go.mod", "module x\n", "github.com/google/uuid@v1.6.0\n", "needs a full version"},
		{"/go.mod", "module x\n", "github.com/a b@v1.6.0", "does not have a valid module path"},
		{"/go.mod", "module example.com/x\n", "example.com/x@v1.0.0", "example.com/x is the module itself."},
		{"/go.mod", "modul x\n", "github.com/google/uuid@v1.6.0", "it is not a valid go.mod; repair it first"},
		{"/go.mod", "module x\nrequire example.com/a v1.0.0\nrequire example.com/a v1.1.0\n", "example.com/b@v1.0.0", "it requires example.com/a twice"},
		{"/requirements.txt", "", "a@^1.2", "has a range that is not valid for pip: write name@>=1.2,<2"},
		{"/requirements.txt", "", "a@https://example.com/a.whl", "has a range that is not valid for pip"},
		{"/requirements.txt", "", "a@", "has an @ but no range"},
		{"/requirements.txt", "", "a@1\nb", "has a range that is not valid for pip"},
		{"/requirements.txt", "", "-r x", "does not have a valid pip name"},
		{"/requirements.txt", "", "a b", "does not have a valid pip name"},
		{"/requirements.txt", "a @ https://example.com/a.whl\n", "a@1", "it has a with an address, a hash or options, not just a range: use edit_file."},
		{"/requirements.txt", "a==1 --hash=sha256:00\n", "a@1", "it has a with an address"},
		{"/requirements.txt", "a==1 \\\n --hash=sha256:00\n", "a@1", "it has a with an address"},
		{"/requirements.txt", "a==1 \\\n", "b@1", "its last line ends with a backslash, but no line follows"},
		{"/requirements.txt", "a==1; x\na==2; y\n", "a@1", "it has a in more than one line"},
	} {
		_, err := edited(t, c.path, c.content, c.pkg)
		var problem *action.Problem
		if !errors.As(err, &problem) || !strings.Contains(problem.Text, c.want) || strings.ContainsAny(problem.Text, "\n\x00") {
			t.Errorf("%s %q: %v, want %s", c.path, c.pkg, err, c.want)
		}
	}
	for path, packages := range map[string][]string{
		"/package.json": {"a@1", "a@2"}, "/requirements.txt": {"foo_bar", "Foo-Bar[x]==2"}, "/go.mod": {"example.com/a@v1.0.0", "example.com/a@v1.1.0"},
	} {
		if _, err := edited(t, path, "", packages...); err == nil || !strings.Contains(err.Error(), "is named twice") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
