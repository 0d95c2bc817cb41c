package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"devplatform/infra/local/runtime"
)

// hangTime is longer than every test: the platform ends the process.
const hangTime = time.Hour

// modeVariable makes this test binary a function, or the parent of one.
const modeVariable = "RUNTIME_TEST_MODE"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(modeVariable); mode {
	case "":
		os.Exit(m.Run())
	case "function":
		lambda.Start(handle)
	case "puppet": // the test calls the Runtime API instead
		say("api " + os.Getenv("AWS_LAMBDA_RUNTIME_API"))
		hang()
	case "init-exit":
		say("no configuration")
		os.Exit(3)
	case "init-panic":
		panic("no settings")
	case "init-error":
		body := `{"errorType":"Config.Missing","errorMessage":"no table"}`
		response, err := http.Post("http://"+os.Getenv("AWS_LAMBDA_RUNTIME_API")+"/2018-06-01/runtime/init/error", "application/json", strings.NewReader(body))
		if err != nil || response.StatusCode != http.StatusAccepted {
			os.Exit(9)
		}
		os.Exit(1)
	case "init-hang":
		hang()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		lambda.Start(handle)
	case "parent":
		parent()
	default:
		say("unknown mode", mode)
		os.Exit(9)
	}
}

// say writes a line to the function's log.
func say(v ...any) { _, _ = fmt.Fprintln(os.Stdout, v...) }

// order is an event of the test function, which carries out the fields in this order.
type order struct {
	Log    []string `json:"log,omitempty"`
	Wait   string   `json:"wait,omitempty"` // URL that responds when the function may continue
	Sleep  bool     `json:"sleep,omitempty"`
	Do     string   `json:"do,omitempty"`
	Size   int      `json:"size,omitempty"`
	Chunks []string `json:"chunks,omitempty"`
	Gates  []string `json:"gates,omitempty"` // waited for before each chunk
}

func handle(ctx context.Context, raw json.RawMessage) (any, error) {
	var o order
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	for _, line := range o.Log {
		say(line)
	}
	wait(o.Wait)
	if o.Sleep {
		hang()
	}
	switch o.Do {
	case "exit":
		os.Exit(7)
	case "exit0":
		os.Exit(0)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		hang()
	case "panic":
		panic("out of cheese")
	case "error":
		return nil, errors.New("no such project")
	case "huge":
		return bytes.NewReader(bytes.Repeat([]byte("x"), o.Size)), nil
	case "env":
		return os.Environ(), nil
	case "context":
		lc, _ := lambdacontext.FromContext(ctx)
		deadline, _ := ctx.Deadline()
		return map[string]any{"context": lc, "deadline": deadline.UnixMilli(), "trace": ctx.Value("x-amzn-trace-id")}, nil
	case "pid":
		return os.Getpid(), nil
	case "stream", "stream-error", "stream-exit", "stream-hang":
		return &stream{o: o}, nil
	}
	return raw, nil
}

func wait(url string) {
	if url == "" {
		return
	}
	response, err := http.Get(url)
	if err != nil {
		say("gate:", err)
		os.Exit(8)
	}
	_ = response.Body.Close()
}

// stream returns one chunk for each Read, after its gate.
type stream struct {
	o    order
	next int
}

func (s *stream) ContentType() string { return "application/vnd.awslambda.http-integration-response" }

func (s *stream) Read(p []byte) (int, error) {
	if s.next < len(s.o.Gates) {
		wait(s.o.Gates[s.next])
	}
	if s.next == len(s.o.Chunks) {
		switch s.o.Do {
		case "stream-error":
			return 0, errors.New("lost the thread")
		case "stream-exit":
			os.Exit(4)
		case "stream-hang":
			hang()
		}
		return 0, io.EOF
	}
	s.next++
	return copy(p, s.o.Chunks[s.next-1]), nil
}

// start returns a runtime with one function, "echo", until the end of the test.
func start(t testing.TB, change func(*runtime.Options)) *runtime.Runtime {
	t.Helper()
	o := runtime.Options{Now: time.Now, Functions: []runtime.Function{function(t, "echo", "function")}}
	if change != nil {
		change(&o)
	}
	r := runtime.New(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = r.Close(ctx) // tests of Close call it before
		if left := r.Snapshot(); len(left) > 0 {
			t.Errorf("instances after Close: %v", left)
		}
	})
	return r
}

func function(t testing.TB, name, mode string) runtime.Function {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		t.Fatal(err)
	}
	return runtime.Function{
		Name: name, Bootstrap: self, Handler: "bootstrap", Timeout: 30 * time.Second, MemoryMB: 512,
		// A process built with the race detector sleeps for a second before it exits by default.
		Env: map[string]string{modeVariable: mode, "GORACE": "atexit_sleep_ms=0"},
	}
}

// reply is a Response whose body was read.
type reply struct {
	*runtime.Response
	body string
	err  error
}

func invoke(t testing.TB, r *runtime.Runtime, inv runtime.Invocation) reply {
	t.Helper()
	response, err := r.Invoke(t.Context(), inv)
	if err != nil {
		t.Errorf("Invoke: %v", err)
		return reply{Response: new(runtime.Response), err: err}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return reply{Response: response, body: string(body), err: err}
}

func event(t testing.TB, o order) []byte {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // there is no /proc
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// hang blocks for longer than a test runs. With an empty select, a program without cgo and without other goroutines
// would exit, because Go detects a deadlock.
func hang() { time.Sleep(hangTime) }
