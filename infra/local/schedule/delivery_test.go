package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

func TestPayloads(t *testing.T) {
	t.Parallel()
	const event = `{"version":"0","id":"ID","detail-type":"Scheduled Event","source":"aws.scheduler","account":"123456789012",` +
		`"time":"2000-01-01T01:30:00Z","region":"eu-west-1","resources":["` + scheduleARN + `"],"detail":"{}"}`
	for _, test := range []struct {
		name string
		spec resources.Schedule
		want string
	}{
		{"event", scheduled("cron(30 1 * * ? *)"), event},
		{"times are in UTC", with(scheduled("cron(30 4 * * ? *)"), func(s *resources.Schedule) { s.Timezone = "Europe/Moscow" }), event},
		{"input", with(scheduled("cron(30 1 * * ? *)"), func(s *resources.Schedule) { s.Input = `{"key":"value"}` }), `{"key":"value"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			runTest(t, []resources.Schedule{test.spec}, func(t *testing.T, f *fixture) {
				f.Start()
				sleep(2 * time.Hour)
				calls := f.lambda.all()
				if len(calls) != 1 {
					t.Fatalf("%d invocations, want one", len(calls))
				}
				ids := regexp.MustCompile(`"id":"([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})"`)
				if diff := cmp.Diff(test.want, ids.ReplaceAllString(calls[0].payload, `"id":"ID"`)); diff != "" {
					t.Errorf("payload (-want +got):\n%s", diff)
				}
				if !json.Valid([]byte(calls[0].payload)) {
					t.Error("the payload is not JSON")
				}
			})
		})
	}
}

func TestFailedFunctionIsRetriedTwice(t *testing.T) {
	t.Parallel()
	for _, spec := range []resources.Schedule{scheduled("cron(0 1 1 1 ? *)"), with(scheduled("cron(0 1 1 1 ? *)"), func(s *resources.Schedule) {
		s.MaximumRetryAttempts = 0 // failures of the function do not count for the schedule
	})} {
		runTest(t, []resources.Schedule{spec}, func(t *testing.T, f *fixture) {
			f.lambda.result = func(context.Context, int) error { return errFunction }
			f.Start()
			sleep(48 * time.Hour)
			want := []time.Duration{60 * time.Minute, 61 * time.Minute, 63 * time.Minute}
			if diff := cmp.Diff(want, f.lambda.times(f.began)); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			calls := f.lambda.all()
			if calls[0].requestID == "" || calls[0].requestID != calls[2].requestID || calls[0].payload != calls[2].payload {
				t.Errorf("the attempts of one event differ: %+v", calls)
			}
			if !strings.Contains(f.logs.String(), "event dropped") || !strings.Contains(f.logs.String(), "Task timed out") {
				t.Errorf("want a line in the log about the dropped event: %s", f.logs.String())
			}
		})
	}
}

// EventInvokeConfig limits the retries, and the age since Lambda has accepted the event.
func TestEventInvokeConfig(t *testing.T) {
	t.Parallel()
	const hour, minute, second = time.Hour, time.Minute, time.Second
	for _, test := range []struct {
		name    string
		async   resources.AsyncInvoke
		results []error // the last one is repeated
		want    []time.Duration
	}{
		{"none", resources.AsyncInvoke{MaximumRetryAttempts: 0, MaximumEventAge: 6 * hour}, []error{errFunction}, []time.Duration{hour}},
		{"one", resources.AsyncInvoke{MaximumRetryAttempts: 1, MaximumEventAge: 6 * hour}, []error{errFunction}, []time.Duration{hour, hour + minute}},
		{"too old for the second", resources.AsyncInvoke{MaximumRetryAttempts: 2, MaximumEventAge: 179 * second}, []error{errFunction}, []time.Duration{hour, hour + minute}},
		{"attempts that are not accepted do not count", resources.AsyncInvoke{MaximumRetryAttempts: 1, MaximumEventAge: minute},
			[]error{runtime.ErrThrottled, errFunction}, []time.Duration{hour, hour + second*3/4, hour + minute + second*3/4}},
	} {
		spec := with(scheduled("cron(0 1 1 1 ? *)"), func(s *resources.Schedule) { s.Async = test.async })
		runTest(t, []resources.Schedule{spec}, func(t *testing.T, f *fixture) {
			f.lambda.result = func(_ context.Context, n int) error { return test.results[min(n, len(test.results))-1] }
			f.Start()
			sleep(48 * hour)
			if diff := cmp.Diff(test.want, f.lambda.times(f.began)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		})
	}
}

func TestNoRetryAfterSuccess(t *testing.T) {
	t.Parallel()
	runTest(t, []resources.Schedule{scheduled("cron(0 1 1 1 ? *)")}, func(t *testing.T, f *fixture) {
		f.lambda.result = func(_ context.Context, n int) error { return []error{errFunction, runtime.ErrThrottled, nil}[n-1] }
		f.Start()
		sleep(48 * time.Hour)
		if got := len(f.lambda.all()); got != 3 {
			t.Errorf("%d attempts, want three", got)
		}
	})
}

func TestRetryPolicy(t *testing.T) {
	t.Parallel()
	busy := func(context.Context, int) error { return fmt.Errorf("tick: %w", runtime.ErrThrottled) }
	missing := func(context.Context, int) error { return runtime.ErrFunctionNotFound }
	policy := func(attempts int, age time.Duration) resources.Schedule {
		return with(scheduled("cron(0 1 1 1 ? *)"), func(s *resources.Schedule) {
			s.MaximumRetryAttempts, s.MaximumEventAge, s.Input = attempts, age, `{"find":"me"}`
		})
	}
	backoffs := []time.Duration{0, 750 * time.Millisecond, 2250 * time.Millisecond, 5250 * time.Millisecond} // 3/4 of 1 s, 2 s and 4 s
	for _, test := range []struct {
		name   string
		spec   resources.Schedule
		result func(context.Context, int) error
		want   []time.Duration // since the first attempt
	}{
		{"after its attempts", policy(3, time.Hour), busy, backoffs},
		{"after its time", policy(185, 10*time.Second), busy, backoffs},
		{"at once if there is no function", policy(185, time.Hour), missing, []time.Duration{0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			runTest(t, []resources.Schedule{test.spec}, func(t *testing.T, f *fixture) {
				f.lambda.result = test.result
				f.Start()
				sleep(48 * time.Hour)
				if diff := cmp.Diff(test.want, f.lambda.times(f.began.Add(time.Hour))); diff != "" {
					t.Errorf("attempts (-want +got):\n%s", diff)
				}
				if logged := f.logs.String(); !strings.Contains(logged, "event dropped") || !strings.Contains(logged, "find") {
					t.Errorf("want the event in the log: %s", logged)
				}
			})
		})
	}
}

// TestNextAttempt tests the failure policy.
func TestNextAttempt(t *testing.T) {
	t.Parallel()
	s := &schedule{
		Scheduler: &Scheduler{random: func(limit time.Duration) time.Duration { return limit / 2 }},
		spec:      resources.Schedule{MaximumRetryAttempts: 3, MaximumEventAge: time.Hour, Async: lambdasDefaults},
	}
	throttled, missing := runtime.ErrThrottled, runtime.ErrFunctionNotFound
	for _, test := range []struct {
		name string
		err  error
		made attempts
		wait time.Duration // 0 if there is no next attempt
	}{
		{"the function's first failure", errFunction, attempts{failed: 1}, time.Minute},
		{"its second", errFunction, attempts{failed: 2}, 2 * time.Minute},
		{"its third", errFunction, attempts{failed: 3}, 0},
		{"a first refusal", throttled, attempts{refused: 1}, 750 * time.Millisecond},
		{"the last that is allowed", throttled, attempts{refused: 3}, 3 * time.Second},
		{"one too many", throttled, attempts{refused: 4}, 0},
		{"too old", throttled, attempts{refused: 1, age: time.Hour}, 0},
		{"refused permanently", missing, attempts{refused: 1}, 0},
		{"accepted, and no instance", throttled, attempts{refused: 9, failed: 1, age: 5 * time.Hour}, 192 * time.Second},
		{"accepted, and no instance for hours", throttled, attempts{refused: 99, failed: 1, age: 6 * time.Hour}, 0},
		{"accepted, and the function does not exist", missing, attempts{refused: 1, failed: 1}, 0},
		{"the longest backoff", throttled, attempts{refused: 1000, failed: 1}, maxBackoff * 3 / 4},
	} {
		wait, more := s.nextAttempt(test.err, test.made)
		if more != (test.wait > 0) || more && wait != test.wait {
			t.Errorf("%s: %s, %t, want %s", test.name, wait, more, test.wait)
		}
	}
}
