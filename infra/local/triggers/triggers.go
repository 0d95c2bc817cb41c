// Package triggers implements event source mappings: pollers that read an event source and invoke a function with
// batches of its records. The sources are streams of DynamoDB tables and queues of SQS.
//
// The package reads sources with the AWS SDK. It contains filters, batching, order, retries, partial failures, and
// positions that survive a crash. It must not know how functions run (package runtime), how streams are stored (the
// DynamoDB engine), templates (package stack), or the application.
//
// Streams (stream.go, lane.go, batch.go): the reader of a stream, which has one shard, gets a record, skips it if no
// filter matches, and puts it into a lane. There are as many lanes as the ParallelizationFactor. All records of a
// partition key go to the same lane. The lane gathers a batch, invokes the function, and splits, retries or discards
// what failed. The reader's ledger knows which records are done. The position (position.go) is the last record up to
// which all records are done. Discarded records are sent to the mapping's on-failure queue: the position is before them
// until the queue has the message.
//
// Records are delivered at least once and without gaps. After a crash, three kinds of batches are delivered again:
// batches in flight, batches whose position was lost and, if ParallelizationFactor is above 1, batches that had
// overtaken them.
//
// Records expire by the clock even while the platform does not run: a mapping loses the records that it did not read
// within the retention of the stream. A mapping that was removed from the template keeps its position.
//
// Queues (queue.go, delivery.go): a poller acquires a slot before it receives a batch. Under load, messages therefore
// wait in the queue. The function is invoked with the batch. Its successes are deleted, its failures stay in the queue
// until their visibility timeout ends. When the platform stops, messages that no function has received are made visible
// again.
//
// https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html and
// https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
package triggers

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/local/awshttp"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

const (
	// defaultPoll is how often Lambda reads a shard.
	defaultPoll = 250 * time.Millisecond

	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 10 * time.Second
)

// Options configure Triggers.
type Options struct {
	// Mappings are the mappings to run.
	Mappings []resources.EventSourceMapping
	// Invoke runs a function once, as [runtime.Runtime.Invoke] does (required).
	Invoke func(ctx context.Context, in runtime.Invocation) (*runtime.Response, error)
	// Waits reports whether a call of a function waits for an instance, as [runtime.Runtime.Waits] does. Meanwhile, no
	// messages are received for the function: they stay visible in its queue, which is fair to their groups. The default
	// always reports false.
	Waits func(function string) bool
	// Endpoint is the URL of DynamoDB, its streams, and SQS.
	Endpoint string
	// Transport sends the requests to the endpoint. Nil sends them over the network.
	Transport http.RoundTripper
	// Region is the region of the endpoint (default us-east-1). Account is the account in the ARNs of functions.
	Region, Account string
	// AccessKeyID, SecretKey and SessionToken sign the requests (default "local").
	AccessKeyID, SecretKey, SessionToken string
	// Positions has the positions of the mappings of streams (required).
	Positions Positions
	// Now is the clock (required). It determines the ages of records, and how long messages stay invisible.
	Now func() time.Time
	// Logger is for events of sources and batches. Nil discards them.
	Logger *slog.Logger
	// PollInterval is the wait after a read of a stream that found nothing (default 250 ms, as on AWS), if StreamChanged
	// is nil.
	PollInterval time.Duration
	// StreamChanged returns a channel that is closed when the stream with this ARN has new records or has ended.
	StreamChanged func(arn string) <-chan struct{}
	// Backoff returns the wait after the n-th failure in a row, from 1. The default is 100 ms, doubled up to 10 s, half of
	// it random.
	Backoff func(failures int) time.Duration
}

// backoff is the default of Options.Backoff. Half of it is random, so that lanes that failed together do not retry
// together.
func backoff(failures int) time.Duration {
	wait := min(firstBackoff<<min(max(failures-1, 0), 7), maxBackoff)
	return wait/2 + rand.N(wait/2) //nolint:gosec // not a secret
}

// Triggers runs event source mappings.
type Triggers struct {
	options  Options
	http     *http.Client
	mappings []poller

	pollers sync.WaitGroup

	// stopping ends when no new batch may begin, working when batches in flight are given up.
	stopping, working context.Context

	stop, cancelWorking context.CancelFunc
}

// poller is a mapping. run reads the source until the context stopping ends.
type poller interface{ run() }

// mapping is the part that event source mappings of both sources have in common.
type mapping struct {
	*Triggers

	spec   resources.EventSourceMapping
	logger *slog.Logger
}

// Open reads the positions of the mappings. It does not start them. The error names the mapping with a filter that is
// not valid, or with a position that can't be read.
func Open(options Options) (*Triggers, error) {
	options.Region = cmp.Or(options.Region, "us-east-1")
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	options.PollInterval = cmp.Or(options.PollInterval, defaultPoll)
	if options.AccessKeyID == "" {
		options.AccessKeyID, options.SecretKey = "local", "local"
	}
	if options.Waits == nil {
		options.Waits = func(string) bool { return false }
	}
	if options.Backoff == nil {
		options.Backoff = backoff
	}
	t := &Triggers{options: options, http: awshttp.New()}
	if options.Transport != nil {
		t.http = &http.Client{Transport: options.Transport}
	}
	t.stopping, t.stop = context.WithCancel(context.Background())
	t.working, t.cancelWorking = context.WithCancel(context.Background())
	config := aws.Config{
		Region: options.Region, BaseEndpoint: &options.Endpoint, HTTPClient: t.http,
		// The pollers retry, and log each problem once.
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider(options.AccessKeyID, options.SecretKey, options.SessionToken),
	}
	queues := sqs.NewFromConfig(config)
	for _, spec := range options.Mappings {
		m := mapping{t, spec, options.Logger.With("mapping", spec.Name, "function", spec.Function)}
		if spec.Queue != "" {
			t.mappings = append(t.mappings, newQueueMapping(m, queues))
			continue
		}
		s, err := newStreamMapping(m, dynamodb.NewFromConfig(config), dynamodbstreams.NewFromConfig(config), queues)
		if err != nil {
			return nil, fmt.Errorf("triggers: mapping %s: %w", spec.Name, err)
		}
		t.mappings = append(t.mappings, s)
	}
	return t, nil
}

// Start starts the mappings. They wait for sources that do not exist yet, and for an endpoint that can't be reached. It
// must be called at most once, and before Close.
func (t *Triggers) Start() {
	for _, m := range t.mappings {
		t.pollers.Go(m.run)
	}
}

// Close begins no new batch, waits until those in flight have finished or ctx ends, and makes messages visible again
// that no function has received. An error means that batches were interrupted: they are delivered again after the next
// start.
func (t *Triggers) Close(ctx context.Context) error {
	t.stop()
	ended := make(chan struct{})
	go func() {
		t.pollers.Wait()
		close(ended)
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		t.cancelWorking()
		<-ended
		err = fmt.Errorf("triggers: batches in flight were interrupted: %w", context.Cause(ctx))
	}
	t.cancelWorking()
	t.http.CloseIdleConnections()
	return err
}

// isStopped reports whether no new batch may begin.
func (t *Triggers) isStopped() bool { return t.stopping.Err() != nil }

// The payload of an invocation is the payloads of the records between payloadHead and payloadTail, with commas.
// payloadRoom is the room for records and their commas.
const (
	payloadHead = `{"Records":[`
	payloadTail = `]}`
	payloadRoom = runtime.MaxPayload - len(payloadHead) - len(payloadTail)
)

// invoke runs the function with a batch of n records.
func (m *mapping) invoke(n int, record func(i int) []byte) (*runtime.Response, error) {
	payload := []byte(payloadHead)
	for i := range n {
		if i > 0 {
			payload = append(payload, ',')
		}
		payload = append(payload, record(i)...)
	}
	payload = append(payload, payloadTail...)
	return m.options.Invoke(m.working, runtime.Invocation{Function: m.spec.Function, Payload: payload})
}
