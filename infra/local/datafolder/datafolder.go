// Package datafolder keeps the data of one embedded service: Pebble in a folder that is marked as the service's, or in
// memory.
//
// It decides which folders are opened, when a write is durable, and what happens when the disk is full or fails. It
// opens a folder that is empty, or that has undamaged data of this service and is not in use. It does not change other
// folders. The meaning of keys and values does not belong here.
package datafolder

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

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

// Options configure a Folder.
type Options struct {
	Service string       // begins the text of every error, such as "sqs"
	Format  string       // one line in the folder's marker file: the service and the version of the format
	Dir     string       // made if it is missing; "" keeps everything in memory
	Logger  *slog.Logger // required; the storage engine logs at debug level
	Failed  func(error)  // called once, on its own goroutine, when the data can no longer be written; may be nil
	FS      vfs.FS       // the file system of Dir; nil is the real one

	// Merger may be nil. Its name is part of the format: data that was written with another merger is an error.
	Merger *pebble.Merger
}

// Folder is an open data folder. Its methods are safe for concurrent use.
type Folder struct {
	DB *pebble.DB // for reads and for creating batches; [Folder.Commit] writes them

	options  Options
	failure  *failure
	space    *space
	inMemory bool
}

// Open opens or creates a data folder.
func Open(options Options) (*Folder, error) {
	if options.FS == nil {
		options.FS = vfs.Default
	}
	folder := &Folder{options: options, failure: newFailure(options), inMemory: options.Dir == ""}
	folder.space = &space{options: options, failure: folder.failure}
	err := folder.failure.guard(func() (err error) {
		folder.DB, err = folder.open()
		return err
	})
	if err != nil {
		return nil, err
	}
	folder.space.mayWait.Store(true)
	return folder, nil
}

func (f *Folder) open() (*pebble.DB, error) {
	cache := pebble.NewCache(blockCacheBytes)
	defer cache.Unref()
	logger := storeLogger{f.options.Logger, f.failure}
	settings := &pebble.Options{
		Cache:              cache,
		MemTableSize:       memTableBytes,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             logger,
		EventListener: &pebble.EventListener{
			BackgroundError: logger.background,
			DataCorruption:  logger.corruption, // the default ends the process
		},
		Merger: f.options.Merger,
	}
	// The default scheduler looks for compactions ten times a second, which is most of what an idle platform costs. This
	// one has no timer, and misses none: a compaction waits only while another one runs, whose end starts it.
	settings.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	for i := range settings.Levels {
		settings.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBitsPerKey)
	}
	if f.inMemory {
		settings.FS = vfs.NewMem()
		settings.DisableWAL = true
		db, err := pebble.Open("memory", settings)
		if err != nil {
			return nil, f.errorf("opening a store in memory: %w", err)
		}
		return db, nil
	}
	settings.FS = roomFS{f.options.FS, f.space}
	if err := f.checkMarker(); err != nil {
		return nil, err
	}
	return f.openStore(f.options.FS.PathJoin(f.options.Dir, storeFolder), settings)
}

// openStore locks, checks and opens the folder of Pebble.
func (f *Folder) openStore(path string, settings *pebble.Options) (*pebble.DB, error) {
	if err := settings.FS.MkdirAll(path, 0o700); err != nil {
		return nil, f.openError(err)
	}
	lock, err := pebble.LockDirectory(path, settings.FS)
	if notOpened := (*fs.PathError)(nil); errors.As(err, &notOpened) {
		return nil, f.errorf("cannot open the data in %s: %s", f.options.Dir, firstLine(err))
	}
	if err != nil {
		return nil, f.errorf("the data in %s is in use by another process: stop that process, "+
			"or choose another folder with DATA_DIR", f.options.Dir)
	}
	defer func() { _ = lock.Close() }() // the open store still holds the lock
	settings.Lock = lock
	if err := checkStore(path, settings); err != nil {
		return nil, f.openError(err)
	}
	db, err := pebble.Open(path, settings)
	if err != nil {
		return nil, f.openError(err)
	}
	if err := SyncDir(f.options.FS, f.options.Dir); err != nil {
		return nil, errors.Join(f.openError(err), db.Close())
	}
	return db, nil
}

// openError returns the error for a store that cannot be opened, in one line.
func (f *Folder) openError(err error) error {
	if errors.Is(err, fs.ErrPermission) || isFull(err) {
		return f.errorf("cannot open the data in %s: %s", f.options.Dir, firstLine(err))
	}
	return f.Damaged(err)
}

// Damaged returns the error, in one line, for data that cannot be used for a reason.
func (f *Folder) Damaged(reason error) error {
	return f.errorf("the data in %s is damaged and was not changed: restore it from a backup, or move it away to start "+
		"without data: %s", f.options.Dir, firstLine(reason))
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func (f *Folder) errorf(format string, args ...any) error {
	return fmt.Errorf(f.options.Service+": "+format, args...)
}

// Check returns an error if the store has failed.
func (f *Folder) Check() error { return f.failure.check() }

// Close calls before, which may be nil, and closes the store. Acknowledged writes are already durable. No write may be
// in progress. If the store has failed or the disk is full, Close does nothing and returns the reason.
func (f *Folder) Close(before func()) error {
	f.space.mayWait.Store(false)
	if f.Room() != nil {
		f.failure.report(ErrFull.Error())
	}
	return f.failure.guard(func() error {
		if before != nil {
			before()
		}
		if err := f.DB.Close(); err != nil {
			return f.errorf("closing the store: %w", err)
		}
		return nil
	})
}

// Write is a batch that is visible, but may not be durable yet.
type Write struct {
	batch  *pebble.Batch // nil in memory
	folder *Folder
}

// Commit makes a batch visible, and closes it. It also writes an empty batch, because the caller may have read an
// earlier write that is not durable yet.
func (f *Folder) Commit(batch *pebble.Batch) (Write, error) {
	if f.inMemory {
		return Write{}, f.CommitLater(batch)
	}
	if batch.Empty() {
		if err := batch.LogData(nil, nil); err != nil {
			return Write{}, errors.Join(f.errorf("writing: %w", err), batch.Close())
		}
	}
	if err := f.DB.ApplyNoSyncWait(batch, pebble.Sync); err != nil {
		return Write{}, errors.Join(f.errorf("writing: %w", err), batch.Close())
	}
	return Write{batch: batch, folder: f}, nil
}

// Wait returns when the write is durable and can be acknowledged. Concurrent writes share a sync of the disk.
func (w Write) Wait() error {
	if w.batch == nil {
		return nil
	}
	if err := errors.Join(w.batch.SyncWait(), w.batch.Close()); err != nil {
		w.folder.failure.report(err.Error()) // Pebble's log accepts no further writes
		return w.folder.errorf("writing: %w", err)
	}
	return nil
}

// CommitSync makes a batch visible and durable. The caller closes the batch. CommitSync returns [ErrFull] if the disk
// is full.
func (f *Folder) CommitSync(batch *pebble.Batch) error {
	if err := f.Room(); err != nil {
		return err
	}
	durable := pebble.Sync
	if f.inMemory {
		durable = pebble.NoSync
	}
	return batch.Commit(durable)
}

// CommitLater makes a batch visible, and closes it. It becomes durable later, or is lost in a crash.
func (f *Folder) CommitLater(batch *pebble.Batch) error {
	if err := errors.Join(batch.Commit(pebble.NoSync), batch.Close()); err != nil {
		return f.errorf("writing: %w", err)
	}
	return nil
}
