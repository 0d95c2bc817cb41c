// Package dynamodb is an embedded DynamoDB: the JSON protocol of DynamoDB and DynamoDB Streams over a Pebble store, in
// a folder or in memory. It works with AWS's SDKs and the AWS CLI: tables with global secondary indexes and TTL,
// single-item operations, queries and scans, batches, transactions, and streams, with AWS's semantics, limits and error
// types. It rejects what it does not support (PartiQL, parameters from before expressions, local indexes and others).
//
// A change and its stream record are one atomic write. A backup of the folder must include the readers'
// positions in streams.
//
// The operations are in the files that are named after what they work on: batch.go, items.go, query.go, streams.go,
// tables.go and transact.go. requests.go has the checks that requests share, and errors. describe.go has the inputs and
// outputs of operations on tables, record.go and table.go the definitions of tables, store.go, page.go and write.go the
// storage of items, and stream.go and stream_read.go the storage of changes. The packages values and expressions know
// nothing of tables. Nothing of a particular application belongs here.
package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/datafolder"
)

// Options configure a DB.
type Options = datafolder.ServiceOptions

// sweepInterval is the time between two deletions of expired data.
const sweepInterval = time.Second

// DB is an embedded DynamoDB of one account in one region. All methods are safe for concurrent use.
type DB struct {
	options Options
	account account
	store   *store
	service awsjson.Service

	// catalog guards tables and streams. Operations on items hold it for reading from beginning to end, and operations on
	// tables for writing, so that a table never changes during an operation on its items.
	catalog sync.RWMutex
	tables  map[string]*table
	streams map[string]*stream // by path, with the ended ones

	stop chan struct{} // closed by Close; ends the sweeper
}

// Open opens the database in a folder. It returns an error if the data is damaged.
func Open(options Options) (*DB, error) { return open(options, sweepInterval) }

// open is Open with another interval of the sweeper. 0 disables it.
func open(options Options, sweep time.Duration) (*DB, error) {
	folder, err := options.OrMemory()
	if err != nil {
		return nil, err
	}
	store, err := openStore(folder, options.Now)
	if err != nil {
		return nil, err
	}
	db := &DB{
		options: options,
		account: account{Region: options.Region, ID: options.Account},
		store:   store,
		tables:  map[string]*table{},
		streams: map[string]*stream{},
		stop:    make(chan struct{}),
	}
	db.service = db.newService(folder)
	if err := db.load(); err != nil {
		return nil, store.DamagedError(err)
	}
	if sweep > 0 {
		go db.sweepLoop(sweep)
	}
	return db, nil
}

func (db *DB) load() error {
	err := datafolder.Each(db.store.DB, []byte{datafolder.SpaceStream}, func(_, value []byte) error {
		s, err := loadStream(db.store.DB, value)
		if err == nil {
			db.streams[s.path()] = s
		}
		return err
	})
	if err != nil {
		return err
	}
	return db.store.tables(func(record tableRecord) error {
		t := db.use(record)
		if t.StreamView != "" && t.Stream == nil {
			return fmt.Errorf("table %s: its stream is missing", t.Name)
		}
		return nil
	})
}

// use makes a record the current definition of its table.
func (db *DB) use(record tableRecord) *table {
	t := newTable(record)
	if record.StreamView != "" {
		t.Stream = db.streams[pathOf(record.Name, record.StreamLabel)]
	}
	db.tables[record.Name] = t
	return t
}

// ServeHTTP handles one request.
func (db *DB) ServeHTTP(w http.ResponseWriter, r *http.Request) { db.service.ServeHTTP(w, r) }

// Close stops the sweeper. The folder waits for running requests when it is closed.
func (db *DB) Close() error {
	close(db.stop)
	return db.store.Leave()
}

func (db *DB) sweepLoop(interval time.Duration) {
	timer := time.NewTicker(interval)
	defer timer.Stop()
	for {
		select {
		case <-db.stop:
			return
		case <-timer.C:
			leave, err := db.store.Enter()
			if err != nil {
				return // closed
			}
			err = db.sweep()
			leave()
			if err != nil {
				db.options.Logger.Error("dynamodb: sweeping expired items", slog.Any("error", err))
			}
		}
	}
}

// sweep deletes expired items, request tokens, and changes of streams. It reads nothing that has not expired.
func (db *DB) sweep() error {
	now := db.options.Now()
	db.catalog.RLock()
	tables := slices.Collect(maps.Values(db.tables))
	db.catalog.RUnlock()
	errs := []error{db.store.deleteTokens(now), db.sweepStreams(now)}
	for _, t := range tables {
		errs = append(errs, db.sweepTable(t, now))
	}
	return errors.Join(errs...)
}

// sweepTable deletes a table's expired items in steps, so that operations on tables do not have to wait for all of
// them.
func (db *DB) sweepTable(t *table, now time.Time) error {
	for {
		select {
		case <-db.stop:
			return nil
		default:
		}
		db.catalog.RLock()
		if db.tables[t.Name] != t || t.TTLAttribute == "" { // the next call sweeps a table that has changed
			db.catalog.RUnlock()
			return nil
		}
		n, err := db.store.deleteExpired(t, now)
		db.catalog.RUnlock()
		if err != nil || n < maxExpired {
			return err
		}
	}
}

// Prefixes of X-Amz-Target. The two services have the same endpoint.
const (
	targetPrefix  = "DynamoDB_20120810."
	streamsPrefix = "DynamoDBStreams_20120810."
)

const maxRequestBytes = 16 << 20

func (db *DB) newService(folder *datafolder.Folder) awsjson.Service {
	items, tables := db.catalog.RLocker(), &db.catalog
	return awsjson.Service{
		Name: "dynamodb", ContentType: awsjson.Version10, MaxRequestBytes: maxRequestBytes, Logger: db.options.Logger,
		CRC32: true, Folder: folder, Convert: asAPIError,
		Targets: map[string]awsjson.Operations{
			targetPrefix: {
				"CreateTable":        handle(tables, db.createTable),
				"DescribeTable":      handle(items, db.describeTable),
				"ListTables":         handle(items, db.listTables),
				"UpdateTable":        handle(tables, db.updateTable),
				"DeleteTable":        handle(tables, db.deleteTable),
				"UpdateTimeToLive":   handle(tables, db.updateTimeToLive),
				"DescribeTimeToLive": handle(items, db.describeTimeToLive),
				"PutItem":            handle(items, db.putItem),
				"GetItem":            handle(items, db.getItem),
				"UpdateItem":         handle(items, db.updateItem),
				"DeleteItem":         handle(items, db.deleteItem),
				"Query":              handle(items, db.query),
				"Scan":               handle(items, db.scan),
				"BatchGetItem":       handle(items, db.batchGetItem),
				"BatchWriteItem":     handle(items, db.batchWriteItem),
				"TransactGetItems":   handle(items, db.transactGetItems),
				"TransactWriteItems": handle(items, db.transactWriteItems),
			},
			streamsPrefix: {
				"ListStreams":      handle(items, db.listStreams),
				"DescribeStream":   handle(items, db.describeStream),
				"GetShardIterator": handle(items, db.getShardIterator),
				"GetRecords":       handle(items, db.getRecords),
			},
		},
	}
}

type request[T any] interface {
	*T
	check() error
}

// handle returns an operation that checks the request and then runs while it holds the lock.
func handle[T, Out any, In request[T]](lock sync.Locker, run func(In) (*Out, error)) awsjson.Operation {
	return awsjson.Handle(func(_ context.Context, in *T) (*Out, error) {
		if err := In(in).check(); err != nil {
			return nil, err
		}
		lock.Lock()
		defer lock.Unlock()
		return run(in)
	})
}

func (db *DB) table(ref string) (*table, error) {
	name := tableName(ref)
	t, ok := db.tables[name]
	if !ok {
		return nil, errorOf(typeNotFound, "Requested resource not found: Table: %s not found", name)
	}
	return t, nil
}
