package npm_test

import (
	"testing"

	"devplatform/shared/deployment/failure"
)

// A later file of a package replaces an earlier one with the same path.
func TestSameFileTwice(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	file := func(name, data string) tarEntry { return tarEntry{name: "package/" + name, data: data} }
	f.registry.publishTarball("a", "1.0.0", fields{}, tarball(file("x", "1"), file("y", "3"), file("x", "2")))
	files, _, err := f.install(t, `"a":"1","b":"npm:a@1"`, "")
	for _, name := range []string{"/node_modules/a/x", "/node_modules/b/x"} {
		if got := string(files[name]); got != "2" || err != nil {
			t.Errorf("%s: got %q, error %v, want the last file", name, got, err)
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
