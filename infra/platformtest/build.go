package platformtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// Root is the project's folder as the tests of a package directly below infra see it.
const Root = "../.."

// shelf is where the binaries of tests stay, so that a test run builds them once for all of its packages and the next run builds
// only what has changed.
const shelf = Root + "/.build/test" + raceFlag

var built = sync.OnceValue(func() error {
	return locked(syscall.LOCK_EX, func() error {
		args := []string{"build", "-tags=lambda.norpc", "-o", filepath.Join(".build", filepath.Base(shelf)) + "/"}
		if raceFlag != "" {
			args = append(args, raceFlag)
		}
		command := exec.Command("go", append(args, "./infra/local", "./infra/receiver", "./functions/...")...) //nolint:gosec // all of it is said here
		command.Dir = Root
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("platformtest: go build: %w\n%s", err, output)
		}
		return nil
	})
})

// locked does something while no other process builds (LOCK_SH), or even reads (LOCK_EX), what is on the shelf.
func locked(how int, do func() error) error {
	if err := os.MkdirAll(shelf, 0o750); err != nil {
		return fmt.Errorf("platformtest: %w", err)
	}
	lock, err := os.Create(shelf + ".lock")
	if err != nil {
		return fmt.Errorf("platformtest: %w", err)
	}
	defer lock.Close() //nolint:errcheck // that gives the lock back, too
	if err := syscall.Flock(int(lock.Fd()), how); err != nil {
		return fmt.Errorf("platformtest: %w", err)
	}
	return do()
}

// Binaries is a folder with the platform (local), the receiver of webhooks and every function, built with the race detector if the
// test has it. They are the test's own: a build that another package's tests make meanwhile does not touch them.
func Binaries(t testing.TB) string {
	t.Helper()
	if err := built(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(shelf), "binaries-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	dir, err = filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := locked(syscall.LOCK_SH, func() error { return link(shelf, dir) }); err != nil {
		t.Fatal(err)
	}
	return dir
}

// link gives every file of a folder a second name in another one. The build replaces files, so that the second names keep theirs.
func link(from, to string) error {
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
