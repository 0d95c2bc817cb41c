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
	for _, tc := range []struct {
		name   string
		health Health
		result sender.Result
		want   Health
	}{
		{"first success", Health{}, ok, Health{LastAt: stampPtr(now), LastStatus: Succeeded}},
		{
			"success after failures",
			Health{Timeouts: 3, Failures: 7, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now)}, ok,
			Health{LastAt: stampPtr(now), LastStatus: Succeeded},
		},
		{
			"first failure", Health{}, failure,
			Health{Failures: 1, FailingSince: stampPtr(now), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"failure after time-outs", Health{Timeouts: 2, Failures: 2, FailingSince: stampPtr(before)}, failure,
			Health{Failures: 3, FailingSince: stampPtr(before), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"time-out", Health{Timeouts: 2, Failures: 2, FailingSince: stampPtr(before)}, timeout,
			Health{Timeouts: 3, Failures: 3, FailingSince: stampPtr(before), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"failed probe releases its lease, endpoint stays unhealthy",
			Health{Timeouts: 3, Failures: 10, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now)}, failure,
			Health{Timeouts: 3, Failures: 10, FailingSince: stampPtr(before), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"probe that times out keeps its lease",
			Health{Timeouts: 3, Failures: 10, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now)}, timeout,
			Health{
				Timeouts: 3, Failures: 10, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now),
				LastAt: stampPtr(now), LastStatus: Failed,
			},
		},
		{
			"slow failure counts as a time-out",
			Health{Timeouts: 2, Failures: 2, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now)},
			sender.Result{StatusCode: 500, Error: "status 500", Duration: slowFailure},
			Health{
				Timeouts: 3, Failures: 3, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now),
				LastAt: stampPtr(now), LastStatus: Failed,
			},
		},
		{
			"failure slightly faster than slowFailure", Health{Timeouts: 2, Failures: 2, FailingSince: stampPtr(before)},
			sender.Result{StatusCode: 500, Error: "status 500", Duration: slowFailure - time.Millisecond},
			Health{Failures: 3, FailingSince: stampPtr(before), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"slow success", Health{Timeouts: 2, Failures: 2, FailingSince: stampPtr(before)},
			sender.Result{StatusCode: 200, Duration: 14 * time.Second}, Health{LastAt: stampPtr(now), LastStatus: Succeeded},
		},
		{"aborted attempt", Health{Timeouts: 1}, sender.Result{Error: "x", Aborted: true}, Health{Timeouts: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.health.after(tc.result, now)); diff != "" {
				t.Errorf("the health (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHealthIsStoredWhenItChanges(t *testing.T) {
	t.Parallel()
	healthy := Health{LastAt: stampPtr(midnight), LastStatus: Succeeded}
	failing := Health{LastAt: stampPtr(midnight), LastStatus: Failed, Failures: 10, FailingSince: stampPtr(midnight)}
	ok, failure, timeout := sender.Result{}, sender.Result{Error: "x"}, sender.Result{Error: "x", TimedOut: true}
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
		{"failure after a success", healthy, failure, time.Second, true},
		{"success after a failure", failing, ok, time.Second, true},
		{"failure beyond disableFailures", failing, failure, time.Second, false},
		{"time-out beyond disableFailures", failing, timeout, time.Second, true},
		{"aborted attempt", failing, sender.Result{Error: "x", Aborted: true}, time.Second, false},
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
