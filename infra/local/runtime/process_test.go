package runtime_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
)

func kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("DEVELOPERS_SECRET", "x")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	r := start(t, func(o *runtime.Options) {
		o.Region, o.Account = "eu-central-1", "123456789012"
		o.AccessKeyID, o.SecretKey = "AKIA", "shhh"
		o.ExtraEnv = map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"}
		o.Functions[0].Env["TABLE"] = "things"
		o.Functions[0].Env["TZ"] = "Europe/Berlin"
	})
	got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{"do":"env"}`)})
	var list []string
	if err := json.Unmarshal([]byte(got.body), &list); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for _, pair := range list {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	if !strings.HasPrefix(env["AWS_LAMBDA_RUNTIME_API"], "127.0.0.1:") || !strings.Contains(env["AWS_LAMBDA_LOG_STREAM_NAME"], "/[$LATEST]") {
		t.Errorf("runtime API %q, log stream %q", env["AWS_LAMBDA_RUNTIME_API"], env["AWS_LAMBDA_LOG_STREAM_NAME"])
	}
	if root := env["LAMBDA_TASK_ROOT"]; root == "" {
		t.Error("no LAMBDA_TASK_ROOT")
	}
	for _, own := range []string{"AWS_LAMBDA_RUNTIME_API", "AWS_LAMBDA_LOG_STREAM_NAME", "LAMBDA_TASK_ROOT", "_X_AMZN_TRACE_ID"} {
		delete(env, own)
	}
	want := map[string]string{
		modeVariable: "function", "GORACE": "atexit_sleep_ms=0", "GOMAXPROCS": "1", "TABLE": "things", "TZ": "Europe/Berlin", "LANG": "en_US.UTF-8",
		"PATH": "/usr/local/bin:/usr/bin/:/bin:/opt/bin", "LAMBDA_RUNTIME_DIR": "/var/runtime", "_HANDLER": "bootstrap",
		"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "AKIA",
		"AWS_SECRET_ACCESS_KEY": "shhh", "AWS_ENDPOINT_URL": "http://127.0.0.1:4566", "AWS_LAMBDA_FUNCTION_NAME": "echo",
		"AWS_LAMBDA_FUNCTION_VERSION": "$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
		"AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand", "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/echo",
	}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

// lines collects a function's output.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(function, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, function+" "+line)
}

func (l *lines) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

func TestLogLines(t *testing.T) {
	t.Parallel()
	var out lines
	r := start(t, func(o *runtime.Options) { o.Lines, o.MaxConcurrency = out.add, 1 })
	var want []string
	for n := range 20 {
		id := fmt.Sprintf("request-%d", n)
		text := []string{fmt.Sprintf(`{"msg":"%d"}`, n), strings.Repeat("x", 20_000)}
		invoke(t, r, runtime.Invocation{Function: "echo", RequestID: id, Payload: event(t, order{Log: text})})
		for _, line := range text {
			want = append(want, "echo "+line)
		}
	}
	platformtest.Eventually(t, "all is logged", func() bool { return len(out.list()) == len(want) }) // the last lines follow their response
	if diff := cmp.Diff(want, out.list()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestLongLineIsSplit(t *testing.T) {
	t.Parallel()
	var out lines
	r := start(t, func(o *runtime.Options) { o.Lines = out.add })
	invoke(t, r, runtime.Invocation{Function: "echo", RequestID: "id", Payload: event(t, order{Log: []string{strings.Repeat("y", 600<<10)}})})
	platformtest.Eventually(t, "all is logged", func() bool { return len(out.list()) == 3 })
	for n, size := range []int{256 << 10, 256 << 10, 88 << 10} {
		if got := len(out.list()[n]) - len("echo "); got != size {
			t.Errorf("part %d has %d bytes, want %d", n, got, size)
		}
	}
}

func TestCloseWaitsForRequestsInFlight(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	g := newGate(t)
	responses := make(chan reply, 1)
	go func() {
		responses <- invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url})})
	}()
	<-g.arrived
	closed := make(chan error, 1)
	go func() { closed <- r.Close(context.Background()) }()
	platformtest.Eventually(t, "no new requests", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := r.Invoke(ctx, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)})
		return errors.Is(err, runtime.ErrClosed)
	})
	g.open()
	if got := <-responses; got.FunctionError != nil {
		t.Errorf("the request in flight got %v", got.FunctionError)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if left := r.Snapshot(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestCloseInterruptsLongCalls(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"function", "stubborn"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := start(t, func(o *runtime.Options) { o.Functions = []runtime.Function{function(t, "echo", mode)} })
			g := newGate(t)
			responses := make(chan reply, 1)
			go func() {
				responses <- invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url, Sleep: true})})
			}()
			<-g.arrived
			pid := r.Snapshot()[0].PID
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			began := time.Now()
			if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("closing took %v", took)
			}
			if got := <-responses; got.FunctionError == nil || got.FunctionError.Type != "Runtime.ExitError" {
				t.Errorf("the request got %q, %v", got.body, got.FunctionError)
			}
			if alive(pid) {
				t.Errorf("process %d lives", pid)
			}
		})
	}
}

func TestCloseRefusesQueuedCalls(t *testing.T) {
	t.Parallel()
	r := start(t, func(o *runtime.Options) { o.MaxConcurrency, o.MaxWait = 1, time.Minute })
	g := newGate(t)
	go func() {
		_, _ = r.Invoke(context.Background(), runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url})})
	}()
	<-g.arrived
	refused := make(chan error, 1)
	go func() {
		_, err := r.Invoke(context.Background(), runtime.Invocation{Function: "echo"})
		refused <- err
	}()
	platformtest.Eventually(t, "the request waits", func() bool { return r.Queued("echo") == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := r.Close(ctx); err == nil || !strings.Contains(err.Error(), "2 calls in flight were interrupted") {
		t.Errorf("error %v", err)
	}
	if err := <-refused; !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("the waiting request got %v", err)
	}
}

// parent is a platform that a test kills: it prints the pids of two busy instances.
func parent() {
	self, _ := os.Executable()
	r := runtime.New(runtime.Options{Now: time.Now, Functions: []runtime.Function{{
		Name: "echo", Bootstrap: self, Timeout: time.Minute, Env: map[string]string{modeVariable: "stubborn"},
	}}})
	for range 2 {
		go func() {
			_, _ = r.Invoke(context.Background(), runtime.Invocation{Function: "echo", Payload: []byte(`{"sleep":true}`)})
		}()
	}
	for busy := 0; busy < 2; time.Sleep(time.Millisecond) {
		busy = 0
		for _, i := range r.Snapshot() {
			if i.Busy {
				busy++
			}
		}
	}
	for _, i := range r.Snapshot() {
		say(i.PID)
	}
	say("ready")
	hang()
}

func TestKilledPlatformLeavesNoOrphan(t *testing.T) {
	t.Parallel()
	if goruntime.GOOS != "linux" {
		t.Skip("needs the parent-death signal of Linux")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	platform := exec.Command(self)
	platform.Env = append(os.Environ(), modeVariable+"=parent")
	out, err := platform.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := platform.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for scanner := bufio.NewScanner(out); scanner.Scan() && scanner.Text() != "ready"; {
		pid, err := strconv.Atoi(scanner.Text())
		if err != nil {
			t.Fatal(scanner.Text())
		}
		pids = append(pids, pid)
	}
	if len(pids) != 2 || !alive(pids[0]) || !alive(pids[1]) {
		t.Fatalf("processes %v", pids)
	}
	kill(t, platform.Process.Pid)
	_ = platform.Wait()
	for _, pid := range pids {
		platformtest.Eventually(t, "the function is gone", func() bool { return !alive(pid) })
	}
}
