package datafolder

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// failure is the state of a store that cannot continue, because its disk is full or broken. Pebble then rejects every
// write or retries without end, and cannot be closed. The process can only end. All acknowledged writes are on the
// disk. A failure is also Pebble's logger, because Pebble reports some failures there.
type failure struct {
	once     sync.Once
	happened chan struct{} // closed by the first report
	err      error         // set before happened is closed
	isOpen   atomic.Bool   // false while the folder is opened
	dir      string
	options  Options
}

func newFailure(dir string, options Options) *failure {
	return &failure{happened: make(chan struct{}), dir: dir, options: options}
}

// report records the first reason. It ignores later ones, which are consequences of the first.
func (f *failure) report(reason string) {
	f.once.Do(func() {
		f.err = fmt.Errorf("the data in %s cannot be written: %s; nothing that was acknowledged is lost", f.dir, reason)
		close(f.happened)
		if f.options.Failed != nil {
			go f.options.Failed(f.err)
		}
	})
}

// check returns the error if the store has failed.
func (f *failure) check() error {
	select {
	case <-f.happened:
		return f.err
	default:
		return nil
	}
}

// guard calls work, which may hang if the store fails, and returns when it is done or the store has failed.
func (f *failure) guard(work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-f.happened:
		return f.err
	}
}

// Infof implements pebble.Logger.
func (f *failure) Infof(format string, args ...any) {
	f.options.Logger.Debug("store: " + fmt.Sprintf(format, args...))
}

// Errorf implements pebble.Logger.
func (f *failure) Errorf(format string, args ...any) {
	f.options.Logger.Error("store: " + fmt.Sprintf(format, args...))
}

// Fatalf is called when the store would lose data if it continued. Pebble expects that it does not return. It blocks
// the goroutine with its locks, because other goroutines must not see or write an inconsistent store.
func (f *failure) Fatalf(format string, args ...any) {
	f.report(strings.TrimPrefix(fmt.Sprintf(format, args...), "pebble: "))
	select {}
}

// background is called when a flush or compaction fails, which Pebble retries without end. Damaged data is not a
// failure, because the rest of the data can be used.
func (f *failure) background(err error) {
	if pebble.IsCorruptionError(err) {
		f.Errorf("background error: %v", err)
		return
	}
	f.report(err.Error())
}

// corruption is called when a read finds damaged data. The read itself returns an error.
func (f *failure) corruption(info pebble.DataCorruptionInfo) {
	f.options.Logger.Error("store: damaged data", slog.String("file", info.Path), slog.Any("error", info.Details))
}

// block reports an error and blocks, because Pebble would end the process or retry without end.
func (f *failure) block(err error) error {
	if err != nil {
		f.report(err.Error())
		select {}
	}
	return nil
}

// watchedFS is a file system that reports files that cannot be created or written as a failure.
type watchedFS struct {
	vfs.FS

	failure *failure
}

func (w watchedFS) watch(file vfs.File, err error) (vfs.File, error) {
	if err != nil && !w.failure.isOpen.Load() {
		return nil, err // of pebble.Open
	}
	return watchedFile{file, w.failure}, w.failure.block(err)
}

func (w watchedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return w.watch(w.FS.Create(name, category))
}

func (w watchedFS) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return w.watch(w.FS.ReuseForWrite(oldName, newName, category))
}

func (w watchedFS) OpenReadWrite(
	name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption,
) (vfs.File, error) {
	return w.watch(w.FS.OpenReadWrite(name, category, options...))
}

func (w watchedFS) Unwrap() vfs.FS { return w.FS }

type watchedFile struct {
	vfs.File

	failure *failure
}

func (f watchedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.failure.block(err)
}

func (f watchedFile) WriteAt(p []byte, offset int64) (int, error) {
	n, err := f.File.WriteAt(p, offset)
	return n, f.failure.block(err)
}

func (f watchedFile) Sync() error     { return f.failure.block(f.File.Sync()) }
func (f watchedFile) SyncData() error { return f.failure.block(f.File.SyncData()) }

func (f watchedFile) SyncTo(length int64) (bool, error) {
	complete, err := f.File.SyncTo(length)
	return complete, f.failure.block(err)
}
