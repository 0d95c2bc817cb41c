// Package provision makes what a stack needs and what isn't there yet: tables with their indexes, streams and time to live,
// and secrets.
//
// It speaks to AWS's APIs only, through the SDK, so that the embedded services, LocalStack, moto or AWS itself will do.
// It never deletes, never overwrites a value, and finishes what an earlier run was interrupted at. Streams and time to live
// are switched off where the template has them no more, as CloudFormation does.
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
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
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
type Result struct{ Tables, Indexes, Streams, TimeToLive, Secrets []string }

// String gives a line for the log: "tables a, b; secrets c", or "everything is there".
func (r Result) String() string {
	var parts []string
	for _, made := range []struct {
		what  string
		names []string
	}{{"tables", r.Tables}, {"indexes", r.Indexes}, {"streams of", r.Streams}, {"time to live of", r.TimeToLive}, {"secrets", r.Secrets}} {
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

	mu   sync.Mutex
	made Result
	arns map[string]string // of secrets, by logical id
}

// Apply brings the services to what the stack describes. Where an endpoint has chosen other ARNs for the secrets than the
// template's references predict, they are put into the stack: its functions must be started after that.
func Apply(ctx context.Context, s *stack.Stack, options Options) (Result, error) {
	p := newProvisioner(s, options)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, table := range s.Tables {
		group.Go(func() error {
			if err := p.table(ctx, table); err != nil {
				return fmt.Errorf("table %s: %w", table.Name, err)
			}
			return nil
		})
	}
	for _, secret := range s.Secrets {
		group.Go(func() error {
			if err := p.secret(ctx, secret); err != nil {
				return fmt.Errorf("secret %s: %w", secret.Name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return Result{}, fmt.Errorf("provision: %w", err)
	}
	for logicalID, arn := range p.arns {
		s.RebindSecret(logicalID, arn)
	}
	for _, names := range [][]string{p.made.Tables, p.made.Indexes, p.made.Streams, p.made.TimeToLive, p.made.Secrets} {
		slices.Sort(names)
	}
	return p.made, nil
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
		arns:    map[string]string{},
		tables:  dynamodb.New(dynamodb.Options{Region: s.Region, BaseEndpoint: endpoint, Credentials: keys}),
		secrets: secretsmanager.New(secretsmanager.Options{Region: s.Region, BaseEndpoint: endpoint, Credentials: keys}),
	}
}

// note remembers something made.
func (p *provisioner) note(list *[]string, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, name)
}
