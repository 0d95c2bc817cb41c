package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"devplatform/infra/local/stack"
)

// project writes a module with one tiny function a folder and answers its folder.
func project(t *testing.T, functions map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module example\n\ngo 1.26\n"}
	for folder, source := range functions {
		files[filepath.Join(folder, "main.go")] = source
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestBinariesAreBuilt builds another project's functions from their CodeUri, and finds ready-made ones.
func TestBinariesAreBuilt(t *testing.T) {
	t.Parallel()
	const empty = "package main\n\nfunc main() {}\n"
	s := &stack.Stack{
		Dir:       project(t, map[string]string{"cmd/one": empty, "cmd/two": empty}),
		Functions: []stack.Function{{Name: "One", CodeURI: "cmd/one/"}, {Name: "Two", CodeURI: "./cmd/two"}},
	}
	out := t.TempDir()
	built, err := binaries(t.Context(), s, "", out)
	if err != nil {
		t.Fatal(err)
	}
	found, err := binaries(t.Context(), s, out, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"One": filepath.Join(out, "one"), "Two": filepath.Join(out, "two")} {
		if info, err := os.Stat(path); err != nil || info.Mode()&0o100 == 0 || built[name] != path || found[name] != path {
			t.Errorf("%s: built %q, found %q, %v", name, built[name], found[name], err)
		}
	}
}

// TestBinariesRefuses names what is wrong with the functions of a project.
func TestBinariesRefuses(t *testing.T) {
	t.Parallel()
	s := &stack.Stack{
		Dir:       project(t, map[string]string{"a/f": "package main\n\nfunc main() { broken }\n", "b/f": "package main\n\nfunc main() {}\n"}),
		Functions: []stack.Function{{Name: "One", CodeURI: "a/f"}},
	}
	if _, err := binaries(t.Context(), s, "", t.TempDir()); err == nil || !strings.Contains(err.Error(), "undefined: broken") {
		t.Errorf("a function that does not compile: %v", err)
	}
	if _, err := binaries(t.Context(), s, t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "One: no binary at") {
		t.Errorf("a missing binary: %v", err)
	}
	s.Functions = []stack.Function{{Name: "One", CodeURI: "b/f"}, {Name: "Two", CodeURI: "c/f"}}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := binaries(t.Context(), s, dir, ""); err == nil || !strings.Contains(err.Error(), "Two: CodeUri c/f and b/f end alike") {
		t.Errorf("two functions of one name: %v", err)
	}
}
