package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/webhook/sender"
)

func TestHealthAfter(t *testing.T) {
	t.Parallel()
	before, now := midnight.Add(-time.Hour), midnight
	ok, failure := sender.Result{StatusCode: 200}, sender.Result{StatusCode: 500, Error: "status 500"}
	timeout := sender.Result{Error: "too slow", TimedOut: true}
	prompt := Health{Prompt: true, LastAt: stamp(now), LastStatus: Succeeded}
	slow := Health{LastAt: stamp(now), LastStatus: Succeeded}
	failed := func(prompt bool, failures int, since time.Time) Health {
		return Health{
			Prompt: prompt, Failures: failures, FailingSince: stamp(since), LastAt: stamp(now), LastStatus: Failed,
		}
	}
	for _, tc := range []struct {
		name   string
		health Health
		result sender.Result
		want   Health
	}{
		{"first success", Health{}, ok, prompt},
		{
			"success slightly faster than PromptTime", Health{},
			sender.Result{StatusCode: 200, Duration: PromptTime - time.Millisecond}, prompt,
		},
		{"slow success", Health{}, sender.Result{StatusCode: 200, Duration: PromptTime}, slow},
		{"success after failures", Health{Failures: 7, FailingSince: stamp(before)}, ok, prompt},
		{"first failure of a new endpoint", Health{}, failure, failed(false, 1, now)},
		{"first failure", Health{Prompt: true}, failure, failed(true, 1, now)},
		{
			"third failure", Health{Prompt: true, Failures: 2, FailingSince: stamp(before)}, failure,
			failed(true, 3, before),
		},
		{"time-out", Health{Prompt: true}, timeout, failed(false, 1, now)},
		{
			"failure beyond disableFailures", Health{Failures: disableFailures, FailingSince: stamp(before)}, failure,
			failed(false, disableFailures, before),
		},
		{"aborted attempt", Health{Prompt: true}, sender.Result{Error: "x", Aborted: true}, Health{Prompt: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.health.after(tc.result, now)); diff != "" {
				t.Errorf("the health (-want +got):\n%s", diff)
			}
		})
	}
}

// An endpoint is in the fast lane after a prompt success, until it times out, responds slowly, or fails three times in
// a row.
func TestLaneOfAnEndpoint(t *testing.T) {
	t.Parallel()
	results := map[byte]sender.Result{
		'p': {StatusCode: 200},
		's': {StatusCode: 200, Duration: 3 * time.Second},
		'f': {StatusCode: 500, Error: "status 500"},
		't': {Error: "too slow", TimedOut: true},
		'a': {Error: "x", Aborted: true},
	}
	for attempts, want := range map[string]lane{
		"": slowLane, "p": fastLane, "s": slowLane, "f": slowLane, "t": slowLane, "a": slowLane, "fp": fastLane,
		"ps": slowLane, "pt": slowLane, "pa": fastLane, "pf": fastLane, "pff": fastLane, "pfff": slowLane,
		"pffpff": fastLane, "pffffp": fastLane, "pffffs": slowLane, "ptp": fastLane, "ptf": slowLane, "pffa": fastLane,
	} {
		var h Health
		for i := range len(attempts) {
			h = h.after(results[attempts[i]], midnight)
		}
		if got := h.lane(); got != want {
			t.Errorf("after the attempts %q: got lane %d, want %d", attempts, got, want)
		}
	}
}

func TestHealthIsStoredWhenItChanges(t *testing.T) {
	t.Parallel()
	healthy := Health{Prompt: true, LastAt: stamp(midnight), LastStatus: Succeeded}
	slow := Health{LastAt: stamp(midnight), LastStatus: Succeeded}
	failing := Health{
		Prompt: true, LastAt: stamp(midnight), LastStatus: Failed, Failures: 10, FailingSince: stamp(midnight),
	}
	ok, failure, timeout := sender.Result{}, sender.Result{Error: "x"}, sender.Result{Error: "x", TimedOut: true}
	slowOK := sender.Result{Duration: 3 * time.Second}
	for _, tc := range []struct {
		name   string
		before Health
		result sender.Result
		wait   time.Duration // since the previous attempt
		want   bool
	}{
		{"first attempt", Health{}, ok, 0, true},
		{"another success", healthy, ok, 59 * time.Second, false},
		{"another success after a minute", healthy, ok, time.Minute, true},
		{"slow success after a prompt one", healthy, slowOK, time.Second, true},
		{"prompt success after a slow one", slow, ok, time.Second, true},
		{"another slow success", slow, slowOK, time.Second, false},
		{"failure after a success", healthy, failure, time.Second, true},
		{"success after a failure", failing, ok, time.Second, true},
		{"failure beyond disableFailures", failing, failure, time.Second, false},
		{"time-out beyond disableFailures", failing, timeout, time.Second, true},
		{"aborted attempt", failing, sender.Result{Error: "x", Aborted: true}, time.Second, false},
		{"aborted first attempt", Health{Prompt: true}, sender.Result{Error: "x", Aborted: true}, time.Second, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			after := tc.before.after(tc.result, midnight.Add(tc.wait))
			if got := after.changedSince(tc.before); got != tc.want {
				t.Errorf("the health should be stored: got %t, want %t", got, tc.want)
			}
		})
	}
}
