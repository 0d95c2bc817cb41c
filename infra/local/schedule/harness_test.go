package schedule

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

// lambda is a simulated function, which records its calls.
type lambda struct {
	mu    sync.Mutex
	calls []call
	// result returns the result of the n-th call, from 1: nil is success, a *runtime.FunctionError is a failure of the
	// function.
	result func(ctx context.Context, n int) error
}

type call struct {
	at                           time.Time
	function, payload, requestID string
}

func (l *lambda) invoke(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
	l.mu.Lock()
	l.calls = append(l.calls, call{time.Now(), in.Function, string(in.Payload), in.RequestID})
	n, result := len(l.calls), l.result
	l.mu.Unlock()
	response := &runtime.Response{Body: io.NopCloser(bytes.NewReader(nil))}
	if result == nil {
		return response, nil
	}
	err := result(ctx, n)
	if errors.As(err, &response.FunctionError) {
		err = nil
	}
	return response, err
}

func (l *lambda) all() []call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}

// times returns the times of the calls since the given time.
func (l *lambda) times(since time.Time) (times []time.Duration) {
	for _, c := range l.all() {
		times = append(times, c.at.Sub(since))
	}
	return times
}

// fixture is a scheduler with a simulated clock, which begins at midnight of 1 January 2000, UTC.
type fixture struct {
	*Scheduler
	lambda lambda
	logs   logs
	began  time.Time
}

type logs struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

// runTest runs a test with these schedules. By default they are enabled, and their function is "tick".
func runTest(t *testing.T, specs []resources.Schedule, test func(t *testing.T, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{began: time.Now()}
		for i := range specs {
			specs[i].Enabled = !specs[i].Enabled // a test sets Enabled to disable a schedule
			if specs[i].Function == "" {
				specs[i].Function = "tick"
			}
		}
		var err error
		f.Scheduler, err = Open(Options{
			Schedules: specs, Invoke: f.lambda.invoke, Now: time.Now, Logger: slog.New(slog.NewTextHandler(&f.logs, nil)),
			Account: "123456789012", Region: "eu-west-1",
		})
		if err != nil {
			t.Fatal(err)
		}
		f.random = func(limit time.Duration) time.Duration { return limit / 2 }
		defer func() {
			if err := f.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		test(t, f)
	})
}

// sleep waits for a time, and then until all goroutines are blocked.
func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

var errFunction = &runtime.FunctionError{Type: "Sandbox.Timedout", Message: "Task timed out"}
