package schedule

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
)

// fakeRun is the fake time that an invocation takes.
const fakeRun = 10 * time.Second

const scheduleARN = "arn:aws:scheduler:eu-west-1:123456789012:schedule/default/tick"

var lambdasDefaults = resources.AsyncInvoke{MaximumRetryAttempts: 2, MaximumEventAge: 6 * time.Hour}

func scheduled(expression string) resources.Schedule {
	return resources.Schedule{Name: "tick", ARN: scheduleARN, Expression: expression, MaximumRetryAttempts: 185, MaximumEventAge: 24 * time.Hour, Async: lambdasDefaults}
}

func with(spec resources.Schedule, change func(*resources.Schedule)) resources.Schedule {
	change(&spec)
	return spec
}

func TestWhenSchedulesFire(t *testing.T) {
	t.Parallel()
	const minute, hour, day = time.Minute, time.Hour, 24 * time.Hour
	for _, test := range []struct {
		name  string
		spec  resources.Schedule
		watch time.Duration
		want  []time.Duration // since midnight, when the platform starts
	}{
		{"a rate begins at once", scheduled("rate(5 minutes)"), 11 * minute, []time.Duration{0, 5 * minute, 10 * minute}},
		{"cron fires at the minute", scheduled("cron(30 1/11 * * ? *)"), day, []time.Duration{90 * minute, 12*hour + 30*minute, 23*hour + 30*minute}},
		{
			"cron in a time zone", with(scheduled("cron(0 9 * * ? *)"), func(s *resources.Schedule) { s.Timezone = "Asia/Tokyo" }),
			2*day - minute, []time.Duration{day},
		},
		{"in the past", scheduled("cron(0 12 31 12 ? 1999)"), day, nil},
		{"disabled", with(scheduled("rate(1 minute)"), func(s *resources.Schedule) { s.Enabled = true /* see runTest */ }), day, nil},
		{"a day a year", scheduled("cron(0 0 1 2 ? *)"), 400 * day, []time.Duration{31 * day, 397 * day}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			runTest(t, []resources.Schedule{test.spec}, func(t *testing.T, f *fixture) {
				f.Start()
				f.Start() // no effect
				sleep(test.watch)
				if diff := cmp.Diff(test.want, f.lambda.times(f.began)); diff != "" {
					t.Errorf("fired (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestNothingFiresBeforeStartOrAfterClose(t *testing.T) {
	t.Parallel()
	runTest(t, []resources.Schedule{scheduled("rate(1 minute)")}, func(t *testing.T, f *fixture) {
		sleep(time.Hour)
		f.Start()
		sleep(90 * time.Second)
		if err := f.Close(t.Context()); err != nil {
			t.Error(err)
		}
		f.Start()
		sleep(time.Hour)
		if got, want := f.lambda.times(f.began), []time.Duration{time.Hour, 61 * time.Minute}; !cmp.Equal(got, want) {
			t.Errorf("fired at %v, want %v", got, want)
		}
	})
}

func TestSchedulesFireOnceAfterSleep(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for _, test := range []struct {
		expression string
		want       []time.Duration // by timers, which do not run during the eight hours from 2:30 on
	}{
		{"rate(1 minute)", []time.Duration{0, 1 * minute, 2 * minute, 3 * minute, 4 * minute, 5 * minute}},
		{"cron(* * * * ? *)", []time.Duration{1 * minute, 2 * minute, 3 * minute, 4 * minute, 5 * minute}},
		{"rate(1 hour)", []time.Duration{0, 3 * minute, 60 * minute, 120 * minute}}, // noticed within a minute
	} {
		runTest(t, []resources.Schedule{scheduled(test.expression)}, func(t *testing.T, f *fixture) {
			var slept atomic.Int64
			f.options.Now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
			f.Start()
			sleep(150 * time.Second)
			slept.Store(int64(8 * time.Hour))
			sleep(test.want[len(test.want)-1] - 149*time.Second)
			if diff := cmp.Diff(test.want, f.lambda.times(f.began)); diff != "" {
				t.Errorf("%s fired (-want +got):\n%s", test.expression, diff)
			}
		})
	}
}

func TestSchedulesDoNotWait(t *testing.T) {
	t.Parallel()
	other := with(scheduled("rate(1 hour)"), func(s *resources.Schedule) { s.Name, s.ARN, s.Function = "other", scheduleARN+"-other", "other" })
	runTest(t, []resources.Schedule{scheduled("rate(1 minute)"), other}, func(t *testing.T, f *fixture) {
		release := make(chan struct{})
		f.lambda.result = func(context.Context, int) error { <-release; return nil }
		f.Start()
		sleep(100*time.Minute + time.Second)
		calls := map[string]int{}
		for _, c := range f.lambda.all() {
			calls[c.function]++
		}
		if want := map[string]int{"tick": maxInFlight, "other": 2}; !cmp.Equal(calls, want) {
			t.Errorf("invoked %v, want %v", calls, want)
		}
		if !strings.Contains(f.logs.String(), "an event is skipped") {
			t.Error("the skipped events were not logged")
		}
		close(release)
		sleep(time.Minute)
		if got := len(f.lambda.all()); got != maxInFlight+3 {
			t.Errorf("%d invocations, want it to go on after the hang", got)
		}
	})
}

func TestCloseWaitsForInvocations(t *testing.T) {
	t.Parallel()
	runTest(t, []resources.Schedule{scheduled("rate(1 minute)")}, func(t *testing.T, f *fixture) {
		finished := false
		f.lambda.result = func(context.Context, int) error { time.Sleep(fakeRun); finished = true; return nil }
		f.Start()
		sleep(time.Second)
		if err := f.Close(t.Context()); err != nil || !finished {
			t.Errorf("closed with %v before the invocation had finished", err)
		}
	})
	runTest(t, []resources.Schedule{scheduled("rate(1 minute)")}, func(t *testing.T, f *fixture) {
		f.lambda.result = func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
		f.Start()
		sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := f.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed with %v, want an error about interrupted invocations", err)
		}
		if !strings.Contains(f.logs.String(), "event lost") {
			t.Errorf("want a log line about a lost event: %s", f.logs.String())
		}
	})
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	options := Options{Now: time.Now, Invoke: (&lambda{}).invoke, Logger: slog.New(slog.DiscardHandler)}
	for _, test := range []struct {
		want string
		spec []resources.Schedule
	}{
		{"schedule tick: schedule expression", []resources.Schedule{scheduled("rate(x)")}},
		{"unknown time zone", []resources.Schedule{with(scheduled("rate(1 minutes)"), func(s *resources.Schedule) { s.Timezone = "Europe/Atlantis" })}},
		{"time zone: Local", []resources.Schedule{with(scheduled("rate(1 minutes)"), func(s *resources.Schedule) { s.Timezone = "Local" })}},
	} {
		options.Schedules = test.spec
		if _, err := Open(options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error is %v, want one with %q", err, test.want)
		}
	}
	if _, err := Open(Options{}); err == nil {
		t.Error("opened without the required options")
	}
}
