package triggers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"devplatform/infra/local/awshttp"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

const (
	// defaultPoll is how often Lambda reads a shard.
	defaultPoll = 250 * time.Millisecond

	// idlePoll is how often an idle stream that reports its changes is read, in case a change was not reported.
	idlePoll = 10 * time.Second
	// After a read of a stream that reports its changes, the next read waits for pausePerRecord for each record, but at
	// most maxPause. So a few records delay the next read only a little, and many records in a row form batches.
	pausePerRecord = 10 * time.Millisecond
	maxPause       = 50 * time.Millisecond

	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 10 * time.Second
)

// Options configure Triggers.
type Options struct {
	// Mappings are the mappings. Those that are not Enabled are checked only.
	Mappings []resources.EventSourceMapping
	// Invoke runs a function once, as [runtime.Runtime.Invoke] does (required).
	Invoke func(ctx context.Context, in runtime.Invocation) (*runtime.Response, error)
	// Waits reports whether a call of a function waits for an instance, as [runtime.Runtime.Waits] does. Meanwhile, no
	// messages are received for the function: in its queue, they are visible, and the queue is fair to their groups. The
	// default always reports false.
	Waits func(function string) bool
	// Endpoint is the URL of DynamoDB, its streams, and SQS. "" is AWS.
	Endpoint string
	// Transport sends the requests to the endpoint. Nil sends them over the network.
	Transport http.RoundTripper
	// Region is the endpoint's (default us-east-1), Account is the one in the ARNs of functions (default 000000000000).
	Region, Account string
	// AccessKeyID, SecretKey and SessionToken sign the requests. Embedded services accept any, by default "local".
	AccessKeyID, SecretKey, SessionToken string
	// Dir is the folder of the positions, with one file for each mapping of a stream (required). It is created if it is
	// missing.
	Dir string
	// Now is the clock (required). It determines the ages of records, and how long messages stay invisible.
	Now func() time.Time
	// Logger is for events of sources and batches. Nil discards them.
	Logger *slog.Logger
	// PollInterval is the wait after a read of a shard that found nothing (default 250 ms, as on AWS). Queues are read
	// with long polls.
	PollInterval time.Duration
	// StreamChanged returns a channel that is closed when the stream with this ARN has new records or has ended. The
	// embedded DynamoDB has such a function. If it is nil, or returns nil, the stream is polled every PollInterval.
	StreamChanged func(arn string) <-chan struct{}
	// Backoff returns the wait after the n-th failure in a row, from 1. The default is 100 ms, doubled up to 10 s, half of
	// it random.
	Backoff func(failures int) time.Duration
}

func setDefaults(o *Options) {
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Account = cmp.Or(o.Account, "000000000000")
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.AccessKeyID == "" {
		o.AccessKeyID, o.SecretKey = "local", "local"
	}
	o.PollInterval = cmp.Or(o.PollInterval, defaultPoll)
	if o.Waits == nil {
		o.Waits = func(string) bool { return false }
	}
	if o.Backoff == nil {
		o.Backoff = backoff
	}
}

// backoff is exponential. Half of it is random, so that lanes that failed together do not retry together.
func backoff(failures int) time.Duration {
	wait := maxBackoff
	if shift := failures - 1; shift < 7 {
		wait = min(firstBackoff<<max(shift, 0), maxBackoff)
	}
	return wait/2 + rand.N(wait/2) //nolint:gosec // not a secret
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

// Open checks the mappings and reads their positions. It does not start them. The error names the mapping that is not
// valid, or the file of positions that can't be read.
func Open(options Options) (*Triggers, error) {
	if options.Invoke == nil || options.Now == nil || options.Dir == "" {
		return nil, errors.New("triggers: Options.Invoke, Now and Dir are required")
	}
	setDefaults(&options)
	t := &Triggers{options: options, http: awshttp.New()}
	if options.Transport != nil {
		t.http = &http.Client{Transport: options.Transport}
	}
	t.stopping, t.stop = context.WithCancel(context.Background())
	t.working, t.giveUp = context.WithCancel(context.Background())
	c := newClients(options, t.http)
	names := map[string]bool{}
	for _, m := range options.Mappings {
		if names[m.Name] {
			return nil, fmt.Errorf("triggers: mapping %s is configured twice", m.Name)
		}
		names[m.Name] = true
		if err := t.add(m, c); err != nil {
			return nil, fmt.Errorf("triggers: mapping %s: %w", m.Name, err)
		}
	}
	return t, nil
}

// add checks a mapping, and adds it if it is enabled.
func (t *Triggers) add(spec resources.EventSourceMapping, c clients) error {
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

// Start starts the mappings. They wait for sources that do not exist yet, and for an endpoint that can't be reached.
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

// Close begins no new batch, waits until those in flight have finished or ctx ends, writes the positions, and makes
// messages visible again that no function has received. An error means that batches were interrupted: they are
// delivered again after the next start.
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
		errs = append(errs, fmt.Errorf("triggers: batches in flight were interrupted: %w", context.Cause(ctx)))
	}
	t.giveUp()
	for _, m := range t.mappings {
		errs = append(errs, m.close())
	}
	t.http.CloseIdleConnections()
	return errors.Join(errs...)
}
