package action_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/mod/modfile"

	"devplatform/shared/assistant/action"
)

// addPackage returns the content of a manifest after the package was added. ok is false if the package was rejected.
// The error of a rejection must be a Problem whose text is one line.
func addPackage(t *testing.T, path, content, pkg string) (after string, ok bool) {
	t.Helper()
	after, err := contentAfter(t, path, content, pkg)
	var problem *action.Problem
	if err != nil && (!errors.As(err, &problem) || strings.ContainsAny(problem.Text, "\n\x00")) {
		t.Fatalf("%q: got error %v, want a problem of one line", pkg, err)
	}
	return after, err == nil
}

// checkIdempotent checks that adding a package again changes nothing.
func checkIdempotent(t *testing.T, path, after, pkg string) {
	t.Helper()
	if got, err := contentAfter(t, path, after, pkg); err != nil || got != after {
		t.Fatalf("adding %q to %s again: got error %v, content %q, want %q", pkg, path, err, got, after)
	}
}

// members returns the names of a JSON object's members in document order, and the raw JSON value of each member.
func members(t *testing.T, object jsontext.Value) (names []string, values map[string]string) {
	t.Helper()
	values = map[string]string{}
	d := jsontext.NewDecoder(strings.NewReader(string(object)))
	if _, err := d.ReadToken(); err != nil {
		t.Fatal(err)
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, text)
		values[text] = string(value)
	}
	return names, values
}

// changedNames returns the sorted names of the members that were added, removed or changed.
func changedNames(before, after map[string]string) []string {
	differ := map[string]bool{}
	for name := range maps.Keys(before) {
		differ[name] = differ[name] || after[name] != before[name]
	}
	for name := range maps.Keys(after) {
		differ[name] = differ[name] || after[name] != before[name]
	}
	maps.DeleteFunc(differ, func(_ string, d bool) bool { return !d })
	return slices.Sorted(maps.Keys(differ))
}

// FuzzPackageJSON checks that adding a package adds or changes one member of one section, such as dependencies. All
// other values and the order of all other members must stay the same.
func FuzzPackageJSON(f *testing.F) {
	f.Add("{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"b\": \"1\"\n  }\n}\n", "a", "^1")
	f.Add(`{"devDependencies":{"a":"1" , "b":"2"} , "x":[{"a":"1"}]}`, "b", ">=1 <2")
	f.Add("\uFEFF{ }", "@x/y", "npm:@x/z@1")
	f.Add("{\"name\":\"x\"\r\n,\"dependencies\":{ }}", "a", "1")
	f.Fuzz(func(t *testing.T, content, name, version string) {
		pkg := name + "@" + version
		after, ok := addPackage(t, "/package.json", content, pkg)
		if !ok {
			return
		}
		checkIdempotent(t, "/package.json", after, pkg)
		before := strings.TrimPrefix(content, "\uFEFF")
		after = strings.TrimPrefix(after, "\uFEFF")
		if !jsontext.Value(after).IsValid() {
			t.Fatalf("the result is not valid JSON: %q", after)
		}
		oldNames, oldValues := members(t, jsontext.Value(before))
		newNames, newValues := members(t, jsontext.Value(after))
		differ := changedNames(oldValues, newValues)
		if len(differ) == 0 && after == before {
			return
		}
		if len(differ) != 1 || !strings.HasSuffix(strings.ToLower(differ[0]), "dependencies") {
			t.Fatalf("the members %v differ between %q and %q, want one section", differ, before, after)
		}
		section := differ[0]
		// The edit may add the section.
		if !slices.Contains(oldNames, section) {
			newNames = slices.DeleteFunc(newNames, func(n string) bool { return n == section })
		}
		if diff := cmp.Diff(oldNames, newNames, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("names of the members (-want +got):\n%s", diff)
		}
		if oldValues[section] == "" {
			oldValues[section] = "{}"
		}
		oldNames, oldValues = members(t, jsontext.Value(oldValues[section]))
		newNames, newValues = members(t, jsontext.Value(newValues[section]))
		differ = changedNames(oldValues, newValues)
		if len(differ) != 1 || !strings.HasPrefix(pkg, differ[0]) {
			t.Fatalf("the packages %v differ between %q and %q, want only %q", differ, before, after, pkg)
		}
		var value string
		if err := json.Unmarshal([]byte(newValues[differ[0]]), &value); err != nil || differ[0]+"@"+value != pkg {
			t.Fatalf("got the range %q and error %v, want the range of %q", value, err, pkg)
		}
		if !slices.Contains(oldNames, differ[0]) { // a new package is the last one
			oldNames = append(oldNames, differ[0])
		}
		if diff := cmp.Diff(oldNames, newNames, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("names of the packages (-want +got):\n%s", diff)
		}
	})
}

// FuzzGoMod checks that an edit leaves the other requirements and all other directives unchanged.
func FuzzGoMod(f *testing.F) {
	f.Add("module x\n\ngo 1.26\n\nrequire (\n\texample.com/b v1.0.0 // indirect\n\texample.com/c v1.0.0\n)\n"+
		"replace example.com/b => ./b\n", "example.com/b", "v1.1.0")
	f.Add("module x\nrequire example.com/b v1.0.0\nexclude example.com/b v1.0.1\n", "example.com/c/v2", "v2.0.0")
	f.Fuzz(func(t *testing.T, content, name, version string) {
		after, ok := addPackage(t, "/go.mod", content, name+"@"+version)
		if !ok {
			return
		}
		checkIdempotent(t, "/go.mod", after, name+"@"+version)
		before, err := modfile.Parse("go.mod", []byte(content), nil)
		if err != nil {
			t.Fatal(err)
		}
		file, err := modfile.Parse("go.mod", []byte(after), nil)
		if err != nil {
			t.Fatalf("the result is not a valid go.mod: %v: %q", err, after)
		}
		want, got := requirements(before), requirements(file)
		want[name] = version
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("requirements (-want +got):\n%s", diff)
		}
		if len(before.Replace) != len(file.Replace) || len(before.Exclude) != len(file.Exclude) ||
			len(before.Retract) != len(file.Retract) || len(before.Tool) != len(file.Tool) ||
			(before.Go == nil) != (file.Go == nil) {
			t.Fatalf("other directives differ between %q and %q", content, after)
		}
	})
}

// requirements returns the version of each required module, by module path. An indirect requirement has a second entry,
// with a space after the path, so that a lost "// indirect" comment is a difference.
func requirements(file *modfile.File) map[string]string {
	all := map[string]string{}
	for _, r := range file.Require {
		all[r.Mod.Path] = r.Mod.Version
		if r.Indirect {
			all[r.Mod.Path+" "] = "indirect"
		}
	}
	return all
}
