package npm_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
)

// A project that is installed again within a short time gets the same versions without requests to the registry, unless
// something changed that selects versions.
func TestRecentVersions(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", fields{"peerDependencies": fields{"b": "^2"}}, nil)
	f.registry.publish("b", "2.0.0", nil, nil)
	f.registry.publish("b", "1.0.0", nil, nil)
	const manifest = `{"dependencies":{"a":"^1","b":"^1"},"devDependencies":{"c":"*"}}`
	f.registry.publish("c", "1.0.0", nil, nil)
	now := time.Now()
	f.deps.Clock = func() time.Time { return now }
	installer := npm.New(f.deps)
	install := func(step, manifest, lock string, imports map[string]bool, want string) npm.Report {
		t.Helper()
		in := project(manifest, lock)
		in.Imports = imports
		files, report, err := installInto(t, installer, in)
		if got := fmt.Sprint(slices.Sorted(maps.Keys(files))); err != nil || got != want {
			t.Errorf("%s: got %s, error %v, want %s", step, got, err, want)
		}
		return report
	}
	const ab = "[/node_modules/a/package.json /node_modules/b/package.json]"
	const abNew = "[/node_modules/a/new.js /node_modules/a/package.json /node_modules/b/package.json]"
	install("first", manifest, "", nil, ab)
	now = now.Add(5*time.Minute - 1)
	f.registry.publish("a", "1.1.0", nil, map[string]string{"new.js": ""})
	before := f.registry.total()
	report := install("again", manifest, "", nil, ab)
	if n := f.registry.total() - before; n != 0 || len(report.Warnings) != 1 || report.Packages != 2 {
		t.Errorf("got %d requests and %+v, want none and the warning about the peer", n, report)
	}
	install("another manifest", manifest+" ", "", nil, abNew)
	install("an outdated lock file", manifest, lockOf(entry("node_modules/a", "1.1.0", "", "")), nil, abNew)
	install("an import", manifest, "", map[string]bool{"c": true}, "[/node_modules/a/new.js /node_modules/a/package.json "+
		"/node_modules/b/package.json /node_modules/c/package.json]")
	now = now.Add(1)
	before = f.registry.total()
	install("later", manifest, "", nil, abNew)
	if n := f.registry.total() - before; n != 2 {
		t.Errorf("got %d requests, want one for each package", n)
	}
}

// Many projects do not need more and more memory.
func TestRecentVersionsOfManyProjects(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, nil)
	installer := npm.New(f.deps)
	for i := range 40 {
		in := project(fmt.Sprintf(`{"name":"p%d","dependencies":{"a":"1"}}`, i), "")
		if _, _, err := installInto(t, installer, in); err != nil {
			t.Fatal(err)
		}
	}
	if n := npm.Recent(installer); n > 32 {
		t.Errorf("got %d projects, want at most 32", n)
	}
	// The warning about a peer contains its range.
	peers := fields{
		"peerDependencies":     fields{"a": strings.Repeat("x", 900_000)},
		"peerDependenciesMeta": fields{"a": fields{"optional": true}},
	}
	for _, name := range []string{"b", "c", "d"} {
		f.registry.publish(name, "1.0.0", peers, nil)
	}
	for manifest, want := range map[string]int{
		`{"dependencies":{"a":"1","b":"1","c":"1"}}`: 1, `{"dependencies":{"a":"1","b":"1","c":"1","d":"1"}}`: 0,
	} {
		installer := npm.New(f.deps)
		if _, report, err := installInto(t, installer, project(manifest, "")); err != nil || len(report.Warnings) < 2 {
			t.Errorf("%s: got %d warnings and error %v", manifest, len(report.Warnings), err)
		}
		if n := npm.Recent(installer); n != want {
			t.Errorf("%s: got %d projects, want %d", manifest, n, want)
		}
	}
}

// Versions are not used again if their packages could not be installed.
func TestRecentVersionsOfFailure(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, nil)
	const path = "/a/-/a-1.0.0.tgz"
	f.registry.on[path] = http.NotFound
	installer := npm.New(f.deps)
	in := project(`{"dependencies":{"a":"1"}}`, "")
	_, _, err := installInto(t, installer, in)
	wantFailure(t, err, failure.DependencyNotFound, "a@1.0.0 is not in the npm registry")
	f.registry.publish("a", "1.0.1", nil, nil)
	if _, report, err := installInto(t, installer, in); report.Downloaded != 1 || err != nil {
		t.Errorf("got %+v, error %v, want the new version", report, err)
	}
}

// An installation of known versions that takes long does not extend the time for which they are used again.
func TestRecentVersionsExpire(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, nil)
	f.registry.publish("b", "1.0.0", nil, nil)
	begin, passed := time.Now(), atomic.Int64{}
	f.deps.Clock = func() time.Time { return begin.Add(time.Duration(passed.Load())) }
	installer := npm.New(f.deps)
	install := func(name string) {
		t.Helper()
		in := project(fmt.Sprintf(`{"dependencies":{%q:"1"}}`, name), "")
		if _, _, err := installInto(t, installer, in); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	install("a")
	const path = "/a/-/a-1.0.0.tgz"
	data := f.registry.tarballs[path]
	if err := f.deps.Bucket.DeleteAll(t.Context(), objectKey(data)); err != nil {
		t.Fatal(err)
	}
	f.registry.on[path] = func(w http.ResponseWriter, _ *http.Request) {
		passed.Store(int64(5 * time.Minute))
		install("b") // the first use of the versions after they have expired
		_, _ = w.Write(data)
	}
	passed.Store(int64(5*time.Minute - 1))
	install("a")
	before := f.registry.count("/a")
	install("a")
	if n := f.registry.count("/a") - before; n != 1 {
		t.Errorf("got %d requests for the versions of a, want 1", n)
	}
}
