package platformtest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"devplatform/infra/process"
	"devplatform/infra/testmode"
)

// Root is the project's root folder, relative to the folder of a package directly below infra.
const Root = "../.."

// raceFlag makes go build use the race detector for the platform and the functions if the tests use it. Otherwise it is
// empty.
var raceFlag = map[bool]string{true: "-race"}[testmode.HasRaceDetector]

// buildDir is the folder of the binaries that tests use. It is not deleted. A test run therefore builds the binaries
// once for all packages, and the next run rebuilds only the binaries that changed.
var buildDir = Root + "/.build/test" + raceFlag

// build builds the binaries in buildDir, once in each test process.
var build = sync.OnceValue(func() error {
	return withLock(syscall.LOCK_EX, func() error {
		arguments := []string{
			"-o", ".build/" + filepath.Base(buildDir) + "/", "./infra/local", "./infra/receiver", "./functions/...",
		}
		if raceFlag != "" {
			arguments = slices.Insert(arguments, 0, raceFlag)
		}
		return process.Build(context.Background(), Root, arguments...)
	})
})

// withLock calls the function do while it holds a lock on buildDir. how is LOCK_SH if do reads the folder, and LOCK_EX
// if do changes it. The lock works across processes, because go test runs the tests of each package in its own process.
func withLock(how int, do func() error) error {
	if err := os.MkdirAll(buildDir, 0o750); err != nil {
		return fmt.Errorf("platformtest: %w", err)
	}
	// Without O_TRUNC, because go test does not reuse the result of a test that changed one of its files.
	lock, err := os.OpenFile(buildDir+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("platformtest: %w", err)
	}
	defer lock.Close() //nolint:errcheck // Close also releases the lock
	if err := syscall.Flock(int(lock.Fd()), how); err != nil {
		return fmt.Errorf("platformtest: %w", err)
	}
	return do()
}

// Binaries builds the platform (local), the webhook receiver and all functions, and returns a folder that contains
// them. They use the race detector if the test does. The folder belongs to the test: a later build does not change it.
// With -short, Binaries skips the test.
func Binaries(t testing.TB) string {
	t.Helper()
	testmode.SkipIfShort(t)
	if err := DependOnSources(); err != nil {
		t.Fatal(err)
	}
	if err := build(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(buildDir), "binaries-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	dir, err = filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := withLock(syscall.LOCK_SH, func() error { return linkFiles(buildDir, dir) }); err != nil {
		t.Fatal(err)
	}
	return dir
}

// DependOnSources makes the result of the test depend on the source files of the binaries. go test reuses the result of
// a package if no file that the test process looked at has changed. It does not know what go build reads.
func DependOnSources() error {
	for _, folder := range []string{"functions", "shared", "infra/local", "infra/receiver", "go.mod", "template.yaml"} {
		err := filepath.WalkDir(filepath.Join(Root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !strings.HasSuffix(path, "_test.go") {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("platformtest: %w", err)
		}
	}
	return nil
}

// linkFiles creates hard links to the files of one folder in another folder. go build replaces files instead of
// overwriting them, so a link still refers to the contents for which it was created.
func linkFiles(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("platformtest: %w", err)
	}
	for _, entry := range entries {
		if err := os.Link(filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())); err != nil {
			return fmt.Errorf("platformtest: %w", err)
		}
	}
	return nil
}
