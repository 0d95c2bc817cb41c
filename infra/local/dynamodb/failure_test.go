package dynamodb

import (
	"fmt"
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

// brokenDisk returns a file system on which writes to files with the ending fail once broken is true.
func brokenDisk(ending string) (files vfs.FS, broken *atomic.Bool) {
	broken = &atomic.Bool{}
	return errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		writes := op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
		if broken.Load() && writes && strings.HasSuffix(op.Path, ending) {
			return syscall.EIO
		}
		return nil
	})), broken
}

// TestBrokenDisk breaks the disk under the log, and under the flushed tables. The store must report it once, reject
// later requests, and close.
func TestBrokenDisk(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{".log", ".sst"} {
		t.Run(ending, func(t *testing.T) {
			t.Parallel()
			files, broken := brokenDisk(ending)
			failures := make(chan error, 2)
			db, err := Open(Options{
				Dir: "/data", Now: newTestClock().Now, SweepInterval: -1, fs: files, Failed: func(err error) { failures <- err },
			})
			if err != nil {
				t.Fatal(err)
			}
			must(t, db, "CreateTable", hashTable)
			broken.Store(true)
			writing := make(chan struct{})
			go func() { // a write during the failure may never get a response
				defer close(writing)
				for n := range 40 {
					call(t, db, "PutItem", fmt.Sprintf(`{"TableName":"hash","Item":{"pk":{"S":"%d"},"v":{"S":"%s"}}}`, n, strings.Repeat("x", 300_000)))
				}
			}()
			deadline := time.After(patience)
			select {
			case err := <-failures:
				if !strings.Contains(err.Error(), "the store in /data cannot continue: ") || !strings.Contains(err.Error(), "input/output error") {
					t.Errorf("reported %v", err)
				}
			case <-deadline:
				t.Fatal("the failure was not reported")
			}
			if got := call(t, db, "ListTables", `{}`); got.status != 500 {
				t.Errorf("then got %d %s", got.status, got.raw)
			}
			closed := make(chan error, 1)
			go func() { closed <- db.Close() }()
			select {
			case err := <-closed:
				if err == nil {
					t.Error("closed without an error")
				}
			case <-deadline:
				t.Fatal("closing hangs")
			}
			if len(failures) > 0 {
				t.Errorf("reported again: %v", <-failures)
			}
		})
	}
}
