// Package provision makes what a stack needs and what isn't there yet: tables with their indexes, streams and time to live,
// queues with their attributes, buckets with their CORS and lifecycle rules, and secrets.
//
// It speaks to AWS's APIs only, through the SDK, so that the embedded services, LocalStack, moto or AWS itself will do.
// It never deletes, never overwrites a value, and finishes what an earlier run was interrupted at. Streams and time to live
// are switched off where the template has them no more, and attributes of queues and rules of buckets are set to the
// template's, as CloudFormation does.
//
// What may not enter: anything about how the services work inside.
package provision

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"devplatform/infra/local/stack"
)

// Options say where the services are.
type Options struct {
	// Endpoint is the URL of the services; "" is AWS.
	Endpoint string
	// AccessKeyID, SecretKey and SessionToken sign the requests. Embedded services take any; empty ones are "local".
	AccessKeyID, SecretKey, SessionToken string
}

// Result names what Apply has made or changed, each as it is called in AWS, sorted.
// QueueAttributes are queues that were there, with what was set, BucketRules are buckets whose rules were set.
type Result struct {
	Tables, Indexes, Streams, TimeToLive, Queues, QueueAttributes, Buckets, BucketRules, Secrets []string
}

// String gives a line for the log: "tables a, b; secrets c", or "everything is there".
func (r Result) String() string {
	var parts []string
	for _, made := range []struct {
		what  string
		names []string
	}{
		{"tables", r.Tables}, {"indexes", r.Indexes}, {"streams of", r.Streams}, {"time to live of", r.TimeToLive},
		{"queues", r.Queues}, {"attributes of", r.QueueAttributes}, {"buckets", r.Buckets}, {"rules of", r.BucketRules},
		{"secrets", r.Secrets},
	} {
		if len(made.names) > 0 {
			parts = append(parts, made.what+" "+strings.Join(made.names, ", "))
		}
	}
	if parts == nil {
		return "everything is there"
	}
	return strings.Join(parts, "; ")
}

// concurrency bounds the requests in flight.
const concurrency = 8

// provisioner carries what the steps share.
type provisioner struct {
	tables  *dynamodb.Client
	secrets *secretsmanager.Client
	sqs     *sqs.Client
	buckets *s3.Client
	region  string

	mu     sync.Mutex
	made   Result
	arns   map[string]string      // of secrets, by logical id
	queues map[string]*queueState // by logical id
}

// Apply brings the services to what the stack describes. Where an endpoint has chosen other ARNs for the secrets, or other
// URLs and ARNs for the queues, than the template's references predict, they are put into the stack: its functions must be
// started after that.
func Apply(ctx context.Context, s *stack.Stack, options Options) (Result, error) {
	p := newProvisioner(s, options)
	steps := slices.Concat(
		each("table", s.Tables, func(t stack.Table) string { return t.Name }, p.table),
		each("secret", s.Secrets, func(s stack.Secret) string { return s.Name }, p.secret),
		each("queue", s.Queues, queueName, p.findQueue),
		each("bucket", s.Buckets, func(b stack.Bucket) string { return b.Name }, p.bucket),
	)
	if err := together(ctx, steps); err != nil {
		return Result{}, err
	}
	for logicalID, arn := range p.arns {
		s.RebindSecret(logicalID, arn)
	}
	p.rebindQueues(s)
	for _, redrive := range []bool{false, true} {
		set := func(ctx context.Context, queue stack.Queue) error { return p.setQueue(ctx, queue, redrive) }
		if err := together(ctx, each("queue", s.Queues, queueName, set)); err != nil {
			return Result{}, err
		}
	}
	p.noteQueues(s.Queues)
	for _, names := range [][]string{
		p.made.Tables, p.made.Indexes, p.made.Streams, p.made.TimeToLive, p.made.Queues, p.made.QueueAttributes, p.made.Buckets,
		p.made.BucketRules, p.made.Secrets,
	} {
		slices.Sort(names)
	}
	return p.made, nil
}

func queueName(q stack.Queue) string { return q.Name }

// step is something to do for one resource.
type step func(context.Context) error

// each makes a step for every resource; its error names the resource.
func each[T any](kind string, resources []T, name func(T) string, do func(context.Context, T) error) []step {
	steps := make([]step, 0, len(resources))
	for _, resource := range resources {
		steps = append(steps, func(ctx context.Context) error {
			if err := do(ctx, resource); err != nil {
				return fmt.Errorf("provision: %s %s: %w", kind, name(resource), err)
			}
			return nil
		})
	}
	return steps
}

// together takes steps side by side and ends with the first that fails.
func together(ctx context.Context, steps []step) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, s := range steps {
		group.Go(func() error { return s(ctx) })
	}
	return group.Wait() //nolint:wrapcheck // each has
}

func newProvisioner(s *stack.Stack, o Options) *provisioner {
	if o.AccessKeyID == "" {
		o.AccessKeyID, o.SecretKey = "local", "local"
	}
	var endpoint *string
	if o.Endpoint != "" {
		endpoint = &o.Endpoint
	}
	keys := aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretKey, o.SessionToken))
	return &provisioner{
		arns: map[string]string{}, queues: map[string]*queueState{},
		tables:  dynamodb.New(dynamodb.Options{Region: s.Region, BaseEndpoint: endpoint, Credentials: keys}),
		secrets: secretsmanager.New(secretsmanager.Options{Region: s.Region, BaseEndpoint: endpoint, Credentials: keys}),
		sqs:     sqs.New(sqs.Options{Region: s.Region, BaseEndpoint: endpoint, Credentials: keys}),
		// Emulators have the bucket in the path: its name in the host's name would have to be resolved.
		buckets: s3.New(s3.Options{Region: s.Region, BaseEndpoint: endpoint, Credentials: keys, UsePathStyle: endpoint != nil}),
		region:  s.Region,
	}
}

// note remembers something made.
func (p *provisioner) note(list *[]string, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, name)
}
