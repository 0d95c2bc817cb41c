// Package datafolder keeps the records of all embedded services: one Pebble store in the data folder of the platform,
// or in memory.
//
// It decides which folders are opened, when a write is durable, and what happens when the disk is full or fails. It
// also lists the key spaces of the services, and has the operations on keys that they share. The meaning of keys and
// values does not belong here.
package datafolder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// The limits of memory are low, because the local platform runs on a developer's computer.
const (
	memTableBytes   = 8 << 20
	blockCacheBytes = 32 << 20
	bloomBitsPerKey = 10
)

// A data folder has a marker file with the format of the data, and the folder of Pebble. The marker is written and read
// first, so that other folders are never changed.
const (
	format      = "devplatform local data 3\n"
	markerFile  = "FORMAT"
	storeFolder = "store"
)

// Options configure a Folder.
type Options struct {
	Dir    string       // made if it is missing; "" keeps everything in memory
	Logger *slog.Logger // nil discards; the storage engine logs at debug level
	Failed func(error)  // called once, on its own goroutine, when records can no longer be written; may be nil
	FS     vfs.FS       // the file system of Dir; nil is the real one
}

// Folder is an open data folder. Its methods are safe for concurrent use.
type Folder struct {
	DB  *pebble.DB // for reads and for creating batches; [Folder.Commit] writes them
	FS  vfs.FS     // the file system of Dir
	Dir string

	failure  *failure
	inMemory bool

	// requests is read-locked during each use of the folder, so that Close can wait for the end of all uses.
	requests sync.RWMutex
	isClosed bool
}

// ErrClosed means that the folder is closed.
var ErrClosed = errors.New("the service is shutting down")

// Open opens or creates a data folder. It returns an error in one line, and changes nothing, if the folder has other
// files or data of another version, or if another process uses it.
func Open(options Options) (*Folder, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	f := &Folder{Dir: options.Dir, FS: options.FS, inMemory: options.Dir == ""}
	switch {
	case f.inMemory:
		f.Dir, f.FS = "/", vfs.NewMem()
	case f.FS == nil:
		f.FS = vfs.Default
	}
	f.failure = newFailure(f.Dir, options)
	err := f.failure.guard(func() (err error) {
		f.DB, err = f.open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *Folder) open() (*pebble.DB, error) {
	cache := pebble.NewCache(blockCacheBytes)
	defer cache.Unref()
	settings := &pebble.Options{
		Cache:              cache,
		MemTableSize:       memTableBytes,
		FormatMajorVersion: pebble.FormatNewest,
		FS:                 f.FS,
		DisableWAL:         f.inMemory,
		Logger:             f.failure,
		EventListener: &pebble.EventListener{
			BackgroundError: f.failure.background,
			DataCorruption:  f.failure.corruption, // the default ends the process
		},
	}
	// The default scheduler looks for compactions ten times a second, which is most of what an idle platform costs. This
	// scheduler has no timer. A compaction waits only while another one runs, whose end starts it.
	settings.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	for i := range settings.Levels {
		settings.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBitsPerKey)
	}
	if !f.inMemory {
		if err := f.checkMarker(); err != nil {
			return nil, err
		}
	}
	path := f.FS.PathJoin(f.Dir, storeFolder)
	if err := f.FS.MkdirAll(path, 0o700); err != nil {
		return nil, f.openError(err)
	}
	lock, err := pebble.LockDirectory(path, f.FS)
	if notOpened := (*fs.PathError)(nil); errors.As(err, &notOpened) {
		return nil, f.openError(notOpened)
	}
	if err != nil {
		return nil, fmt.Errorf("the data in %s is in use by another process: stop that process, "+
			"or choose another folder with DATA_DIR", f.Dir)
	}
	defer func() { _ = lock.Close() }() // the open store still holds the lock
	settings.Lock = lock
	db, err := pebble.Open(path, settings)
	if err != nil {
		return nil, f.openError(err)
	}
	if err := SyncDir(f.FS, f.Dir); err != nil {
		return nil, errors.Join(f.openError(err), db.Close())
	}
	return db, nil
}

// checkMarker accepts a folder with the marker, and creates the marker if the folder is missing or empty, or if a kill
// interrupted its first use.
func (f *Folder) checkMarker() error {
	marker := f.FS.PathJoin(f.Dir, markerFile)
	names, err := f.FS.List(f.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return f.openError(err)
	}
	var text []byte
	if len(names) > 0 {
		file, err := f.FS.Open(marker)
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s has other files: choose an empty folder with DATA_DIR", f.Dir)
		}
		if err != nil {
			return f.openError(err)
		}
		text, err = io.ReadAll(io.LimitReader(file, 2*int64(len(format))))
		if err := errors.Join(err, file.Close()); err != nil {
			return f.openError(err)
		}
	}
	switch isBeginning := strings.HasPrefix(format, string(text)); {
	case string(text) == format:
		return nil
	case !isBeginning || len(names) > 1:
		return fmt.Errorf("the data in %s is of another version: delete the folder to start without data", f.Dir)
	}
	err = f.FS.MkdirAll(f.Dir, 0o700)
	if err == nil {
		err = CreateFile(f.FS, marker, func(to io.Writer) error {
			_, err := io.WriteString(to, format)
			return err
		})
	}
	if err == nil {
		err = SyncDir(f.FS, f.FS.PathDir(f.Dir))
	}
	if err != nil {
		return f.openError(err)
	}
	return nil
}

// openError returns the error for a folder that cannot be opened, in one line.
func (f *Folder) openError(err error) error {
	if pebble.IsCorruptionError(err) {
		return f.DamagedError(err)
	}
	return fmt.Errorf("cannot open the data in %s: %s", f.Dir, firstLine(err))
}

// DamagedError returns the error, in one line, for data that cannot be used. reason is the cause.
func (f *Folder) DamagedError(reason error) error {
	return fmt.Errorf("the data in %s is damaged: restore it from a backup, or move it away to start without data: %s",
		f.Dir, firstLine(reason))
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Enter begins a use of the folder, which must end with a call of leave. It returns an error if the folder is closed or
// has failed.
func (f *Folder) Enter() (leave func(), err error) {
	f.requests.RLock()
	err = f.failure.check()
	if f.isClosed {
		err = ErrClosed
	}
	if err != nil {
		f.requests.RUnlock()
		return nil, err
	}
	return f.requests.RUnlock, nil
}

// Leave is called by a service that begins no new uses of the folder. It closes a folder in memory.
func (f *Folder) Leave() error {
	if f.inMemory {
		return f.Close()
	}
	return nil
}

// Close waits for the end of all uses, and closes the folder. Acknowledged writes are already durable. If the store has
// failed, which Failed has reported, Close does nothing.
func (f *Folder) Close() error {
	if f.failure.check() != nil {
		return nil //nolint:nilerr // reported before
	}
	return f.failure.guard(func() error {
		f.requests.Lock()
		defer f.requests.Unlock()
		if f.isClosed {
			return nil
		}
		f.isClosed = true
		if err := f.DB.Close(); err != nil {
			return fmt.Errorf("closing the store in %s: %w", f.Dir, err)
		}
		return nil
	})
}
