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

// patience limits the wait for a result that comes at once on an idle machine.
const patience = time.Minute

// failing returns a file system on which writes of files with an ending fail while fails is true.
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

// A broken disk is reported once. Enter then returns the error, and Close does nothing.
func TestFailure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ending string
		reason error
	}{
		"log":    {".log", syscall.EIO},
		"tables": {".sst", syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, fails := failing(test.ending, test.reason)
			reported := make(chan error, 2)
			settings := options("/data")
			settings.FS, settings.Failed = files, func(err error) { reported <- err }
			f, err := Open(settings)
			if err != nil {
				t.Fatal(err)
			}
			write(t, f, "before")
			leave, err := f.Enter()
			if err != nil {
				t.Fatal(err)
			}
			leave()
			fails.Store(true)
			for range 4 {
				go fill(f) // a write may hang when the disk fails
			}
			deadline := time.After(patience)
			select {
			case err = <-reported:
			case <-deadline:
				t.Fatal("the failure was not reported")
			}
			if !strings.HasPrefix(err.Error(), "the data in /data cannot be written: ") || !strings.Contains(err.Error(), test.reason.Error()) {
				t.Errorf("reported %v", err)
			}
			if _, got := f.Enter(); !errors.Is(got, err) {
				t.Errorf("entered: %v", got)
			}
			closed := make(chan error, 1)
			go func() { closed <- f.Close() }()
			select {
			case got := <-closed:
				if got != nil {
					t.Errorf("closed: %v", got)
				}
			case <-deadline:
				t.Fatal("closing hangs")
			}
			if len(reported) > 0 {
				t.Errorf("reported again: %v", <-reported)
			}
		})
	}
}

// fill writes more than fits in memory, or until a write fails.
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
