package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
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
		platformtest.Eventually(t, "the request waits", func() bool { return r.Queued("echo") == n-limit+1 })
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
	platformtest.Eventually(t, "the request waits", func() bool { return r.Queued("echo") == 1 })
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
	platformtest.Eventually(t, "the instance is idle again", func() bool {
		after := r.Snapshot()
		return len(after) == 1 && after[0].Idle && after[0].PID == before[0].PID
	})
}

func TestIdleInstancesEnd(t *testing.T) {
	t.Parallel()
	r := start(t, func(o *runtime.Options) { o.IdleTimeout = 50 * time.Millisecond })
	invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)})
	platformtest.Eventually(t, "no instance is left", func() bool { return len(r.Snapshot()) == 0 })
	if got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)}); got.body != `{}` {
		t.Errorf("response %q", got.body)
	}
}
