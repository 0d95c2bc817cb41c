package sqs

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/datafolder/disktest"
)

// TestMain lets the test binary be the process that TestKill kills.
func TestMain(m *testing.M) {
	disktest.ServeChild(func(folder *datafolder.Folder) (http.Handler, error) {
		return Open(Options{Folder: folder, Now: time.Now})
	})
	os.Exit(m.Run())
}

// kill -9 during work loses nothing acknowledged. While the process runs, no other process can open its folder.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	child, endpoint := disktest.StartChild(t, dir)
	client := sdkClient(endpoint)
	url := create(t, client, "q", map[string]string{"VisibilityTimeout": "1000"})
	if _, err := datafolder.Open(datafolder.Options{Dir: dir}); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
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
	s := openTest(t, func(o *Options) { o.Folder, o.Now = disktest.Open(t, dir, nil), time.Now })
	l.check(t, s, l)
}
