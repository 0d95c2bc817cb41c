package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"devplatform/infra/local/codehost"
	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/gateway"
	"devplatform/infra/local/loopback"
	"devplatform/infra/local/provision"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/s3"
	"devplatform/infra/local/schedule"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers"
)

// platform is everything that runs: the parts, the servers in front of them, and what has to be closed behind them.
type platform struct {
	settings Settings
	logger   *slog.Logger
	stack    *stack.Stack

	http, https, sites, aws *listeners
	certificate             tls.Certificate
	servers                 []*http.Server // the gateways'
	port                    *awsPort
	awsServer               *http.Server
	failed                  chan error // the first server or store that failed
	starting                func()     // gives the start up

	database    *dynamodb.DB   // nil when another endpoint is used
	queues      *sqs.Store     // as database
	secrets     *secrets.Store // as database
	objects     *s3.Store      // as database
	runtime     *runtime.Runtime
	codehost    *codehost.Server    // nil when a provider is configured
	gateway     *gateway.Gateway    // nil where the template has no API
	siteGateway *gateway.Gateway    // nil where the template has no API for sites
	triggers    *triggers.Triggers  // nil where no function reads a stream or a queue
	schedules   *schedule.Scheduler // nil where there are none
	models      <-chan string       // the result of probeModels
}

// open takes the ports, reads the template, opens the data, makes the tables, queues, buckets and secrets that are missing, and starts
// to serve. On an error nothing stays open.
func open(ctx context.Context, settings Settings, logger *slog.Logger) (_ *platform, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &platform{settings: settings, logger: logger, failed: make(chan error, 1), starting: cancel}
	defer func() {
		if err != nil {
			_ = p.close()
		}
	}()
	for _, step := range []func(context.Context) error{
		p.listen, p.makeDataDir, p.loadTemplate, p.openData, p.serveAWS, p.provision, p.openRuntime, p.serveGateways,
		p.openTriggers, p.openSchedules,
	} {
		if err := step(ctx); err != nil {
			select {
			case failed := <-p.failed: // the reason; the rest are its consequences
				return nil, failed
			default:
				return nil, err
			}
		}
	}
	return p, nil
}

// fail ends the platform, also while it starts. The first failure counts.
func (p *platform) fail(err error) {
	select {
	case p.failed <- err:
	default:
	}
	p.starting()
}

func (p *platform) listen(context.Context) (err error) {
	if p.http, err = listen(p.settings.Port, "PORT"); err != nil {
		return err
	}
	httpsPort := 0
	if p.settings.Port != 0 {
		httpsPort = p.settings.Port + httpsOffset
	}
	if p.https, err = listen(httpsPort, "PORT (https is at PORT+443)"); err != nil {
		return err
	}
	if p.sites, err = listen(p.settings.SitesPort, "SITES_PORT"); err != nil {
		return err
	}
	p.aws, err = listen(p.settings.AWSPort, "AWS_PORT")
	return err
}

// makeDataDir makes the folder that every part keeps its data in.
func (p *platform) makeDataDir(context.Context) error {
	if err := os.MkdirAll(p.settings.DataDir, 0o700); err != nil {
		return fmt.Errorf("DATA_DIR: %w", err)
	}
	return nil
}

// loadTemplate resolves the template with the environment's overrides.
func (p *platform) loadTemplate(context.Context) error {
	overrides, err := p.openCodehost(environment())
	if err != nil {
		return err
	}
	// The bucket's CORS rule allows the gateway's pages, too. The functions must not get those origins. They come last,
	// because the gateway's own responses allow the first origin.
	origins := strings.Join(p.origins(), ",")
	if others := overrides["ALLOWED_ORIGINS"]; others != "" {
		origins = others + "," + origins
	}
	overrides["ALLOWED_ORIGINS"] += "" // not the template's default, which is replaced below
	if _, isSet := overrides["SITES_ORIGIN"]; !isSet {
		overrides["SITES_ORIGIN"] = p.sitesOrigin()
	}
	p.stack, err = loadStack(p.settings.Template, stack.Options{
		Region: p.settings.Region, QueueEndpoint: p.endpoint(), Overrides: overrides,
		Defaults: map[string]string{"AllowedOrigins": origins},
	})
	return err
}

// openData opens what lies in the data folder. With another endpoint only the certificate and the identities do.
func (p *platform) openData(context.Context) (err error) {
	dir := p.settings.DataDir
	if p.certificate, err = gateway.LoadOrMakeCertificate(filepath.Join(dir, "tls"), now); err != nil {
		return err
	}
	if p.settings.EndpointURL != "" {
		return nil
	}
	p.secrets, err = secrets.Open(secrets.Options{
		Dir: filepath.Join(dir, "secrets"), Now: now, Logger: p.logger, Region: p.settings.Region, Account: account,
	})
	if err != nil {
		return err
	}
	p.queues, err = sqs.Open(sqs.Options{
		Dir: filepath.Join(dir, "sqs"), Now: now, Logger: p.logger, Region: p.settings.Region, Account: account, Failed: p.fail,
	})
	if err != nil {
		return err
	}
	p.objects, err = s3.Open(s3.Options{
		Dir: filepath.Join(dir, "s3"), Now: now, Logger: p.logger, Region: p.settings.Region, Account: account, Failed: p.fail,
	})
	if err != nil {
		return err
	}
	p.database, err = dynamodb.Open(dynamodb.Options{
		Dir: filepath.Join(dir, "dynamodb"), Now: now, Logger: p.logger, Region: p.settings.Region, Account: account,
		Failed: p.fail,
	})
	return err
}

// endpoint is where DynamoDB, SQS, S3 and Secrets Manager answer.
func (p *platform) endpoint() string {
	if p.settings.EndpointURL != "" {
		return p.settings.EndpointURL
	}
	return fmt.Sprintf("http://127.0.0.1:%d", p.aws.port)
}

// origins returns the origins of the gateway's pages, and APP_URL if it is set.
func (p *platform) origins() []string {
	origins := []string{
		fmt.Sprintf("http://localhost:%d", p.http.port), fmt.Sprintf("http://127.0.0.1:%d", p.http.port),
		fmt.Sprintf("https://localhost:%d", p.https.port), fmt.Sprintf("https://127.0.0.1:%d", p.https.port),
	}
	if p.settings.AppURL != "" {
		origins = append(origins, p.settings.AppURL)
	}
	return origins
}

// hosts returns the host of APP_URL, which browsers use if a proxy forwards to the platform.
func (p *platform) hosts() []string {
	if app, err := url.Parse(p.settings.AppURL); err == nil && app.Host != "" {
		return []string{app.Host}
	}
	return nil
}

// serveAWS opens the AWS port. Lambda joins it when its functions can start.
func (p *platform) serveAWS(context.Context) error {
	p.port = &awsPort{hosts: p.hosts()}
	if p.database != nil {
		p.port.dynamodb, p.port.sqs, p.port.secrets, p.port.s3 = p.database, p.queues, p.secrets, p.objects
	}
	if p.codehost != nil {
		p.port.codehost = p.codehost
	}
	p.awsServer = p.serve(gateway.NewServer(p.port.handler(), nil, p.logger), p.aws.all)
	return nil
}

// provision makes the tables, queues, buckets and secrets of the template that are not there yet.
func (p *platform) provision(ctx context.Context) error {
	made, err := provision.Apply(ctx, p.stack, provision.Options{
		Endpoint: p.endpoint(), AccessKeyID: p.settings.AccessKeyID, SecretKey: p.settings.SecretKey, SessionToken: p.settings.SessionToken,
	})
	if err != nil {
		return err
	}
	p.logger.Info("provisioned: " + made.String())
	return nil
}

// openRuntime finds or builds the binaries and hands them to Lambda.
func (p *platform) openRuntime(ctx context.Context) error {
	paths, err := binaries(ctx, p.stack, p.settings.Binaries, filepath.Join(p.settings.DataDir, "bin"))
	if err != nil {
		return err
	}
	functions := make([]runtime.Function, 0, len(p.stack.Functions))
	for _, f := range p.stack.Functions {
		functions = append(functions, runtime.Function{
			Name: f.Name, Bootstrap: paths[f.Name], Handler: f.Handler, RuntimeName: f.Runtime, Architecture: f.Architecture,
			MemoryMB: f.MemoryMB, Timeout: f.Timeout, Env: f.Env, MaxConcurrency: f.ReservedConcurrency, Description: f.Description,
			LateEnv: lateEnv(f.Env, p.settings.Registry),
		})
	}
	p.runtime, err = runtime.New(runtime.Options{
		Functions:      functions,
		MaxConcurrency: p.settings.Concurrency,
		Logger:         p.logger,
		Lines:          func(function, requestID, line string) { functionLine(p.logger, function, requestID, line) },
		Now:            now,
		Region:         p.settings.Region,
		Account:        account,
		ExtraEnv:       map[string]string{"AWS_ENDPOINT_URL": p.endpoint()},
		AccessKeyID:    p.settings.AccessKeyID,
		SecretKey:      p.settings.SecretKey,
		SessionToken:   p.settings.SessionToken,
	})
	if err != nil {
		return err
	}
	p.port.lambda.Store(p.runtime)
	return nil
}

// serveGateways opens the public ports.
func (p *platform) serveGateways(context.Context) error {
	api, sites, err := findAPIs(p.stack)
	if err != nil {
		return fmt.Errorf("%s: %w", p.settings.Template, err)
	}
	if err := p.serveAPI(api); err != nil {
		return err
	}
	return p.serveSites(sites)
}

// serveAPI opens the ports of the API. Without an API nothing answers there, and they are given back.
func (p *platform) serveAPI(api *stack.API) (err error) {
	if api == nil {
		p.http.close()
		p.https.close()
		return nil
	}
	p.gateway, err = gateway.New(gateway.Options{
		API: *api, Invoke: p.runtime.Invoke, Account: account, Now: now, Logger: p.logger,
		AcceptHost: func(host string) bool { return loopback.Accepts(host, p.hosts()...) },
	})
	if err != nil {
		return err
	}
	public := func(all []net.Listener) []net.Listener {
		wrapped := make([]net.Listener, 0, len(all))
		for _, ln := range all {
			wrapped = append(wrapped, p.gateway.Listener(ln))
		}
		return wrapped
	}
	secure := &tls.Config{Certificates: []tls.Certificate{p.certificate}, MinVersion: tls.VersionTLS12}
	p.servers = []*http.Server{
		p.serve(gateway.NewServer(p.gateway, nil, p.logger), public(p.http.all)),
		p.serve(gateway.NewServer(p.gateway, secure, p.logger), public(p.https.all)),
	}
	return nil
}

// serve runs a server on its listeners, in TLS where it has a configuration for it.
func (p *platform) serve(server *http.Server, all []net.Listener) *http.Server {
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
	return server
}

// stop lets requests and batches in flight finish, ends the functions and closes the data, all within [shutdownTime].
func (p *platform) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	var draining sync.WaitGroup
	for _, server := range p.servers { // the gateway's: the functions still need the AWS port
		draining.Go(func() { _ = server.Shutdown(ctx) })
	}
	var triggering, scheduling error
	draining.Go(func() { triggering = p.closeTriggers(ctx) })
	draining.Go(func() { scheduling = p.closeSchedules(ctx) })
	draining.Wait()
	return errors.Join(triggering, scheduling, p.close())
}

// close ends everything that was opened, in the order opposite to its use.
func (p *platform) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var problems []error
	for _, server := range p.servers {
		_ = server.Close()
	}
	cut, cancelled := context.WithTimeout(ctx, 0) // unless they ended by [platform.stop]
	defer cancelled()
	problems = append(problems, p.closeTriggers(cut), p.closeSchedules(cut))
	if p.runtime != nil {
		problems = append(problems, p.runtime.Close(ctx))
	}
	if p.awsServer != nil {
		_ = p.awsServer.Close()
	}
	for _, l := range []*listeners{p.http, p.https, p.sites, p.aws} {
		if l != nil {
			l.close()
		}
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
	return errors.Join(problems...)
}
