// Package provision creates the resources of a stack that do not exist: tables with their indexes, streams and time to
// live, queues with their attributes, buckets with their CORS and lifecycle rules, and secrets.
//
// It calls AWS's APIs only, through the SDK, so that it works with the embedded services, LocalStack, moto and AWS. It
// never deletes a resource, never overwrites a secret, and continues after an interrupted run. As CloudFormation does,
// it disables streams and time to live that are no longer in the template, and sets attributes of queues and rules of
// buckets to those of the template.
//
// What may not enter: anything about the implementation of the services.
package provision

import (
	"cmp"
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

// Options configure the endpoint of the services.
type Options struct {
	// Endpoint is the URL of the services; "" is AWS.
	Endpoint string
	// AccessKeyID, SecretKey and SessionToken sign the requests. Embedded services accept any. The default is "local".
	AccessKeyID, SecretKey, SessionToken string
}

// Result has the names of the resources that Apply has created or changed, sorted. QueueAttributes are existing queues
// with the attributes that were set, BucketRules are buckets whose rules were set.
type Result struct {
	Tables, Indexes, Streams, TimeToLive, Queues, QueueAttributes, Buckets, BucketRules, Secrets []string
}

// lists returns the lists with their names in the log.
func (r *Result) lists() (names []string, lists []*[]string) {
	return []string{
			"tables", "indexes", "streams of", "time to live of", "queues", "attributes of", "buckets", "rules of", "secrets",
		}, []*[]string{
			&r.Tables, &r.Indexes, &r.Streams, &r.TimeToLive, &r.Queues, &r.QueueAttributes, &r.Buckets, &r.BucketRules,
			&r.Secrets,
		}
}

// String returns a line for the log: "tables a, b; secrets c", or "everything is there".
func (r Result) String() string {
	var parts []string
	names, lists := r.lists()
	for i, list := range lists {
		if len(*list) > 0 {
			parts = append(parts, names[i]+" "+strings.Join(*list, ", "))
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "everything is there")
}

// concurrency is the maximum number of requests in flight.
const concurrency = 8

// provisioner has the clients and the results.
type provisioner struct {
	tables  *dynamodb.Client
	secrets *secretsmanager.Client
	queues  *sqs.Client
	buckets *s3.Client
	region  string

	mu    sync.Mutex
	made  Result
	arns  map[string]string      // of secrets, by logical id
	found map[string]*queueState // by logical id
}

// Apply creates and updates the resources of the stack. If an endpoint has chosen other ARNs of secrets, or other URLs
// and ARNs of queues than the template's references predict, it replaces them in the stack. Functions must start after
// that.
func Apply(ctx context.Context, s *stack.Stack, options Options) (Result, error) {
	p := newProvisioner(s, options)
	steps := slices.Concat(
		each("table", s.Tables, func(t stack.Table) string { return t.Name }, p.table),
		each("secret", s.Secrets, func(s stack.Secret) string { return s.Name }, p.secret),
		each("queue", s.Queues, func(q stack.Queue) string { return q.Name }, p.findQueue),
		each("bucket", s.Buckets, func(b stack.Bucket) string { return b.Name }, p.bucket),
	)
	if err := run(ctx, steps); err != nil {
		return Result{}, err
	}
	for logicalID, arn := range p.arns {
		s.RebindSecret(logicalID, arn)
	}
	queues := map[string]stack.QueueAt{}
	for logicalID, have := range p.found {
		queues[logicalID] = have.QueueAt
	}
	s.RebindQueues(queues)
	if err := run(ctx, each("queue", s.Queues, func(q stack.Queue) string { return q.Name }, p.setQueue)); err != nil {
		return Result{}, err
	}
	_, lists := p.made.lists()
	for _, list := range lists {
		slices.Sort(*list)
	}
	return p.made, nil
}

// step creates or updates a resource.
type step func(context.Context) error

// each returns a step for every resource. The error of a step names the resource.
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

// run runs steps concurrently. It returns the first error.
func run(ctx context.Context, steps []step) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, s := range steps {
		group.Go(func() error { return s(ctx) })
	}
	return group.Wait() //nolint:wrapcheck // each does
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
		arns: map[string]string{}, found: map[string]*queueState{},
		tables:  dynamodb.New(dynamodb.Options{Region: s.Region, BaseEndpoint: endpoint, Credentials: keys}),
		secrets: secretsmanager.New(secretsmanager.Options{Region: s.Region, BaseEndpoint: endpoint, Credentials: keys}),
		queues:  sqs.New(sqs.Options{Region: s.Region, BaseEndpoint: endpoint, Credentials: keys}),
		// Emulators expect the bucket in the path: a host name with the bucket would not resolve.
		buckets: s3.New(s3.Options{
			Region: s.Region, BaseEndpoint: endpoint, Credentials: keys, UsePathStyle: endpoint != nil,
		}),
		region: s.Region,
	}
}

// note adds a name to a list of the result.
func (p *provisioner) note(list *[]string, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, name)
}
