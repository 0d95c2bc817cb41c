package dynamodb

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"devplatform/infra/local/datafolder"

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

	// Failed is told, once and on a goroutine of its own, that the store cannot go on (its disk is broken). From then on
	// every request fails; the process should end. While the disk is full, only writes fail.
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
}

// DB is one embedded DynamoDB: one account in one region. It is an
// http.Handler that answers the JSON protocol on POST /. All methods are safe
// for concurrent use.
type DB struct {
	options Options
	folder  *datafolder.Folder

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
	folder, err := datafolder.Open(datafolder.Options{
		Service: "dynamodb", Format: "embedded-dynamodb 1", Dir: options.Dir,
		Logger: options.Logger, Failed: options.Failed, FS: options.fs, Merger: counterMerger,
	})
	if err != nil {
		return nil, err
	}
	db := &DB{
		options: options,
		folder:  folder,
		tables:  map[string]*table{},
		streams: map[string]*stream{},
		stop:    make(chan struct{}),
	}
	db.locks.init()
	if err := db.loadCatalog(); err != nil {
		return nil, errors.Join(fmt.Errorf("dynamodb: %s holds damaged data: %w", options.Dir, err), folder.Close(nil))
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
	return db.folder.Close(db.done.Wait)
}
