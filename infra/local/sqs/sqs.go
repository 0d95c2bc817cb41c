// Package sqs is an embedded Amazon SQS: the JSON 1.0 protocol over Pebble, in a folder or in memory.
//
// It works with the AWS SDKs and the AWS CLI. It has standard queues with their attributes, delays, visibility
// timeouts, long polling, batches, dead-letter queues and fair queues, with AWS's limits and error types. It rejects
// everything else (FIFO queues, attributes of messages, tags, permissions, the Query protocol) by name, and ignores
// nothing.
//
// Everything acknowledged is on the disk: sends, deletions and also receives. The receive count, the visibility
// deadline and the receipt handle are synced before the response. This costs a receive one shared sync. In return, a
// message that crashes the process still reaches its dead-letter queue, and no crash makes a message visible early.
// Changes that come with time (a message becomes visible again, or expires) are written later or not at all, because
// they can be computed when the folder is opened.
//
// An index of all messages is in memory, about 160 bytes each. It is rebuilt from small records when the folder is
// opened. Bodies stay in Pebble.
//
// Nothing that belongs to one application may be here.
package sqs

import (
	"net/http"
	"sync"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/datafolder"
)

// Options configure a Store.
type Options = datafolder.ServiceOptions

// Store is one account's SQS in one region. It is an http.Handler, and safe for concurrent use.
type Store struct {
	options Options
	folder  *datafolder.Folder
	api     *awsjson.Service

	drain    sync.Once
	draining chan struct{} // closed by Drain; ends long polls

	// mutex guards the fields below and everything that they refer to. It is held while an operation decides and makes its
	// write visible, and never while the write becomes durable or bodies are read.
	mutex       sync.Mutex
	queues      map[string]*queue // by name
	byID        map[uint32]*queue
	nextQueue   uint32 // the number of the next queue
	lastMessage uint64 // the number of the latest message
}

// Open opens the queues in a folder. It returns an error if the data is damaged.
func Open(options Options) (*Store, error) {
	folder, err := options.OrMemory()
	if err != nil {
		return nil, err
	}
	s := &Store{
		options:  options,
		folder:   folder,
		draining: make(chan struct{}),
		queues:   map[string]*queue{},
		byID:     map[uint32]*queue{},
	}
	s.api = s.service()
	if err := s.load(); err != nil {
		return nil, folder.DamagedError(err)
	}
	return s, nil
}

const targetPrefix = "AmazonSQS."

// maxRequestBytes is the size of ten messages of the maximum size in which every byte is escaped. Such a batch gets the
// error for a batch that is too long, and not the error for a request that is too large.
const maxRequestBytes = maxEntries*6*maxMessageBytes + 256<<10

func (s *Store) service() *awsjson.Service {
	return &awsjson.Service{
		Name: "sqs", ContentType: awsjson.Version10, MaxRequestBytes: maxRequestBytes,
		Logger: s.options.Logger, Folder: s.folder,
		Targets: map[string]awsjson.Operations{targetPrefix: {
			"CreateQueue":                  awsjson.Handle(s.createQueue),
			"GetQueueUrl":                  awsjson.Handle(s.getQueueURL),
			"GetQueueAttributes":           awsjson.Handle(s.getQueueAttributes),
			"SetQueueAttributes":           awsjson.Handle(s.setQueueAttributes),
			"SendMessage":                  awsjson.Handle(s.sendMessage),
			"SendMessageBatch":             awsjson.Handle(s.sendMessageBatch),
			"ReceiveMessage":               awsjson.Handle(s.receiveMessage),
			"DeleteMessage":                forOne(s.delete),
			"DeleteMessageBatch":           forEach(s.delete),
			"ChangeMessageVisibility":      forOne(s.changeVisibility),
			"ChangeMessageVisibilityBatch": forEach(s.changeVisibility),
		}},
	}
}

// ServeHTTP implements http.Handler.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) }

// Drain ends all long polls with an empty response, and makes later receives return immediately, so that a server does
// not have to wait for them when it shuts down.
func (s *Store) Drain() { s.drain.Do(func() { close(s.draining) }) }

func (s *Store) isDraining() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}

// Close calls Drain. The folder waits for running requests when it is closed.
func (s *Store) Close() error {
	s.Drain()
	return s.folder.Leave()
}

// now returns the time in milliseconds since 1970, the unit of all times of messages.
func (s *Store) now() int64 { return s.options.Now().UnixMilli() }
