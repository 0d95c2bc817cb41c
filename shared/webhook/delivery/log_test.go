package delivery

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"devplatform/shared/clock"
	"devplatform/shared/id"
)

func succeeded(d Delivery, now time.Time) Delivery {
	d.Attempts = []Attempt{{At: clock.Stamp(now), StatusCode: 200, DurationMs: 5, Response: "ok"}}
	return d.withFinalStatus(Succeeded, "")
}

func failed(d Delivery, now time.Time) Delivery {
	d.Attempts, d.Tries = []Attempt{{At: clock.Stamp(now), DurationMs: 5, Error: "the connection was refused"}}, 1
	return d.withFinalStatus(Failed, "")
}

func waiting(d Delivery, now time.Time) Delivery {
	d = failed(d, now)
	return d.withRetry(now.Add(time.Hour), now)
}

func inProgress(d Delivery, now time.Time) Delivery {
	d, _ = d.withLease(Webhook{Active: true}, now, 0)
	return d
}

func notAttempted(d Delivery, _ time.Time) Delivery {
	return d.withFinalStatus(Failed, "the webhook is not active")
}

// Only deliveries that failed, or wait after a failed attempt, are recoverable. A recovered delivery is not recoverable
// until it fails again.
func TestRecoverable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		d := Delivery{ID: "dlv_1", Attempts: []Attempt{}, Test: rapid.Bool().Draw(t, "test")}.withFastAttempt(now, now)
		for _, step := range rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "steps") {
			now = now.Add(time.Minute)
			switch step {
			case 0:
				d = succeeded(d, now)
			case 1:
				d = failed(d, now)
			case 2:
				d = inProgress(d, now)
			case 3:
				d = waiting(d, now)
			case 4:
				d = notAttempted(d, now)
			case 5:
				d = d.afterRestart(now, rapid.Bool().Draw(t, "manual"))
			}
			want := !d.Test && (step == 1 || step == 3 || step == 4)
			if got := d.isRecoverable(now); got != want {
				t.Fatalf("recoverable after step %d: got %t, want %t, for %+v", step, got, want, d)
			}
			if d.afterRestart(now, false).isRecoverable(now) {
				t.Fatal("a restarted delivery is recoverable")
			}
			finished := d.FinishedAttempts(now)
			if leased := d.hasLease(now); leased != (len(finished) < len(d.Attempts)) {
				t.Fatalf("%d of %d attempts are finished, leased: %t", len(finished), len(d.Attempts), leased)
			}
		}
	})
}

func TestLastIDBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		moment := time.UnixMilli(rapid.Int64Range(1, 1<<45).Draw(r, "moment"))
		entropy := [10]byte(rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(r, "entropy"))
		last := lastIDBefore(moment)
		atMoment := id.Delivery.From(moment, entropy)
		before := id.Delivery.From(moment.Add(-time.Millisecond), entropy)
		if !id.Delivery.Valid(last) || atMoment <= last || before > last {
			r.Fatalf("got %s, want an ID from %s to %s", last, before, atMoment)
		}
	})
	last := lastIDBefore(time.Time{})
	if first := id.Delivery.From(noon, [10]byte{}); !id.Delivery.Valid(last) || last > first {
		t.Errorf("got %s for the zero time, want a valid ID before %s", last, first)
	}
}
