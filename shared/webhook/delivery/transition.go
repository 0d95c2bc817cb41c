package delivery

import (
	"crypto/sha256"
	"slices"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/webhook/sender"
)

const (
	// messageTimeout is the time after which a message counts as lost if no attempt has begun. It is longer than a
	// lease.
	messageTimeout = 2 * time.Minute
	// maxMessageDelay is the longest time that a message is delayed in the queue. For a longer wait, only the index
	// contains the delivery.
	maxMessageDelay = time.Minute
)

// newDelivery returns the delivery of an event to a webhook, due now. at is the time of the event. The ID depends only
// on the event and the webhook, so that a replay of the event finds the existing delivery. It consists of the time of
// the event, by which recoveries select deliveries, and the first 80 bits of the SHA-256 hash of the two IDs.
func newDelivery(e event.Record, at time.Time, w Webhook, l lane, now time.Time) Delivery {
	hash := sha256.Sum256([]byte(e.ID + w.ID))
	d := Delivery{
		ID: id.Delivery.From(at, [10]byte(hash[:10])), WebhookID: w.ID, WorkspaceID: w.WorkspaceID,
		AccountID: w.AccountID, ProjectID: e.ProjectID, EventID: e.ID, Type: e.Type, Attempts: []Attempt{},
		ExpiresAt: at.Add(retention).Unix(),
	}
	deadline := clock.Stamp(at.Add(deliverWithin))
	d.Deadline = &deadline
	if l == slowLane {
		return d.waiting(now)
	}
	return d.scheduled(now, now.Add(messageTimeout))
}

// scheduled returns the delivery as pending in the fast lane. next is the time of the next attempt, due is the time in
// the index.
func (d Delivery) scheduled(next, due time.Time) Delivery {
	nextAt, dueAt := clock.Stamp(next), clock.Stamp(due)
	d.Status, d.Reason, d.LeaseUntil = Pending, "", nil
	d.NextAttemptAt, d.DueAt, d.Due = &nextAt, &dueAt, db.DuePartition(shardOf(d.ID))
	return d
}

// waiting returns the delivery as pending in the slow lane. next is the time of the next attempt.
func (d Delivery) waiting(next time.Time) Delivery {
	d = d.scheduled(next, next)
	d.Due, d.Wakes = db.SlowPartition(d.WebhookID), 0
	return d
}

// shardOf returns the shard of the index that contains a delivery or a webhook.
func shardOf(recordID string) int {
	sum := sha256.Sum256([]byte(recordID))
	return int(sum[0]) % db.DueShards
}

// moved returns the delivery in the slow lane. It keeps the time of the next attempt.
func (d Delivery) moved(now time.Time) Delivery {
	next := now
	if d.NextAttemptAt != nil {
		next = d.NextAttemptAt.Time()
	}
	return d.waiting(next)
}

// uncounted returns the delivery in the slow lane without an attempt in the fast lane that was aborted. The next
// attempt is due now. It returns false if the delivery no longer belongs to the attempt. at is the time at which
// the attempt began. leased reports whether it has a lease.
func (d Delivery) uncounted(at clock.Timestamp, leased bool, now time.Time) (Delivery, bool) {
	if leased {
		if d.LeaseUntil == nil || !d.LeaseUntil.Equal(leaseOf(at)) {
			return d, false
		}
		d.Tries = max(0, d.Tries-1)
		d.Attempts = slices.DeleteFunc(slices.Clone(d.Attempts), func(a Attempt) bool { return a.At.Equal(at) })
		return d.waiting(now), true
	}
	return d.waiting(now), d.isUntried() && !d.waitsInSlowLane()
}

// isUntried reports whether the delivery is pending and no attempt is stored. The first attempt in the fast lane is not
// stored before it ends.
func (d Delivery) isUntried() bool {
	return d.Status == Pending && d.LeaseUntil == nil && len(d.Attempts) == 0 && d.Tries == 0 && d.Manual == 0
}

// finished returns the delivery with its final status. It has no entry in the index.
func (d Delivery) finished(status Status, reason string) Delivery {
	d.Status, d.Reason = status, reason
	d.NextAttemptAt, d.LeaseUntil, d.DueAt, d.Due, d.Wakes, d.Manual = nil, nil, nil, "", 0, 0
	return d
}

// restarted returns the delivery at the beginning of a new run of the schedule, due now in the fast lane. If manual is
// true, the restart counts as a requested redelivery. If an attempt is in progress, it keeps its lease, and the new run
// begins when the result of that attempt is recorded or the lease expires.
func (d Delivery) restarted(now time.Time, manual bool) Delivery {
	lease := d.LeaseUntil
	d.Tries, d.Wakes = 0, 0
	if manual {
		d.Manual++
	}
	d = d.scheduled(now, now.Add(messageTimeout))
	deadline := clock.Stamp(now.Add(deliverWithin))
	d.LeaseUntil, d.Deadline = lease, &deadline
	return d
}

// deferred returns the delivery with its next attempt at next, in the same lane. The queue contains no message for it:
// the retry job sends one at that time.
func (d Delivery) deferred(next time.Time) Delivery {
	if d.waitsInSlowLane() {
		return d.waiting(next)
	}
	d.Wakes = 0
	return d.scheduled(next, next)
}

// rescheduled returns the delivery with its next attempt at next, in the same lane. In the fast lane, a message waits
// in the queue if that is soon, and the index entry is only needed if the message is lost. An existing index entry that
// is late enough is kept, because each change of the entry costs a write. The entry is always later than the end of a
// lease that begins now.
func (d Delivery) rescheduled(next, now time.Time) Delivery {
	if d.waitsInSlowLane() {
		return d.waiting(next)
	}
	due := next
	if isSoon(next, now) {
		due = next.Add(messageTimeout)
		if d.DueAt != nil && !d.DueAt.Time().Before(next.Add(messageTimeout/2)) && d.DueAt.Time().Before(due) {
			due = d.DueAt.Time()
		}
	}
	d.Wakes = 0
	return d.scheduled(next, due)
}

// isSoon reports whether a message waits in the queue for an attempt at next.
func isSoon(next, now time.Time) bool { return next.Sub(now) <= maxMessageDelay }

// begun returns the delivery with one more attempt, which begins now, and the time of that attempt. The attempt is
// marked as interrupted until its result is known.
func (d Delivery) begun(now time.Time) (Delivery, clock.Timestamp) {
	at := clock.Stamp(now)
	if n := len(d.Attempts); n > 0 && !at.Time().After(d.Attempts[n-1].At.Time()) {
		at = clock.Stamp(d.Attempts[n-1].At.Time().Add(time.Millisecond)) // keeps the times unique
	}
	d.Tries++
	d.Attempts = appended(d.Attempts, Attempt{At: at, Error: interruptedText})
	return d, at
}

// appended returns the latest maxAttemptsKept attempts after another one was added. It does not change its arguments.
func appended(attempts []Attempt, a Attempt) []Attempt {
	kept := attempts[max(0, len(attempts)+1-maxAttemptsKept):]
	return append(slices.Clone(kept), a)
}

// claimed returns the delivery with a lease for one more attempt, which begins now, and the time of that attempt. The
// delivery is scheduled as it is after a failed attempt. So the delivery is retried, and finally fails, even if each
// attempt kills its function.
func (d Delivery) claimed(w Webhook, now time.Time, jitter float64) (Delivery, clock.Timestamp) {
	d, at := d.begun(now)
	lease := leaseOf(at)
	next := lease.Time() // if the last attempt is interrupted, another worker stores the failure after the lease
	if v := decide(d, w, sender.Result{Error: interruptedText, Aborted: true}, now, jitter); v.outcome == outcomeRetry {
		next = v.at
	}
	d = d.rescheduled(next, now)
	d.LeaseUntil = &lease
	return d, at
}

// recorded returns the delivery with the result of an attempt with a lease, and false if the result is already
// recorded. manual reports whether the attempt was a redelivery when it began. The decision is applied only if the
// attempt still holds its lease and no redelivery was requested in the meantime. A requested redelivery is attempted
// immediately, in a new run.
func (d Delivery) recorded(a Attempt, manual bool, v decision, now time.Time) (Delivery, bool) {
	changed := false
	attempts := slices.Clone(d.Attempts)
	for i := range attempts {
		if attempts[i].At.Equal(a.At) && attempts[i].Error == interruptedText {
			attempts[i], changed = a, true
		}
	}
	d.Attempts = attempts
	if changed && manual {
		d.Manual = max(0, d.Manual-1)
	}
	if d.LeaseUntil == nil || !d.LeaseUntil.Equal(leaseOf(a.At)) {
		return d, changed
	}
	d.LeaseUntil = nil
	if d.Manual > 0 {
		return d.restarted(now, false), true
	}
	return d.decided(v, now), true
}

// recordedWithoutLease returns the delivery with the result of a first attempt, which has no lease, and false if the
// result is already recorded. The decision is applied only if the delivery is still untried. Otherwise another worker
// has begun an attempt, or a redelivery was requested.
func (d Delivery) recordedWithoutLease(a Attempt, v decision, now time.Time) (Delivery, bool) {
	if slices.ContainsFunc(d.Attempts, func(stored Attempt) bool {
		return stored.At.Equal(a.At) && stored.Error != interruptedText
	}) {
		return d, false
	}
	untried := d.isUntried()
	d.Attempts = appended(d.Attempts, a)
	slices.SortStableFunc(d.Attempts, func(a, b Attempt) int { return a.At.Time().Compare(b.At.Time()) })
	if !untried {
		return d, true
	}
	d.Tries = 1
	return d.decided(v, now), true
}

// decided returns the delivery after the decision that follows an attempt.
func (d Delivery) decided(v decision, now time.Time) Delivery {
	switch v.outcome {
	case outcomeSucceeded:
		return d.finished(Succeeded, "")
	case outcomeRetry:
		return d.rescheduled(v.at, now)
	default:
		return d.finished(Failed, "")
	}
}

// attemptOf returns the stored form of the result of an attempt.
func attemptOf(at clock.Timestamp, r sender.Result) Attempt {
	return Attempt{
		At: at, StatusCode: r.StatusCode, DurationMs: int(r.Duration.Milliseconds()), Error: r.Error, Response: r.Response,
	}
}
