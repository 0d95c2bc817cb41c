package datafolder

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"devplatform/infra/local/datafolder/disktest"
)

// valueOf returns 20 KB that cannot be compressed.
func valueOf(key string) []byte {
	var seed [32]byte
	copy(seed[:], key)
	value := make([]byte, 20_000)
	_, _ = rand.NewChaCha8(seed).Read(value) // never fails
	return value
}

// journal has the keys that many goroutines have written.
type journal struct {
	mu      sync.Mutex
	next    int
	written []string
	stopped atomic.Bool
}

// work writes until the disk is full, it is stopped, or enough was written, and records the durable writes.
func (n *journal) work(t *testing.T, f *Folder, enough int) {
	for f.Room() == nil && !n.stopped.Load() {
		n.mu.Lock()
		n.next++
		key := fmt.Sprintf("key %05d", n.next)
		n.mu.Unlock()
		batch := f.DB.NewBatch()
		_ = batch.Set([]byte(key), valueOf(key), nil)
		pending, err := f.Commit(batch)
		if err == nil {
			err = pending.Wait()
		}
		if err != nil {
			t.Errorf("%s: %v", key, err)
			return
		}
		n.mu.Lock()
		n.written = append(n.written, key)
		done := len(n.written) >= enough
		n.mu.Unlock()
		if done {
			return
		}
	}
}

// check reads everything that is durable.
func (n *journal) check(t *testing.T, when string, f *Folder) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, key := range n.written {
		value, closer, err := f.DB.Get([]byte(key))
		if err != nil {
			t.Errorf("%s: %s is lost: %v", when, key, err)
			continue
		}
		if !bytes.Equal(value, valueOf(key)) {
			t.Errorf("%s: %s is damaged", when, key)
		}
		_ = closer.Close()
	}
}

func openOn(t *testing.T, files vfs.FS, log *bytes.Buffer) *Folder {
	t.Helper()
	settings := options("/data")
	settings.FS = files
	if log != nil {
		settings.Logger = slog.New(slog.NewTextHandler(log, nil))
	}
	settings.Failed = func(err error) { t.Error(err) }
	f, err := Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDiskFull fills the disk under many writers. Writes fail, reads continue, and acknowledged writes are not lost:
// while the disk is full, after a power cut, and when there is room again. Then writes that were in progress are
// completed.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for name, ending := range map[string]string{"everything": "", "log": ".log", "tables": ".sst"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := disktest.New(1<<20+12345, ending)
			var log bytes.Buffer
			f := openOn(t, disk, &log)
			var n journal
			var writers sync.WaitGroup
			for range 8 {
				writers.Go(func() { n.work(t, f, 1000) })
			}
			disktest.Await(t, "a full disk", func() bool { return f.Room() != nil })
			if err := f.Room(); !errors.Is(err, ErrFull) || err.Error() != "test: the disk is full: /data" {
				t.Errorf("no room: %v", err)
			}
			refused := f.DB.NewBatch()
			_ = refused.Set([]byte("refused"), nil, nil)
			if err := f.CommitSync(refused); !errors.Is(err, ErrFull) {
				t.Errorf("CommitSync: %v", err)
			}
			n.stopped.Store(true)
			n.check(t, "while the disk is full", f)
			n.mu.Lock()
			acknowledged := journal{written: append([]string(nil), n.written...)}
			n.mu.Unlock()
			acknowledged.check(t, "after a power cut", openOn(t, disk.AfterPowerCut(), nil))

			disk.AddRoom(1 << 30)
			disktest.Await(t, "room", func() bool { return f.Room() == nil })
			writers.Wait()
			n.stopped.Store(false)
			n.work(t, f, len(n.written)+100)
			n.check(t, "when there was room again", f)
			if _, _, err := f.DB.Get([]byte("refused")); !errors.Is(err, pebble.ErrNotFound) {
				t.Errorf("the refused write was made: %v", err)
			}
			if err := f.Close(nil); err != nil {
				t.Fatal(err)
			}
			n.check(t, "after a restart", openOn(t, disk, nil))
			if text := log.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "the disk is full: writes fail until there is room in /data") ||
				!strings.Contains(text, "there is room again in /data") {
				t.Errorf("got the log:\n%s", text)
			}
		})
	}
}

// Open returns an error if the disk is full.
func TestFullFromTheStart(t *testing.T) {
	t.Parallel()
	for _, room := range []int{0, 100} {
		settings := options("/data")
		settings.FS = disktest.New(room, "")
		_, err := Open(settings)
		if err == nil || !strings.Contains(err.Error(), "/data") && room > 20 || !strings.Contains(err.Error(), "no space left on device") {
			t.Errorf("%d bytes: %v", room, err)
		}
	}
}

// Close returns the reason immediately if the disk is full.
func TestCloseFull(t *testing.T) {
	t.Parallel()
	disk := disktest.New(1<<30, "")
	settings := options("/data")
	settings.FS = disk
	f, err := Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	var n journal
	go n.work(t, f, 1)
	disktest.Await(t, "a full disk", func() bool { return f.Room() != nil })
	closed := make(chan error, 1)
	go func() { closed <- f.Close(func() { t.Error("before was called") }) }()
	select {
	case err := <-closed:
		if err == nil || !strings.Contains(err.Error(), "the store in /data cannot continue: the disk is full") {
			t.Errorf("closed: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("closing hangs")
	}
}
