// Package platform runs the service of a SAM template on one machine: it reads the template, runs the binaries of its
// functions, and serves the AWS services that they use. It connects the other packages of infra/local. It must not
// contain anything about the project that it runs.
package platform

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"devplatform/infra/local/codehost"
	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/gateway"
	"devplatform/infra/local/mailbox"
	"devplatform/infra/local/provision"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/s3"
	"devplatform/infra/local/schedule"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/local/triggers"
)

// Close takes at most 4 s: requests and batches in flight have drainTime to finish, and then the functions have
// closeTime to end.
const (
	drainTime = 3 * time.Second
	closeTime = time.Second
)

// Addresses are the URLs of a platform.
type Addresses struct {
	URL      string // the API over HTTP, "" if the template has none
	HTTPS    string // the API over HTTPS with a self-signed certificate, "" if the template has none
	Sites    string // the origin whose subdomains serve the API with a wildcard domain, "" if the template has none
	AWS      string // the AWS services
	Console  string // the console with the mailbox, "" if another platform has the AWS services
	CodeHost string // the built-in code host, "" if there is none
}

// Platform is a running platform.
type Platform struct {
	Addresses
	// Stack is the stack that the platform runs.
	Stack *resources.Stack

	config Config
	logger *slog.Logger

	http, https, sites, aws, console *listeners
	gateways                         []*http.Server // of the APIs and the console
	awsServer                        *http.Server
	services                         *awsPort
	failed                           chan error // the first error of a server or a store
	cancelStart                      func()     // ends Open
	closing                          sync.Once
	closeErr                         error

	data *datafolder.Folder

	// The embedded services are nil if the configuration has an EndpointURL.
	database *dynamodb.DB
	queues   *sqs.Store
	secrets  *secrets.Store
	objects  *s3.Store
	mails    *mailbox.Store

	codehost  *codehost.Server // nil without a code host
	functions *functions
	runtime   *runtime.Runtime
	triggers  *triggers.Triggers  // nil if no function reads a stream or a queue
	schedules *schedule.Scheduler // nil if there are no schedules
}

// Open starts a platform: it listens, reads the template, opens the data, creates the resources that are missing,
// builds the functions, checks that each of them starts, and begins to serve. The caller must call Close. The end of
// ctx ends a start, but not a platform that has started. The error names the setting, the function or the line of the
// template to change.
func Open(ctx context.Context, config Config) (*Platform, error) {
	p, err := open(ctx, config)
	if err != nil {
		return nil, err
	}
	p.start()
	return p, nil
}

// open does the same as Open, but starts no event source mappings and no schedules.
func open(ctx context.Context, config Config) (*Platform, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &Platform{config: config, logger: config.Logger, failed: make(chan error, 1), cancelStart: cancel}
	for _, step := range []func(context.Context) error{
		p.listen, p.load, p.openData, p.serveAWS, p.serveConsole, p.provision, p.openRuntime, p.serveGateways, p.openTriggers,
		p.openSchedules,
	} {
		err := step(ctx)
		if err == nil {
			continue
		}
		select {
		case err = <-p.failed: // the cause of the step's error
		default:
		}
		p.release()
		return nil, err
	}
	return p, nil
}

// start starts the event source mappings and the schedules.
func (p *Platform) start() {
	if p.triggers != nil {
		p.triggers.Start()
	}
	if p.schedules != nil {
		p.schedules.Start()
	}
}

// Wait returns nil when ctx ends, or the error of a part of the platform that failed. Close the platform then.
func (p *Platform) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.failed:
		p.release() // no request in flight can succeed
		return err
	}
}

// fail ends the platform because of an error, also while it starts. Only the first error counts.
func (p *Platform) fail(err error) {
	select {
	case p.failed <- err:
	default:
	}
	p.cancelStart()
}

// Close lets requests and batches in flight finish, ends the functions, and closes the data. It takes at most 4 s. The
// error contains the number of requests that were cut off.
func (p *Platform) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	return p.close(ctx)
}

// release closes all that is open without waiting for requests and batches in flight.
func (p *Platform) release() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.close(ctx)
}

// close closes everything, in the reverse order of its use. Requests and batches in flight can finish until ctx ends.
// It closes only once, and returns the same error each time.
func (p *Platform) close(ctx context.Context) error {
	p.closing.Do(func() {
		var draining sync.WaitGroup
		for _, server := range p.gateways { // first, because the functions still need the AWS services
			draining.Go(func() { _ = server.Shutdown(ctx) })
		}
		var triggersErr, schedulesErr error
		if p.triggers != nil {
			draining.Go(func() { triggersErr = p.logInterrupted(p.triggers.Close(ctx)) })
		}
		if p.schedules != nil {
			draining.Go(func() { schedulesErr = p.logInterrupted(p.schedules.Close(ctx)) })
		}
		draining.Wait()
		p.closeErr = errors.Join(triggersErr, schedulesErr, p.closeServices())
	})
	return p.closeErr
}

// logInterrupted logs an error about work that did not finish in time, and returns other errors. The work is done again
// after the next start.
func (p *Platform) logInterrupted(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		p.logger.Warn(err.Error())
		return nil
	}
	return err
}

// closeServices closes what clients and functions use.
func (p *Platform) closeServices() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var problems []error
	for _, server := range p.gateways {
		_ = server.Close()
	}
	if p.runtime != nil {
		problems = append(problems, p.runtime.Close(ctx))
	}
	if p.awsServer != nil {
		_ = p.awsServer.Close()
	}
	for _, l := range []*listeners{p.http, p.https, p.sites, p.aws, p.console} {
		l.close()
	}
	if p.queues != nil {
		problems = append(problems, p.queues.Close())
	}
	if p.objects != nil {
		problems = append(problems, p.objects.Close())
	}
	if p.database != nil {
		problems = append(problems, p.database.Close())
	}
	if p.data != nil {
		problems = append(problems, p.data.Close())
	}
	return errors.Join(problems...)
}

// load opens the code host, and resolves the template with the values of the configuration.
func (p *Platform) load(context.Context) (err error) {
	if err := os.MkdirAll(p.config.DataDir, 0o700); err != nil {
		return fmt.Errorf("DATA_DIR: %w", err)
	}
	p.openCodeHost()
	p.functions, err = load(p.config, p.Addresses, p.endpoint())
	if err != nil {
		return err
	}
	p.Stack = p.functions.stack
	return nil
}

func (p *Platform) openCodeHost() {
	client := p.config.CodeHost
	if client == nil {
		return
	}
	p.CodeHost = fmt.Sprintf("http://localhost:%d%s", p.aws.port, codehost.Path)
	var prefixes []string
	for _, origin := range append(p.Origins(), p.config.PublicURL) {
		if origin != "" {
			prefixes = append(prefixes, origin+"/")
		}
	}
	p.codehost = codehost.New(codehost.Options{
		Now: now, Logger: p.logger,
		ClientID: client.ClientID, ClientSecret: client.ClientSecret, RedirectPrefixes: prefixes,
	})
}

// openData opens the data folder and the embedded services.
func (p *Platform) openData(context.Context) (err error) {
	dir := filepath.Join(p.config.DataDir, "data")
	p.data, err = datafolder.Open(datafolder.Options{Dir: dir, Logger: p.logger, Failed: p.fail})
	if err != nil || p.config.EndpointURL != "" {
		return err
	}
	options := datafolder.ServiceOptions{
		Folder: p.data, Now: now, Logger: p.logger, Region: p.config.Region, Account: Account,
	}
	if p.secrets, err = secrets.Open(options); err != nil {
		return err
	}
	if p.queues, err = sqs.Open(options); err != nil {
		return err
	}
	if p.mails, err = mailbox.Open(mailbox.Options{Folder: p.data, Now: now, Logger: p.logger}); err != nil {
		return err
	}
	if p.objects, err = s3.Open(options); err != nil {
		return err
	}
	p.database, err = dynamodb.Open(options)
	return err
}

// endpoint returns the URL of DynamoDB, SQS, S3, Secrets Manager and SES.
func (p *Platform) endpoint() string {
	if p.config.EndpointURL != "" {
		return p.config.EndpointURL
	}
	return p.AWS
}

// serveAWS serves the AWS services. Lambda is added when the functions can start.
func (p *Platform) serveAWS(context.Context) error {
	p.services = &awsPort{hosts: p.config.hosts(), dynamodbLatency: p.config.DynamoDBLatency}
	if p.database != nil {
		p.services.dynamodb, p.services.sqs, p.services.secrets, p.services.s3 = p.database, p.queues, p.secrets, p.objects
		p.services.ses = p.mails
	}
	if p.codehost != nil {
		p.services.codehost = p.codehost
	}
	p.awsServer = gateway.NewServer(p.services.handler(), nil, p.logger)
	p.serve(p.awsServer, p.aws.all)
	return nil
}

// provision creates the tables, queues, buckets and secrets that are missing.
func (p *Platform) provision(ctx context.Context) error {
	changes, err := provision.Apply(ctx, p.Stack, provision.Options{
		Endpoint: p.endpoint(), AccessKeyID: p.config.AccessKeyID, SecretKey: p.config.SecretKey,
		SessionToken: p.config.SessionToken,
	})
	if err != nil {
		return err
	}
	p.logger.Info("provisioned: " + changes)
	return nil
}

// openRuntime builds the functions, and checks that they start.
func (p *Platform) openRuntime(ctx context.Context) error {
	if err := p.functions.buildAll(ctx); err != nil {
		return err
	}
	p.runtime = runtime.New(runtime.Options{
		Functions:      p.functions.configurations(),
		MaxConcurrency: p.config.Concurrency,
		Logger:         p.logger,
		Lines:          p.functionLines(),
		Now:            now,
		Region:         p.config.Region,
		Account:        Account,
		ExtraEnv:       map[string]string{"AWS_ENDPOINT_URL": p.endpoint()},
		AccessKeyID:    p.config.AccessKeyID,
		SecretKey:      p.config.SecretKey,
		SessionToken:   p.config.SessionToken,
	})
	if err := p.checkFunctions(ctx, p.functions.dir, p.Stack.Functions); err != nil {
		return err
	}
	p.services.lambda.Store(p.runtime)
	return nil
}

// serve runs a server on listeners. It uses TLS if the server has a configuration for it.
func (p *Platform) serve(server *http.Server, all []net.Listener) {
	run := server.Serve
	if server.TLSConfig != nil {
		run = func(ln net.Listener) error { return server.ServeTLS(ln, "", "") }
	}
	for _, ln := range all {
		go func() {
			if err := run(ln); !errors.Is(err, http.ErrServerClosed) {
				p.fail(fmt.Errorf("serve: %w", err))
			}
		}()
	}
}
