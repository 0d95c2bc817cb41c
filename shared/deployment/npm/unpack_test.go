package npm_test

import (
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
)

// A package can use a name for a file or for a folder, but not for both. Its later files replace earlier ones.
func TestNamesThatConflict(t *testing.T) {
	t.Parallel()
	file := func(name, data string) tarEntry { return tarEntry{name: "package/" + name, data: data} }
	for name, tc := range map[string]struct {
		entries []tarEntry
		message string // "" if the package is installed
	}{
		"a file, then a folder":  {[]tarEntry{file("a", "1"), file("a/b", "2")}, "unsafe path"},
		"a folder, then a file":  {[]tarEntry{file("a/b", "1"), file("a", "2")}, "unsafe path"},
		"a segment of 256 bytes": {[]tarEntry{file(strings.Repeat("n", 256), "1")}, "unsafe path"},
		"a segment of 255 bytes": {[]tarEntry{file("b/"+strings.Repeat("n", 255), "1"), file("x", "2")}, ""},
		"the same file twice":    {[]tarEntry{file("x", "1"), file("y", "3"), file("x", "2")}, ""},
	} {
		f := setUp(t)
		f.registry.publishTarball("a", "1.0.0", fields{}, tarball(tc.entries...))
		for _, dependencies := range []string{`"a":"1"`, `"a":"1","b":"npm:a@1"`} {
			files, _, err := f.install(t, dependencies, "")
			if tc.message != "" {
				wantFailure(t, err, failure.BuildFailed, tc.message)
			} else if got := string(files["/node_modules/a/x"]); got != "2" || err != nil {
				t.Errorf("%s: got %q, error %v, want the last file", name, got, err)
			}
		}
	}
}

// A package that belongs to several places is complete in all of them, downloaded and from the cache.
func TestCopies(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, map[string]string{"lib/index.js": "a"})
	for range 2 {
		files, report, err := f.install(t, `"a":"1","b":"npm:a@1","c":"npm:a@1"`, "")
		if report.Packages != 3 || err != nil {
			t.Fatalf("got %+v, error %v, want 3 packages", report, err)
		}
		want(t, files, "/node_modules/a/package.json", "/node_modules/a/lib/index.js", "/node_modules/b/package.json",
			"/node_modules/b/lib/index.js", "/node_modules/c/package.json", "/node_modules/c/lib/index.js")
		if string(files["/node_modules/c/lib/index.js"]) != "a" {
			t.Errorf("got %q in a copy, want the file", files["/node_modules/c/lib/index.js"])
		}
	}
	if n := f.registry.count("/a/-/a-1.0.0.tgz"); n != 1 {
		t.Errorf("got %d downloads, want 1", n)
	}
}

// A package.json in a folder of a package is kept, because it says which file the folder means.
func TestNestedManifests(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, map[string]string{
		"add/package.json": `{"main":"../cjs/add.js"}`, "cjs/add.js": "", "types/add.d.ts": "", "add/add.js.map": "{}",
	})
	files, _, err := f.install(t, `"a":"1"`, "")
	if err != nil {
		t.Fatal(err)
	}
	want(t, files, "/node_modules/a/package.json", "/node_modules/a/add/package.json", "/node_modules/a/cjs/add.js")
}

// A tarball is compared with its hash before its files are written.
func TestNothingUnverified(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", fields{"dist": fields{"integrity": sha512Of([]byte("other"))}}, nil)
	files, _, err := f.install(t, `"a":"1"`, "")
	wantFailure(t, err, failure.DependencyNotFound, "does not have the expected SHA-512")
	if len(files) > 0 {
		t.Errorf("got %d files of a package with another hash", len(files))
	}
}
