package uistream

import (
	"crypto/sha256"
	"embed"
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

// client are the script and what it is installed from.
//
//go:embed client/.npmrc client/package.json client/package-lock.json client/read.mjs
var client embed.FS

// errTools is a machine that can't run the client.
var errTools = errors.New("uistream: the AI SDK's client needs node and npm on PATH")

// errInstall is a registry that can't be reached, most often.
var errInstall = errors.New("uistream: npm could not install the AI SDK (it needs the registry once; what it installs is kept in the user's cache)")

// installed is the folder of the client with all that it needs, made once and kept.
var installed = sync.OnceValues(func() (string, error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", errors.Join(errTools, err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	files, err := fs.Sub(client, "client")
	if err != nil {
		return "", fmt.Errorf("uistream: %w", err)
	}
	sum, err := digest(files)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "devplatform", "uistream-"+sum)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	return dir, install(files, dir)
})

// digest names a set of files by their contents, so that an older client is never taken for this one.
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
		return "", fmt.Errorf("uistream: the client's files: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
}

// install makes the folder at once or not at all: tests of several packages may be at it at the same time.
func install(files fs.FS, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return fmt.Errorf("uistream: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		return fmt.Errorf("uistream: %w", err)
	}
	defer os.RemoveAll(work) //nolint:errcheck // it has moved, or is of no use
	if err := os.CopyFS(work, files); err != nil {
		return fmt.Errorf("uistream: %w", err)
	}
	command := exec.Command("npm", "ci", "--prefer-offline", "--no-progress") //nolint:noctx // once for all tests: it belongs to none
	command.Dir = work
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %w\n%s", errInstall, err, output)
	}
	if err := os.Rename(work, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, missing := os.Stat(dir); missing != nil {
			return fmt.Errorf("uistream: %w", err)
		}
	}
	return nil
}

// needClient is the client's folder; without one the test is skipped, and in CI it fails.
func needClient(t testing.TB) string {
	t.Helper()
	dir, err := installed()
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
