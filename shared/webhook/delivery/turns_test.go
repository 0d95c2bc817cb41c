package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/clock"
)

func TestNextTurns(t *testing.T) {
	t.Parallel()
	now := midnight
	at := func(after time.Duration) *clock.Timestamp { return stamp(now.Add(after)) }
	rest := func(wait time.Duration) Turns { return Turns{DueAt: at(wait), NotBefore: at(wait)} }
	down := Health{FailingSince: stamp(now.Add(-10 * time.Minute))} // so the next turn is after a minute
	longAgo := stamp(now.Add(-confirmAfter))
	for _, tc := range []struct {
		name string
		end  turnEnd
		Health
		drainedAt *clock.Timestamp
		want      Turns
	}{
		{"failed, more deliveries are due", turnEnd{hasFailed: true, hasMore: true}, down, nil, rest(time.Minute)},
		{
			"failed, no other delivery is due", turnEnd{hasFailed: true}, down, nil,
			Turns{DueAt: at(confirmAfter), NotBefore: at(time.Minute), DrainedAt: at(0)},
		},
		{
			"failed, the next delivery is due soon", turnEnd{hasFailed: true, nextDue: now.Add(5 * time.Second)}, down, nil,
			Turns{DueAt: at(time.Minute), NotBefore: at(time.Minute), DrainedAt: at(0)},
		},
		{
			"failed, the next delivery is due later, not confirmed",
			turnEnd{hasFailed: true, nextDue: now.Add(time.Hour)}, down, nil,
			Turns{DueAt: at(confirmAfter), NotBefore: at(time.Minute), DrainedAt: at(0)},
		},
		{
			"failed, the next delivery is due later, confirmed",
			turnEnd{hasFailed: true, nextDue: now.Add(time.Hour)}, down, longAgo,
			Turns{DueAt: at(time.Hour), NotBefore: at(time.Minute), DrainedAt: longAgo},
		},
		{
			"failed for the first time", turnEnd{hasFailed: true, hasMore: true}, Health{FailingSince: stamp(now)}, nil,
			rest(5 * time.Second),
		},
		{"failed, the time is not known", turnEnd{hasFailed: true, hasMore: true}, Health{}, nil, rest(5 * time.Second)},
		{
			"more deliveries are due", turnEnd{hasMore: true, nextDue: now.Add(time.Hour), window: 4}, down, longAgo,
			Turns{DueAt: at(0), Window: 4},
		},
		{
			"a delivery is due soon", turnEnd{nextDue: now.Add(time.Second)}, Health{}, nil,
			Turns{DueAt: at(time.Second), DrainedAt: at(0)},
		},
		{
			"a delivery is due later, not confirmed", turnEnd{nextDue: now.Add(time.Hour)}, Health{}, nil,
			Turns{DueAt: at(confirmAfter), DrainedAt: at(0)},
		},
		{
			"a delivery is due later, confirmed", turnEnd{nextDue: now.Add(time.Hour)}, Health{}, longAgo,
			Turns{DueAt: at(time.Hour), DrainedAt: longAgo},
		},
		{"no delivery waits", turnEnd{}, Health{}, nil, Turns{DueAt: at(confirmAfter), DrainedAt: at(0)}},
		{
			"a turn too early to confirm it", turnEnd{}, Health{}, at(-time.Second),
			Turns{DueAt: at(confirmAfter - time.Second), DrainedAt: at(-time.Second)},
		},
		{"confirmed that no delivery waits", turnEnd{window: 4}, Health{}, longAgo, Turns{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := Webhook{ID: webhookA, Health: tc.Health, Turns: Turns{DrainedAt: tc.drainedAt}}
			if tc.want.DueAt != nil {
				tc.want.Due = duePartition(webhookA)
			}
			if diff := cmp.Diff(tc.want, tc.end.nextTurns(w, now, 0)); diff != "" {
				t.Errorf("the next turn (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTurnWait(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		outage time.Duration
		jitter float64 // 1 and -1 change the wait by 20 %
		want   time.Duration
		took   time.Duration // of the failed attempts
	}{
		{0, 0, 5 * time.Second, 0},
		{-time.Hour, 0, 5 * time.Second, 0}, // the clock was set back
		{50 * time.Second, 0, 5 * time.Second, 0},
		{time.Minute, 0, 6 * time.Second, 0},
		{time.Minute, -1, 4800 * time.Millisecond, 0},
		{0, 1, 6 * time.Second, 0},
		{10 * time.Minute, 0, time.Minute, 0},
		{10 * time.Minute, 0.5, 66 * time.Second, 0},
		{5 * time.Hour, 0, 30 * time.Minute, 0},
		{10 * time.Hour, 0, time.Hour, 0},
		{100 * time.Hour, 0, time.Hour, 0},
		{100 * time.Hour, -1, 48 * time.Minute, 0},
		{100 * time.Hour, 1, 72 * time.Minute, 0},
		{time.Minute, 0, time.Minute, 15 * time.Second}, // it hangs
		{time.Hour, 0, 6 * time.Minute, 15 * time.Second},
	} {
		if got := turnWait(stamp(midnight.Add(-tc.outage)), tc.took, midnight, tc.jitter); got != tc.want {
			t.Errorf("outage of %v, jitter %v: got %v, want %v", tc.outage, tc.jitter, got, tc.want)
		}
	}
	if got := turnWait(nil, 0, midnight, 0); got != shortestTurnWait {
		t.Errorf("outage not known: got %v, want %v", got, shortestTurnWait)
	}
}
