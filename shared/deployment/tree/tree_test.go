package tree

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func add(t *testing.T, files *Tree, data string, names ...string) {
	t.Helper()
	if err := files.Add(strings.NewReader(data), int64(len(data)), names...); err != nil {
		t.Fatal(err)
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer written.Close()
	add(t, written, "old", "/a/b.js")
	add(t, written, "one", "/a/b.js", "/c/b.js")
	add(t, written, "", "/empty.txt")
	add(t, written, `{"name":"p"}`, "/p/package.json")
	if err := written.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	read, err := Open(dir, written.Files())
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	for name, want := range map[string]string{
		"/a/b.js": "one", "/c/b.js": "one", "/empty.txt": "", "/p/package.json": `{"name":"p"}`,
	} {
		data, err := read.Read(name)
		if err != nil || string(data) != want || !read.Has(name) {
			t.Errorf("%s: got %q, error %v", name, data, err)
		}
	}
	if _, err := read.Read("/none.js"); !errors.Is(err, fs.ErrNotExist) || read.Has("/none.js") {
		t.Errorf("a file that does not exist: got %v", err)
	}
	for name, want := range map[string]bool{"/": true, "/a": true, "/p": true, "/p/package.json": false, "/x": false} {
		if got := read.HasFolder(name); got != want {
			t.Errorf("%s is a folder: got %v", name, got)
		}
	}
	want := map[string]string{
		"a/b.js": "", "c/b.js": "", "empty.txt": "", "p/package.json": `{"name":"p"}`, "package.json": `{"browser":{}}`,
	}
	if diff := cmp.Diff(want, readArchive(t, read)); diff != "" {
		t.Errorf("archive: mismatch (-want +got):\n%s", diff)
	}
}

// readArchive returns the files of the archive of a tree.
func readArchive(t *testing.T, files *Tree) map[string]string {
	t.Helper()
	archive, err := zip.OpenReader(files.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	all := map[string]string{}
	for _, f := range archive.File {
		data, err := fs.ReadFile(archive, f.Name)
		if _, isTwice := all[f.Name]; err != nil || isTwice {
			t.Errorf("%s: error %v, or there are two files", f.Name, err)
		}
		all[f.Name] = string(data)
	}
	return all
}

// A build that has taken too long does not read the rest of the manifests.
func TestFinishEndsWithContext(t *testing.T) {
	t.Parallel()
	files, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	add(t, files, `{"name":"p"}`, "/p/package.json")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := files.Finish(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v, want %v", err, context.Canceled)
	}
}

// A package can be at 1,500 places, and its manifests are in the archive at each of them. They must not fill the disk.
func TestManyLargeManifests(t *testing.T) {
	t.Parallel()
	files, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	var names []string
	for i := range maxManifests/maxManifest + 1 {
		names = append(names, fmt.Sprintf("/node_modules/p%d/package.json", i))
	}
	add(t, files, `{"x":"`+strings.Repeat("x", maxManifest-len(`{"x":""}`))+`"}`, names...)
	if err := files.Finish(t.Context()); !errors.Is(err, ErrManifests) {
		t.Errorf("got the error %v, want %v", err, ErrManifests)
	}
	archive, err := os.Stat(files.Dir())
	if err != nil || archive.Size() > maxManifests+1<<20 {
		t.Errorf("got an archive %+v, error %v, want at most about %d bytes", archive, err, maxManifests)
	}
}

func TestShortFile(t *testing.T) {
	t.Parallel()
	files, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	err = files.Add(strings.NewReader("x"), 2, "/short")
	if !errors.Is(err, io.ErrUnexpectedEOF) || files.Has("/short") {
		t.Errorf("got %v", err)
	}
}

// A module that a manifest replaces with nothing is replaced with an empty file. No manifest names a file outside.
func TestManifest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	add(t, files, "\ufeff"+`{"browser":{"fs":false,"./a.js":"./b.js"},"exports":{"b":1,"a":2}}`, "/p/package.json")
	add(t, files, `{"browser":"./b.js"}`, "/q/package.json")
	add(t, files, `{`, "/r/package.json")
	add(t, files, `{"main":"../../lib/a.js","module":"../../../b.js"}`, "/node_modules/s/x/y/package.json")
	add(t, files, `{"main":"/etc/passwd","browser":{"./a":"../b.js","./c":"./d.js","q":"r"}}`,
		"/node_modules/t/package.json")
	add(t, files, `{"main":"../../x.js","browser":"../y.js"}`, "/src/package.json")
	// Bundlers also read manifests with two values for a name, and with invalid UTF-8.
	add(t, files, `{"a":1,"a":2,"main":"./in.js","main":"../../x.js"}`, "/two/package.json")
	add(t, files, `{"main":"../../x.js","name":"`+"\xff"+`"}`, "/invalid/package.json")
	add(t, files, `{"sideEffects":["a\ud800"],"main":"a.js","main":"b.js"}`, "/u/package.json")
	add(t, files, "null", "/package.json")
	add(t, files, `{}`, "/node_modules/.pnp.data.json")
	if err := files.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := readArchive(t, files)
	if _, ok := got["node_modules/.pnp.data.json"]; ok {
		t.Error("the archive has data of Yarn in a package")
	}
	for name, want := range map[string]string{
		"p/package.json": `{"browser":{"./a.js":"./b.js","fs":"./__deployment_empty.js"},"exports":{"b":1,"a":2}}`,
		"q/package.json": `{"browser":"./b.js"}`, "r/package.json": `{"browser":{}}`, "package.json": `{"browser":{}}`,
		"node_modules/s/x/y/package.json": `{"main":"../../lib/a.js"}`, "src/package.json": `{"browser":"../y.js"}`,
		"u/package.json":              "{\"main\":\"b.js\",\"sideEffects\":[\"a\ufffd\"]}",
		"node_modules/t/package.json": `{"browser":{"./c":"./d.js","q":"r"}}`,
		"two/package.json":            `{"a":2}`, "invalid/package.json": `{"name":"` + "\ufffd" + `"}`,
	} {
		if got[name] != want {
			t.Errorf("%s: got %s, want %s", name, got[name], want)
		}
	}
	if data, err := files.Read("/p/__deployment_empty.js"); err != nil || len(data) > 0 {
		t.Errorf("got %q, error %v", data, err)
	}
}
