package npm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/deployment/failure"
)

// lockOf returns a package-lock.json with packages such as `"node_modules/a":{…}`.
func lockOf(packages ...string) string {
	return `{"name":"project","lockfileVersion":3,"packages":{"":{"name":"project"},` + strings.Join(packages, ",") + `}}`
}

// entry returns a package of a lock file.
func entry(location, version, integrity, extra string) string {
	return fmt.Sprintf(`%q:{"version":%q,"integrity":%q%s}`, location, version, integrity, extra)
}

func TestLock(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	shared1 := f.registry.publish("shared", "1.0.0", nil, map[string]string{"index.js": "one"})
	shared2 := f.registry.publish("shared", "2.0.0", nil, map[string]string{"index.js": "two"})
	a := f.registry.publish("a", "1.0.0", nil, nil)
	f.registry.publish("a", "1.9.0", nil, nil)
	b := f.registry.publish("@scope/b", "1.0.0", nil, nil)
	elsewhere := newRegistry(t)
	lock := lockOf(
		entry("node_modules/a", "1.0.0", "sha1-abc "+a, `,"dependencies":{"shared":"^1","native":"*","inside":"*"},`+
			`"optionalDependencies":{"native":"*"},"resolved":"`+elsewhere.server.URL+`/a.tgz"`),
		entry("node_modules/shared", "1.0.0", shared1, ""),
		entry("node_modules/c", "1.0.0", b, `,"name":"@scope/b","dependencies":{"shared":"^2"}`),
		entry("node_modules/c/node_modules/shared", "2.0.0", shared2, ""),
		entry("node_modules/native", "1.0.0", "", `,"optional":true,"os":["linux"]`),
		entry("node_modules/vite", "1.0.0", "", `,"dev":true`),
		`"node_modules/a/node_modules/inside":{"version":"1.0.0","inBundle":true}`,
	)
	files, report, err := f.install(t, `"a":"^1.0.0","c":"npm:@scope/b@1"`, lock)
	if err != nil {
		t.Fatal(err)
	}
	want(t, files, "/node_modules/a/package.json", "/node_modules/shared/package.json", "/node_modules/shared/index.js",
		"/node_modules/c/package.json", "/node_modules/c/node_modules/shared/package.json",
		"/node_modules/c/node_modules/shared/index.js")
	if string(files["/node_modules/c/node_modules/shared/index.js"]) != "two" {
		t.Error("the wrong version of shared is below c")
	}
	if len(report.Warnings) > 0 || report.Packages != 4 || report.Downloaded != 4 {
		t.Errorf("got %+v, want 4 locked and downloaded packages", report)
	}
	if f.registry.total() != 4 || elsewhere.total() != 0 {
		t.Errorf("got %d requests, and %d to the URL in the lock file, want 4 for tarballs and none", f.registry.total(),
			elsewhere.total())
	}
}

// If only package.json was changed, only versions that no longer fit are selected again.
func TestOutdatedLock(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	a := f.registry.publish("a", "1.0.0", fields{"dependencies": fields{"b": "^1"}}, nil)
	f.registry.publish("a", "1.9.0", nil, nil)
	b := f.registry.publish("b", "1.0.0", nil, nil)
	f.registry.publish("b", "1.9.0", nil, nil)
	f.registry.publish("b", "2.0.0", nil, nil)
	lock := lockOf(entry("node_modules/a", "1.0.0", a, `,"dependencies":{"b":"^1"}`),
		entry("node_modules/b", "1.0.0", b, ""))
	for name, tc := range map[string]struct {
		dependencies, lock string
		locked             bool
		want               map[string]string
	}{
		"matches": {`"a":"^1"`, lock, true, map[string]string{"a": "1.0.0", "b": "1.0.0"}},
		"another dependency": {
			`"a":"^1","c":"npm:b@2"`, lock, false, map[string]string{"a": "1.0.0", "b": "1.0.0", "c": "2.0.0"},
		},
		"another range": {
			`"a":"^1","b":"^2"`, lock, false, map[string]string{"a": "1.0.0", "b": "2.0.0", "a/node_modules/b": "1.0.0"},
		},
		"a missing package": {
			`"a":"^1"`, lockOf(entry("node_modules/a", "1.0.0", a, `,"dependencies":{"b":"1"}`)), false,
			map[string]string{"a": "1.0.0", "b": "1.9.0"},
		},
		"a link": {
			`"a":"^1"`, lockOf(`"node_modules/a":{"resolved":"a","link":true,"version":"1.0.0"}`), false,
			map[string]string{"a": "1.0.0", "b": "1.9.0"},
		},
		"of npm 6": {
			`"a":"~1.0.0"`, `{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0"}}}`, false,
			map[string]string{"a": "1.0.0", "b": "1.9.0"},
		},
		"an alias that is gone": {
			`"a":"^1"`, lockOf(entry("node_modules/a", "1.0.0", b, `,"name":"b"`)), false, map[string]string{"a": "1.9.0"},
		},
		"a version not there": {
			`"a":"^1"`, lockOf(entry("node_modules/a", "../../b", a, "")), false, map[string]string{"a": "1.9.0"},
		},
	} {
		files, report, err := f.install(t, tc.dependencies, tc.lock)
		if err != nil || (len(report.Warnings) == 0) != tc.locked {
			t.Errorf("%s: got %+v, error %v, want locked %t", name, report, err, tc.locked)
		}
		got := map[string]string{}
		for path, data := range files {
			location := strings.TrimSuffix(strings.TrimPrefix(path, "/node_modules/"), "/package.json")
			_, version, _ := strings.Cut(string(data), `"version":"`)
			got[location], _, _ = strings.Cut(version, `"`)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: mismatch (-want +got):\n%s", name, diff)
		}
	}
}

func TestLockErrors(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	a := f.registry.publish("a", "1.0.0", nil, nil)
	other := sha512Of([]byte("other"))
	for name, tc := range map[string]struct {
		lock    string
		code    failure.Code
		message string
	}{
		"not JSON":    {`{"packages":`, failure.BuildFailed, "package-lock.json is not valid JSON. Delete the file"},
		"other types": {`{"packages":[]}`, failure.BuildFailed, "has the wrong type. Delete the file"},
		"null":        {lockOf(`"node_modules/a":null`), failure.BuildFailed, "names a package that is not valid"},
		"outside": {
			lockOf(entry("node_modules/../../a", "1.0.0", a, "")), failure.BuildFailed, "names a package that is not valid",
		},
		"SHA-1": {
			lockOf(entry("node_modules/a", "1.0.0", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "")),
			failure.DependencyNotFound, "a@1.0.0 has no valid SHA-512",
		},
		"no integrity": {
			lockOf(entry("node_modules/a", "1.0.0", "", "")), failure.DependencyNotFound, "a@1.0.0 has no valid SHA-512",
		},
		"another hash": {
			lockOf(entry("node_modules/a", "1.0.0", other, "")),
			failure.DependencyNotFound, "does not have the expected SHA-512",
		},
		"unpublished": {
			lockOf(entry("node_modules/a", "1.2.3", other, "")),
			failure.DependencyNotFound, "a@1.2.3 is not in the npm registry",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := f.install(t, `"a":"^1"`, tc.lock)
			wantFailure(t, err, tc.code, tc.message)
		})
	}
}

// The preferred versions do not depend on the order in which Go visits the packages of a lock file.
func TestOutdatedLockIsDeterministic(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	c := f.registry.publish("c", "1.0.0", nil, nil)
	packages := []string{}
	for i := range 8 {
		version := fmt.Sprintf("1.%d.0", i)
		f.registry.publish("c", version, nil, nil)
		packages = append(packages, entry(fmt.Sprintf("node_modules/p%d/node_modules/c", i), version, c, ""))
	}
	for range 10 {
		files, _, err := f.install(t, `"c":"1"`, lockOf(packages...))
		if data := files["/node_modules/c/package.json"]; !strings.Contains(string(data), `"1.0.0"`) || err != nil {
			t.Fatalf("got %s, error %v, want the version of the first location", data, err)
		}
	}
}
