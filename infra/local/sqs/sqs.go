package sqs

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"devplatform/infra/local/datafolder"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options says where a Store keeps its data and what it believes about the world.
type Options struct {
	Dir     string           // data folder, made when missing; "" keeps everything in memory
	Now     func() time.Time // the clock of timestamps, delays, visibility and retention; required
	Logger  *slog.Logger     // nil discards; the storage engine logs at debug level
	Region  string           // of queue ARNs; default "us-east-1"
	Account string           // of queue URLs, ARNs and senders; default "000000000000"

	// Failed is told, once and on a goroutine of its own, that the store cannot go on (its disk is full or broken).
	// From then on every request fails; the process should end.
	Failed func(error)

	fs            vfs.FS // tests: the file system behind Dir
	inFlightLimit int    // tests: in place of AWS's
}

// maxInFlight is how many messages of a queue can be in flight.
const maxInFlight = 120_000

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
	if o.inFlightLimit == 0 {
		o.inFlightLimit = maxInFlight
	}
}

// Store is one embedded SQS: one account in one region. It is an http.Handler
// that answers the JSON protocol on POST. All methods are safe for concurrent use.
type Store struct {
	options Options
	folder  *datafolder.Folder

	// requests is held for reading by every request, so that Close can wait for them.
	requests sync.RWMutex
	closed   bool
	drain    sync.Once
	draining chan struct{}  // closed by Drain; ends what waits
	tasks    sync.WaitGroup // the goroutines of running move tasks

	// mutex guards everything below and all that is reachable from it. It is held while an operation
	// decides and makes its write visible, and never while that becomes durable or bodies are read.
	mutex     sync.Mutex
	queues    map[string]*queue // by name
	byID      map[uint32]*queue
	moves     map[string]*moveTask // by task id
	nextQueue uint32
	nextEntry uint64 // the number of the next message
}

// Open opens or creates a store. A folder that holds something else, data of
// another version, or damaged data is refused with one error that names it, and
// is left as it was; so is a folder that another process has open.
func Open(options Options) (*Store, error) {
	if options.Now == nil {
		return nil, errors.New("sqs: Options.Now is required")
	}
	options.setDefaults()
	folder, err := datafolder.Open(datafolder.Options{
		Service: "sqs", Format: "embedded-sqs 1", Dir: options.Dir, Logger: options.Logger, Failed: options.Failed, FS: options.fs,
	})
	if err != nil {
		return nil, err
	}
	s := &Store{
		options:  options,
		folder:   folder,
		draining: make(chan struct{}),
		queues:   map[string]*queue{},
		byID:     map[uint32]*queue{},
		moves:    map[string]*moveTask{},
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("sqs: %s holds damaged data: %w", options.Dir, err), folder.Close(nil))
	}
	s.resumeMoves()
	return s, nil
}

// Drain ends the receives that wait for messages, with an empty answer, and lets
// none wait from now on: a server that shuts down need not wait for long polls.
func (s *Store) Drain() { s.drain.Do(func() { close(s.draining) }) }

// Close drains, waits for the requests under way and closes the store; every
// acknowledged write is already durable. Requests that follow are answered with
// an error. A store that cannot go on is left as it is, and the error says why.
func (s *Store) Close() error {
	s.Drain()
	return s.folder.Close(func() {
		s.requests.Lock()
		s.closed = true
		s.requests.Unlock()
		s.tasks.Wait()
		s.mutex.Lock()
		defer s.mutex.Unlock()
		for _, q := range s.queues {
			q.silence()
		}
	})
}

// now is the time in milliseconds since 1970, as messages count it.
func (s *Store) now() int64 { return s.options.Now().UnixMilli() }
