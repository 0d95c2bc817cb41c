package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/sender"
)

var compareUnexported = cmp.AllowUnexported(plan{}, decision{})

func TestPlanNext(t *testing.T) {
	t.Parallel()
	now := midnight
	base := Delivery{ID: deliveryA, WebhookID: webhookA, Deadline: clock.Stamp(now.Add(deliverWithin))}
	pending := map[lane]Delivery{
		fastLane: base.withFastAttempt(now, now.Add(messageTimeout)), slowLane: base.withSlowAttempt(now),
	}
	fast, slow := &Webhook{Active: true, Health: Health{Prompt: true}}, &Webhook{Active: true}
	inactive := &Webhook{Health: Health{Prompt: true}}
	unchanged := func(*Delivery) {}
	manual := func(d *Delivery) { d.Manual = 1 }
	dueAt := func(at time.Time) func(*Delivery) { return func(d *Delivery) { d.NextAttemptAt = stamp(at) } }
	leasedUntil := func(at time.Time) func(*Delivery) { return func(d *Delivery) { d.LeaseUntil = stamp(at) } }
	deadline := func(at time.Time) func(*Delivery) { return func(d *Delivery) { d.Deadline = clock.Stamp(at) } }
	expired := now.Add(-deadlineGrace - time.Millisecond)
	soon, later := now.Add(maxMessageDelay), now.Add(maxMessageDelay+time.Millisecond)
	// early is the plan for a delivery that is not due yet. In the slow lane, the index shows when it is due.
	early := func(p plan) map[lane]plan { return map[lane]plan{fastLane: p, slowLane: {action: actionSkip}} }
	both := func(p plan) map[lane]plan { return map[lane]plan{fastLane: p, slowLane: p} }
	attempted, skipped := both(plan{action: actionAttempt}), both(plan{action: actionSkip})
	// moved is the plan for a delivery to an endpoint of the slow lane that would otherwise be attempted.
	moved := map[lane]plan{fastLane: {action: actionMove}, slowLane: {action: actionAttempt}}
	fails := func(reason string) map[lane]plan { return both(plan{action: actionFail, reason: reason}) }
	for _, tc := range []struct {
		name    string
		change  func(*Delivery) // of a delivery that waits in the lane and is due now
		webhook *Webhook
		want    map[lane]plan
	}{
		{"due", unchanged, fast, attempted},
		{"due, endpoint in the slow lane", unchanged, slow, moved},
		{
			"endpoint failed three times", unchanged,
			&Webhook{Active: true, Health: Health{Prompt: true, Failures: 3}}, moved,
		},
		{
			"endpoint failed twice", unchanged,
			&Webhook{Active: true, Health: Health{Prompt: true, Failures: 2}}, attempted,
		},
		{"without a next attempt", func(d *Delivery) { d.NextAttemptAt = nil }, fast, attempted},
		{"succeeded", func(d *Delivery) { d.Status = Succeeded }, fast, skipped},
		{"failed", func(d *Delivery) { d.Status = Failed }, nil, skipped},
		{"leased", leasedUntil(now.Add(time.Millisecond)), fast, skipped},
		{"leased, endpoint in the slow lane", leasedUntil(later), slow, skipped},
		{"leased, webhook deleted", leasedUntil(later), nil, skipped},
		{"lease expired", leasedUntil(now), fast, attempted},
		{"due soon", dueAt(soon), fast, early(plan{action: actionReturn, until: soon})},
		{"due soon, endpoint in the slow lane", dueAt(soon), slow, early(plan{action: actionReturn, until: soon})},
		{"due later", dueAt(later), fast, early(plan{action: actionPark, until: later})},
		{"due later, in the index", func(d *Delivery) { dueAt(later)(d); d.DueAt = stamp(later) }, fast, skipped},
		{"not due yet, within the clock skew", dueAt(now.Add(clockSkew)), fast, attempted},
		{"last attempt interrupted", func(d *Delivery) { d.Tries = maxTries }, fast, fails("")},
		{"one attempt remains", func(d *Delivery) { d.Tries = maxTries - 1 }, fast, attempted},
		{"webhook deleted", unchanged, nil, fails(reasonDeleted)},
		{"webhook deleted, redelivery", manual, nil, fails(reasonDeleted)},
		{"webhook inactive", unchanged, inactive, fails("the webhook is not active")},
		{"webhook disabled", unchanged, &Webhook{DisabledReason: "x"}, fails("the webhook was disabled: x")},
		{"after the deadline", deadline(expired), fast, fails(reasonDeadline)},
		{"after the deadline, endpoint in the slow lane", deadline(expired), slow, fails(reasonDeadline)},
		{"a little after the deadline", deadline(now.Add(-deadlineGrace)), fast, attempted},
		{"redelivery", manual, fast, attempted},
		{"redelivery, endpoint in the slow lane", manual, slow, moved},
		{"redelivery, webhook inactive", manual, inactive, attempted},
		{"redelivery, webhook inactive, endpoint in the slow lane", manual, &Webhook{}, moved},
		{"redelivery after the deadline", func(d *Delivery) { manual(d); deadline(expired)(d) }, fast, attempted},
	} {
		for l, want := range tc.want {
			t.Run(tc.name+map[lane]string{fastLane: ", fast lane", slowLane: ", slow lane"}[l], func(t *testing.T) {
				t.Parallel()
				d := pending[l]
				tc.change(&d)
				if diff := cmp.Diff(want, planNext(d, tc.webhook, l, now), compareUnexported); diff != "" {
					t.Errorf("wrong plan (-want +got):\n%s", diff)
				}
				got := planNext(d, tc.webhook, fastLane+slowLane-l, now)
				if diff := cmp.Diff(plan{action: actionSkip}, got, compareUnexported); diff != "" {
					t.Errorf("wrong plan of the other lane (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestNeedsLease(t *testing.T) {
	t.Parallel()
	created := Delivery{ID: deliveryA, WebhookID: webhookA, Attempts: []Attempt{}}.
		withFastAttempt(midnight, midnight.Add(messageTimeout))
	for _, tc := range []struct {
		name     string
		change   func(*Delivery)
		receives int
		want     bool
	}{
		{"first attempt", func(*Delivery) {}, 1, false},
		{"message received again", func(*Delivery) {}, 2, true},
		{"message of the retry job", func(d *Delivery) { d.Wakes = 1 }, 1, true},
		{"redelivery", func(d *Delivery) { d.Manual = 1 }, 1, true},
		{"second attempt", func(d *Delivery) { d.Tries = 1 }, 1, true},
		{"recovered", func(d *Delivery) { d.Attempts = []Attempt{{}} }, 1, true},
	} {
		d := created
		tc.change(&d)
		if got := needsLease(d, tc.receives); got != tc.want {
			t.Errorf("%s: got %t, want %t", tc.name, got, tc.want)
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	now := midnight
	active := Webhook{Active: true}
	fiveDaysAgo := now.Add(-5 * 24 * time.Hour)
	// failing returns a webhook as it is before the attempt: failures does not count the attempt.
	failing := func(since time.Time, failures int) Webhook {
		return Webhook{Active: true, Health: Health{Failures: failures, FailingSince: stamp(since)}}
	}
	ok := sender.Result{StatusCode: 204}
	failure := sender.Result{StatusCode: 500, Error: "status 500"}
	aborted := sender.Result{Error: "x", Aborted: true}
	gone := sender.Result{StatusCode: 410, Error: "status 410", Gone: true}
	abortedGone := gone
	abortedGone.Aborted = true
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
		{"410, aborted before the end of the body", 1, active, abortedGone, 0, retryIn(5 * time.Second)},
		{"410 to a redelivery, inactive webhook", 1, Webhook{}, gone, 0, decision{outcome: outcomeGiveUp}},
		{"failed redelivery, inactive webhook", 1, Webhook{}, failure, 0, decision{outcome: outcomeGiveUp}},
		{
			"five days, ten failures", 1, failing(fiveDaysAgo, 9), failure, 0,
			decision{outcome: outcomeDisable, reason: disabledFailing, failingSince: stamp(fiveDaysAgo)},
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
			d := Delivery{Tries: tc.tries, Deadline: clock.Stamp(now.Add(deliverWithin))}
			got := decide(d, tc.webhook, tc.result, now, tc.jitter)
			if diff := cmp.Diff(tc.want, got, compareUnexported); diff != "" {
				t.Errorf("wrong decision (-want +got):\n%s", diff)
			}
		})
	}
}

// An attempt that would be after the deadline is made at the deadline. If even the shortest wait of the schedule ends
// after the deadline, no attempt is made. The wait after the second attempt is 4 to 6 minutes.
func TestDecideBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	now := midnight
	for _, tc := range []struct {
		name       string
		deadline   time.Duration // from now
		retryAfter time.Duration
		jitter     float64
		want       decision
	}{
		{"well before the deadline", time.Hour, 0, 1, decision{outcome: outcomeRetry, at: now.Add(6 * time.Minute)}},
		{"wait until the deadline", 5 * time.Minute, 0, 0, decision{outcome: outcomeRetry, at: now.Add(5 * time.Minute)}},
		{
			"wait until after the deadline", 5*time.Minute - 1, 0, 0,
			decision{outcome: outcomeRetry, at: now.Add(5*time.Minute - time.Millisecond)},
		},
		{
			"Retry-After until after the deadline", 7 * time.Minute, 9 * time.Minute, 0,
			decision{outcome: outcomeRetry, at: now.Add(7 * time.Minute)},
		},
		{
			"shortest wait until the deadline", 4 * time.Minute, 0, 1,
			decision{outcome: outcomeRetry, at: now.Add(4 * time.Minute)},
		},
		{"shortest wait until after the deadline", 4*time.Minute - 1, 0, 1, decision{outcome: outcomeGiveUp}},
		{"shortest jitter until after the deadline", 4*time.Minute - 1, 0, -1, decision{outcome: outcomeGiveUp}},
		{"after the deadline", -time.Second, 0, 0, decision{outcome: outcomeGiveUp}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := Delivery{Tries: 2, Deadline: clock.Stamp(now.Add(tc.deadline))}
			r := sender.Result{StatusCode: 503, Error: "status 503", RetryAfter: tc.retryAfter}
			for name, got := range map[string]decision{
				"decide":        decide(d, Webhook{Active: true}, r, now, tc.jitter),
				"retryOrGiveUp": retryOrGiveUp(d, r, now, tc.jitter),
			} {
				if diff := cmp.Diff(tc.want, got, compareUnexported); diff != "" {
					t.Errorf("wrong decision of %s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}
