package datafolder

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func options(dir string) Options { return Options{Dir: dir} }

func write(t *testing.T, f *Folder, key string) {
	t.Helper()
	batch := f.DB.NewBatch()
	if err := batch.Set([]byte(key), []byte("value"), nil); err != nil {
		t.Fatal(err)
	}
	pending, err := f.Commit(batch)
	if err != nil {
		t.Fatal(err)
	}
	if err := pending.Wait(); err != nil {
		t.Fatal(err)
	}
}

// filled creates a folder with data in a table and in the log.
func filled(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	f, err := Open(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "flushed")
	if err := f.DB.Flush(); err != nil {
		t.Fatal(err)
	}
	write(t, f, "logged")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReopen(t *testing.T) {
	t.Parallel()
	f, err := Open(options(filled(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"flushed", "logged"} {
		value, closer, err := f.DB.Get([]byte(key))
		if err != nil || string(value) != "value" {
			t.Fatalf("%s: %q, %v", key, value, err)
		}
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
	empty, err := f.Commit(f.DB.NewBatch())
	if err != nil || empty.Wait() != nil {
		t.Errorf("an empty batch: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// A store that existed before must be compacted too. Otherwise its writes stop when level 0 is full.
func TestReopenedStoreIsCompacted(t *testing.T) {
	t.Parallel()
	f, err := Open(options(filled(t)))
	if err != nil {
		t.Fatal(err)
	}
	for range 8 { // more stop writes until there was a compaction
		write(t, f, "key")
		if err := f.DB.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(time.Minute)
	for f.DB.Metrics().Compact.Count == 0 {
		if time.Now().After(deadline) {
			t.Fatal("no compaction has run")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// digest returns the hash of every file in a folder except Pebble's lock.
func digest(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "LOCK" {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = fmt.Sprintf("%x", sha256.Sum256(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// overwrite returns a function that replaces the content of files.
func overwrite(pattern, content string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, path := range paths {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Open returns an error in one line, and does not change the folder, if the folder has other data.
func TestRefusesForeignAndDamagedFolders(t *testing.T) {
	t.Parallel()
	garbage := strings.Repeat("garbage ", 1000)
	for name, damage := range map[string]func(*testing.T, string){
		"foreign folder": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, markerFile)); err != nil {
				t.Fatal(err)
			}
		},
		"another version": overwrite(markerFile, "devplatform local data 1\n"),
		"empty marker":    overwrite(markerFile, ""),
		"manifest":        overwrite("store/MANIFEST-*", garbage),
		"options":         overwrite("store/OPTIONS-*", garbage),
		"no store": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(dir, storeFolder)); err != nil {
				t.Fatal(err)
			}
			overwrite(markerFile, "x")(t, dir)
		},
		"other files": func(t *testing.T, dir string) {
			t.Helper()
			if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filled(t)
			damage(t, dir)
			before := digest(t, dir)
			refused, err := Open(options(dir))
			if err == nil {
				_ = refused.Close()
				t.Fatal("opened")
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "in use") || !strings.Contains(err.Error(), dir) {
				t.Errorf("not one line with the folder: %q", err)
			}
			after := digest(t, dir)
			for path, content := range before {
				if after[path] != content {
					t.Errorf("%s was touched", path)
				}
			}
			if len(after) != len(before) {
				t.Errorf("files before %d, after %d", len(before), len(after))
			}
		})
	}
}

func TestInUse(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	f, err := Open(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(options(dir)); err == nil || !strings.Contains(err.Error(), "is in use by another process: stop that process") {
		t.Errorf("got %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// lockless is a file system on which the lock cannot be created.
type lockless struct {
	vfs.FS
	reason error
}

func (l lockless) Lock(name string) (io.Closer, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: l.reason}
}

// Only a lock that another process holds means that the data is in use.
func TestLockCannotBeCreated(t *testing.T) {
	t.Parallel()
	for _, reason := range []error{syscall.EROFS, syscall.ENOSPC, syscall.EACCES} {
		settings := options("/data")
		settings.FS = lockless{vfs.NewMem(), reason}
		_, err := Open(settings)
		if err == nil || !strings.HasPrefix(err.Error(), "cannot open the data in /data: ") || !strings.Contains(err.Error(), reason.Error()) {
			t.Errorf("got %v, want %v", err, reason)
		}
	}
}

func TestCommitLater(t *testing.T) {
	t.Parallel()
	f, err := Open(options(""))
	if err != nil {
		t.Fatal(err)
	}
	batch := f.DB.NewBatch()
	if err := batch.Set([]byte("a"), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.CommitLater(batch); err != nil {
		t.Error(err)
	}
	if _, closer, err := f.DB.Get([]byte("a")); err != nil || closer.Close() != nil {
		t.Error(err)
	}
	if _, _, err := f.DB.Get([]byte("b")); !errors.Is(err, pebble.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if err := f.Leave(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// Close waits for the uses that have begun. Later uses get an error.
func TestCloseWaits(t *testing.T) {
	t.Parallel()
	f, err := Open(options(""))
	if err != nil {
		t.Fatal(err)
	}
	leave, err := f.Enter()
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- f.Close() }()
	for f.requests.TryRLock() { // until Close waits
		f.requests.RUnlock()
	}
	if len(closed) > 0 {
		t.Error("closed during a use")
	}
	if _, err := Read(f.DB, []byte("a")); err != nil {
		t.Error(err)
	}
	leave()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := f.Enter(); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// A kill while the folder is created leaves a folder that can be used.
func TestUnfinishedMarker(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", format[:7]} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, markerFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(options(dir))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, markerFile)); string(got) != format {
			t.Errorf("the marker is %q, %v", got, err)
		}
	}
}
