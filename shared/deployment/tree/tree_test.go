package tree

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
		disk, err := os.ReadFile(filepath.Join(read.Dir(), name))
		if isManifest := strings.HasSuffix(name, ".json"); err != nil || isManifest != bytes.Equal(disk, data) && want != "" {
			t.Errorf("%s: got %q on the disk, error %v", name, disk, err)
		}
	}
	if _, err := read.Read("/none.js"); !errors.Is(err, fs.ErrNotExist) || read.Has("/none.js") {
		t.Errorf("a file that does not exist: got %v", err)
	}
	info, err := os.Stat(filepath.Join(read.Dir(), "c", "b.js"))
	if err != nil || info.Sys().(*syscall.Stat_t).Nlink != 3 {
		t.Errorf("got %v, %v, want one of three links", info, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	files, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	add(t, files, "x", "/a/b.js")
	for name, want := range map[string]error{
		"/a/b.js/c": syscall.ENOTDIR, "/a": syscall.EISDIR, "/" + strings.Repeat("n", 256): syscall.ENAMETOOLONG,
	} {
		if err := files.Add(strings.NewReader("x"), 1, name); !errors.Is(err, want) || files.Has(name) {
			t.Errorf("%.10s: got %v, want %v", name, err, want)
		}
	}
	if err := files.Add(strings.NewReader("x"), 2, "/short"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

// A module that a manifest replaces by nothing is replaced by an empty file. No manifest names a file outside.
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
	add(t, files, "null", "/package.json")
	add(t, files, `{}`, "/node_modules/.pnp.data.json")
	if _, err := os.Stat(filepath.Join(files.Dir(), "node_modules", ".pnp.data.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("data of Yarn in a package: got %v", err)
	}
	for name, want := range map[string]string{
		"p": `{"browser":{"./a.js":"./b.js","fs":"./__deployment_empty.js"},"exports":{"b":1,"a":2}}`,
		"q": `{"browser":"./b.js"}`, "r": "{", "node_modules/s/x/y": `{"main":"../../lib/a.js"}`,
		"node_modules/t": `{"browser":{"./c":"./d.js","q":"r"}}`, "src": `{"browser":"../y.js"}`,
		"": `{"browser":{}}`,
	} {
		if data, err := os.ReadFile(filepath.Join(files.Dir(), name, "package.json")); err != nil || string(data) != want {
			t.Errorf("got %s, error %v, want %s", data, err, want)
		}
	}
	if data, err := files.Read("/p/__deployment_empty.js"); err != nil || len(data) > 0 {
		t.Errorf("got %q, error %v", data, err)
	}
}
