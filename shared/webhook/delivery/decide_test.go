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
	leasedUntil := func(at time.Time) Delivery { return with(func(d *Delivery) { d.LeaseUntil = stampPtr(at) }) }
	dueAt := func(at time.Time) Delivery { return with(func(d *Delivery) { d.NextAttemptAt = stampPtr(at) }) }
	redelivery := with(func(d *Delivery) { d.Manual = 1 })
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
		{"leased", leasedUntil(now.Add(time.Millisecond)), active, plan{action: actionSkip}},
		{"leased, webhook deleted", leasedUntil(later), nil, plan{action: actionSkip}},
		{"lease expired", leasedUntil(now), active, plan{action: actionAttempt}},
		{"not due yet", dueAt(later), active, plan{action: actionWait, until: later}},
		{"not due yet, within the clock skew", dueAt(now.Add(time.Second)), active, plan{action: actionAttempt}},
		{"last attempt interrupted", with(func(d *Delivery) { d.Tries = 10 }), active, plan{action: actionFail}},
		{"webhook deleted", pending, nil, plan{action: actionFail, reason: "the webhook was deleted"}},
		{"webhook deleted, redelivery", redelivery, nil, plan{action: actionFail, reason: "the webhook was deleted"}},
		{"webhook inactive", pending, &Webhook{}, plan{action: actionFail, reason: "the webhook is not active"}},
		{
			"webhook disabled", pending, &Webhook{DisabledReason: "x"},
			plan{action: actionFail, reason: "the webhook was disabled: x"},
		},
		{"webhook inactive, redelivery", redelivery, &Webhook{}, plan{action: actionAttempt}},
		{"unhealthy", pending, unhealthy, plan{action: actionAttempt, probe: true}},
		{"unhealthy, probe in progress", pending, probed, plan{action: actionPark}},
		{"unhealthy, probe lease expired", pending, probeExpired, plan{action: actionAttempt, probe: true}},
		{"unhealthy, probe in progress, redelivery", redelivery, probed, plan{action: actionAttempt}},
		{
			"two time-outs, not unhealthy yet", pending, &Webhook{Active: true, Health: Health{Timeouts: 2}},
			plan{action: actionAttempt},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := planNext(tc.delivery, tc.webhook, now)
			if diff := cmp.Diff(tc.want, got, compareUnexported); diff != "" {
				t.Errorf("wrong plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	now := midnight
	active := Webhook{Active: true}
	fiveDaysAgo := now.Add(-5 * 24 * time.Hour)
	// failing returns a webhook as it is before the attempt: failures does not count the attempt.
	failing := func(since time.Time, failures int) Webhook {
		return Webhook{Active: true, Health: Health{Failures: failures, FailingSince: stampPtr(since)}}
	}
	ok := sender.Result{StatusCode: 204}
	failure := sender.Result{StatusCode: 500, Error: "status 500"}
	aborted := sender.Result{Error: "x", Aborted: true}
	gone := sender.Result{StatusCode: 410, Error: "status 410", Gone: true}
	retryAfter := func(after time.Duration) sender.Result {
		return sender.Result{StatusCode: 429, Error: "status 429", RetryAfter: after}
	}
	retryIn := func(d time.Duration) decision { return decision{outcome: outcomeRetry, at: now.Add(d)} }
	for _, tc := range []struct {
		name    string
		tries   int
		webhook Webhook
		result  sender.Result
		jitter  float64 // 1 and -1 change the wait of the schedule by 20 %
		want    decision
	}{
		{"success", 1, active, ok, 0, decision{outcome: outcomeSucceeded}},
		{"success of the last attempt", 10, failing(fiveDaysAgo, 9), ok, 0, decision{outcome: outcomeSucceeded}},
		{"1st failure", 1, active, failure, 0, retryIn(5 * time.Second)},
		{"2nd failure", 2, active, failure, 0, retryIn(5 * time.Minute)},
		{"3rd failure", 3, active, failure, 0, retryIn(30 * time.Minute)},
		{"4th failure", 4, active, failure, 0, retryIn(2 * time.Hour)},
		{"5th failure", 5, active, failure, 0, retryIn(5 * time.Hour)},
		{"6th failure", 6, active, failure, 0, retryIn(10 * time.Hour)},
		{"7th failure", 7, active, failure, 0, retryIn(14 * time.Hour)},
		{"8th failure", 8, active, failure, 0, retryIn(20 * time.Hour)},
		{"9th failure", 9, active, failure, 0, retryIn(24 * time.Hour)},
		{"10th failure", 10, active, failure, 0, decision{outcome: outcomeGiveUp}},
		{"largest jitter", 1, active, failure, 1, retryIn(6 * time.Second)},
		{"smallest jitter", 4, active, failure, -1, retryIn(96 * time.Minute)},
		{"Retry-After below twice the wait", 2, active, retryAfter(8 * time.Minute), 1, retryIn(8 * time.Minute)},
		{"Retry-After above twice the wait", 1, active, retryAfter(time.Hour), 0, retryIn(10 * time.Second)},
		{"Retry-After below the wait", 2, active, retryAfter(time.Second), -1, retryIn(4 * time.Minute)},
		{"410", 1, active, gone, 0, decision{outcome: outcomeDisable, reason: disabledGone}},
		{"410 to a redelivery, inactive webhook", 1, Webhook{}, gone, 0, decision{outcome: outcomeGiveUp}},
		{"failed redelivery, inactive webhook", 1, Webhook{}, failure, 0, decision{outcome: outcomeGiveUp}},
		{
			"five days, ten failures", 1, failing(fiveDaysAgo, 9), failure, 0,
			decision{outcome: outcomeDisable, reason: disabledFailing, failingSince: stampPtr(fiveDaysAgo)},
		},
		{
			"less than five days", 1, failing(fiveDaysAgo.Add(time.Millisecond), 10), failure, 0,
			retryIn(5 * time.Second),
		},
		{"less than ten failures", 1, failing(fiveDaysAgo, 8), failure, 0, retryIn(5 * time.Second)},
		{"aborted after five days of failures", 1, failing(fiveDaysAgo, 10), aborted, 0, retryIn(5 * time.Second)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := decide(Delivery{Tries: tc.tries}, tc.webhook, tc.result, now, tc.jitter)
			if diff := cmp.Diff(tc.want, got, compareUnexported); diff != "" {
				t.Errorf("wrong decision (-want +got):\n%s", diff)
			}
		})
	}
}

// A claim does not change the time of the delivery in the index if that time is at least messageTimeout/2 after the
// next attempt, because each change of an index entry costs a write. Here, the next attempt is 5 s after the claim, so
// claims up to 55 s after the creation keep the entry.
func TestClaimKeepsTheIndexEntry(t *testing.T) {
	t.Parallel()
	created := Delivery{Attempts: []Attempt{}}.scheduled(midnight, midnight.Add(messageTimeout))
	for age, wantKept := range map[time.Duration]bool{
		time.Second: true, 50 * time.Second: true, time.Minute: false, time.Hour: false,
	} {
		d, _ := created.claimed(Webhook{Active: true}, midnight.Add(age), 0)
		if kept := d.DueAt.Equal(*created.DueAt); kept != wantKept {
			t.Errorf("claimed after %v: got index entry kept = %t, want %t", age, kept, wantKept)
		}
		if d.DueAt.Time().Before(d.LeaseUntil.Time()) {
			t.Errorf("claimed after %v: due at %v, want not before the lease ends at %v", age, d.DueAt, d.LeaseUntil)
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
		{nil, -1, time.Minute}, // 3 minutes without jitter
		{nil, 1, 5 * time.Minute},
		{stampPtr(midnight.Add(-time.Minute)), 1, 5 * time.Minute},
		{stampPtr(midnight.Add(-3 * time.Hour)), 0, 9 * time.Minute}, // 3 minutes for each hour of failures
		{stampPtr(midnight.Add(-72 * time.Hour)), 1, time.Hour},      // in proportion to at most 12 hours
	} {
		if got := parkTime(tc.since, midnight, tc.jitter); got != tc.want {
			t.Errorf("failing since %v, jitter %v: got %v, want %v", tc.since, tc.jitter, got, tc.want)
		}
	}
}

// A pending delivery is always in the index, so that the retry job finds it. Its time in the index is not before the
// end of its lease, and not long after its next attempt. The times of its attempts are unique.
func TestPendingDeliveriesStayInTheIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := midnight
		d := Delivery{ID: "dlv_01KGA52E40ABCDEFGHJKMNPQRS", Attempts: []Attempt{}}.scheduled(now, now.Add(messageTimeout))
		w := Webhook{Active: true}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "wait")))
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
				checkInvariants(t, d, now)
				if rapid.Bool().Draw(t, "killed") {
					continue
				}
				retryAfter := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "retryAfter"))
				r := sender.Result{StatusCode: 500, Error: "status 500", RetryAfter: retryAfter}
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(15*time.Second)).Draw(t, "duration")))
				d, _ = d.recorded(attemptOf(at, r), d.Manual > 0, decide(d, w, r, now, jitter), now)
			}
			checkInvariants(t, d, now)
		}
	})
}

// checkInvariants checks the properties that a delivery has in every state.
func checkInvariants(t *rapid.T, d Delivery, now time.Time) {
	for i := 1; i < len(d.Attempts); i++ {
		if !d.Attempts[i].At.Time().After(d.Attempts[i-1].At.Time()) {
			t.Fatalf("the times of the attempts do not increase: %v", d.Attempts)
		}
	}
	if len(d.Attempts) > maxAttemptsKept || d.Tries > maxTries {
		t.Fatalf("got %d attempts and %d tries, want at most %d and %d", len(d.Attempts), d.Tries, maxAttemptsKept, maxTries)
	}
	if d.Status != Pending {
		if d.Due != "" || d.DueAt != nil || d.NextAttemptAt != nil || d.LeaseUntil != nil {
			t.Fatalf("a finished delivery is in the index or leased: %+v", d)
		}
		return
	}
	switch {
	case d.Due == "" || d.DueAt == nil || d.NextAttemptAt == nil:
		t.Fatalf("a pending delivery is not in the index: %+v", d)
	case d.LeaseUntil != nil && d.DueAt.Time().Before(d.LeaseUntil.Time()):
		t.Fatalf("the delivery is due at %v, want not before the end of the lease at %v", d.DueAt, d.LeaseUntil)
	case d.DueAt.Time().After(d.NextAttemptAt.Time().Add(messageTimeout)) &&
		d.DueAt.Time().After(now.Add(messageTimeout)):
		t.Fatalf("the delivery is due at %v, want at most %v after its next attempt at %v",
			d.DueAt, messageTimeout, d.NextAttemptAt)
	}
}

// If a redelivery is requested during an attempt, the result of the attempt is recorded, but does not end the new run
// that the redelivery begins.
func TestRecordAfterARedeliveryRequest(t *testing.T) {
	t.Parallel()
	now := midnight
	created := Delivery{ID: "dlv_1", Status: Pending, NextAttemptAt: stampPtr(now), Attempts: []Attempt{}}
	d, at := created.claimed(Webhook{Active: true}, now, 0)
	redelivered := d.restarted(now, true)
	ok := sender.Result{StatusCode: 200}
	got, changed := redelivered.recorded(attemptOf(at, ok), false, decision{outcome: outcomeSucceeded}, now)
	if !changed || got.Status != Pending || got.Manual != 1 || got.leased(now) || got.Tries != 0 ||
		got.Attempts[0].StatusCode != 200 {
		t.Errorf("got %+v, changed: %t, want the recorded result and a pending redelivery", got, changed)
	}
	if redelivered.Attempts[0].StatusCode != 0 {
		t.Error("the method recorded changed its receiver")
	}
	second, secondAt := got.claimed(Webhook{Active: true}, now, 0) // in the same millisecond
	if secondAt.Equal(at) {
		t.Error("two attempts have the same time")
	}
	got, changed = second.recorded(attemptOf(at, ok), false, decision{outcome: outcomeSucceeded}, now)
	if changed || got.Status != Pending {
		t.Errorf("got %+v, changed: %t, want no change, because the result is already recorded", got, changed)
	}
	third, changed := second.recorded(attemptOf(secondAt, ok), true, decision{outcome: outcomeSucceeded}, now)
	if !changed || third.Status != Succeeded || third.Manual != 0 {
		t.Errorf("got %+v, changed: %t, want a success and no pending redelivery", third, changed)
	}
}

// Each requested redelivery leads to exactly one completed attempt, which begins after the request. This does not
// depend on when redeliveries are requested and how attempts end.
func TestEachRedeliveryIsAttempted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now, w := midnight, Webhook{Active: true}
		d := Delivery{ID: "dlv_1", Attempts: []Attempt{}}.finished(Failed, "")
		requested, attempted, kills, maxConcurrent := 0, 0, 0, 3
		execute := func(step string) {
			now = now.Add(time.Second)
			switch {
			case step == "redeliver":
				requested++
				d = d.restarted(now, true)
			case planNext(d, &w, now).action != actionAttempt: // nothing to attempt
			case step == "kill" && kills < maxTries-1: // fewer than maxTries, so that the delivery does not fail
				kills++
				d, _ = d.claimed(w, now, 0)
				now = d.NextAttemptAt.Time().Add(leaseTime)
			default:
				claimed, at := d.claimed(w, now, 0)
				d = claimed
				for range rapid.IntRange(0, maxConcurrent).Draw(t, "concurrent redeliveries") {
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
			checkInvariants(t, d, now)
			if d.Manual != requested-attempted {
				t.Fatalf("%d redeliveries were requested and %d attempted, but %d remain", requested, attempted, d.Manual)
			}
		}
		steps := rapid.SliceOf(rapid.SampledFrom([]string{"redeliver", "kill", "attempt"})).Draw(t, "steps")
		for _, step := range steps {
			execute(step)
		}
		maxConcurrent = 0 // attempt the remaining redeliveries, and request no more of them
		for range d.Manual {
			execute("attempt")
		}
		if requested != attempted {
			t.Fatalf("%d redeliveries were requested, and %d attempted", requested, attempted)
		}
	})
}
