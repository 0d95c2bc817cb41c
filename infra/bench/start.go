package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"devplatform/infra/bench/rig"
	"devplatform/infra/local/stack"
	"devplatform/infra/process"
)

// startRuns is the number of folders. In each folder, the platform starts twice: without and with data.
const startRuns = 5

// start measures how long a platform takes to be ready, and its memory.
func (b *bench) start(ctx context.Context) error {
	fresh, again, stop := newTimes(), newTimes(), newTimes()
	var memory []int64
	for i := range startRuns {
		name := fmt.Sprintf("start-%d", i)
		p, err := b.platform(ctx, name)
		if err != nil {
			return err
		}
		record(fresh, p.Took)
		if _, err := rig.SignUp(ctx, p.URL); err != nil {
			p.Stop()
			return err
		}
		memory = append(memory, process.Resident(p.PID()))
		record(stop, p.Stop())
		if p, err = b.platform(ctx, name); err != nil {
			return err
		}
		record(again, p.Took)
		p.Stop()
	}
	slices.Sort(memory)
	section(fmt.Sprintf("THE LOCAL PLATFORM (median of %d)", startRuns), "value")
	row("start to ready, new folder", at(fresh, 50))
	row("start to ready, existing data", at(again, 50))
	row("SIGTERM to exit", at(stop, 50))
	row("memory of the platform after a login", mb(memory[startRuns/2]))
	return nil
}

const (
	// coldRuns is the number of times that each function is started.
	coldRuns = 20
	template = "template.yaml"
)

// coldFunction is a function whose cold start is measured.
type coldFunction struct {
	name, path string
	env        map[string]string
	times      *hdr.Histogram // from exec to the first request for an event
	memory     *hdr.Histogram // at that time, in KB
}

// cold starts every function, and an empty one for comparison, in turn.
func (b *bench) cold(ctx context.Context) error {
	functions, err := b.coldFunctions(ctx)
	if err != nil {
		return err
	}
	// While it starts, a function may call AWS services. Here, they respond immediately, with an error.
	services := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer services.Close()
	for range coldRuns {
		for _, f := range functions {
			if err := f.start(ctx, services.URL); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	section(fmt.Sprintf("COLD START of a function: from exec to the first request for an event, and its memory then "+
		"(median of %d)", coldRuns), "time", "x empty", "memory", "x empty", "binary")
	empty := functions[0]
	for _, f := range functions {
		info, err := os.Stat(f.path)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		took, kb, emptyKB := at(f.times, 50), f.memory.ValueAtQuantile(50), empty.memory.ValueAtQuantile(50)
		row(f.name, took, ratio(took, at(empty.times, 50)), mb(kb*1000), ratio(kb, emptyKB), mb(info.Size()))
	}
	return nil
}

// coldFunctions returns the functions of the template, after an empty one that it compiles with the same flags.
func (b *bench) coldFunctions(ctx context.Context) ([]*coldFunction, error) {
	path := filepath.Join(b.scratch, "empty")
	if err := process.Build(ctx, ".", "-o", path, "./infra/bench/empty"); err != nil {
		return nil, err
	}
	// The parameters of sites add the function that serves them.
	s, err := stack.Load(template, stack.Options{Parameters: map[string]string{
		"AiProvider": "scaffold", "SitesDomain": "example.app",
		"SitesCertificateArn": "arn:aws:acm:us-east-1:000000000000:certificate/c",
	}})
	if err != nil {
		return nil, err
	}
	all := []*coldFunction{{"(empty)", path, nil, newTimes(), newTimes()}}
	for _, f := range s.Functions {
		path := filepath.Join(b.binaries, filepath.Base(f.CodeURI))
		all = append(all, &coldFunction{f.Name, path, f.Env, newTimes(), newTimes()})
	}
	return all, nil
}

// start starts the function once, with a Runtime API that has no events.
func (f *coldFunction) start(ctx context.Context, services string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	asked := make(chan time.Time, 1)
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- time.Now():
		default:
		}
		<-r.Context().Done()
	}))
	defer api.Close()
	command := exec.CommandContext(ctx, f.path)
	command.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(api.URL, "http://"), "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_ENDPOINT_URL=" + services, "_HANDLER=bootstrap"}
	for name, value := range f.env {
		command.Env = append(command.Env, name+"="+value)
	}
	begin := time.Now()
	if err := command.Start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer func() {
		cancel() // kills the process
		_ = command.Wait()
	}()
	select {
	case askedAt := <-asked:
		record(f.times, askedAt.Sub(begin))
		if err := f.memory.RecordValue(process.Resident(command.Process.Pid) / 1000); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
		return nil
	case <-ctx.Done():
		return errors.New("the function did not ask for an event within 10 s")
	}
}
