package dynamodb

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options says where a DB keeps its data and what it believes about the world.
type Options struct {
	Dir     string           // data folder, made when missing; "" keeps everything in memory
	Now     func() time.Time // the clock of TTL, idempotency tokens and timestamps; required
	Logger  *slog.Logger     // nil discards; the storage engine logs at debug level
	Region  string           // of table ARNs; default "us-east-1"
	Account string           // of table ARNs; default "000000000000"

	// SweepInterval is the time between two looks at what has expired;
	// default one second, negative never.
	SweepInterval time.Duration

	// Failed is told, once and on a goroutine of its own, that the store cannot go on (its disk is full or broken).
	// From then on every request fails; the process should end.
	Failed func(error)

	fs vfs.FS // tests: the file system behind Dir
}

const defaultSweepInterval = time.Second

func (o *Options) setDefaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if o.Account == "" {
		o.Account = "000000000000"
	}
	if o.SweepInterval == 0 {
		o.SweepInterval = defaultSweepInterval
	}
	if o.fs == nil {
		o.fs = vfs.Default
	}
}

// DB is one embedded DynamoDB: one account in one region. It is an
// http.Handler that answers the JSON protocol on POST /. All methods are safe
// for concurrent use.
type DB struct {
	options Options
	store   *pebble.DB
	failure *failure
	sync    *pebble.WriteOptions // how a write is made durable: synced on disk, plain in memory

	// catalog guards tables and everything reachable from them but items and
	// counters. Every data operation holds it for reading from beginning to
	// end, every table operation for writing: a table never changes under an
	// operation.
	catalog sync.RWMutex
	tables  map[string]*table
	streams map[string]*stream // by path, the ended ones, too
	nextID  uint32             // of the next table, index or stream

	locks  lockTable
	tokens tokenTable

	stop chan struct{} // closed by Close; ends the sweeper
	done sync.WaitGroup
}

// Open opens or creates a database. A folder that holds something else, data of
// another version, or damaged data is refused with one error that names it, and
// is left as it was; so is a folder that another process has open.
func Open(options Options) (*DB, error) {
	if options.Now == nil {
		return nil, errors.New("dynamodb: Options.Now is required")
	}
	options.setDefaults()
	failure := newFailure(options)
	var store *pebble.DB
	if err := failure.guard(func() (err error) {
		store, err = openStore(options, failure)
		return err
	}); err != nil {
		return nil, err
	}
	db := &DB{
		options: options,
		store:   store,
		failure: failure,
		sync:    pebble.Sync,
		tables:  map[string]*table{},
		streams: map[string]*stream{},
		stop:    make(chan struct{}),
	}
	if options.Dir == "" {
		db.sync = pebble.NoSync
	}
	db.locks.init()
	if err := db.loadCatalog(); err != nil {
		return nil, errors.Join(fmt.Errorf("dynamodb: %s holds damaged data: %w", options.Dir, err), store.Close())
	}
	if options.SweepInterval > 0 {
		db.done.Go(db.sweepLoop)
	}
	return db, nil
}

// Close ends the sweeper and closes the store; every acknowledged write is
// already durable. No request may be in flight or follow. A store that cannot go
// on is left as it is, and the error says why.
func (db *DB) Close() error {
	close(db.stop)
	return db.failure.guard(func() error {
		db.done.Wait()
		if err := db.store.Close(); err != nil {
			return fmt.Errorf("dynamodb: closing the store: %w", err)
		}
		return nil
	})
}
