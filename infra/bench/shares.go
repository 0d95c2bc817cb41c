package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/gateway"
	"devplatform/infra/local/provision"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/stack"
)

// timed sums the time spent in one part and counts its calls.
type timed struct{ nanos, calls atomic.Int64 }

func (t *timed) since(begin time.Time) {
	t.nanos.Add(int64(time.Since(begin)))
	t.calls.Add(1)
}

func (t *timed) reset() { t.nanos.Store(0); t.calls.Store(0) }

// per is the time per unit of work, of which there were n.
func (t *timed) per(n int) time.Duration { return time.Duration(t.nanos.Load() / int64(max(n, 1))) }

// shares tells where the time of one request goes: the same parts as in the platform, assembled here with a watch at
// each seam, and one client, so that nothing waits for anything else.
func (b *bench) shares(ctx context.Context) error {
	s, err := stack.Load("template.yaml", stack.Options{StackName: "bench", Overrides: map[string]string{
		"COOKIE_PLAIN_HTTP": "true", "LIMIT_LOGIN_IP": "100000", "LIMIT_SIGNUP_IP": "100000",
	}})
	if err != nil {
		return err
	}
	var storage, invoked timed
	services, closeServices, err := b.services(&storage)
	if err != nil {
		return err
	}
	defer closeServices()
	if _, err := provision.Apply(ctx, s, provision.Options{Endpoint: services}); err != nil {
		return err
	}
	lambda, err := b.lambda(ctx, s, services)
	if err != nil {
		return err
	}
	defer func() { _ = lambda.Close(ctx) }()
	front, err := gateway.New(gateway.Options{
		API: s.APIs[0], Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Invoke: func(ctx context.Context, i runtime.Invocation) (*runtime.Response, error) {
			defer invoked.since(time.Now())
			return lambda.Invoke(ctx, i)
		},
	})
	if err != nil {
		return err
	}
	server := httptest.NewServer(front)
	defer server.Close()
	account, err := signUp(ctx, server.URL)
	if err != nil {
		return err
	}
	if _, err := account.load(ctx, 1); err != nil { // warm
		return err
	}
	storage.reset()
	invoked.reset()
	whole, err := account.load(ctx, 1)
	if err != nil {
		return err
	}
	requests := int(invoked.calls.Load())
	hop, err := drive(1, warmTime/2, func(int) error {
		response, err := lambda.Invoke(ctx, runtime.Invocation{Function: emptyFunction, Payload: []byte("{}")})
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
	if err != nil {
		return err
	}
	b.printShares(whole.mean(), invoked.per(requests), hop.mean(), storage.per(requests))
	return nil
}

// printShares splits the time of a request. The runtime's part is what an empty function costs; the handler's is what
// the function takes beyond that, its DynamoDB client and the way to storage included.
func (b *bench) printShares(whole, invoked, hop, storage time.Duration) {
	b.printf("\nWhere the time of one goes (1 connection, mean)\n")
	for _, part := range []struct {
		name string
		took time.Duration
	}{
		{"gateway, client's HTTP included", whole - invoked},
		{"runtime (an empty function)", hop},
		{"handler, with its DynamoDB client", invoked - hop - storage},
		{"storage", storage},
		{"whole", whole},
	} {
		b.printf("%-36s %12s %6.0f %%\n", part.name, ms(part.took), 100*float64(part.took)/float64(whole))
	}
}

// services are the embedded DynamoDB and Secrets Manager behind one port, storage watched.
func (b *bench) services(storage *timed) (url string, closeAll func(), err error) {
	db, err := dynamodb.Open(dynamodb.Options{Dir: filepath.Join(b.scratch, "shares"), Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", nil, err
	}
	vault, err := secrets.Open(secrets.Options{Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		_ = db.Close()
		return "", nil, err
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "secretsmanager.") {
			vault.ServeHTTP(w, r)
			return
		}
		defer storage.since(time.Now())
		db.ServeHTTP(w, r)
	}))
	return server.URL, func() { server.Close(); _ = db.Close() }, nil
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
