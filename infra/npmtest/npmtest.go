// Package npmtest installs the npm packages of programs that tests run with Node. Only tests import it.
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

	"devplatform/infra/testmode"
)

var (
	errTools = errors.New("npmtest: node or npm is not installed")
	// errInstall usually means that npm cannot reach its registry.
	errInstall = errors.New(
		"npmtest: npm could not install the packages (they are downloaded once, and kept in the user's cache)")
)

// mutex lets one test of a package install at a time.
var mutex sync.Mutex

// Need returns a folder that contains the files and, in node_modules, the packages that their package.json and
// package-lock.json name. The folder is kept in the user's cache. If node or npm is missing, or the installation fails,
// the test is skipped; in CI, it fails. With -short, the test is skipped.
func Need(t testing.TB, files fs.FS) string {
	t.Helper()
	testmode.SkipIfShort(t)
	mutex.Lock()
	defer mutex.Unlock()
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

// installed returns the folder of the files. It installs the packages if the folder does not exist.
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

// digest returns a hash of the files' paths and contents.
func digest(files fs.FS) (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		_, _ = fmt.Fprintf(hash, "%s %d\n%s", path, len(data), data) // never fails
		return err
	})
	if err != nil {
		return "", fmt.Errorf("npmtest: read the files: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
}

// install creates the folder with one rename, because tests of several packages may install the same files at the same
// time.
func install(files fs.FS, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return fmt.Errorf("npmtest: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		return fmt.Errorf("npmtest: %w", err)
	}
	defer os.RemoveAll(work) //nolint:errcheck // does not exist after the rename
	if err := os.CopyFS(work, files); err != nil {
		return fmt.Errorf("npmtest: %w", err)
	}
	//nolint:noctx // other tests use the packages, too
	command := exec.Command("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-progress")
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
