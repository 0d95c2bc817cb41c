package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/runtime"
)

func TestWarmInstanceIsUsedAgain(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	first := invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{"do":"pid"}`)})
	second := invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{"do":"pid"}`)})
	if first.body != second.body || first.body == "" {
		t.Errorf("two processes for two requests one after another: %s, %s", first.body, second.body)
	}
	if first.RequestID == second.RequestID || len(first.RequestID) != 36 {
		t.Errorf("request ids %q and %q", first.RequestID, second.RequestID)
	}
}

func TestAnswerIsTheFunctionsBytes(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	for _, payload := range []string{`{}`, `{"log":[],"a":"ü"}`, `{"x":"` + strings.Repeat("y", 100_000) + `"}`} {
		got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(payload)})
		if got.body != payload || got.err != nil || got.FunctionError != nil || got.Streaming {
			t.Errorf("payload of %d bytes came back as %d bytes, %v, %v", len(payload), len(got.body), got.err, got.FunctionError)
		}
	}
}

func TestFunctionSeesItsRequest(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	before := time.Now()
	got := invoke(t, r, runtime.Invocation{
		Function: "echo", Payload: []byte(`{"do":"context"}`), RequestID: "11111111-2222-4333-8444-555555555555",
		Qualifier: "$LATEST", TraceID: "Root=1-2-3;Sampled=1",
	})
	var seen struct {
		Context struct {
			AwsRequestID       string
			InvokedFunctionArn string
		} `json:"context"`
		Deadline int64  `json:"deadline"`
		Trace    string `json:"trace"`
	}
	if err := json.Unmarshal([]byte(got.body), &seen); err != nil {
		t.Fatalf("%v in %s", err, got.body)
	}
	if seen.Context.AwsRequestID != "11111111-2222-4333-8444-555555555555" || got.RequestID != seen.Context.AwsRequestID {
		t.Errorf("request id %q, responded as %q", seen.Context.AwsRequestID, got.RequestID)
	}
	if want := "arn:aws:lambda:us-east-1:000000000000:function:echo:$LATEST"; seen.Context.InvokedFunctionArn != want {
		t.Errorf("ARN %q, want %q", seen.Context.InvokedFunctionArn, want)
	}
	if seen.Trace != "Root=1-2-3;Sampled=1" {
		t.Errorf("trace %q in %s", seen.Trace, got.body)
	}
	left := time.UnixMilli(seen.Deadline).Sub(before)
	if left < 29*time.Second || left > 40*time.Second {
		t.Errorf("deadline is %v away, the time-out is 30 s", left)
	}
}

func TestConcurrencyIsCappedAndTheQueueIsFair(t *testing.T) {
	t.Parallel()
	const limit = 2
	for name, reserved := range map[string]int{"reserved": limit, "machine": 50, "none reserved": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkConcurrency(t, limit, start(t, func(o *runtime.Options) {
				o.MaxConcurrency = limit
				if reserved == limit {
					o.MaxConcurrency = 50
				}
				o.Functions[0].MaxConcurrency = reserved
				o.MaxWait = time.Minute
			}))
		})
	}
}

func checkConcurrency(t *testing.T, limit int, r *runtime.Runtime) {
	t.Helper()
	const requests = 8
	g := newGate(t)
	var done sync.WaitGroup
	send := func(n int) {
		done.Add(1)
		go func() {
			defer done.Done()
			if got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: fmt.Sprintf("%s?%d", g.url, n)})}); got.FunctionError != nil {
				t.Errorf("request %d: %v", n, got.FunctionError)
			}
		}()
	}
	for n := range limit {
		send(n)
		if got, want := <-g.arrived, fmt.Sprint(n); got != want {
			t.Errorf("request %s runs, want %s", got, want)
		}
	}
	for n := limit; n < requests; n++ {
		send(n)
		eventually(t, "the request waits", func() bool { return r.Queued("echo") == n-limit+1 })
	}
	if got := len(r.Snapshot()); got != limit {
		t.Errorf("%d instances, want %d", got, limit)
	}
	for n := limit; n < requests; n++ {
		g.pass()
		if got, want := <-g.arrived, fmt.Sprint(n); got != want {
			t.Errorf("request %s came next, want %s", got, want)
		}
	}
	g.open()
	done.Wait()
	if got := len(r.Snapshot()); got != limit {
		t.Errorf("%d instances at the end, want %d", got, limit)
	}
}

func TestFreedInstanceServesBeforeAStartingOne(t *testing.T) {
	t.Parallel()
	slow := function(t, "slow", "function")
	r := start(t, func(o *runtime.Options) { o.Functions = append(o.Functions, slow) })
	g := newGate(t)
	go func() {
		_, _ = r.Invoke(context.Background(), runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url})})
	}()
	<-g.arrived
	hold := r.HoldStarts() // no process can start from now on
	defer hold()
	responses := make(chan reply, 1)
	go func() { responses <- invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)}) }()
	eventually(t, "the request waits", func() bool { return r.Queued("echo") == 1 })
	g.open()
	if got := <-responses; got.body != `{}` {
		t.Errorf("response %q", got.body)
	}
}

func TestThrottledIfNoInstanceIsIdle(t *testing.T) {
	t.Parallel()
	r := start(t, func(o *runtime.Options) { o.MaxConcurrency, o.MaxWait = 1, 50*time.Millisecond })
	g := newGate(t)
	go func() {
		_, _ = r.Invoke(context.Background(), runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url})})
	}()
	<-g.arrived
	if _, err := r.Invoke(t.Context(), runtime.Invocation{Function: "echo"}); !errors.Is(err, runtime.ErrThrottled) {
		t.Errorf("error %v, want ErrThrottled", err)
	}
	if n := r.Queued("echo"); n != 0 {
		t.Errorf("%d requests still wait", n)
	}
}

func TestErrorsOfInvoke(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	over := make([]byte, runtime.MaxPayload+1)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	cases := []struct {
		name string
		ctx  context.Context
		inv  runtime.Invocation
		want error
	}{
		{"unknown", t.Context(), runtime.Invocation{Function: "other"}, runtime.ErrFunctionNotFound},
		{"unknown version", t.Context(), runtime.Invocation{Function: "echo", Qualifier: "7"}, runtime.ErrFunctionNotFound},
		{"too large", t.Context(), runtime.Invocation{Function: "echo", Payload: over}, runtime.ErrPayloadTooLarge},
		{"cancelled", gone, runtime.Invocation{Function: "echo", Payload: event(t, order{Sleep: true})}, context.Canceled},
	}
	for _, c := range cases {
		if _, err := r.Invoke(c.ctx, c.inv); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

func TestClientLeavingDoesNotStopTheFunction(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	g := newGate(t)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := r.Invoke(ctx, runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url})})
		left <- err
	}()
	<-g.arrived
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	before := r.Snapshot()
	if len(before) != 1 || !before[0].Busy {
		t.Errorf("the function was disturbed: %v", before)
	}
	g.open()
	eventually(t, "the instance is idle again", func() bool {
		after := r.Snapshot()
		return len(after) == 1 && after[0].Idle && after[0].PID == before[0].PID
	})
}

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
	eventually(t, "idle", func() bool { return r.Snapshot()[0].Idle })
	pid := r.Snapshot()[0].PID
	kill(t, pid)
	eventually(t, "the dead instance is gone", func() bool { return len(r.Snapshot()) == 0 })
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

func TestHugeResponses(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Do: "huge", Size: runtime.MaxResponse})})
	if len(got.body) != runtime.MaxResponse || got.FunctionError != nil {
		t.Errorf("%d bytes, %v", len(got.body), got.FunctionError)
	}
	got = invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Do: "huge", Size: runtime.MaxResponse + 1})})
	want := `{"errorType":"Function.ResponseSizeTooLarge","errorMessage":"The response is larger than 6291556 bytes"}`
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = invoke(t, r, runtime.Invocation{Function: "echo", Stream: true, Payload: event(t, order{Do: "huge", Size: runtime.MaxResponse + 1})})
	if len(got.body) != runtime.MaxResponse+1 || got.err != nil || !got.Streaming {
		t.Errorf("streamed: %d bytes, %v", len(got.body), got.err)
	}
}

func TestStreamComesChunkByChunk(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	g := newGate(t)
	o := order{Do: "stream", Chunks: []string{"one", "two", "three"}, Gates: []string{"", g.url, g.url}}
	response, err := r.Invoke(t.Context(), runtime.Invocation{Function: "echo", Stream: true, Payload: event(t, o)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if !response.Streaming || response.ContentType != "application/vnd.awslambda.http-integration-response" {
		t.Errorf("streaming %v, content type %q", response.Streaming, response.ContentType)
	}
	for _, want := range o.Chunks {
		chunk := make([]byte, len(want))
		if _, err := io.ReadFull(response.Body, chunk); err != nil || string(chunk) != want {
			t.Fatalf("chunk %q, %v, want %q", chunk, err, want)
		}
		g.pass() // the function does not send the next one before
	}
	if n, err := response.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d bytes, %v", n, err)
	}
	whole := invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Do: "stream", Chunks: o.Chunks})})
	if whole.body != "onetwothree" || whole.Streaming {
		t.Errorf("collected: %q, streaming %v", whole.body, whole.Streaming)
	}
}

func TestStreamsThatBreak(t *testing.T) {
	t.Parallel()
	r := start(t, withBrief(t))
	cases := []struct{ do, kind, message string }{
		{"stream-error", "errorString", "lost the thread"},
		{"stream-exit", "Runtime.ExitError", "RequestId: ID Error: Runtime exited with error: exit status 4"},
		{"stream-hang", "Sandbox.Timedout", "RequestId: ID Error: Task timed out after 1.00 seconds"},
	}
	for _, c := range cases {
		for _, streamed := range []bool{true, false} {
			name := "echo"
			if c.do == "stream-hang" {
				name = "brief"
			}
			got := invoke(t, r, runtime.Invocation{Function: name, Stream: streamed, LogTail: true, Payload: event(t, order{Do: c.do, Chunks: []string{"half"}, Log: []string{"said"}})})
			failed := got.FunctionError
			if streamed && !errors.As(got.err, &failed) {
				t.Errorf("%s: the body ended with %v", c.do, got.err)
			}
			if streamed && got.body != "half" {
				t.Errorf("%s: body %q", c.do, got.body)
			}
			if want := strings.ReplaceAll(c.message, "ID", got.RequestID); failed == nil || failed.Type != c.kind || failed.Message != want {
				t.Errorf("%s (streamed %v): %+v, want %s: %s", c.do, streamed, failed, c.kind, want)
			}
			if log := string(got.LogTail); !streamed && log != "said\n" {
				t.Errorf("%s (streamed %v): log %q", c.do, streamed, log)
			}
		}
	}
}

func TestAbandonedStreamIsDrained(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	response, err := r.Invoke(t.Context(), runtime.Invocation{Function: "echo", Stream: true, Payload: event(t, order{Do: "huge", Size: 10 << 20})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(response.Body, make([]byte, 10)); err != nil {
		t.Error(err)
	}
	_ = response.Body.Close()
	eventually(t, "the instance is idle", func() bool { s := r.Snapshot(); return len(s) == 1 && s[0].Idle })
	if n := r.Starts(); n != 1 {
		t.Errorf("the function was disturbed: %d starts", n)
	}
}

func TestIdleInstancesEnd(t *testing.T) {
	t.Parallel()
	r := start(t, func(o *runtime.Options) { o.IdleTimeout = 50 * time.Millisecond })
	invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)})
	eventually(t, "no instance is left", func() bool { return len(r.Snapshot()) == 0 })
	if got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)}); got.body != `{}` {
		t.Errorf("response %q", got.body)
	}
}
