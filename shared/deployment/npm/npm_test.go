package npm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
)

func TestInstall(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", fields{
		"dependencies": fields{"shared": "^1.0.0", "@scope/b": "~2.1.0"},
		"scripts":      fields{"postinstall": "touch /tmp/owned"},
	}, map[string]string{
		"index.js": "a", "index.d.ts": "types", "index.js.map": "{}", "README.md": "read me", "lib/data.json": "{}",
	})
	f.registry.publish("@scope/b", "2.1.7", fields{"dependencies": fields{"shared": "^2.0.0"}}, nil)
	f.registry.publish("@scope/b", "2.2.0", nil, nil)
	f.registry.publish("shared", "1.4.0", nil, map[string]string{"index.js": "one"})
	f.registry.publish("shared", "2.0.0-beta.1", nil, nil)
	f.registry.publish("shared", "2.0.1", nil, map[string]string{"index.js": "two"})
	f.registry.publish("@types/a", "1.0.0", nil, map[string]string{"index.d.ts": "types"})

	files, report, err := f.install(t, `"a":"^1.0.0","@types/a":"*"`, "")
	if err != nil {
		t.Fatal(err)
	}
	want(t, files, "/node_modules/a/package.json", "/node_modules/a/index.js", "/node_modules/a/lib/data.json",
		"/node_modules/@scope/b/package.json", "/node_modules/@scope/b/node_modules/shared/package.json",
		"/node_modules/@scope/b/node_modules/shared/index.js", "/node_modules/shared/package.json",
		"/node_modules/shared/index.js")
	one, two := files["/node_modules/shared/index.js"], files["/node_modules/@scope/b/node_modules/shared/index.js"]
	if string(one) != "one" || string(two) != "two" {
		t.Errorf("got shared %q, and %q in @scope/b, want one and two", one, two)
	}
	bytes := 0
	for _, data := range files {
		bytes += len(data)
	}
	if diff := cmp.Diff(npm.Report{Packages: 4, Downloaded: 4, Bytes: bytes}, report); diff != "" {
		t.Errorf("report: mismatch (-want +got):\n%s", diff)
	}
	if n := f.registry.count("/shared"); n != 1 {
		t.Errorf("got %d requests for a document that two packages need, want 1", n)
	}
}

func TestNothingToInstall(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.deps.Registry = ""
	for _, manifest := range []string{`{}`, `{"devDependencies":{"vite":"^6"}}`, `{"dependencies":{}}`} {
		files, report, err := installInto(t, npm.New(f.deps), project(manifest, ""))
		if len(files) != 0 || report.Packages != 0 || err != nil {
			t.Errorf("%s: got %d files, %+v, error %v", manifest, len(files), report, err)
		}
	}
	_, _, err := f.install(t, `"a":"1"`, "")
	wantFailure(t, err, failure.DependencyNotFound, "NPM_REGISTRY")
}

func TestManifestErrors(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for manifest, want := range map[string]failure.Error{
		"{\n  \"name\": }": {Message: "package.json is not valid JSON.", Line: 2, Column: 11},
		"":                 {Message: "package.json is not valid JSON.", Line: 1, Column: 1},
		"[]":               {Message: "The value of  in package.json has the wrong type.", Line: 1, Column: 1},
		`{"dependencies":{"a":{}}}`: {
			Message: "The value of /dependencies/a in package.json has the wrong type.", Line: 1, Column: 22,
		},
	} {
		want.Code, want.Path = failure.BuildFailed, "/package.json"
		_, _, err := installInto(t, npm.New(f.deps), project(manifest, ""))
		got := wantFailure(t, err, failure.BuildFailed, "")
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%q: mismatch (-want +got):\n%s", manifest, diff)
		}
	}
}

// Versions that do not come from the registry are refused, with their place.
func TestUnsupportedVersions(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for _, spec := range []string{
		"git+https://example.com/a.git", "git://example.com/a", "github:user/a", "user/a", "file:../a", "../a", "~/a",
		"link:./a", "workspace:*", "http://example.com/a.tgz", "https://example.com/a.tgz", "npm:b@file:x", "catalog:",
	} {
		_, _, err := f.install(t, fmt.Sprintf(`"ok":"1", "a":%q`, spec), "")
		got := wantFailure(t, err, failure.DependencyNotFound, "packages come only from the npm registry")
		if got.Path != "/package.json" || got.Line != 2 || got.Column != 30 {
			t.Errorf("%s: got place %s:%d:%d, want /package.json:2:30", spec, got.Path, got.Line, got.Column)
		}
	}
	for _, name := range []string{"../a", "a/../../b", "/a", ".hidden", "a b", "a%2fb", "node_modules", "@scope", "a\\b"} {
		_, _, err := f.install(t, fmt.Sprintf(`%q:"1"`, name), "")
		wantFailure(t, err, failure.DependencyNotFound, "is not a valid name")
	}
	if n := f.registry.total(); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, nil)
	f.registry.publish("a", "1.5.0", fields{"deprecated": "broken"}, nil)
	f.registry.publish("a", "3.0.0", nil, nil)
	f.registry.publish("a", "3.1.0-rc.1", nil, nil)
	f.registry.publish("a", "2.0.0", nil, nil) // has the tag latest
	f.registry.documents["a"]["dist-tags"].(fields)["next"] = "3.1.0-rc.1"
	for spec, want := range map[string]string{
		"^1": "1.0.0", "1.5.0": "1.5.0", "=1.5.0": "1.5.0", "v1.5.0": "1.5.0", "~1.5.0": "1.5.0", "latest": "2.0.0",
		"next": "3.1.0-rc.1", "": "2.0.0", "*": "2.0.0", ">=1": "2.0.0", "^3": "3.0.0", "^3.1.0-rc.0": "3.1.0-rc.1",
		"1 || >2": "3.0.0", "^3.1 || ^3.1.0-rc.0": "3.1.0-rc.1", "1.0.0 - 1.4": "1.0.0", "npm:a@^3": "3.0.0",
		"npm:a": "2.0.0",
	} {
		got, _, err := f.resolve(fmt.Sprintf(`{"dependencies":{"a":%q}}`, spec))
		if got["node_modules/a"] != want || err != nil {
			t.Errorf("%q: got %v, error %v, want %s", spec, got, err, want)
		}
	}
	f.registry.publish("react", "19.0.0-rc.1", nil, nil)
	f.registry.publish("react", "17.0.0", nil, nil)
	got, _, err := f.resolve(`{"dependencies":{"react":"^18 || ^19 || ^19.0.0-rc"}}`)
	if got["node_modules/react"] != "19.0.0-rc.1" || err != nil {
		t.Errorf("got %v, error %v, want the version that only the last alternative allows", got, err)
	}
	for _, spec := range []string{"^4", "canary", "1.2.3", "not a range"} {
		_, _, err := f.install(t, fmt.Sprintf(`"a":%q`, spec), "")
		wantFailure(t, err, failure.DependencyNotFound, "a@"+spec+" is not in the npm registry")
	}
}

func TestKindsOfDependencies(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", fields{
		"dependencies":         fields{"inside": "^1", "native": "*"},
		"optionalDependencies": fields{"native": "*", "missing": "*", "extra": "*"},
		"peerDependencies":     fields{"react": ">=16", "absent": "*"},
		"peerDependenciesMeta": fields{"absent": fields{"optional": true}},
		"bundleDependencies":   []string{"inside"},
	}, map[string]string{"node_modules/inside/index.js": "bundled"})
	f.registry.publish("native", "1.0.0", fields{"os": []string{"linux"}, "cpu": []string{"x64"}}, nil)
	f.registry.publish("extra", "1.0.0", fields{"os": []string{"!win32"}}, nil)
	f.registry.publish("absent", "1.0.0", nil, nil)
	f.registry.publish("react", "18.3.0", nil, nil)
	f.registry.publish("react", "19.0.0", nil, nil)

	for dependencies, react := range map[string]string{
		`"a":"1"`:                 "19.0.0",
		`"a":"1","react":"^18"`:   "18.3.0",
		`"a":"1","react":"18.x "`: "18.3.0",
	} {
		got, _, err := f.resolve(`{"dependencies":{` + dependencies + `}}`)
		want := map[string]string{"node_modules/a": "1.0.0", "node_modules/extra": "1.0.0", "node_modules/react": react}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v; mismatch (-want +got):\n%s", dependencies, err, diff)
		}
	}
	files, _, err := f.install(t, `"a":"1"`, "")
	if string(files["/node_modules/a/node_modules/inside/index.js"]) != "bundled" || err != nil {
		t.Errorf("the bundled package is missing: error %v", err)
	}
}

// A version that is in the tree is replaced if all packages accept another one.
func TestReplace(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", fields{"dependencies": fields{"x": ">=1"}}, nil)
	f.registry.publish("b", "1.0.0", fields{"dependencies": fields{"x": "^3"}}, nil)
	f.registry.publish("c", "1.0.0", fields{"dependencies": fields{"d": "*"}}, nil)
	f.registry.publish("d", "1.0.0", fields{"peerDependencies": fields{"x": "^1"}}, nil)
	f.registry.publish("x", "1.0.0", nil, nil)
	f.registry.publish("x", "3.0.0", nil, nil)
	f.registry.publish("x", "2.0.0", nil, nil) // has the tag latest
	for dependencies, want := range map[string]map[string]string{
		`"a":"1","b":"1"`: {"node_modules/a": "1.0.0", "node_modules/b": "1.0.0", "node_modules/x": "3.0.0"},
		`"a":"1","c":"1"`: {
			"node_modules/a": "1.0.0", "node_modules/c": "1.0.0", "node_modules/d": "1.0.0", "node_modules/x": "1.0.0",
		},
	} {
		got, _, err := f.resolve(`{"dependencies":{` + dependencies + `}}`)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v; mismatch (-want +got):\n%s", dependencies, err, diff)
		}
	}
}

func TestMissingPackages(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", fields{"dependencies": fields{"b": "1"}}, nil)
	f.registry.publish("b", "1.0.0", fields{"dependencies": fields{"left-padd": "^1"}}, nil)
	_, _, err := f.install(t, `"reactt":"^19"`, "")
	got := wantFailure(t, err, failure.DependencyNotFound, "reactt@^19 is not in the npm registry. Check the name")
	if got.Path != "/package.json" || got.Line != 2 {
		t.Errorf("got place %s:%d, want /package.json:2", got.Path, got.Line)
	}
	_, _, err = f.install(t, `"a":"1"`, "")
	got = wantFailure(t, err, failure.DependencyNotFound,
		"b@1.0.0 needs a package that cannot be installed: left-padd@^1 is not in the npm registry")
	if got.Path != "/package.json" || got.Line != 2 {
		t.Errorf("got place %s:%d, want /package.json:2", got.Path, got.Line)
	}
}

// Packages that depend on each other are installed once.
func TestCycle(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", fields{"dependencies": fields{"b": "1"}, "peerDependencies": fields{"c": "*"}}, nil)
	f.registry.publish("b", "1.0.0", fields{"dependencies": fields{"a": "1"}}, nil)
	f.registry.publish("c", "1.0.0", fields{"peerDependencies": fields{"a": "*"}}, nil)
	_, report, err := f.install(t, `"a":"1"`, "")
	if report.Packages != 3 || err != nil {
		t.Errorf("got %+v, error %v, want 3 packages", report, err)
	}
}

func TestCallerStops(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.on["/a"] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := npm.New(f.deps).Install(ctx, project(`{"dependencies":{"a":"1"}}`, ""), nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want the error of the context", err)
	}
}

func TestIgnoredFiles(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, nil)
	lock := `{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"1.0.0","integrity":"` +
		f.registry.publish("a", "1.0.0", nil, nil) + `"}}}`
	const dependency = `"dependencies":{"a":"1"}`
	for name, c := range map[string]struct {
		manifest, lock, other string
		want                  []string // the beginnings of the warnings
	}{
		"nothing":      {dependency + `,"overrides":{ },"pnpm":"x"`, "", "", nil},
		"lock file":    {dependency, lock, "/yarn.lock", nil},
		"old lock":     {dependency, `{}`, "/yarn.lock", []string{"package-lock.json does not match package.json, or"}},
		"Yarn":         {dependency, "", "/yarn.lock", []string{"yarn.lock is ignored."}},
		"pnpm":         {dependency, "", "/pnpm-lock.yaml", []string{"pnpm-lock.yaml is ignored."}},
		"Bun":          {dependency, "", "/bun.lockb", []string{"bun.lockb is ignored."}},
		"workspaces":   {dependency + `,"workspaces":["packages/*"]`, "", "", []string{"workspaces, resolutions and"}},
		"no packages":  {`"name":"a"`, "", "/yarn.lock", nil},
		"Yarn's rules": {dependency + `,"resolutions":{"a":"2"}`, "", "", []string{"workspaces, resolutions and"}},
		"pnpm's rules": {dependency + `,"pnpm":{"overrides":{"a":"2"}}`, "", "", []string{"workspaces, resolutions and"}},
	} {
		in := project("{"+c.manifest+"}", c.lock)
		in.Files[c.other] = nil
		_, report, err := installInto(t, npm.New(f.deps), in)
		if err != nil || len(report.Warnings) != len(c.want) {
			t.Errorf("%s: got %q, error %v", name, report.Warnings, err)
			continue
		}
		for i, begin := range c.want {
			if !strings.HasPrefix(report.Warnings[i], begin) {
				t.Errorf("%s: got %q, want %q", name, report.Warnings[i], begin)
			}
		}
	}
}

func TestBundledDependencies(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", fields{"dependencies": fields{"b": "1"}, "bundledDependencies": []string{"b"}},
		map[string]string{"node_modules/b/index.js": "", "node_modules/b/package.json": "{}"})
	f.registry.publish("c", "1.0.0", nil, nil)
	in := project(`{"dependencies":{"a":"1","c":"1"},"bundleDependencies":["c"]}`, "")
	files, _, err := installInto(t, npm.New(f.deps), in)
	if err != nil {
		t.Fatal(err)
	}
	want(t, files, "/node_modules/a/package.json", "/node_modules/a/node_modules/b/index.js",
		"/node_modules/a/node_modules/b/package.json", "/node_modules/c/package.json")
}
