// Package npmtest installs what tests run with Node: a folder of files, among them a package.json and a lock that pin what they need.
// What is in the folder, and what it is run for, is the tests' own business. Only tests import this package.
package npmtest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// errTools is a machine that can't run the files.
var errTools = errors.New("npmtest: node and npm are needed on PATH")

// errInstall is a registry that can't be reached, most often.
var errInstall = errors.New("npmtest: npm could not install (it needs the registry once; what it installs is kept in the user's cache)")

// one installs at a time: tests of a package may need the same.
var one sync.Mutex

// Need is a folder with the files and all that they need, made once and kept in the user's cache. Where there can be none the test is
// skipped, and in CI it fails. With -short, the test is skipped.
func Need(t testing.TB, files fs.FS) string {
	t.Helper()
	if testing.Short() {
		t.Skip("not a unit test: it starts Node")
	}
	one.Lock()
	defer one.Unlock()
	dir, err := installed(files)
	switch {
	case err == nil:
		return dir
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	case errors.Is(err, errTools), errors.Is(err, errInstall):
		t.Skip(err)
	default:
		t.Fatal(err)
	}
	return ""
}

func installed(files fs.FS) (string, error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", errors.Join(errTools, err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum, err := digest(files)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "devplatform", "npm-"+sum)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	return dir, install(files, dir)
}

// digest names a set of files by their contents, so that older ones are never taken for them.
func digest(files fs.FS) (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		_, _ = fmt.Fprintf(hash, "%s %d\n%s", path, len(data), data) // a hash takes everything
		return err                                                   //nolint:wrapcheck // below
	})
	if err != nil {
		return "", fmt.Errorf("npmtest: the files: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
}

// install makes the folder at once or not at all: tests of several packages may be at it at the same time.
func install(files fs.FS, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return fmt.Errorf("npmtest: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		return fmt.Errorf("npmtest: %w", err)
	}
	defer os.RemoveAll(work) //nolint:errcheck // it has moved, or is of no use
	if err := os.CopyFS(work, files); err != nil {
		return fmt.Errorf("npmtest: %w", err)
	}
	command := exec.Command("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-progress") //nolint:noctx // once for all tests: it belongs to none
	command.Dir = work
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %w\n%s", errInstall, err, output)
	}
	if err := os.Rename(work, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, missing := os.Stat(dir); missing != nil {
			return fmt.Errorf("npmtest: %w", err)
		}
	}
	return nil
}
