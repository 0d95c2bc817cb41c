package runtime_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
)

// withBrief adds a function whose time-out is short.
func withBrief(t testing.TB) func(*runtime.Options) {
	return func(o *runtime.Options) {
		brief := function(t, "brief", "function")
		brief.Timeout = time.Second
		o.Functions = append(o.Functions, brief)
	}
}

func TestFailuresAreFunctionErrors(t *testing.T) {
	t.Parallel()
	r := start(t, withBrief(t))
	cases := []struct{ do, kind, message string }{
		{"exit", "Runtime.ExitError", "RequestId: ID Error: Runtime exited with error: exit status 7"},
		{"exit0", "Runtime.ExitError", "RequestId: ID Error: Runtime exited without providing a reason"},
		{"kill", "Runtime.ExitError", "RequestId: ID Error: Runtime exited with error: signal: killed"},
		{"panic", "string", "out of cheese"},
		{"error", "errorString", "no such project"},
		{"sleep", "Sandbox.Timedout", "RequestId: ID Error: Task timed out after 1.00 seconds"},
	}
	for _, c := range cases {
		o := order{Do: c.do, Sleep: c.do == "sleep"}
		name := "echo"
		if o.Sleep {
			name = "brief"
		}
		got := invoke(t, r, runtime.Invocation{Function: name, Payload: event(t, o)})
		if got.FunctionError == nil {
			t.Errorf("%s: no error but %q", c.do, got.body)
			continue
		}
		var doc struct{ ErrorType, ErrorMessage string }
		if err := json.Unmarshal([]byte(got.body), &doc); err != nil {
			t.Errorf("%s: %v in %q", c.do, err, got.body)
		}
		want := strings.ReplaceAll(c.message, "ID", got.RequestID)
		if doc.ErrorType != c.kind || doc.ErrorMessage != want || got.FunctionError.Type != c.kind || got.FunctionError.Message != want {
			t.Errorf("%s: %s, %+v, want %s: %s", c.do, got.body, got.FunctionError, c.kind, want)
		}
		if after := invoke(t, r, runtime.Invocation{Function: name, Payload: []byte(`{"n":1}`)}); after.body != `{"n":1}` {
			t.Errorf("%s: the next request got %q, %v", c.do, after.body, after.FunctionError)
		}
	}
}

func TestCrashCostsOneRequest(t *testing.T) {
	t.Parallel()
	r := start(t, func(o *runtime.Options) { o.MaxConcurrency, o.MaxWait = 2, time.Minute })
	g := newGate(t)
	crashed := make(chan reply, 1)
	go func() {
		crashed <- invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url, Do: "kill"})})
	}()
	<-g.arrived
	var others sync.WaitGroup
	for range 20 {
		others.Go(func() {
			if got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)}); got.FunctionError != nil {
				t.Errorf("another request failed: %v", got.FunctionError)
			}
		})
	}
	g.open()
	others.Wait()
	if got := <-crashed; got.FunctionError == nil {
		t.Errorf("the crashed request got %q", got.body)
	}
}

func TestKilledIdleInstanceCostsNothing(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)})
	platformtest.Eventually(t, "idle", func() bool { return r.Snapshot()[0].Idle })
	pid := r.Snapshot()[0].PID
	kill(t, pid)
	platformtest.Eventually(t, "the dead instance is gone", func() bool { return len(r.Snapshot()) == 0 })
	if got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)}); got.body != `{}` {
		t.Errorf("response %q, %v", got.body, got.FunctionError)
	}
}

func TestInitFailures(t *testing.T) {
	t.Parallel()
	missing := function(t, "missing", "function")
	missing.Bootstrap = "/nonexistent/bootstrap"
	r := start(t, func(o *runtime.Options) {
		o.Functions = []runtime.Function{
			function(t, "exit", "init-exit"), function(t, "error", "init-error"), function(t, "hang", "init-hang"), missing,
		}
		o.InitTimeout = 3 * time.Second
	})
	cases := []struct{ name, want string }{
		{"exit", `{"errorType":"Runtime.ExitError","errorMessage":"RequestId: ID Error: Runtime exited with error: exit status 3"}`},
		{"error", `{"errorType":"Config.Missing","errorMessage":"no table"}`},
		{"hang", `{"errorType":"Sandbox.Timedout","errorMessage":"RequestId: ID Error: Task timed out after 3.00 seconds"}`},
		{"missing", `{"errorType":"Runtime.InvalidEntrypoint","errorMessage":"RequestId: ID Error: Couldn't find valid bootstrap(s): [/nonexistent/bootstrap]"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				got := invoke(t, r, runtime.Invocation{Function: c.name})
				if diff := cmp.Diff(strings.ReplaceAll(c.want, "ID", got.RequestID), got.body); diff != "" || got.FunctionError == nil {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestCrashStormStartsFewProcesses(t *testing.T) {
	t.Parallel()
	r := start(t, func(o *runtime.Options) {
		o.Functions = []runtime.Function{function(t, "exit", "init-exit")}
		o.MaxWait = time.Minute
	})
	var clients sync.WaitGroup
	stop := time.Now().Add(700 * time.Millisecond)
	var mu sync.Mutex
	calls := 0
	for range 16 {
		clients.Go(func() {
			for time.Now().Before(stop) {
				if got := invoke(t, r, runtime.Invocation{Function: "exit"}); got.FunctionError == nil {
					t.Errorf("response %q", got.body)
				}
				mu.Lock()
				calls++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	if starts := r.Starts(); starts > 16+12 {
		t.Errorf("%d processes for a function that can't start (%d calls)", starts, calls)
	}
}
