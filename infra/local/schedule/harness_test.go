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

	"devplatform/infra/local/runtime"
	"devplatform/infra/local/stack"
)

// lambda is a simulated function, which records its calls.
type lambda struct {
	mu    sync.Mutex
	calls []call
	// answer returns the result of the n-th call, from 1: nil is success, a *runtime.FunctionError is a failure of the function.
	answer func(ctx context.Context, n int) error
}

type call struct {
	at                           time.Time
	function, payload, requestID string
}

func (l *lambda) invoke(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
	l.mu.Lock()
	l.calls = append(l.calls, call{time.Now(), in.Function, string(in.Payload), in.RequestID})
	n, answer := len(l.calls), l.answer
	l.mu.Unlock()
	response := &runtime.Response{Body: io.NopCloser(bytes.NewReader(nil))}
	if answer == nil {
		return response, nil
	}
	err := answer(ctx, n)
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

// world is a scheduler with a simulated clock, which begins at midnight of 1 January 2000, UTC.
type world struct {
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

// inWorld runs a test with these schedules. By default they are enabled, and their function is "tick".
func inWorld(t *testing.T, specs []stack.Schedule, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{began: time.Now()}
		for i := range specs {
			specs[i].Enabled = !specs[i].Enabled // a test sets Enabled to disable a schedule
			if specs[i].Function == "" {
				specs[i].Function = "tick"
			}
		}
		var err error
		w.Scheduler, err = Open(Options{
			Schedules: specs, Invoke: w.lambda.invoke, Now: time.Now, Logger: slog.New(slog.NewTextHandler(&w.logs, nil)),
			Account: "123456789012", Region: "eu-west-1",
		})
		if err != nil {
			t.Fatal(err)
		}
		w.random = func(limit time.Duration) time.Duration { return limit / 2 }
		defer func() {
			if err := w.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		test(t, w)
	})
}

// pass waits, and then until all goroutines are blocked.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

var errFunction = &runtime.FunctionError{Type: "Sandbox.Timedout", Message: "Task timed out"}
