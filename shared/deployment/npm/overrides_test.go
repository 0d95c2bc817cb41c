package npm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
)

// publishChain publishes a, which needs b, which needs c; d, which also needs c; z, which also needs b; and e, which
// needs nothing. Each has several versions.
func publishChain(f *fixture) {
	for _, v := range []string{"1.0.0", "1.1.0", "1.2.0", "2.0.0"} {
		f.registry.publish("c", v, nil, nil)
		f.registry.publish("b", v, fields{"dependencies": fields{"c": "^1.0.0"}}, nil)
		f.registry.publish("a", v, fields{"dependencies": fields{"b": "^1.0.0"}}, nil)
		f.registry.publish("d", v, fields{"dependencies": fields{"c": "^1.1.0"}}, nil)
		f.registry.publish("e", v, nil, nil)
		f.registry.publish("z", v, fields{"dependencies": fields{"b": "^1.0.0"}}, nil)
	}
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	publishChain(f)
	for name, tc := range map[string]struct {
		fields string
		want   string // the versions by location, without the folders node_modules
	}{
		"none":             {`"overrides":{}`, "a@1.2.0 b@1.2.0 c@1.2.0 d@1.2.0"},
		"a version":        {`"overrides":{"c":"1.0.0"}`, "a@1.2.0 b@1.2.0 c@1.0.0 d@1.2.0"},
		"any version":      {`"overrides":{"c":""}`, "a@1.2.0 b@1.2.0 c@1.2.0 d@1.2.0"},
		"a major version":  {`"overrides":{"c":"^2"}`, "a@1.2.0 b@1.2.0 c@2.0.0 d@1.2.0"},
		"an alias":         {`"overrides":{"c":"npm:d@2.0.0"}`, "a@1.2.0 b@1.2.0 c@2.0.0 d@1.2.0"},
		"below a package":  {`"overrides":{"b":{"c":"1.0.0"}}`, "a@1.2.0 b@1.2.0 c@1.0.0 d/c@1.2.0 d@1.2.0"},
		"below its user":   {`"overrides":{"a":{"c":"1.0.0"}}`, "a@1.2.0 b@1.2.0 c@1.0.0 d/c@1.2.0 d@1.2.0"},
		"two levels":       {`"overrides":{"a":{"b":{"c":"1.0.0"}}}`, "a@1.2.0 b@1.2.0 c@1.0.0 d/c@1.2.0 d@1.2.0"},
		"not below":        {`"overrides":{"b":{"d":{"c":"1.0.0"}}}`, "a@1.2.0 b@1.2.0 c@1.2.0 d@1.2.0"},
		"the package, too": {`"overrides":{"b":{".":"1.1.0","c":"1.0.0"}}`, "a@1.2.0 b@1.1.0 c@1.0.0 d/c@1.2.0 d@1.2.0"},
		"the nearest":      {`"overrides":{"c":"1.1.0","b":{"c":"1.0.0"}}`, "a@1.2.0 b@1.2.0 c@1.0.0 d/c@1.1.0 d@1.2.0"},
		"a key with range": {`"overrides":{"c@^1.1":"1.1.0"}`, "a@1.2.0 b@1.2.0 c@1.1.0 d@1.2.0"},
		"another range":    {`"overrides":{"c@^2":"1.1.0"}`, "a@1.2.0 b@1.2.0 c@1.2.0 d@1.2.0"},
		"a key with rules": {`"overrides":{"b@1":{"c":"1.0.0"}}`, "a@1.2.0 b@1.2.0 c@1.0.0 d/c@1.2.0 d@1.2.0"},
		"a reference":      {`"overrides":{"c":"$e"},"devDependencies":{"e":"1.0.0"}`, "a@1.2.0 b@1.2.0 c@1.0.0 d@1.2.0"},
		"a cycle":          {`"overrides":{"a":{"b":{"a":{"b":"1.0.0"}}},"d":"$d"}`, "a@1.2.0 b@1.2.0 c@1.2.0 d@1.2.0"},
		"of a later user": {
			`"optionalDependencies":{"z":"1.0.0"},"overrides":{"z":{"c":"1.0.0"}}`,
			"a@1.2.0 b@1.2.0 c@1.0.0 d/c@1.2.0 d@1.2.0 z@1.0.0",
		},
		"of the project": {`"overrides":{"d":"1.1.0"}`, "a@1.2.0 b@1.2.0 c@1.2.0 d@1.1.0"},
	} {
		manifest := `{"dependencies":{"a":"^1","d":"^1"},` + tc.fields + `}`
		if name != "of the project" { // which npm refuses
			f.compare(t, name, manifest, tc.want)
		}
		got, _, err := f.resolve(manifest)
		if diff := cmp.Diff(tc.want, describe(got)); diff != "" || err != nil {
			t.Errorf("%s: error %v; mismatch (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestInvalidOverrides(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	many := make([]string, 501)
	for i := range many {
		many[i] = fmt.Sprintf(`"p%d":"1"`, i)
	}
	for overrides, message := range map[string]string{
		`1`:                    "the rules of overrides are not an object",
		`{"a":1}`:              `the rules of "a" are not an object`,
		`{"a":{".":1}}`:        `"." does not name a package`,
		`{"../a":"1"}`:         `"../a" does not name a package`,
		`{"a":"$b"}`:           `"$b" refers to a package that is not a dependency of the project`,
		`{"a":{".":"$b"}}`:     `"$b" refers to a package`,
		"{" + join(many) + "}": "there are more than 500 rules",
		strings.Repeat(`{"a":`, 9) + "1" + strings.Repeat("}", 9):       `the rules of "a" are not an object`,
		strings.Repeat(`{"a":`, 501) + `"1"` + strings.Repeat("}", 501): "there are more than 500 rules",
	} {
		_, _, err := f.resolve(`{"dependencies":{"a":"1"},"overrides":` + overrides + `}`)
		got := wantFailure(t, err, failure.BuildFailed, message)
		if got.Path != "/package.json" || got.Column != 27 {
			t.Errorf("%.50s: got place %s:%d:%d, want that of overrides", overrides, got.Path, got.Line, got.Column)
		}
	}
	if n := f.registry.total(); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}

// A lock file of npm is used even if the project has overrides, because npm applied them when it wrote the file.
func TestLockWithOverrides(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	a := f.registry.publish("a", "1.0.0", fields{"dependencies": fields{"b": "^1"}}, nil)
	b := f.registry.publish("b", "3.0.0", nil, nil)
	lock := lockOf(entry("node_modules/a", "1.0.0", a, `,"dependencies":{"b":"^1"}`),
		entry("node_modules/b", "3.0.0", b, ""))
	in := project(`{"dependencies":{"a":"1"},"overrides":{"b":"3.0.0"}}`, lock)
	files, report, err := installInto(t, npm.New(f.deps), in)
	if err != nil || len(report.Warnings) > 0 || files["/node_modules/b/package.json"] == nil {
		t.Errorf("got %+v, error %v, want the locked packages", report, err)
	}
}

func join(list []string) string { return strings.Join(list, ",") }

// describe returns versions by location, such as "a@1.0.0 a/b@2.0.0".
func describe(versions map[string]string) string {
	var list []string
	for location, version := range versions {
		name := strings.ReplaceAll(strings.TrimPrefix(location, "node_modules/"), "/node_modules/", "/")
		list = append(list, name+"@"+version)
	}
	return strings.Join(sorted(list), " ")
}
