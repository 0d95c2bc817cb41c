package rig

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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

// Template is the stack's template, as seen from the repository's root.
const Template = "template.yaml"

// Empty is the name of a function that does nothing.
const Empty = "empty"

// Watch is told of what passes between the parts of an assembly. A nil one is not.
type Watch struct {
	// Storage stands in front of DynamoDB and SQS.
	Storage func(next http.Handler) http.Handler
	// Invoked has an invocation that has ended, from the call to the last byte of its answer.
	Invoked func(function string, memoryMB int, took time.Duration)
	// Line has a line of a function's log.
	Line func(function, line string)
}

// Assembly is the platform's parts put together in this process, so that what passes between them can be measured.
// Streams and queues have no readers in it until [Assembly.ReadTriggers], and schedules none at all.
type Assembly struct {
	URL   string // the gateway's
	Stack *stack.Stack

	services      string // where the AWS services answer
	lambda        *runtime.Runtime
	watch         Watch
	memory        map[string]int
	closers       []func()
	streamChanged func(arn string) <-chan struct{}
}

// Assemble builds one with its data in dir. empty is the binary of the function that does nothing, or "".
func Assemble(ctx context.Context, binaries, dir, empty string, watch Watch) (_ *Assembly, err error) {
	a := &Assembly{watch: watch, memory: map[string]int{}}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	if err := a.openServices(dir); err != nil {
		return nil, err
	}
	a.Stack, err = stack.Load(Template, stack.Options{StackName: "bench", QueueEndpoint: a.services, Overrides: overrides()})
	if err != nil {
		return nil, err
	}
	if _, err := provision.Apply(ctx, a.Stack, provision.Options{Endpoint: a.services}); err != nil {
		return nil, err
	}
	if err := a.openLambda(binaries, empty); err != nil {
		return nil, err
	}
	front, err := gateway.New(gateway.Options{API: a.Stack.APIs[0], Now: time.Now, Logger: slog.New(slog.DiscardHandler), Invoke: a.Invoke})
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(front)
	a.URL, a.closers = server.URL, append(a.closers, server.Close)
	return a, nil
}

// Close ends what was begun, the last first.
func (a *Assembly) Close() {
	for i := len(a.closers) - 1; i >= 0; i-- {
		a.closers[i]()
	}
	a.closers = nil
}

// overrides are the settings of a process, for functions.
func overrides() map[string]string {
	all := map[string]string{}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		all[name] = value
	}
	return all
}

// Invoke calls a function and tells the watch when its answer has been read.
func (a *Assembly) Invoke(ctx context.Context, i runtime.Invocation) (*runtime.Response, error) {
	begin := time.Now()
	response, err := a.lambda.Invoke(ctx, i)
	if err != nil || a.watch.Invoked == nil {
		return response, err
	}
	told := func() { a.watch.Invoked(i.Function, a.memory[i.Function], time.Since(begin)) }
	if !response.Streaming {
		told()
		return response, nil
	}
	response.Body = &ending{ReadCloser: response.Body, told: sync.OnceFunc(told)}
	return response, nil
}

// ending tells when a body has been read to its end, or was closed before.
type ending struct {
	io.ReadCloser
	told func()
}

// Read passes bytes on.
func (e *ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil {
		e.told()
	}
	return n, err //nolint:wrapcheck // io.EOF must stay io.EOF
}

// Close closes the body.
func (e *ending) Close() error {
	e.told()
	return e.ReadCloser.Close() //nolint:wrapcheck // as it is
}

// ReadTriggers starts the readers of streams and queues; stop ends them.
func (a *Assembly) ReadTriggers(dir string) (stop func(), err error) {
	readers, err := triggers.Open(triggers.Options{
		Mappings: a.Stack.EventSourceMappings, Endpoint: a.services, Account: a.Stack.Account, Dir: dir, Now: time.Now, Invoke: a.Invoke,
		StreamChanged: a.streamChanged,
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

// Table is the name of a table of the template.
func (a *Assembly) Table(logicalID string) string {
	for _, t := range a.Stack.Tables {
		if t.LogicalID == logicalID {
			return t.Name
		}
	}
	return ""
}

// Endpoint is where the AWS services answer.
func (a *Assembly) Endpoint() string { return a.services }

// openServices is the embedded DynamoDB and SQS, watched, and Secrets Manager behind one port.
func (a *Assembly) openServices(dir string) error {
	quiet := slog.New(slog.DiscardHandler)
	db, err := dynamodb.Open(dynamodb.Options{Dir: filepath.Join(dir, "dynamodb"), Now: time.Now, Logger: quiet})
	if err != nil {
		return err
	}
	a.closers, a.streamChanged = append(a.closers, func() { _ = db.Close() }), db.StreamChanged
	queues, err := sqs.Open(sqs.Options{Dir: filepath.Join(dir, "sqs"), Now: time.Now, Logger: quiet})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, func() { _ = queues.Close() })
	vault, err := secrets.Open(secrets.Options{Now: time.Now, Logger: quiet})
	if err != nil {
		return err
	}
	var watched http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.") {
			queues.ServeHTTP(w, r)
			return
		}
		db.ServeHTTP(w, r)
	})
	if a.watch.Storage != nil {
		watched = a.watch.Storage(watched)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "secretsmanager.") {
			vault.ServeHTTP(w, r)
			return
		}
		watched.ServeHTTP(w, r)
	}))
	a.services, a.closers = server.URL, append(a.closers, server.Close)
	return nil
}

// openLambda runs the stack's functions, and an empty one if there is a binary of it.
func (a *Assembly) openLambda(binaries, empty string) error {
	var functions []runtime.Function
	if empty != "" {
		functions = append(functions, runtime.Function{Name: Empty, Bootstrap: empty, Timeout: time.Second})
	}
	for _, f := range a.Stack.Functions {
		a.memory[f.Name] = f.MemoryMB
		functions = append(functions, runtime.Function{
			Name: f.Name, Bootstrap: filepath.Join(binaries, filepath.Base(f.CodeURI)), Handler: f.Handler,
			MemoryMB: f.MemoryMB, Timeout: f.Timeout, Env: f.Env,
		})
	}
	lambda, err := runtime.New(runtime.Options{
		Functions: functions, MaxConcurrency: 10, Now: time.Now, Region: "us-east-1",
		AccessKeyID: "local", SecretKey: "local", ExtraEnv: map[string]string{"AWS_ENDPOINT_URL": a.services},
		Lines: func(function, _, line string) {
			if a.watch.Line != nil {
				a.watch.Line(function, line)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("runtime: %w", err)
	}
	a.lambda = lambda
	a.closers = append(a.closers, func() { _ = lambda.Close(context.Background()) })
	return nil
}

// BuildEmpty compiles the function that does nothing, with the flags of every function, into dir.
func BuildEmpty(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "empty")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags=lambda.norpc", "-ldflags=-s", "-o", path, "./infra/bench/empty")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the empty function: %w\n%s", err, output)
	}
	return path, nil
}
