// Package datafolder keeps the data of one embedded service: Pebble in a folder
// of its own that is marked as the service's, or in memory.
//
// It decides what is opened (a folder that is empty or ours, whole, and nobody
// else's at the moment; anything else is refused with one error and left as it
// was), when a write is durable, and what happens when the disk is full or fails.
// What the keys and values mean does not belong here.
package datafolder

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Memory: the local platform runs beside an editor and a browser.
const (
	memTableBytes   = 4 << 20
	blockCacheBytes = 8 << 20
	bloomBitsPerKey = 10
)

// Options says whose data it is and where it lies.
type Options struct {
	Service string       // begins the text of every error, such as "sqs"
	Format  string       // what the folder's marker says: whose data it is, and in which version; one line
	Dir     string       // made when missing; "" keeps everything in memory
	Logger  *slog.Logger // required; the storage engine logs at debug level
	Failed  func(error)  // told once, on a goroutine of its own, that the data cannot be kept any more; may be nil
	FS      vfs.FS       // the file system behind Dir; nil is the real one

	// Merger is what merges mean; nil where there are none. Its name is part of the format: a folder whose data another
	// one wrote is refused.
	Merger *pebble.Merger
}

// Folder is an open data folder. Its methods are safe for concurrent use.
type Folder struct {
	DB *pebble.DB // for reading, and for making batches; they are written with [Folder.Commit]

	options  Options
	failure  *failure
	space    *space
	inMemory bool
}

// Open opens or makes a data folder.
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
	folder.space.waits.Store(true)
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
			DataCorruption:  logger.corruption, // by default the process ends
		},
		Merger: f.options.Merger,
	}
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
	if err := f.checkFolder(); err != nil {
		return nil, err
	}
	path := f.options.FS.PathJoin(f.options.Dir, storeFolder)
	if err := checkStore(path, settings); err != nil {
		return nil, f.openError(err)
	}
	db, err := pebble.Open(path, settings)
	if err != nil {
		return nil, f.openError(err)
	}
	if err := f.syncFolder(f.options.Dir); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// openError says in one line, as a command line wants it, why there is no store.
func (f *Folder) openError(err error) error {
	reason, _, _ := strings.Cut(err.Error(), "\n")
	return f.errorf("cannot open the data in %s (in use by another process: end it, or choose another folder with DATA_DIR; or damaged): %s", f.options.Dir, reason)
}

func (f *Folder) errorf(format string, args ...any) error {
	return fmt.Errorf(f.options.Service+": "+format, args...)
}

// Check answers the error that ended the data's life, when there has been one.
func (f *Folder) Check() error { return f.failure.check() }

// Close closes the store; every acknowledged write is already durable. No write
// may be in flight or follow. What before does first, it does only with data that
// can go on: a store that cannot, for want of room, too, is left as it is, and the
// error says why.
func (f *Folder) Close(before func()) error {
	f.space.waits.Store(false)
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

// Write is a batch that is visible but perhaps not yet durable.
type Write struct {
	batch  *pebble.Batch // nil in memory
	folder *Folder
}

// Commit makes a batch visible, and ends it. An empty batch is written as well:
// what its maker saw may be an earlier write that is not durable yet.
func (f *Folder) Commit(batch *pebble.Batch) (Write, error) {
	if f.inMemory {
		if err := errors.Join(batch.Commit(pebble.NoSync), batch.Close()); err != nil {
			return Write{}, f.errorf("writing: %w", err)
		}
		return Write{}, nil
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

// Wait returns when the write is durable, which is when it may be acknowledged.
// Writes that wait at the same time share a sync of the disk.
func (w Write) Wait() error {
	if w.batch == nil {
		return nil
	}
	if err := errors.Join(w.batch.SyncWait(), w.batch.Close()); err != nil {
		w.folder.failure.report(err.Error()) // the log takes nothing more
		return w.folder.errorf("writing: %w", err)
	}
	return nil
}

// CommitSync makes a batch visible and durable, which its maker still has to close.
// It is refused while there is no room.
func (f *Folder) CommitSync(batch *pebble.Batch) error {
	if err := f.Room(); err != nil {
		return err
	}
	durable := pebble.Sync
	if f.inMemory {
		durable = pebble.NoSync
	}
	return batch.Commit(durable) //nolint:wrapcheck // its maker says what was written
}

// CommitLater writes a batch that nobody waits for: what it says can be found
// out again after a crash.
func (f *Folder) CommitLater(batch *pebble.Batch) error {
	if err := errors.Join(batch.Commit(pebble.NoSync), batch.Close()); err != nil {
		return f.errorf("writing: %w", err)
	}
	return nil
}
