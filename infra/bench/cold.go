package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"devplatform/infra/bench/rig"
	"devplatform/infra/local/stack"
)

// coldRuns is how often each function is started.
const coldRuns = 20

// cold is one start of a function: until its first /next, and what it held in memory then.
type cold struct {
	took  time.Duration
	bytes int64
}

// coldStarts starts every function of the template and an empty one in turn, from exec to the first request for
// work at a Runtime API of our own.
func (b *bench) coldStarts(ctx context.Context) error {
	s, err := stack.Load(rig.Template, stack.Options{})
	if err != nil {
		return err
	}
	empty, err := b.emptyFunction(ctx)
	if err != nil {
		return err
	}
	// The services that a function calls while it starts: they answer at once that there is nothing.
	services := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer services.Close()

	functions := []stack.Function{{Name: "(empty)"}}
	functions = append(functions, s.Functions...)
	paths := []string{empty}
	for _, f := range s.Functions {
		paths = append(paths, filepath.Join(b.binaries, filepath.Base(f.CodeURI)))
	}
	runs := make([][]cold, len(functions))
	for range coldRuns {
		for i, f := range functions {
			run, err := startOnce(ctx, paths[i], f.Env, services.URL)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			runs[i] = append(runs[i], run)
		}
	}
	b.section(fmt.Sprintf("COLD START of a function: exec to the first request for work, against an empty aws-lambda-go handler (median of %d)", coldRuns),
		"time", "x empty", "memory", "x empty", "binary")
	for i, f := range functions {
		info, err := os.Stat(paths[i])
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		base, own := median(runs[0]), median(runs[i])
		b.row(f.Name, own.took, times(float64(own.took), float64(base.took)), mb(own.bytes), times(float64(own.bytes), float64(base.bytes)), mb(info.Size()))
	}
	return nil
}

// startOnce starts a binary and waits until it asks for work.
func startOnce(ctx context.Context, path string, env map[string]string, services string) (cold, error) {
	asked := make(chan time.Time, 1)
	api, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a loopback listener
	if err != nil {
		return cold{}, fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- time.Now():
		default:
		}
		<-r.Context().Done() // no work comes
	})}
	go func() { _ = server.Serve(api) }()
	defer func() { _ = server.Close() }()

	command := exec.CommandContext(ctx, path)
	command.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + api.Addr().String(), "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local", "AWS_ENDPOINT_URL=" + services, "_HANDLER=bootstrap"}
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	begin := time.Now()
	if err := command.Start(); err != nil {
		return cold{}, fmt.Errorf("start: %w", err)
	}
	defer func() { _ = command.Wait() }()
	defer func() { _ = command.Process.Kill() }()
	select {
	case at := <-asked:
		return cold{took: at.Sub(begin), bytes: rig.Resident(command.Process.Pid)}, nil
	case <-time.After(10 * time.Second):
		return cold{}, fmt.Errorf("no request for work within 10 s")
	}
}

// median takes time and memory each at its own median.
func median(runs []cold) cold {
	var took, bytes rig.Sample
	for _, run := range runs {
		took = append(took, run.took)
		bytes = append(bytes, time.Duration(run.bytes))
	}
	return cold{took: took.At(0.5), bytes: int64(bytes.At(0.5))}
}
