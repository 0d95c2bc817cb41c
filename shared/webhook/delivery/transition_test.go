package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/sender"
)

const deliveryA = "dlv_01KGA52E40ABCDEFGHJKMNPQRS"

// newFast and newSlow return a new delivery that waits in a lane.
func newFast(now time.Time) Delivery {
	d := Delivery{ID: deliveryA, WebhookID: webhookA, Attempts: []Attempt{}, Deadline: clock.Stamp(now.Add(deliverWithin))}
	return d.withFastAttempt(now, now.Add(messageTimeout))
}

func newSlow(now time.Time) Delivery { return newFast(now).withSlowAttempt(now) }

// begin returns the delivery with an attempt that begins now, and the time of the attempt, as attempt.begin does.
func begin(d Delivery, w Webhook, isLeased bool, now time.Time, jitter float64) (Delivery, clock.Timestamp) {
	if isLeased {
		return d.withLease(w, now, jitter)
	}
	d.Tries++
	return d, clock.Stamp(now)
}

// A lease does not change the time of the delivery in the index if that time is at least messageTimeout/2 after the
// next attempt, because each change of an index entry costs a write. Here, the next attempt is 5 s after the lease
// begins, so leases up to 55 s after the creation keep the entry.
func TestLeaseKeepsTheIndexEntry(t *testing.T) {
	t.Parallel()
	created := newFast(midnight)
	for age, wantKept := range map[time.Duration]bool{
		time.Second: true, 50 * time.Second: true, time.Minute: false, time.Hour: false,
	} {
		d, _ := created.withLease(Webhook{Active: true}, midnight.Add(age), 0)
		if kept := d.DueAt.Equal(*created.DueAt); kept != wantKept {
			t.Errorf("leased after %v: got index entry kept = %t, want %t", age, kept, wantKept)
		}
		if d.DueAt.Time().Before(d.LeaseUntil.Time()) {
			t.Errorf("leased after %v: due at %v, want not before the lease ends at %v", age, d.DueAt, d.LeaseUntil)
		}
	}
}

// result describes a delivery after a result was recorded.
type result struct {
	Changed          bool
	Status           Status
	Lane             lane
	Tries, Manual    int
	Leased           bool
	Next             time.Duration // after midnight
	StatusCodes      []int         // of the attempts
	StoredInterrupts int           // attempts without a result
}

func resultOf(d Delivery, changed bool) result {
	r := result{Changed: changed, Status: d.Status, Tries: d.Tries, Manual: d.Manual, Leased: d.LeaseUntil != nil}
	if d.waitsInSlowLane() {
		r.Lane = slowLane
	}
	if d.NextAttemptAt != nil {
		r.Next = d.NextAttemptAt.Time().Sub(midnight)
	}
	for _, a := range d.Attempts {
		r.StatusCodes = append(r.StatusCodes, a.StatusCode)
		if a.Error == interruptedText {
			r.StoredInterrupts++
		}
	}
	return r
}

// The first attempt in the fast lane began at midnight, without a lease. It ends a second later. The delivery may have
// been changed in the meantime.
func TestResultsWithoutALease(t *testing.T) {
	t.Parallel()
	ended, w := midnight.Add(time.Second), Webhook{Active: true}
	trying, at := begin(newFast(midnight), w, false, midnight, 0)
	leased := func(d Delivery) Delivery {
		d, _ = d.withLease(w, midnight.Add(500*time.Millisecond), 0)
		return d
	}
	byAnother := func(d Delivery) Delivery { // another worker has attempted the delivery successfully
		d, other := d.withLease(w, midnight.Add(-time.Second), 0)
		success := decision{outcome: outcomeSucceeded}
		d, _ = d.withResult(newAttempt(other, sender.Result{StatusCode: 204}), true, false, success, ended)
		return d
	}
	redelivered := func(d Delivery) Delivery { return d.afterRestart(midnight, true) }
	moved := func(d Delivery) Delivery {
		d, _ = d.afterMove(midnight)
		return d
	}
	recorded := func(d Delivery) Delivery {
		d, _ = d.withResult(newAttempt(at, sender.Result{StatusCode: 500}), false, false, decision{
			outcome: outcomeRetry, at: midnight.Add(time.Minute),
		}, ended)
		return d
	}
	unchanged := func(d Delivery) Delivery { return d }
	const second = time.Second
	for _, tc := range []struct {
		name               string
		change             func(Delivery) Delivery
		ok, fails, timeout result
	}{
		{
			"not changed", unchanged,
			result{true, Succeeded, fastLane, 1, 0, false, 0, []int{200}, 0},
			result{true, Pending, fastLane, 1, 0, false, 6 * second, []int{500}, 0},
			result{true, Pending, slowLane, 0, 0, false, second, nil, 0},
		},
		{
			"already recorded", recorded,
			result{false, Pending, fastLane, 1, 0, false, time.Minute, []int{500}, 0},
			result{false, Pending, fastLane, 1, 0, false, time.Minute, []int{500}, 0},
			result{false, Pending, fastLane, 1, 0, false, time.Minute, []int{500}, 0},
		},
		{
			"another worker has the lease", leased,
			result{true, Pending, fastLane, 1, 0, true, 5500 * time.Millisecond, []int{200, 0}, 1},
			result{true, Pending, fastLane, 1, 0, true, 5500 * time.Millisecond, []int{500, 0}, 1},
			result{false, Pending, fastLane, 1, 0, true, 5500 * time.Millisecond, []int{0}, 1},
		},
		{
			"another attempt succeeded", byAnother,
			result{true, Succeeded, fastLane, 1, 0, false, 0, []int{204, 200}, 0},
			result{true, Succeeded, fastLane, 1, 0, false, 0, []int{204, 500}, 0},
			result{false, Succeeded, fastLane, 1, 0, false, 0, []int{204}, 0},
		},
		{
			"redelivery requested", redelivered,
			result{true, Pending, fastLane, 0, 1, false, 0, []int{200}, 0},
			result{true, Pending, fastLane, 0, 1, false, 0, []int{500}, 0},
			result{false, Pending, fastLane, 0, 1, false, 0, nil, 0},
		},
		{
			"moved by another worker", moved,
			result{true, Succeeded, fastLane, 1, 0, false, 0, []int{200}, 0},
			result{true, Pending, slowLane, 1, 0, false, 6 * second, []int{500}, 0},
			result{false, Pending, slowLane, 0, 0, false, 0, nil, 0},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := tc.change(newFast(midnight))
			record := func(r sender.Result) result {
				return resultOf(d.withResult(newAttempt(at, r), false, false, decide(trying, w, r, ended, 0), ended))
			}
			next, moves := d.afterTimeout(at, false, ended)
			if !moves {
				next = d
			}
			got := []result{
				record(sender.Result{StatusCode: 200}), record(sender.Result{StatusCode: 500, Error: "status 500"}),
				resultOf(next, moves),
			}
			if diff := cmp.Diff([]result{tc.ok, tc.fails, tc.timeout}, got); diff != "" {
				t.Errorf("after a success, a failure and a time-out (-want +got):\n%s", diff)
			}
		})
	}
}

// The second attempt began at midnight, with a lease. It ends a second later, or when another worker has the lease.
func TestResultsWithALease(t *testing.T) {
	t.Parallel()
	ended, w := midnight.Add(time.Second), Webhook{Active: true}
	for _, l := range []lane{fastLane, slowLane} {
		first := newFast(midnight)
		if l == slowLane {
			first = newSlow(midnight)
		}
		first.Tries, first.Attempts = 1, []Attempt{{At: clock.Stamp(midnight.Add(-time.Minute)), StatusCode: 503}}
		trying, at := first.withLease(w, midnight, 0)
		other, _ := trying.withLease(w, midnight.Add(leaseTime), 0) // after the lease has expired
		const minute = time.Minute
		for _, tc := range []struct {
			name               string
			d                  Delivery
			ok, fails, timeout result
		}{
			{
				"not changed", trying,
				result{true, Succeeded, fastLane, 2, 0, false, 0, []int{503, 200}, 0},
				result{true, Pending, l, 2, 0, false, 5*minute + time.Second, []int{503, 500}, 0},
				result{true, Pending, slowLane, 1, 0, false, time.Second, []int{503}, 0},
			},
			{
				"another worker has the lease", other,
				result{true, Pending, l, 3, 0, true, 30*minute + leaseTime, []int{503, 200, 0}, 1},
				result{true, Pending, l, 3, 0, true, 30*minute + leaseTime, []int{503, 500, 0}, 1},
				result{false, Pending, l, 3, 0, true, 30*minute + leaseTime, []int{503, 0, 0}, 2},
			},
			{
				"redelivery requested", trying.afterRestart(midnight, true), // the retry of the redelivery is immediate
				result{true, Pending, fastLane, 0, 1, false, time.Second, []int{503, 200}, 0},
				result{true, Pending, fastLane, 0, 1, false, time.Second, []int{503, 500}, 0},
				result{true, Pending, slowLane, 0, 1, false, time.Second, []int{503}, 0},
			},
			{
				"finished", trying.withFinalStatus(Failed, reasonDeleted),
				result{true, Failed, fastLane, 2, 0, false, 0, []int{503, 200}, 0},
				result{true, Failed, fastLane, 2, 0, false, 0, []int{503, 500}, 0},
				result{false, Failed, fastLane, 2, 0, false, 0, []int{503, 0}, 1},
			},
		} {
			record := func(r sender.Result) result {
				return resultOf(tc.d.withResult(newAttempt(at, r), true, false, decide(trying, w, r, ended, 0), ended))
			}
			got := []result{
				record(sender.Result{StatusCode: 200}), record(sender.Result{StatusCode: 500, Error: "status 500"}),
				resultOf(tc.d.afterTimeout(at, true, ended)),
			}
			if diff := cmp.Diff([]result{tc.ok, tc.fails, tc.timeout}, got); diff != "" {
				t.Errorf("lane %d, %s: after a success, a failure and a time-out (-want +got):\n%s", l, tc.name, diff)
			}
		}
	}
}

// A delivery that moves to the slow lane keeps the time of its next attempt, its attempts and its redeliveries.
func TestMovedDelivery(t *testing.T) {
	t.Parallel()
	d := newFast(midnight).afterRestart(midnight, true).withFastAttempt(midnight.Add(time.Hour), midnight.Add(time.Hour))
	d.Wakes, d.Tries, d.Attempts = 3, 2, []Attempt{{StatusCode: 500}}
	want := result{true, Pending, slowLane, 2, 1, false, time.Hour, []int{500}, 0}
	moved, ok := d.afterMove(midnight.Add(time.Minute))
	diff := cmp.Diff(want, resultOf(moved, ok))
	if diff != "" || moved.Wakes != 0 || !moved.Deadline.Equal(d.Deadline) {
		t.Errorf("got %+v, want no wakes and the same deadline (-want +got):\n%s", moved, diff)
	}
	d.NextAttemptAt = nil // not written by this program
	if got, _ := d.afterMove(midnight.Add(time.Minute)); !got.NextAttemptAt.Time().Equal(midnight.Add(time.Minute)) {
		t.Errorf("without a next attempt: got %v, want it now", got.NextAttemptAt)
	}
	leased, _ := newFast(midnight).withLease(Webhook{Active: true}, midnight, 0)
	for name, d := range map[string]Delivery{
		"finished": d.withFinalStatus(Failed, ""), "leased": leased, "in the slow lane": newSlow(midnight),
	} {
		if _, moves := d.afterMove(midnight); moves {
			t.Errorf("a delivery that is %s moves", name)
		}
	}
}
