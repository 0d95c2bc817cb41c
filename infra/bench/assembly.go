package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"time"

	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/gateway"
	"devplatform/infra/local/provision"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers"
)

// assembly is the platform's parts put together in this process, so that what passes between them can be measured.
// Streams and queues have no readers in it until [assembly.read].
type assembly struct {
	url      string // the gateway's
	services string // where the AWS services answer
	stack    *stack.Stack
	lambda   *runtime.Runtime
	close    func()
}

// assemble builds one on a scratch folder of that name. watch stands in front of DynamoDB; invoked times the functions.
func (b *bench) assemble(ctx context.Context, name string, invoked *timed, watch func(http.Handler) http.Handler) (*assembly, error) {
	services, closeServices, err := openServices(filepath.Join(b.scratch, name), watch)
	if err != nil {
		return nil, err
	}
	s, err := stack.Load("template.yaml", stack.Options{StackName: "bench", QueueEndpoint: services, Overrides: map[string]string{
		"COOKIE_PLAIN_HTTP": "true", "LIMIT_LOGIN_IP": "100000", "LIMIT_SIGNUP_IP": "100000", "WEBHOOK_ALLOW_PRIVATE": "true",
	}})
	if err != nil {
		closeServices()
		return nil, err
	}
	if _, err := provision.Apply(ctx, s, provision.Options{Endpoint: services}); err != nil {
		closeServices()
		return nil, err
	}
	lambda, err := b.lambda(ctx, s, services)
	if err != nil {
		closeServices()
		return nil, err
	}
	closeParts := func() { _ = lambda.Close(ctx); closeServices() }
	front, err := gateway.New(gateway.Options{
		API: s.APIs[0], Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Invoke: func(ctx context.Context, i runtime.Invocation) (*runtime.Response, error) {
			defer invoked.since(time.Now())
			return lambda.Invoke(ctx, i)
		},
	})
	if err != nil {
		closeParts()
		return nil, err
	}
	server := httptest.NewServer(front)
	return &assembly{url: server.URL, services: services, stack: s, lambda: lambda, close: func() { server.Close(); closeParts() }}, nil
}

// read starts the readers of streams and queues; each invocation is told to invoked. stop ends them.
func (a *assembly) read(dir string, invoked func(function string, took time.Duration)) (stop func(), err error) {
	readers, err := triggers.Open(triggers.Options{
		Mappings: a.stack.EventSourceMappings, Endpoint: a.services, Account: a.stack.Account, Dir: dir, Now: time.Now,
		Invoke: func(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
			begin := time.Now()
			response, err := a.lambda.Invoke(ctx, in)
			invoked(in.Function, time.Since(begin))
			return response, err
		},
	})
	if err != nil {
		return nil, err
	}
	readers.Start()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = readers.Close(ctx)
	}, nil
}

// openServices is the embedded DynamoDB and SQS, watched, and Secrets Manager behind one port.
func openServices(dir string, watch func(http.Handler) http.Handler) (url string, closeAll func(), err error) {
	db, err := dynamodb.Open(dynamodb.Options{Dir: filepath.Join(dir, "dynamodb"), Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", nil, err
	}
	queues, err := sqs.Open(sqs.Options{Dir: filepath.Join(dir, "sqs"), Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		_ = db.Close()
		return "", nil, err
	}
	closeStores := func() { _, _ = db.Close(), queues.Close() }
	vault, err := secrets.Open(secrets.Options{Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		closeStores()
		return "", nil, err
	}
	watched := watch(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.") {
			queues.ServeHTTP(w, r)
			return
		}
		db.ServeHTTP(w, r)
	}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "secretsmanager.") {
			vault.ServeHTTP(w, r)
			return
		}
		watched.ServeHTTP(w, r)
	}))
	return server.URL, func() { server.Close(); closeStores() }, nil
}

// emptyFunction is the name of the function that does nothing.
const emptyFunction = "empty"

// lambda runs the stack's functions and an empty one.
func (b *bench) lambda(ctx context.Context, s *stack.Stack, services string) (*runtime.Runtime, error) {
	empty, err := b.buildEmpty(ctx)
	if err != nil {
		return nil, err
	}
	functions := []runtime.Function{{Name: emptyFunction, Bootstrap: empty, Timeout: time.Second}}
	for _, f := range s.Functions {
		functions = append(functions, runtime.Function{
			Name: f.Name, Bootstrap: filepath.Join(b.binaries, filepath.Base(f.CodeURI)), Handler: f.Handler,
			MemoryMB: f.MemoryMB, Timeout: f.Timeout, Env: f.Env,
		})
	}
	lambda, err := runtime.New(runtime.Options{
		Functions: functions, MaxConcurrency: 10, Now: time.Now, Region: "us-east-1",
		AccessKeyID: "local", SecretKey: "local", ExtraEnv: map[string]string{"AWS_ENDPOINT_URL": services},
	})
	if err != nil {
		return nil, fmt.Errorf("runtime: %w", err)
	}
	return lambda, nil
}
