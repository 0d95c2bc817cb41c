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
	ok, bad := sender.Result{StatusCode: 200}, sender.Result{StatusCode: 500, Error: "status 500"}
	slow := sender.Result{Error: "too slow", TimedOut: true}
	for _, tc := range []struct {
		name   string
		health Health
		result sender.Result
		want   Health
	}{
		{"a first success", Health{}, ok, Health{LastAt: stampPtr(now), LastStatus: Succeeded}},
		{
			"a success resets everything",
			Health{Timeouts: 3, Failures: 7, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now)}, ok,
			Health{LastAt: stampPtr(now), LastStatus: Succeeded},
		},
		{"a first failure", Health{}, bad, Health{Failures: 1, FailingSince: stampPtr(now), LastAt: stampPtr(now), LastStatus: Failed}},
		{
			"a failure resets the time-outs", Health{Timeouts: 2, Failures: 2, FailingSince: stampPtr(before)}, bad,
			Health{Failures: 3, FailingSince: stampPtr(before), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"a time-out", Health{Timeouts: 2, Failures: 2, FailingSince: stampPtr(before)}, slow,
			Health{Timeouts: 3, Failures: 3, FailingSince: stampPtr(before), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"a failed probe keeps the endpoint unhealthy and releases the lease",
			Health{Timeouts: 3, Failures: 10, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now)}, bad,
			Health{Timeouts: 3, Failures: 10, FailingSince: stampPtr(before), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"a probe that times out keeps its lease",
			Health{Timeouts: 3, Failures: 10, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now)}, slow,
			Health{Timeouts: 3, Failures: 10, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"a slow failure counts as a time-out", Health{Timeouts: 2, Failures: 2, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now)},
			sender.Result{StatusCode: 500, Error: "status 500", Duration: slowFailure},
			Health{Timeouts: 3, Failures: 3, FailingSince: stampPtr(before), ProbeUntil: stampPtr(now), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"a failure just below the slow limit", Health{Timeouts: 2, Failures: 2, FailingSince: stampPtr(before)},
			sender.Result{StatusCode: 500, Error: "status 500", Duration: slowFailure - time.Millisecond},
			Health{Failures: 3, FailingSince: stampPtr(before), LastAt: stampPtr(now), LastStatus: Failed},
		},
		{
			"a slow success", Health{Timeouts: 2, Failures: 2, FailingSince: stampPtr(before)},
			sender.Result{StatusCode: 200, Duration: 14 * time.Second}, Health{LastAt: stampPtr(now), LastStatus: Succeeded},
		},
		{"an aborted attempt", Health{Timeouts: 1}, sender.Result{Error: "x", Aborted: true}, Health{Timeouts: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.health.after(tc.result, now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHealthIsStoredWhenItChanges(t *testing.T) {
	t.Parallel()
	good := Health{LastAt: stampPtr(midnight), LastStatus: Succeeded}
	bad := Health{LastAt: stampPtr(midnight), LastStatus: Failed, Failures: 10, FailingSince: stampPtr(midnight)}
	ok, failure, slow := sender.Result{}, sender.Result{Error: "x"}, sender.Result{Error: "x", TimedOut: true}
	for _, tc := range []struct {
		name   string
		before Health
		result sender.Result
		later  time.Duration
		want   bool
	}{
		{"the first attempt", Health{}, ok, 0, true},
		{"one more success", good, ok, 59 * time.Second, false},
		{"one more success after a minute", good, ok, time.Minute, true},
		{"a failure after a success", good, failure, time.Second, true},
		{"a success after a failure", bad, ok, time.Second, true},
		{"a failure beyond the counted ones", bad, failure, time.Second, false},
		{"a time-out beyond the counted failures", bad, slow, time.Second, true},
		{"an aborted attempt", bad, sender.Result{Error: "x", Aborted: true}, time.Second, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.before.after(tc.result, midnight.Add(tc.later)).changedSince(tc.before); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
