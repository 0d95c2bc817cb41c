// Package provision creates the resources of a stack that do not exist: tables with their indexes, streams and time to
// live, queues with their attributes, buckets with their CORS rules, and secrets.
//
// It calls AWS's APIs only, through the SDK. It never deletes a resource, never overwrites a secret, and continues
// after an interrupted run. As CloudFormation does, it disables streams and time to live that are no longer in the
// template, and sets attributes of queues and rules of buckets to the values in the template.
//
// It must not contain anything about the implementation of the services, except that changes of tables are complete
// when the request ends.
package provision

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"devplatform/infra/local/resources"
)

// Options configure the endpoint of the services.
type Options struct {
	// Endpoint is the URL of the services.
	Endpoint string
	// AccessKeyID, SecretKey and SessionToken sign the requests. The default is "local".
	AccessKeyID, SecretKey, SessionToken string
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

	mu      sync.Mutex
	changes map[string][]string // names of resources by kind of change
}

// Apply creates and updates the resources of the stack, and returns a summary for the log. Functions must start after
// that.
func Apply(ctx context.Context, s *resources.Stack, options Options) (summary string, err error) {
	p := newProvisioner(s.Region, options)
	isSource := func(q resources.Queue) bool { return q.Attributes[redrivePolicy] != "" }
	queueName := func(q resources.Queue) string { return q.Name }
	if err := run(ctx, slices.Concat(
		each("table", s.Tables, func(t resources.Table) string { return t.Name }, p.table),
		each("secret", s.Secrets, func(s resources.Secret) string { return s.Name }, p.secret),
		each("queue", slices.DeleteFunc(slices.Clone(s.Queues), isSource), queueName, p.queue),
		each("bucket", s.Buckets, func(b resources.Bucket) string { return b.Name }, p.bucket),
	)); err != nil {
		return "", err
	}
	isTarget := func(q resources.Queue) bool { return !isSource(q) }
	sources := slices.DeleteFunc(slices.Clone(s.Queues), isTarget) // their dead-letter queues must exist
	if err := run(ctx, each("queue", sources, queueName, p.queue)); err != nil {
		return "", err
	}
	return p.summary(), nil
}

func newProvisioner(region string, o Options) *provisioner {
	if o.AccessKeyID == "" {
		o.AccessKeyID, o.SecretKey = "local", "local"
	}
	keys := credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretKey, o.SessionToken)
	return &provisioner{
		region: region, changes: map[string][]string{},
		tables:  dynamodb.New(dynamodb.Options{Region: region, BaseEndpoint: &o.Endpoint, Credentials: keys}),
		secrets: secretsmanager.New(secretsmanager.Options{Region: region, BaseEndpoint: &o.Endpoint, Credentials: keys}),
		queues:  sqs.New(sqs.Options{Region: region, BaseEndpoint: &o.Endpoint, Credentials: keys}),
		// Emulators expect the bucket in the path: a host name with the bucket would not resolve.
		buckets: s3.New(s3.Options{Region: region, BaseEndpoint: &o.Endpoint, Credentials: keys, UsePathStyle: true}),
	}
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
	return group.Wait()
}

// note adds the name of a resource to a kind of change.
func (p *provisioner) note(change, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes[change] = append(p.changes[change], name)
}

// summary returns the changes, such as "secrets c; tables a, b", or "everything is there".
func (p *provisioner) summary() string {
	var parts []string
	for _, change := range slices.Sorted(maps.Keys(p.changes)) {
		names := slices.Compact(slices.Sorted(slices.Values(p.changes[change])))
		parts = append(parts, change+" "+strings.Join(names, ", "))
	}
	return cmp.Or(strings.Join(parts, "; "), "everything is there")
}
