package datafolder

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// failing is a file system that fails to write files with one ending when it is told to.
func failing(ending string, reason error) (files vfs.FS, fails *atomic.Bool) {
	fails = &atomic.Bool{}
	return errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		writes := op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
		if fails.Load() && writes && strings.HasSuffix(op.Path, ending) {
			return reason
		}
		return nil
	})), fails
}

// A disk that breaks under the log or under what the log is flushed to, is told once; it is what the
// folder then says of itself, also when it is closed, which ends at once and does nothing before.
func TestFailure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ending string
		reason error
	}{
		"broken under the log":    {".log", syscall.EIO},
		"broken under the tables": {".sst", syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, fails := failing(test.ending, test.reason)
			told := make(chan error, 2)
			settings := options("/data")
			settings.FS, settings.Failed = files, func(err error) { told <- err }
			f, err := Open(settings)
			if err != nil {
				t.Fatal(err)
			}
			write(t, f, "before")
			if err := f.Check(); err != nil {
				t.Fatal(err)
			}
			fails.Store(true)
			go fill(f) // what is written when the disk fails may never return
			deadline := time.After(time.Minute)
			select {
			case err = <-told:
			case <-deadline:
				t.Fatal("nobody was told")
			}
			if !strings.HasPrefix(err.Error(), "test: the store in /data cannot go on: ") || !strings.Contains(err.Error(), test.reason.Error()) {
				t.Errorf("told %v", err)
			}
			if got := f.Check(); !errors.Is(got, err) {
				t.Errorf("checked: %v", got)
			}
			closed := make(chan error, 1)
			go func() { closed <- f.Close(func() { t.Error("went on") }) }()
			select {
			case got := <-closed:
				if !errors.Is(got, err) {
					t.Errorf("closed: %v", got)
				}
			case <-deadline:
				t.Fatal("closing hangs")
			}
			if len(told) > 0 {
				t.Errorf("told again: %v", <-told)
			}
		})
	}
}

// fill writes a little, and then more than the memory holds, until that fails.
func fill(f *Folder) {
	value := make([]byte, 300_000)
	for n := range 3 * memTableBytes / len(value) {
		batch := f.DB.NewBatch()
		if batch.Set([]byte{byte(n)}, value[:min(n, 1)*len(value)], nil) != nil {
			return
		}
		pending, err := f.Commit(batch)
		if err != nil || pending.Wait() != nil {
			return
		}
	}
}
