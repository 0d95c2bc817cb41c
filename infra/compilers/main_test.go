package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The bundles in the repository are those that this program makes. If the packages are not installed, only the nightly
// run installs them.
func TestBundles(t *testing.T) {
	t.Chdir("../..")
	lock, err := os.ReadFile(source + "/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	installed, _ := os.ReadFile(cache + "/package-lock.json")
	if _, err := os.Stat(cache + "/node_modules/.package-lock.json"); err != nil || !bytes.Equal(lock, installed) {
		if os.Getenv("NIGHTLY") == "" {
			t.Skip("the packages are not installed: run make compilers")
		}
		if err := install(cache); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(source + "/*.js")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			err = write(filepath.Join(cache, filepath.Base(file)), data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	if err := run(cache, out, out+"/COMPILERS.md"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"COMPILERS.md": licences, "tailwind3.js.gz": target + "/tailwind3.js.gz", "tailwind4.js.gz": target + "/tailwind4.js.gz",
	} {
		made, err := os.ReadFile(filepath.Join(out, name))
		kept, missing := os.ReadFile(want)
		if err != nil || missing != nil || !bytes.Equal(made, kept) {
			t.Errorf("%s is out of date: run make compilers", want)
		}
	}
}
