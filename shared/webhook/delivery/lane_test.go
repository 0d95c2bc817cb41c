package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// An endpoint is due no later than messageTimeout after deliveries were added, unless its next turn has to wait.
func TestArmed(t *testing.T) {
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
		{"message on its way", Turns{ArmedAt: stampPtr(now.Add(time.Millisecond - messageTimeout))}, messageTimeout, false},
		{"message was lost", Turns{ArmedAt: stampPtr(now.Add(-messageTimeout))}, messageTimeout, true},
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
			dueAt, send := tc.armed(now)
			if got := dueAt.Sub(now); got != tc.dueIn || send != tc.send {
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
	for _, tc := range []struct {
		name string
		end  turnEnd
		Health
		drained bool
		want    nextTurn
	}{
		{"failed, more deliveries are due", turnEnd{failed: true, more: true}, down, false, rest(time.Minute)},
		{"failed, no other delivery waits", turnEnd{failed: true}, down, false, rest(time.Minute)},
		{"failed after an empty turn", turnEnd{failed: true}, down, true, rest(time.Minute)},
		{
			"failed, the next delivery is due earlier", turnEnd{failed: true, next: at(5 * time.Second)}, down, false,
			rest(time.Minute),
		},
		{
			"failed, the next delivery is due later", turnEnd{failed: true, next: at(time.Hour)}, down, false,
			nextTurn{dueAt: at(time.Hour), notBefore: at(time.Minute)},
		},
		{
			"failed, more deliveries are due, another one later", turnEnd{failed: true, more: true, next: at(time.Hour)},
			down, false, rest(time.Minute),
		},
		{
			"failed for the first time", turnEnd{failed: true}, Health{FailingSince: stampPtr(now)}, false,
			rest(5 * time.Second),
		},
		{"failed, the time is not known", turnEnd{failed: true}, Health{}, false, rest(5 * time.Second)},
		{"more deliveries are due", turnEnd{more: true, next: at(time.Hour)}, down, true, nextTurn{dueAt: now}},
		{"a delivery is due later", turnEnd{next: at(time.Hour)}, down, true, nextTurn{dueAt: at(time.Hour)}},
		{"no delivery waits", turnEnd{}, Health{}, false, nextTurn{dueAt: at(confirmAfter), drained: true}},
		{"still no delivery waits", turnEnd{}, Health{}, true, nextTurn{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.end.plan(tc.Health, tc.drained, now, 0), compareUnexported); diff != "" {
				t.Errorf("the next turn (-want +got):\n%s", diff)
			}
		})
	}
}

// While deliveries wait, the endpoint stays in the index. It is due when a delivery is due, but not before it has
// rested.
func TestEndpointsWithDeliveriesStayDue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		end := turnEnd{failed: rapid.Bool().Draw(t, "failed"), more: rapid.Bool().Draw(t, "more")}
		if rapid.Bool().Draw(t, "waits") {
			end.next = midnight.Add(time.Duration(rapid.Int64Range(1, int64(24*time.Hour)).Draw(t, "next")))
		}
		outage := time.Duration(rapid.Int64Range(0, int64(80*time.Hour)).Draw(t, "outage"))
		h := Health{FailingSince: stampPtr(midnight.Add(-outage))}
		drained, jitter := rapid.Bool().Draw(t, "drained"), rapid.Float64Range(-1, 1).Draw(t, "jitter")
		next := end.plan(h, drained, midnight, jitter)
		waits := end.failed || end.more || !end.next.IsZero()
		switch {
		case waits && (next.dueAt.IsZero() || next.drained):
			t.Fatalf("got %+v after %+v, want the endpoint due, because deliveries wait", next, end)
		case !waits && !drained && next.dueAt.IsZero():
			t.Fatalf("got %+v, want another turn that confirms that no delivery waits", next)
		case end.failed == next.notBefore.IsZero() || next.dueAt.Before(next.notBefore):
			t.Fatalf("got %+v after %+v, want a rest only after a failure, and no turn before its end", next, end)
		}
		if latest := later(end.next, next.notBefore); waits && next.dueAt.After(later(latest, midnight)) {
			t.Fatalf("got %+v after %+v, want a turn at %v", next, end, latest)
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

func TestWidenedWindow(t *testing.T) {
	t.Parallel()
	for prompt, windows := range map[bool][]int{false: {2, 4, 8, 8, 8}, true: {2, 4, 8, 16, 32, 32}} {
		window := 1
		for _, want := range windows {
			if window = widened(window, Health{Prompt: prompt}); window != want {
				t.Errorf("prompt %t: got window %d, want %d", prompt, window, want)
			}
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
