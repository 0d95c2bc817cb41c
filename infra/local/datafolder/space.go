package datafolder

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrFull means that the disk is full. The write was not made, and can be retried.
var ErrFull = errors.New("the disk is full")

// retryInterval is the time between attempts to write to a full disk.
const retryInterval = 250 * time.Millisecond

// Room returns [ErrFull] while the disk is full. Callers check it before they change anything in memory or take locks.
//
// Pebble cannot continue after a failed write to its log. So a write that finds no room waits and is repeated until
// there is room. Requests that were in progress at that moment wait, and later requests get ErrFull. Reads do not need
// room.
func (f *Folder) Room() error {
	if f.space.waiting.Load() == 0 {
		return nil
	}
	return f.errorf("%w: %s", ErrFull, f.options.Dir)
}

// space makes changes of the file system wait while the disk is full.
type space struct {
	options Options
	failure *failure
	waiting atomic.Int64 // number of waiting changes
	mayWait atomic.Bool  // false while the folder is opened or closed: then a full disk is a failure
}

// retry makes a change of the file system, and repeats it while the disk is full.
func (s *space) retry(change func() error) error {
	err := change()
	if !isFull(err) {
		return err
	}
	if !s.mayWait.Load() {
		s.failure.report(syscall.ENOSPC.Error())
		select {} // if it returned, Pebble would panic, or retry without end
	}
	if s.waiting.Add(1) == 1 {
		s.options.Logger.Error(fmt.Sprintf("%s: %v: writes fail until there is room in %s; reads continue",
			s.options.Service, ErrFull, s.options.Dir))
	}
	ticker := time.NewTicker(retryInterval)
	defer ticker.Stop()
	for isFull(err) {
		select {
		case <-ticker.C:
			err = change()
		case <-s.failure.happened:
			select {} // the folder is closed or broken
		}
	}
	if s.waiting.Add(-1) == 0 {
		s.options.Logger.Info(fmt.Sprintf("%s: there is room again in %s", s.options.Service, s.options.Dir))
	}
	return err
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// block reports a failed write or sync as a failure, and blocks, because Pebble ends the process at the next one. It is
// not retried, because the state of the disk after a failed sync is not known.
func (s *space) block(err error) error {
	if err != nil && s.mayWait.Load() {
		s.failure.report(err.Error())
		select {}
	}
	return err
}

// roomFS is a file system whose changes wait while the disk is full.
type roomFS struct {
	vfs.FS

	space *space
}

func (r roomFS) open(open func() (vfs.File, error)) (vfs.File, error) {
	var file vfs.File
	err := r.space.retry(func() (err error) {
		file, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &roomFile{file, r.space}, nil
}

func (r roomFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return r.open(func() (vfs.File, error) { return r.FS.Create(name, category) })
}

func (r roomFS) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return r.open(func() (vfs.File, error) { return r.FS.ReuseForWrite(oldName, newName, category) })
}

func (r roomFS) OpenReadWrite(
	name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption,
) (vfs.File, error) {
	return r.open(func() (vfs.File, error) { return r.FS.OpenReadWrite(name, category, options...) })
}

func (r roomFS) Link(oldName, newName string) error {
	return r.space.retry(func() error { return r.FS.Link(oldName, newName) })
}

func (r roomFS) Rename(oldName, newName string) error {
	return r.space.retry(func() error { return r.FS.Rename(oldName, newName) })
}

func (r roomFS) MkdirAll(dir string, mode os.FileMode) error {
	return r.space.retry(func() error { return r.FS.MkdirAll(dir, mode) })
}

func (r roomFS) Unwrap() vfs.FS { return r.FS }

// roomFile is a file whose writes wait while the disk is full.
type roomFile struct {
	vfs.File

	space *space
}

// writeAll writes p, and continues after a partial write.
func (f *roomFile) writeAll(p []byte, write func(rest []byte, written int) (int, error)) (written int, err error) {
	err = f.space.retry(func() error {
		n, err := write(p[written:], written)
		written += n
		return err
	})
	return written, f.space.block(err)
}

func (f *roomFile) Write(p []byte) (int, error) {
	return f.writeAll(p, func(rest []byte, _ int) (int, error) { return f.File.Write(rest) })
}

func (f *roomFile) WriteAt(p []byte, offset int64) (int, error) {
	return f.writeAll(p, func(rest []byte, written int) (int, error) {
		return f.File.WriteAt(rest, offset+int64(written))
	})
}

func (f *roomFile) Sync() error     { return f.space.block(f.File.Sync()) }
func (f *roomFile) SyncData() error { return f.space.block(f.File.SyncData()) }

func (f *roomFile) SyncTo(length int64) (bool, error) {
	complete, err := f.File.SyncTo(length)
	return complete, f.space.block(err)
}
