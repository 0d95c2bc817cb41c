package triggers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"devplatform/infra/local/awshttp"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/stack"
)

// Options say what is read, by whom, and where positions are kept. Zero values mean what the comments say.
type Options struct {
	// Mappings are the mappings to run; those that aren't Enabled are left alone, with their positions.
	Mappings []stack.EventSourceMapping
	// Invoke runs a function once, as [runtime.Runtime.Invoke] does (required).
	Invoke func(ctx context.Context, in runtime.Invocation) (*runtime.Response, error)
	// Endpoint is the URL of DynamoDB, its streams, and SQS; "" is AWS.
	Endpoint string
	// Region is the endpoint's (default us-east-1), Account the one in the ARNs of functions (default 000000000000).
	Region, Account string
	// AccessKeyID, SecretKey and SessionToken sign the requests. Embedded services take any; empty ones are "local".
	AccessKeyID, SecretKey, SessionToken string
	// Dir is the folder of the positions, one file a mapping of a stream; it is made where it is missing (required).
	Dir string
	// Now is the clock (required). Ages of records are measured by it, and how long a message stays hidden.
	Now func() time.Time
	// Logger takes what happens to sources and batches; nil discards it.
	Logger *slog.Logger
	// PollInterval is the wait after a shard had nothing: 0 is 50 ms for an endpoint on this machine, else 250 ms,
	// which is how often Lambda reads a shard. Queues tell when they have something.
	PollInterval time.Duration
	// StreamChanged returns a channel that is closed when the stream with this ARN has new records or has ended. The
	// embedded DynamoDB has such a function. If it is nil, or returns nil, the stream is polled every PollInterval.
	StreamChanged func(arn string) <-chan struct{}
	// Backoff is the wait after the n-th failure in a row, from 1: nil is 100 ms, doubled up to 10 s, half of it random.
	Backoff func(failures int) time.Duration
}

// Triggers runs event source mappings.
type Triggers struct {
	options  Options
	http     *http.Client
	mappings []poller

	mu      sync.Mutex
	started bool
	closed  bool
	pollers sync.WaitGroup

	// stopping ends when no new batch may begin, working when batches in flight are given up.
	stopping, working context.Context
	stop, giveUp      context.CancelFunc
}

// Open checks the mappings with their filter patterns and reads their positions. It starts nothing. A position file
// that can't be understood is an error that names it; nothing is changed then.
func Open(options Options) (*Triggers, error) {
	if options.Invoke == nil || options.Now == nil || options.Dir == "" {
		return nil, errors.New("triggers: Options.Invoke, Now and Dir are required")
	}
	setDefaults(&options)
	t := &Triggers{options: options, http: awshttp.New()}
	t.stopping, t.stop = context.WithCancel(context.Background())
	t.working, t.giveUp = context.WithCancel(context.Background())
	c := newClients(options, t.http)
	names := map[string]bool{}
	for _, m := range options.Mappings {
		if names[m.Name] {
			return nil, fmt.Errorf("triggers: mapping %s stands twice", m.Name)
		}
		names[m.Name] = true
		if err := t.add(m, c); err != nil {
			return nil, fmt.Errorf("triggers: mapping %s: %w", m.Name, err)
		}
	}
	return t, nil
}

// add takes a mapping in; of one that is not enabled, only what it says is checked.
func (t *Triggers) add(spec stack.EventSourceMapping, c clients) error {
	common, err := newMapping(t, spec)
	if err != nil || !spec.Enabled {
		return err
	}
	if spec.Queue != "" {
		t.mappings = append(t.mappings, newQueueMapping(common, c))
		return nil
	}
	m, err := newStreamMapping(common, c)
	if err != nil {
		return err
	}
	t.mappings = append(t.mappings, m)
	return nil
}

// Start lets the mappings run. Sources that aren't there yet, or an endpoint that is away, are waited for.
func (t *Triggers) Start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.started || t.closed {
		return
	}
	t.started = true
	for _, m := range t.mappings {
		t.pollers.Go(m.run)
	}
}

// Close begins no new batch, lets those in flight finish until ctx ends, writes the positions, and gives messages back that
// no function has seen. Batches that are cut run again after the next start; the error says that there were some.
func (t *Triggers) Close(ctx context.Context) error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	t.mu.Unlock()
	t.stop()
	ended := make(chan struct{})
	go func() {
		t.pollers.Wait()
		close(ended)
	}()
	var errs []error
	select {
	case <-ended:
	case <-ctx.Done():
		t.giveUp()
		<-ended
		errs = append(errs, fmt.Errorf("triggers: batches in flight were cut: %w", context.Cause(ctx)))
	}
	t.giveUp()
	for _, m := range t.mappings {
		errs = append(errs, m.close())
	}
	t.http.CloseIdleConnections()
	return errors.Join(errs...)
}
