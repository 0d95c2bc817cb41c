package schedule_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/schedule"
)

// fixture is a scheduler with simulated functions. In the bubble of a test, the clock begins at midnight of
// 1 January 2000, UTC.
type fixture struct {
	*schedule.Scheduler
	began time.Time
	slept atomic.Int64 // nanoseconds that the machine has slept
	logs  bytes.Buffer
	run   func(ctx context.Context) error // a call of a function. A *runtime.FunctionError is a failure of the function.

	mu    sync.Mutex
	calls []call
}

type call struct {
	at                           time.Duration // since the start
	function, payload, requestID string
}

func (f *fixture) invoke(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
	f.mu.Lock()
	f.calls = append(f.calls, call{time.Since(f.began), in.Function, string(in.Payload), in.RequestID})
	f.mu.Unlock()
	response := &runtime.Response{Body: io.NopCloser(bytes.NewReader(nil))}
	if f.run == nil {
		return response, nil
	}
	err := f.run(ctx)
	if errors.As(err, &response.FunctionError) {
		err = nil
	}
	return response, err
}

// times returns the times of the calls of a function.
func (f *fixture) times(function string) (times []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c.function == function {
			times = append(times, c.at)
		}
	}
	return times
}

func tick(every time.Duration) resources.Schedule {
	return resources.Schedule{Name: "tick", ARN: "arn:tick", Function: "tick", Every: every, Enabled: true}
}

// runTest runs a test with schedules in a bubble.
func runTest(t *testing.T, test func(t *testing.T, f *fixture), schedules ...resources.Schedule) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{began: time.Now()}
		f.Scheduler = schedule.Open(schedule.Options{
			Schedules: schedules, Invoke: f.invoke, Logger: slog.New(slog.NewTextHandler(&f.logs, nil)),
			Now:     func() time.Time { return time.Now().Add(time.Duration(f.slept.Load())) },
			Account: "123456789012", Region: "eu-west-1",
		})
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

func TestWhenSchedulesFire(t *testing.T) {
	t.Parallel()
	disabled := tick(time.Minute)
	disabled.Function, disabled.Enabled = "disabled", false
	hourly := tick(time.Hour)
	hourly.Function = "hourly"
	runTest(t, func(t *testing.T, f *fixture) {
		f.run = func(ctx context.Context) error { // schedules wait neither for one another nor for an invocation
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Minute):
			}
			return nil
		}
		sleep(time.Hour)
		f.Start()
		sleep(11 * time.Minute)
		want := []time.Duration{time.Hour, 65 * time.Minute, 70 * time.Minute}
		if diff := cmp.Diff(want, f.times("tick")); diff != "" {
			t.Errorf("fired (-want +got):\n%s", diff)
		}
		if got := f.times("hourly"); !cmp.Equal(got, want[:1]) {
			t.Errorf("another schedule fired at %v, want %v", got, want[:1])
		}
		if got := f.times("disabled"); got != nil {
			t.Errorf("a disabled schedule fired at %v", got)
		}
		sleep(19 * time.Minute)
		if err := f.Close(t.Context()); err != nil {
			t.Error(err)
		}
		fired := len(f.times("tick"))
		sleep(time.Hour)
		if got := len(f.times("tick")); got != fired {
			t.Errorf("fired %d times after Close", got-fired)
		}
	}, tick(5*time.Minute), hourly, disabled)
}

func TestSchedulesFireOnceAfterSleep(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for _, test := range []struct {
		every time.Duration
		want  []time.Duration // by timers, which do not run during the eight hours from 2:30 on
	}{
		{time.Minute, []time.Duration{0, 1 * minute, 2 * minute, 3 * minute, 4 * minute, 5 * minute}},
		{time.Hour, []time.Duration{0, 3 * minute, 60 * minute, 120 * minute}}, // noticed within a minute
	} {
		runTest(t, func(t *testing.T, f *fixture) {
			f.Start()
			sleep(150 * time.Second)
			f.slept.Store(int64(8 * time.Hour))
			sleep(test.want[len(test.want)-1] - 149*time.Second)
			if diff := cmp.Diff(test.want, f.times("tick")); diff != "" {
				t.Errorf("every %s: fired (-want +got):\n%s", test.every, diff)
			}
		}, tick(test.every))
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	withInput := tick(24 * time.Hour)
	withInput.Function, withInput.Input = "input", `{"key":"value"}`
	runTest(t, func(t *testing.T, f *fixture) {
		f.Start()
		synctest.Wait()
		got := map[string]string{}
		ids := regexp.MustCompile(`"id":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"`)
		for _, c := range f.calls {
			got[c.function] = ids.ReplaceAllString(c.payload, `"id":"ID"`)
			if c.requestID == "" {
				t.Errorf("the invocation of %s has no request id", c.function)
			}
		}
		want := map[string]string{
			"input": `{"key":"value"}`,
			"tick": `{"version":"0","id":"ID","detail-type":"Scheduled Event","source":"aws.scheduler","account":"123456789012",` +
				`"time":"2000-01-01T00:00:00Z","region":"eu-west-1","resources":["arn:tick"],"detail":"{}"}`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("payloads (-want +got):\n%s", diff)
		}
	}, tick(24*time.Hour), withInput)
}

func TestFailedEventIsLoggedAndNotRetried(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{&runtime.FunctionError{Type: "Sandbox.Timedout", Message: "Task timed out"}, runtime.ErrThrottled} {
		runTest(t, func(t *testing.T, f *fixture) {
			f.run = func(context.Context) error { return failure }
			f.Start()
			sleep(23 * time.Hour)
			if got := len(f.times("tick")); got != 1 {
				t.Errorf("%d invocations, want one", got)
			}
			if !strings.Contains(f.logs.String(), "dropped") || !strings.Contains(f.logs.String(), failure.Error()) {
				t.Errorf("the log %q does not contain the error %v", f.logs.String(), failure)
			}
		}, tick(24*time.Hour))
	}
}

func TestCloseWaitsForInvocations(t *testing.T) {
	t.Parallel()
	runTest(t, func(t *testing.T, f *fixture) {
		finished := false
		f.run = func(context.Context) error { time.Sleep(10 * time.Second); finished = true; return nil }
		f.Start()
		sleep(time.Second)
		if err := f.Close(t.Context()); err != nil || !finished {
			t.Errorf("closed with %v before the invocation had finished", err)
		}
	}, tick(time.Minute))
	runTest(t, func(t *testing.T, f *fixture) {
		f.run = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		f.Start()
		sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := f.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed with %v, want an error about interrupted invocations", err)
		}
	}, tick(time.Minute))
}
