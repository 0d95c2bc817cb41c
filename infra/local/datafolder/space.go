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

// ErrFull says that the disk has no room for a write. It was not made; later there may be room.
var ErrFull = errors.New("the disk is full")

// lookAgain is how long a write that found no room waits before it is tried again.
const lookAgain = 250 * time.Millisecond

// Room answers [ErrFull] while there is no room on the disk. Whoever is about to write asks first, before anything is
// changed in memory and before locks are taken.
//
// The store itself takes a failed write of its log for its end. So a write that finds no room is held, and tried until
// there is: what was in flight at that moment waits, or is given up by its client, who does not know then whether it was
// made, and everything that comes later is refused. Reads need no room.
func (f *Folder) Room() error {
	if f.space.waiting.Load() == 0 {
		return nil
	}
	return f.errorf("%w: %s", ErrFull, f.options.Dir)
}

// space is the room on the disk of a folder.
type space struct {
	options Options
	failure *failure
	waiting atomic.Int64 // writes that wait for room
	waits   atomic.Bool  // false while the folder is opened or closed, when to be full is a failure
}

// hold makes a change of the file system, when there is room for it.
func (s *space) hold(change func() error) error {
	err := change()
	if !noRoom(err) {
		return err
	}
	if !s.waits.Load() {
		s.failure.report(syscall.ENOSPC.Error())
		select {} // Pebble would panic, or try for ever
	}
	if s.waiting.Add(1) == 1 {
		s.options.Logger.Error(fmt.Sprintf("%s: %v: writes are refused until there is room in %s; reads go on", s.options.Service, ErrFull, s.options.Dir))
	}
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for noRoom(err) {
		select {
		case <-again.C:
			err = change()
		case <-s.failure.happened:
			select {} // closed, or broken as well: what is in flight stays so
		}
	}
	if s.waiting.Add(-1) == 0 {
		s.options.Logger.Info(fmt.Sprintf("%s: there is room again in %s", s.options.Service, s.options.Dir))
	}
	return err
}

func noRoom(err error) bool {
	return err != nil && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT))
}

// broken keeps a write or sync that failed, and with it all that follow: Pebble ends the process at the next one. Nobody knows
// what a failed sync has left on the disk: for want of room, too, it isn't tried again.
func (s *space) broken(err error) error {
	if err != nil && s.waits.Load() {
		s.failure.report(err.Error())
		select {}
	}
	return err
}

// roomFS is a file system whose changes wait for room.
type roomFS struct {
	vfs.FS

	space *space
}

func (r roomFS) file(file vfs.File, err error) (vfs.File, error) {
	if file == nil {
		return nil, err
	}
	return &roomFile{file, r.space}, err
}

func (r roomFS) held(open func() (vfs.File, error)) (vfs.File, error) {
	var file vfs.File
	err := r.space.hold(func() (err error) {
		file, err = open()
		return err
	})
	return r.file(file, err)
}

func (r roomFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return r.held(func() (vfs.File, error) { return r.FS.Create(name, category) })
}

func (r roomFS) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return r.held(func() (vfs.File, error) { return r.FS.ReuseForWrite(oldName, newName, category) })
}

func (r roomFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	return r.held(func() (vfs.File, error) { return r.FS.OpenReadWrite(name, category, options...) })
}

func (r roomFS) Link(oldName, newName string) error {
	return r.space.hold(func() error { return r.FS.Link(oldName, newName) })
}

func (r roomFS) Rename(oldName, newName string) error {
	return r.space.hold(func() error { return r.FS.Rename(oldName, newName) })
}

func (r roomFS) MkdirAll(dir string, mode os.FileMode) error {
	return r.space.hold(func() error { return r.FS.MkdirAll(dir, mode) })
}

func (r roomFS) Unwrap() vfs.FS { return r.FS }

// roomFile is a file whose writes wait for room.
type roomFile struct {
	vfs.File

	space *space
}

// Write goes on where there was no more room.
func (f *roomFile) Write(p []byte) (written int, err error) {
	err = f.space.hold(func() error {
		n, err := f.File.Write(p[written:])
		written += n
		return err //nolint:wrapcheck // Pebble looks at it
	})
	return written, f.space.broken(err)
}

// WriteAt goes on where there was no more room.
func (f *roomFile) WriteAt(p []byte, at int64) (written int, err error) {
	err = f.space.hold(func() error {
		n, err := f.File.WriteAt(p[written:], at+int64(written))
		written += n
		return err //nolint:wrapcheck // Pebble looks at it
	})
	return written, f.space.broken(err)
}

// Sync implements vfs.File.
func (f *roomFile) Sync() error { return f.space.broken(f.File.Sync()) }

// SyncData implements vfs.File.
func (f *roomFile) SyncData() error { return f.space.broken(f.File.SyncData()) }

// SyncTo implements vfs.File.
func (f *roomFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.space.broken(err)
}
