package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/sender"
)

var compareUnexported = cmp.AllowUnexported(plan{}, decision{}, Attempt{})

func stampPtr(at time.Time) *clock.Timestamp {
	stamp := clock.Stamp(at)
	return &stamp
}

func TestPlanNext(t *testing.T) {
	t.Parallel()
	now := midnight
	pending := Delivery{Status: Pending, NextAttemptAt: stampPtr(now)}
	active := &Webhook{Active: true}
	unhealthy := &Webhook{Active: true, Health: Health{Timeouts: 3}}
	probed := &Webhook{Active: true, Health: Health{Timeouts: 4, ProbeUntil: stampPtr(now.Add(time.Second))}}
	probeExpired := &Webhook{Active: true, Health: Health{Timeouts: 3, ProbeUntil: stampPtr(now)}}
	with := func(change func(*Delivery)) Delivery {
		d := pending
		change(&d)
		return d
	}
	manual := with(func(d *Delivery) { d.Manual = 1 })
	later := now.Add(3 * time.Second)
	for _, tc := range []struct {
		name     string
		delivery Delivery
		webhook  *Webhook
		want     plan
	}{
		{"due", pending, active, plan{action: actionAttempt}},
		{"succeeded", with(func(d *Delivery) { d.Status = Succeeded }), active, plan{action: actionSkip}},
		{"failed", with(func(d *Delivery) { d.Status = Failed }), nil, plan{action: actionSkip}},
		{"leased", with(func(d *Delivery) { d.LeaseUntil = stampPtr(now.Add(time.Millisecond)) }), active, plan{action: actionSkip}},
		{"leased, of a deleted webhook", with(func(d *Delivery) { d.LeaseUntil = stampPtr(later) }), nil, plan{action: actionSkip}},
		{"the lease has expired", with(func(d *Delivery) { d.LeaseUntil = stampPtr(now) }), active, plan{action: actionAttempt}},
		{"not due yet", with(func(d *Delivery) { d.NextAttemptAt = stampPtr(later) }), active, plan{action: actionWait, until: later}},
		{"not due yet, within the clock skew", with(func(d *Delivery) { d.NextAttemptAt = stampPtr(now.Add(time.Second)) }), active, plan{action: actionAttempt}},
		{"the last attempt was interrupted", with(func(d *Delivery) { d.Tries = 10 }), active, plan{action: actionFail}},
		{"deleted", pending, nil, plan{action: actionFail, reason: "the webhook was deleted"}},
		{"deleted, redelivery", manual, nil, plan{action: actionFail, reason: "the webhook was deleted"}},
		{"inactive", pending, &Webhook{}, plan{action: actionFail, reason: "the webhook is not active"}},
		{"disabled", pending, &Webhook{DisabledReason: "x"}, plan{action: actionFail, reason: "the webhook was disabled: x"}},
		{"inactive, redelivery", manual, &Webhook{}, plan{action: actionAttempt}},
		{"unhealthy", pending, unhealthy, plan{action: actionAttempt, probe: true}},
		{"unhealthy, probe in progress", pending, probed, plan{action: actionPark}},
		{"unhealthy, probe lease expired", pending, probeExpired, plan{action: actionAttempt, probe: true}},
		{"unhealthy, probe in progress, redelivery", manual, probed, plan{action: actionAttempt}},
		{"two time-outs", pending, &Webhook{Active: true, Health: Health{Timeouts: 2}}, plan{action: actionAttempt}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, planNext(tc.delivery, tc.webhook, now), compareUnexported); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	now := midnight
	active := Webhook{Active: true}
	longAgo := now.Add(-5 * 24 * time.Hour)
	failing := func(since time.Time, failures int) Webhook {
		return Webhook{Active: true, Health: Health{Failures: failures, FailingSince: stampPtr(since)}}
	}
	bad := sender.Result{StatusCode: 500, Error: "status 500"}
	gone := sender.Result{StatusCode: 410, Error: "status 410", Gone: true}
	retryAfter := func(after time.Duration) sender.Result {
		return sender.Result{StatusCode: 429, Error: "status 429", RetryAfter: after}
	}
	in := func(d time.Duration) decision { return decision{outcome: outcomeRetry, at: now.Add(d)} }
	for _, tc := range []struct {
		name    string
		tries   int
		webhook Webhook
		result  sender.Result
		jitter  float64
		want    decision
	}{
		{"success", 1, active, sender.Result{StatusCode: 204}, 0, decision{outcome: outcomeSucceeded}},
		{"the last attempt succeeds", 10, failing(longAgo, 9), sender.Result{StatusCode: 200}, 0, decision{outcome: outcomeSucceeded}},
		{"1st", 1, active, bad, 0, in(5 * time.Second)},
		{"2nd", 2, active, bad, 0, in(5 * time.Minute)},
		{"3rd", 3, active, bad, 0, in(30 * time.Minute)},
		{"4th", 4, active, bad, 0, in(2 * time.Hour)},
		{"5th", 5, active, bad, 0, in(5 * time.Hour)},
		{"6th", 6, active, bad, 0, in(10 * time.Hour)},
		{"7th", 7, active, bad, 0, in(14 * time.Hour)},
		{"8th", 8, active, bad, 0, in(20 * time.Hour)},
		{"9th", 9, active, bad, 0, in(24 * time.Hour)},
		{"10th", 10, active, bad, 0, decision{outcome: outcomeGiveUp}},
		{"jitter up", 1, active, bad, 1, in(6 * time.Second)},
		{"jitter down", 4, active, bad, -1, in(96 * time.Minute)},
		{"Retry-After below twice the wait", 2, active, retryAfter(8 * time.Minute), 1, in(8 * time.Minute)},
		{"Retry-After above twice the wait", 1, active, retryAfter(time.Hour), 0, in(10 * time.Second)},
		{"Retry-After below the wait", 2, active, retryAfter(time.Second), -1, in(4 * time.Minute)},
		{"410", 1, active, gone, 0, decision{outcome: outcomeDisable, reason: disabledGone}},
		{"410 to a redelivery, inactive webhook", 1, Webhook{}, gone, 0, decision{outcome: outcomeGiveUp}},
		{"failed redelivery, inactive webhook", 1, Webhook{}, bad, 0, decision{outcome: outcomeGiveUp}},
		{"five days, ten failures", 1, failing(longAgo, 9), bad, 0, decision{outcome: outcomeDisable, reason: disabledFailing, failingSince: stampPtr(longAgo)}},
		{"less than five days", 1, failing(longAgo.Add(time.Millisecond), 10), bad, 0, in(5 * time.Second)},
		{"less than ten failures", 1, failing(longAgo, 8), bad, 0, in(5 * time.Second)},
		{"aborted, in a long series of failures", 1, failing(longAgo, 10), sender.Result{Error: "x", Aborted: true}, 0, in(5 * time.Second)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, decide(Delivery{Tries: tc.tries}, tc.webhook, tc.result, now, tc.jitter), compareUnexported); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each change of the index entry costs a write. A claim that is made in time keeps the entry.
func TestClaimKeepsTheIndexEntry(t *testing.T) {
	t.Parallel()
	born := Delivery{Attempts: []Attempt{}}.scheduled(midnight, midnight.Add(messageTimeout))
	for later, same := range map[time.Duration]bool{time.Second: true, 50 * time.Second: true, time.Minute: false, time.Hour: false} {
		now := midnight.Add(later)
		d, _ := born.claimed(Webhook{Active: true}, now, 0)
		if d.DueAt.Equal(*born.DueAt) != same || d.DueAt.Time().Before(d.LeaseUntil.Time()) {
			t.Errorf("claimed after %v: due at %v", later, d.DueAt)
		}
	}
}

func TestParkTime(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		since  *clock.Timestamp
		jitter float64
		want   time.Duration
	}{
		{nil, -1, time.Minute},
		{nil, 1, 5 * time.Minute},
		{stampPtr(midnight.Add(-time.Minute)), 1, 5 * time.Minute},
		{stampPtr(midnight.Add(-3 * time.Hour)), 0, 9 * time.Minute},
		{stampPtr(midnight.Add(-72 * time.Hour)), 1, time.Hour},
	} {
		if got := parkTime(tc.since, midnight, tc.jitter); got != tc.want {
			t.Errorf("since %v, %v: got %v, want %v", tc.since, tc.jitter, got, tc.want)
		}
	}
}

// A pending delivery is always in the index. Its time there is not before the end of its lease, and not long after its
// next attempt. The times of its attempts are unique.
func TestPendingDeliveriesAreAlwaysFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := midnight
		d := Delivery{ID: "dlv_01KGA52E40ABCDEFGHJKMNPQRS", Attempts: []Attempt{}}.scheduled(now, now.Add(messageTimeout))
		w := Webhook{Active: true}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "later")))
			jitter := rapid.Float64Range(-1, 1).Draw(t, "jitter")
			if rapid.Bool().Draw(t, "redelivered") {
				d = d.restarted(now, rapid.Bool().Draw(t, "manual"))
			}
			switch p := planNext(d, &w, now); p.action {
			case actionFail:
				d = d.finished(Failed, p.reason)
			case actionWait:
				if !isSoon(p.until, now) {
					d = d.deferred(p.until)
				}
			case actionAttempt:
				var at clock.Timestamp
				d, at = d.claimed(w, now, jitter)
				checkFound(t, d, now)
				if rapid.Bool().Draw(t, "crash") {
					continue
				}
				r := sender.Result{StatusCode: 500, Error: "status 500", RetryAfter: time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "asked"))}
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(15*time.Second)).Draw(t, "took")))
				d, _ = d.recorded(attemptOf(at, r), d.Manual > 0, decide(d, w, r, now, jitter), now)
			}
			checkFound(t, d, now)
		}
	})
}

func checkFound(t *rapid.T, d Delivery, now time.Time) {
	for i := 1; i < len(d.Attempts); i++ {
		if !d.Attempts[i].At.Time().After(d.Attempts[i-1].At.Time()) {
			t.Fatalf("attempts %v", d.Attempts)
		}
	}
	if len(d.Attempts) > maxAttemptsKept || d.Tries > maxTries {
		t.Fatalf("%d attempts are kept, %d tries", len(d.Attempts), d.Tries)
	}
	if d.Status != Pending {
		if d.Due != "" || d.DueAt != nil || d.NextAttemptAt != nil || d.LeaseUntil != nil {
			t.Fatalf("finished, but in the index: %+v", d)
		}
		return
	}
	switch {
	case d.Due == "" || d.DueAt == nil || d.NextAttemptAt == nil:
		t.Fatalf("not in the index: %+v", d)
	case d.LeaseUntil != nil && d.DueAt.Time().Before(d.LeaseUntil.Time()):
		t.Fatalf("due at %v, leased until %v", d.DueAt, d.LeaseUntil)
	case d.DueAt.Time().After(d.NextAttemptAt.Time().Add(messageTimeout)) && d.DueAt.Time().After(now.Add(messageTimeout)):
		t.Fatalf("due at %v, next attempt at %v", d.DueAt, d.NextAttemptAt)
	}
}

// If a redelivery was requested during an attempt, the result of the attempt is recorded and the new run is not
// changed.
func TestRecordAfterARedelivery(t *testing.T) {
	t.Parallel()
	now := midnight
	d, at := Delivery{ID: "dlv_1", Status: Pending, NextAttemptAt: stampPtr(now), Attempts: []Attempt{}}.claimed(Webhook{Active: true}, now, 0)
	redelivered := d.restarted(now, true)
	ok := sender.Result{StatusCode: 200}
	got, changed := redelivered.recorded(attemptOf(at, ok), false, decision{outcome: outcomeSucceeded}, now)
	if !changed || got.Status != Pending || got.Manual != 1 || got.leased(now) || got.Tries != 0 || got.Attempts[0].StatusCode != 200 {
		t.Errorf("recorded after a redelivery: %+v, %v", got, changed)
	}
	if redelivered.Attempts[0].StatusCode != 0 {
		t.Error("recorded changed its receiver")
	}
	second, secondAt := got.claimed(Webhook{Active: true}, now, 0) // in the same millisecond
	if secondAt.Equal(at) {
		t.Error("two attempts have the same time")
	}
	if got, changed := second.recorded(attemptOf(at, ok), false, decision{outcome: outcomeSucceeded}, now); changed || got.Status != Pending {
		t.Errorf("recorded twice: %+v, %v", got, changed)
	}
	third, changed := second.recorded(attemptOf(secondAt, ok), true, decision{outcome: outcomeSucceeded}, now)
	if !changed || third.Status != Succeeded || third.Manual != 0 {
		t.Errorf("the second attempt: %+v, %v", third, changed)
	}
}

// Each requested redelivery leads to exactly one completed attempt, which begins after the request. This does not
// depend on when redeliveries are requested and how attempts end.
func TestEachRedeliveryIsAttempted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now, w := midnight, Webhook{Active: true}
		d := Delivery{ID: "dlv_1", Attempts: []Attempt{}}.finished(Failed, "")
		requested, attempted, crashes, maxConcurrent := 0, 0, 0, 3
		play := func(step string) {
			now = now.Add(time.Second)
			switch {
			case step == "redeliver":
				requested++
				d = d.restarted(now, true)
			case planNext(d, &w, now).action != actionAttempt:
			case step == "crash" && crashes < maxTries-1: // the crashes alone must not use up all attempts
				crashes++
				d, _ = d.claimed(w, now, 0)
				now = d.NextAttemptAt.Time().Add(leaseTime)
			default:
				claimed, at := d.claimed(w, now, 0)
				d = claimed
				for range rapid.IntRange(0, maxConcurrent).Draw(t, "meanwhile") {
					requested++
					d = d.restarted(now, true)
				}
				before, r := d.Manual, sender.Result{StatusCode: 200}
				if rapid.Bool().Draw(t, "fails") {
					r = sender.Result{StatusCode: 500, Error: "status 500"}
				}
				d, _ = d.recorded(attemptOf(at, r), claimed.Manual > 0, decide(claimed, w, r, now, 0), now)
				attempted += before - d.Manual
				if d.Manual > 0 && planNext(d, &w, now).action != actionAttempt {
					t.Fatalf("the next redelivery is not due immediately: %+v", d)
				}
			}
			checkFound(t, d, now)
			if d.Manual != requested-attempted {
				t.Fatalf("%d redeliveries requested, %d attempted, %d remaining", requested, attempted, d.Manual)
			}
		}
		for _, step := range rapid.SliceOf(rapid.SampledFrom([]string{"redeliver", "crash", "attempt"})).Draw(t, "steps") {
			play(step)
		}
		maxConcurrent = 0
		for range d.Manual {
			play("attempt")
		}
		if requested != attempted {
			t.Fatalf("%d redeliveries requested, %d attempted", requested, attempted)
		}
	})
}
