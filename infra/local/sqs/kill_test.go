package sqs

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"devplatform/infra/local/datafolder/disktest"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// patience limits the wait for a result that comes at once on an idle machine.
const patience = time.Minute

// TestMain lets the test binary be the process that TestKill kills.
func TestMain(m *testing.M) {
	disktest.ServeChild(func(dir string) (http.Handler, error) { return Open(Options{Dir: dir, Now: time.Now}) })
	os.Exit(m.Run())
}

// kill -9 during work loses nothing acknowledged. While the process runs, no other process can open its folder.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	child, endpoint := disktest.StartChild(t, dir)
	client := sdkClient(endpoint)
	url := create(t, client, "q", map[string]string{"VisibilityTimeout": "1000"})
	if _, err := Open(Options{Dir: dir, Now: time.Now}); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second process got: %v", err)
	}
	l := newLedger()
	var once sync.Once
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			l.work(t.Context(), client, url, worker, func(done int) {
				if done > 500 {
					once.Do(func() { _ = child.Process.Kill() })
				}
			})
		})
	}
	group.Wait()
	_ = child.Wait()
	s := openTest(t, func(o *Options) { o.Dir, o.Now = dir, time.Now })
	l.check(t, s, l)
}

// A broken disk is reported once, later requests fail, and the store can be closed.
func TestBrokenDisk(t *testing.T) {
	t.Parallel()
	broken := &atomic.Bool{}
	files := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		writes := op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
		if broken.Load() && writes && strings.HasSuffix(op.Path, ".log") {
			return syscall.EIO
		}
		return nil
	}))
	reported := make(chan error, 2)
	s, err := Open(Options{Dir: "/data", Now: newTestClock().Now, fs: files, Failed: func(err error) { reported <- err }})
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, "CreateQueue", `{"QueueName":"q"}`)
	broken.Store(true)
	go call(t, s, "SendMessage", `{URL(q),"MessageBody":"may get no response"}`)
	select {
	case err := <-reported:
		if !strings.Contains(err.Error(), "sqs: the store in /data cannot continue: ") || !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("reported %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the broken disk was not reported")
	}
	if got := call(t, s, "ListQueues", `{}`); got.status != 500 {
		t.Errorf("then got %d %s", got.status, got.raw)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		if err == nil {
			t.Error("closed without an error")
		}
	case <-time.After(patience):
		t.Fatal("closing hangs")
	}
	if len(reported) > 0 {
		t.Errorf("reported again: %v", <-reported)
	}
}
