package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/clock"
)

// An endpoint is due no later than messageTimeout after deliveries were added, unless its next turn has to wait.
func TestDueAfterAddition(t *testing.T) {
	t.Parallel()
	now := midnight
	for _, tc := range []struct {
		name string
		Turns
		dueIn time.Duration
		send  bool
	}{
		{"no delivery waits", Turns{}, messageTimeout, true},
		{"due later", Turns{DueAt: stampPtr(now.Add(time.Hour))}, messageTimeout, true},
		{"due soon", Turns{DueAt: stampPtr(now.Add(time.Minute))}, time.Minute, true},
		{"overdue", Turns{DueAt: stampPtr(now.Add(-time.Minute))}, -time.Minute, true},
		{"turn in progress", Turns{TurnUntil: stampPtr(now.Add(time.Millisecond))}, messageTimeout, false},
		{"the lease of the turn has expired", Turns{TurnUntil: stampPtr(now)}, messageTimeout, true},
		{"message on its way", Turns{AddedAt: stampPtr(now.Add(time.Millisecond - messageTimeout))}, messageTimeout, false},
		{"message was lost", Turns{AddedAt: stampPtr(now.Add(-messageTimeout))}, messageTimeout, true},
		{"resting", Turns{NotBefore: stampPtr(now.Add(time.Hour))}, time.Hour, false},
		{"resting for a short time", Turns{NotBefore: stampPtr(now.Add(5 * time.Second))}, 5 * time.Second, false},
		{"rested, within the clock skew", Turns{NotBefore: stampPtr(now.Add(clockSkew))}, messageTimeout, true},
		{"rested", Turns{NotBefore: stampPtr(now.Add(-time.Hour))}, messageTimeout, true},
		{
			"resting, due later", Turns{NotBefore: stampPtr(now.Add(time.Hour)), DueAt: stampPtr(now.Add(2 * time.Hour))},
			time.Hour, false,
		},
		{
			"resting, due earlier", Turns{NotBefore: stampPtr(now.Add(time.Hour)), DueAt: stampPtr(now.Add(time.Minute))},
			time.Minute, false,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			updated := tc.Turns
			if updated.AddedAt == nil || !updated.hasRecentAddition(now) {
				updated.AddedAt = stampPtr(now)
			}
			send := updated.needsMessage(now)
			if got := tc.dueAfterAddition(now).Sub(now); got != tc.dueIn || send != tc.send {
				t.Errorf("got due in %v, message %t, want %v and %t", got, send, tc.dueIn, tc.send)
			}
		})
	}
}

func TestPlanOfTheNextTurn(t *testing.T) {
	t.Parallel()
	now := midnight
	at := func(after time.Duration) time.Time { return now.Add(after) }
	rest := func(wait time.Duration) nextTurn { return nextTurn{dueAt: at(wait), notBefore: at(wait)} }
	down := Health{FailingSince: stampPtr(now.Add(-10 * time.Minute))} // so the next turn is after a minute
	longAgo := stampPtr(now.Add(-confirmAfter))
	for _, tc := range []struct {
		name string
		end  turnEnd
		Health
		drainedAt *clock.Timestamp
		want      nextTurn
	}{
		{"failed, more deliveries are due", turnEnd{failed: true, more: true}, down, nil, rest(time.Minute)},
		{
			"failed, no other delivery is due", turnEnd{failed: true}, down, nil,
			nextTurn{dueAt: at(confirmAfter), notBefore: at(time.Minute), drainedAt: now},
		},
		{
			"failed, the next delivery is due soon", turnEnd{failed: true, next: at(5 * time.Second)}, down, nil,
			nextTurn{dueAt: at(time.Minute), notBefore: at(time.Minute), drainedAt: now},
		},
		{
			"failed, the next delivery is due later, not confirmed", turnEnd{failed: true, next: at(time.Hour)}, down, nil,
			nextTurn{dueAt: at(confirmAfter), notBefore: at(time.Minute), drainedAt: now},
		},
		{
			"failed, the next delivery is due later, confirmed", turnEnd{failed: true, next: at(time.Hour)}, down, longAgo,
			nextTurn{dueAt: at(time.Hour), notBefore: at(time.Minute), drainedAt: longAgo.Time()},
		},
		{
			"failed for the first time", turnEnd{failed: true, more: true}, Health{FailingSince: stampPtr(now)}, nil,
			rest(5 * time.Second),
		},
		{"failed, the time is not known", turnEnd{failed: true, more: true}, Health{}, nil, rest(5 * time.Second)},
		{
			"more deliveries are due", turnEnd{more: true, next: at(time.Hour), window: 4}, down, longAgo,
			nextTurn{dueAt: now, window: 4},
		},
		{
			"a delivery is due soon", turnEnd{next: at(time.Second)}, Health{}, nil,
			nextTurn{dueAt: at(time.Second), drainedAt: now},
		},
		{
			"a delivery is due later, not confirmed", turnEnd{next: at(time.Hour)}, Health{}, nil,
			nextTurn{dueAt: at(confirmAfter), drainedAt: now},
		},
		{
			"a delivery is due later, confirmed", turnEnd{next: at(time.Hour)}, Health{}, longAgo,
			nextTurn{dueAt: at(time.Hour), drainedAt: longAgo.Time()},
		},
		{"no delivery waits", turnEnd{}, Health{}, nil, nextTurn{dueAt: at(confirmAfter), drainedAt: now}},
		{
			"a turn too early to confirm it", turnEnd{}, Health{}, stampPtr(at(-time.Second)),
			nextTurn{dueAt: at(confirmAfter - time.Second), drainedAt: at(-time.Second)},
		},
		{"confirmed that no delivery waits", turnEnd{window: 4}, Health{}, longAgo, nextTurn{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.end.nextTurn(tc.Health, tc.drainedAt, now, 0), compareUnexported); diff != "" {
				t.Errorf("the next turn (-want +got):\n%s", diff)
			}
		})
	}
}

// The endpoint leaves the index only if no delivery waits and this was confirmed. It is not due before it has rested.
func TestEndpointsWithDeliveriesStayDue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		end := turnEnd{failed: rapid.Bool().Draw(t, "failed"), more: rapid.Bool().Draw(t, "more")}
		if rapid.Bool().Draw(t, "waits") {
			end.next = midnight.Add(time.Duration(rapid.Int64Range(1, int64(24*time.Hour)).Draw(t, "next")))
		}
		outage := time.Duration(rapid.Int64Range(0, int64(80*time.Hour)).Draw(t, "outage"))
		h := Health{FailingSince: stampPtr(midnight.Add(-outage))}
		var drainedAt *clock.Timestamp
		if rapid.Bool().Draw(t, "drained") {
			age := rapid.Int64Range(0, int64(2*confirmAfter)).Draw(t, "age")
			drainedAt = stampPtr(midnight.Add(-time.Duration(age)))
		}
		next := end.nextTurn(h, drainedAt, midnight, rapid.Float64Range(-1, 1).Draw(t, "jitter"))
		confirmed := drainedAt != nil && !drainedAt.Time().Add(confirmAfter).After(midnight)
		if next.dueAt.IsZero() {
			if end.more || !end.next.IsZero() || !confirmed {
				t.Fatalf("the endpoint leaves the index after %+v, confirmed: %t", end, confirmed)
			}
			return
		}
		if end.failed == next.notBefore.IsZero() || next.dueAt.Before(next.notBefore) {
			t.Fatalf("got %+v after %+v, want a rest only after a failure, and no turn before its end", next, end)
		}
		if latest := midnight.Add(confirmAfter); !confirmed && next.dueAt.After(later(latest, next.notBefore)) {
			t.Fatalf("got %+v after %+v, want a turn that confirms it after %v", next, end, confirmAfter)
		}
	})
}

func TestTurnWait(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		outage time.Duration
		jitter float64 // 1 and -1 change the wait by 20 %
		want   time.Duration
		took   time.Duration
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
		if got := turnWait(stampPtr(midnight.Add(-tc.outage)), tc.took, midnight, tc.jitter); got != tc.want {
			t.Errorf("outage of %v, jitter %v: got %v, want %v", tc.outage, tc.jitter, got, tc.want)
		}
	}
	if got := turnWait(nil, 0, midnight, 0); got != shortestTurnWait {
		t.Errorf("outage not known: got %v, want %v", got, shortestTurnWait)
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		stored int
		prompt bool
		want   int
	}{{0, false, 1}, {1, false, 1}, {4, false, 4}, {32, false, 8}, {32, true, 32}, {64, true, 32}, {-1, true, 1}} {
		w := Webhook{Health: Health{Prompt: tc.prompt}, Turns: Turns{Window: tc.stored}}
		if got := w.window(); got != tc.want {
			t.Errorf("stored window %d, prompt %t: got %d, want %d", tc.stored, tc.prompt, got, tc.want)
		}
	}
}

func TestFreeSlot(t *testing.T) {
	t.Parallel()
	now, until := midnight, midnight.Add(time.Millisecond)
	for _, tc := range []struct {
		slots slots
		want  int // -1: none is free
	}{
		{slots{}, 0},
		{slots{now, until}, 0}, // the lease has expired
		{slots{until, {}}, 1},
		{slots{until, now}, 1},
		{slots{until, until}, -1},
	} {
		got, ok := tc.slots.free(now)
		if ok != (tc.want >= 0) || ok && got != tc.want {
			t.Errorf("slots %v: got %d, %t, want %d", tc.slots, got, ok, tc.want)
		}
	}
}
