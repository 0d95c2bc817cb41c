package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/runtime"
	"devplatform/infra/local/stack"
)

func TestPayloads(t *testing.T) {
	t.Parallel()
	const common = `"version":"0","id":"ID","detail-type":"Scheduled Event",`
	for _, test := range []struct {
		name string
		spec stack.Schedule
		want string
	}{
		{"event", scheduled("cron(30 1 * * ? *)"), `{` + common + `"source":"aws.scheduler","account":"123456789012",` +
			`"time":"2000-01-01T01:30:00Z","region":"eu-west-1","resources":["` + scheduleARN + `"],"detail":"{}"}`},
		{"times are in UTC", with(scheduled("cron(30 4 * * ? *)"), func(s *stack.Schedule) {
			s.Timezone, s.Input = "Europe/Moscow", `"<aws.scheduler.scheduled-time>"`
		}), `"2000-01-01T01:30:00Z"`},
		{"input", with(scheduled("cron(30 1 * * ? *)"), func(s *stack.Schedule) {
			s.Input = `{"arn":"<aws.scheduler.schedule-arn>","id":"<aws.scheduler.execution-id>","n":<aws.scheduler.attempt-number>,"x":"<aws.scheduler.other>"}`
		}), `{"arn":"` + scheduleARN + `","id":"ID","n":1,"x":"<aws.scheduler.other>"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, []stack.Schedule{test.spec}, func(t *testing.T, w *world) {
				w.Start()
				pass(2 * time.Hour)
				calls := w.lambda.all()
				if len(calls) != 1 {
					t.Fatalf("%d invocations, want one", len(calls))
				}
				ids := regexp.MustCompile(`"id":"([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16})"`)
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
	for _, spec := range []stack.Schedule{scheduled("cron(0 1 1 1 ? *)"), with(scheduled("cron(0 1 1 1 ? *)"), func(s *stack.Schedule) {
		s.MaximumRetryAttempts, s.DeadLetterQueue, s.Input = 0, "dead", `"<aws.scheduler.execution-id>"` // failures of the function do not count for the schedule
	})} {
		inWorld(t, []stack.Schedule{spec}, func(t *testing.T, w *world) {
			w.lambda.answer = func(context.Context, int) error { return errFunction }
			w.Start()
			pass(48 * time.Hour)
			want := []time.Duration{60 * time.Minute, 61 * time.Minute, 63 * time.Minute}
			if diff := cmp.Diff(want, w.lambda.times(w.began)); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			calls := w.lambda.all()
			if calls[0].requestID == "" || calls[0].requestID != calls[2].requestID || calls[0].payload != calls[2].payload {
				t.Errorf("the attempts of one event differ: %+v", calls)
			}
			if len(w.post.sent) != 0 || !strings.Contains(w.logs.String(), "the function failed") {
				t.Errorf("%d dead letters, want none and a line in the log: %s", len(w.post.sent), w.logs.String())
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
		async   stack.AsyncInvoke
		answers []error // the last one is repeated
		want    []time.Duration
	}{
		{"none", stack.AsyncInvoke{MaximumRetryAttempts: 0, MaximumEventAge: 6 * hour}, []error{errFunction}, []time.Duration{hour}},
		{"one", stack.AsyncInvoke{MaximumRetryAttempts: 1, MaximumEventAge: 6 * hour}, []error{errFunction}, []time.Duration{hour, hour + minute}},
		{"too old for the second", stack.AsyncInvoke{MaximumRetryAttempts: 2, MaximumEventAge: 179 * second}, []error{errFunction}, []time.Duration{hour, hour + minute}},
		{"attempts that are not accepted do not count", stack.AsyncInvoke{MaximumRetryAttempts: 1, MaximumEventAge: minute},
			[]error{runtime.ErrThrottled, errFunction}, []time.Duration{hour, hour + second*3/4, hour + minute + second*3/4}},
	} {
		spec := with(scheduled("cron(0 1 1 1 ? *)"), func(s *stack.Schedule) { s.Async = test.async })
		inWorld(t, []stack.Schedule{spec}, func(t *testing.T, w *world) {
			w.lambda.answer = func(_ context.Context, n int) error { return test.answers[min(n, len(test.answers))-1] }
			w.Start()
			pass(48 * hour)
			if diff := cmp.Diff(test.want, w.lambda.times(w.began)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		})
	}
}

func TestNoRetryAfterSuccess(t *testing.T) {
	t.Parallel()
	inWorld(t, []stack.Schedule{scheduled("cron(0 1 1 1 ? *)")}, func(t *testing.T, w *world) {
		w.lambda.answer = func(_ context.Context, n int) error { return []error{errFunction, runtime.ErrThrottled, nil}[n-1] }
		w.Start()
		pass(48 * time.Hour)
		if got := len(w.lambda.all()); got != 3 {
			t.Errorf("%d attempts, want three", got)
		}
	})
}

func TestDeadLetterQueue(t *testing.T) {
	t.Parallel()
	busy := func(context.Context, int) error { return fmt.Errorf("tick: %w", runtime.ErrThrottled) }
	gone := func(context.Context, int) error { return runtime.ErrFunctionNotFound }
	policy := func(spec stack.Schedule, attempts int, age time.Duration) stack.Schedule {
		spec.MaximumRetryAttempts, spec.MaximumEventAge, spec.DeadLetterQueue = attempts, age, "dead"
		return spec
	}
	const target = "arn:aws:lambda:eu-west-1:123456789012:function:tick"
	for _, test := range []struct {
		name     string
		spec     stack.Schedule
		answer   func(context.Context, int) error
		attempts []time.Duration // after the first
		want     map[string]string
	}{
		{
			"after its attempts", policy(scheduled("cron(0 1 1 1 ? *)"), 3, time.Hour), busy,
			[]time.Duration{0, 750 * time.Millisecond, 2250 * time.Millisecond, 5250 * time.Millisecond}, // 3/4 of 1 s, 2 s and 4 s
			map[string]string{
				"SCHEDULE_ARN": scheduleARN, "TARGET_ARN": target, "ERROR_CODE": "TooManyRequestsException",
				"ERROR_MESSAGE": "tick: " + runtime.ErrThrottled.Error(), "RETRY_ATTEMPTS": "3", "EXHAUSTED_RETRY_CONDITION": "MaximumRetryAttempts",
				"SCHEDULED_TIME": "2000-01-01T01:00:00Z", "IS_PAYLOAD_TRUNCATED": "false", "EXECUTION_ID": "16 digits",
			},
		},
		{
			"after its time", policy(scheduled("cron(0 1 1 1 ? *)"), 185, 10*time.Second), busy,
			[]time.Duration{0, 750 * time.Millisecond, 2250 * time.Millisecond, 5250 * time.Millisecond},
			map[string]string{
				"SCHEDULE_ARN": scheduleARN, "TARGET_ARN": target, "ERROR_CODE": "TooManyRequestsException",
				"ERROR_MESSAGE": "tick: " + runtime.ErrThrottled.Error(), "RETRY_ATTEMPTS": "3", "EXHAUSTED_RETRY_CONDITION": "MaximumEventAgeInSeconds",
				"SCHEDULED_TIME": "2000-01-01T01:00:00Z", "IS_PAYLOAD_TRUNCATED": "false", "EXECUTION_ID": "16 digits",
			},
		},
		{
			"at once if there is no function", policy(scheduled("cron(0 1 1 1 ? *)"), 185, time.Hour), gone, []time.Duration{0},
			map[string]string{
				"SCHEDULE_ARN": scheduleARN, "TARGET_ARN": target, "ERROR_CODE": "ResourceNotFoundException",
				"ERROR_MESSAGE": runtime.ErrFunctionNotFound.Error(), "RETRY_ATTEMPTS": "0",
				"SCHEDULED_TIME": "2000-01-01T01:00:00Z", "IS_PAYLOAD_TRUNCATED": "false", "EXECUTION_ID": "16 digits",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, []stack.Schedule{test.spec}, func(t *testing.T, w *world) {
				w.lambda.answer = test.answer
				w.Start()
				pass(48 * time.Hour)
				if diff := cmp.Diff(test.attempts, w.lambda.times(w.began.Add(time.Hour))); diff != "" {
					t.Errorf("attempts (-want +got):\n%s", diff)
				}
				got := w.post.attributes(t, 0)
				if len(got["EXECUTION_ID"]) == 16 {
					got["EXECUTION_ID"] = "16 digits"
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("attributes (-want +got):\n%s", diff)
				}
				letter, calls := w.post.sent[0], w.lambda.all()
				if *letter.QueueUrl != "http://queues/dead" || *letter.MessageBody != calls[len(calls)-1].payload || len(w.post.sent) != 1 {
					t.Errorf("dead letter is %s to %s, want the last payload", *letter.MessageBody, *letter.QueueUrl)
				}
			})
		})
	}
}

func TestAttemptsAreNumberedUntilLambdaAcceptsTheEvent(t *testing.T) {
	t.Parallel()
	spec := with(scheduled("cron(0 1 1 1 ? *)"), func(s *stack.Schedule) { s.Input = `<aws.scheduler.attempt-number>` })
	inWorld(t, []stack.Schedule{spec}, func(t *testing.T, w *world) {
		answers := []error{runtime.ErrThrottled, runtime.ErrThrottled, errFunction, runtime.ErrThrottled, errFunction, nil}
		w.lambda.answer = func(_ context.Context, n int) error { return answers[n-1] }
		w.Start()
		pass(48 * time.Hour)
		var got []string
		for _, c := range w.lambda.all() {
			got = append(got, c.payload)
		}
		if want := []string{"1", "2", "3", "3", "3", "3"}; !slices.Equal(got, want) {
			t.Errorf("attempts %v, want %v", got, want)
		}
	})
}

func TestEventIsLoggedWithoutDeadLetterQueue(t *testing.T) {
	t.Parallel()
	inWorld(t, []stack.Schedule{with(scheduled("cron(0 1 1 1 ? *)"), func(s *stack.Schedule) { s.Input = `{"find":"me"}` })}, func(t *testing.T, w *world) {
		w.lambda.answer = func(context.Context, int) error { return runtime.ErrPayloadTooLarge }
		w.Start()
		pass(48 * time.Hour)
		if logged := w.logs.String(); !strings.Contains(logged, "find") || !strings.Contains(logged, "could not be delivered") {
			t.Errorf("log is %s", logged)
		}
	})
}

// TestNext tests the failure policy.
func TestNext(t *testing.T) {
	t.Parallel()
	spec := stack.Schedule{MaximumRetryAttempts: 3, MaximumEventAge: time.Hour, Async: lambdasDefaults}
	throttled, gone := runtime.ErrThrottled, runtime.ErrFunctionNotFound
	for _, test := range []struct {
		name string
		err  error
		so   tries
		want step
	}{
		{"success", nil, tries{refused: 2, failed: 1}, step{action: done}},
		{"the function's first failure", errFunction, tries{failed: 1}, step{action: retry, base: time.Minute}},
		{"its second", errFunction, tries{failed: 2}, step{action: retry, base: 2 * time.Minute}},
		{"its third", errFunction, tries{failed: 3}, step{action: drop}},
		{"a first refusal", throttled, tries{refused: 1}, step{action: retry, base: time.Second / 2, random: time.Second / 2}},
		{"the last that is allowed", throttled, tries{refused: 3}, step{action: retry, base: 2 * time.Second, random: 2 * time.Second}},
		{"one too many", throttled, tries{refused: 4}, step{action: deadLetter, condition: "MaximumRetryAttempts"}},
		{"too old", throttled, tries{refused: 1, age: time.Hour}, step{action: deadLetter, condition: "MaximumEventAgeInSeconds"}},
		{"refused permanently", gone, tries{refused: 1}, step{action: deadLetter}},
		{"accepted, and no instance", throttled, tries{refused: 9, failed: 1, age: 5 * time.Hour}, step{action: retry, base: 128 * time.Second, random: 128 * time.Second}},
		{"accepted, and no instance for hours", throttled, tries{refused: 99, failed: 1, age: 6 * time.Hour}, step{action: drop}},
		{"accepted, and the function does not exist", gone, tries{refused: 1, failed: 1}, step{action: drop}},
	} {
		if got := next(test.err, test.so, spec); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	if got := backoff(1000); got != maxBackoff {
		t.Errorf("the longest wait is %s, want %s", got, maxBackoff)
	}
}
