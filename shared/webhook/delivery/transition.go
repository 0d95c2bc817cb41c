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
func newDelivery(e event.Record, at time.Time, w Webhook, now time.Time) Delivery {
	hash := sha256.Sum256([]byte(e.ID + w.ID))
	d := Delivery{
		ID: id.Delivery.From(at, [10]byte(hash[:10])), WebhookID: w.ID, WorkspaceID: w.WorkspaceID,
		AccountID: w.AccountID, ProjectID: e.ProjectID, EventID: e.ID, Type: e.Type, Attempts: []Attempt{},
		Deadline: clock.Stamp(at.Add(deliverWithin)), ExpiresAt: at.Add(retention).Unix(),
	}
	if w.lane() == slowLane {
		return d.withSlowAttempt(now)
	}
	return d.withFastAttempt(now, now.Add(messageTimeout))
}

// withFastAttempt returns the delivery as pending in the fast lane. next is the time of the next attempt. due is the
// time in the index. If the queue contains no message for the delivery, due equals next.
func (d Delivery) withFastAttempt(next, due time.Time) Delivery {
	nextAt, dueAt := clock.Stamp(next), clock.Stamp(due)
	d.Status, d.Reason, d.LeaseUntil, d.Wakes = Pending, "", nil, 0
	d.NextAttemptAt, d.DueAt, d.Due = &nextAt, &dueAt, duePartition(d.ID)
	return d
}

// withSlowAttempt returns the delivery as pending in the slow lane. next is the time of the next attempt.
func (d Delivery) withSlowAttempt(next time.Time) Delivery {
	d = d.withFastAttempt(next, next)
	d.Due = db.SlowPartition(d.WebhookID)
	return d
}

// duePartition returns the partition of the index that contains a delivery of the fast lane or a webhook.
func duePartition(recordID string) string {
	sum := sha256.Sum256([]byte(recordID))
	return db.DuePartition(int(sum[0]) % db.DueShards)
}

// afterMove returns the delivery in the slow lane. It keeps the time of the next attempt. It returns false if the
// delivery is finished, leased, or in the slow lane already.
func (d Delivery) afterMove(now time.Time) (Delivery, bool) {
	moves := d.Status == Pending && !d.hasLease(now) && !d.waitsInSlowLane()
	next := now
	if d.NextAttemptAt != nil {
		next = d.NextAttemptAt.Time()
	}
	return d.withSlowAttempt(next), moves
}

// afterTimeout returns the delivery in the slow lane. It removes the attempt, which timed out in the fast lane. The
// next attempt is due now. It returns false if the delivery no longer belongs to the attempt with the start time at.
func (d Delivery) afterTimeout(at clock.Timestamp, isLeased bool, now time.Time) (Delivery, bool) {
	if !d.belongsTo(at, isLeased) || !isLeased && d.waitsInSlowLane() {
		return d, false
	}
	d.Tries = max(0, d.Tries-1) // an attempt without a lease is not stored
	d.Attempts = slices.DeleteFunc(slices.Clone(d.Attempts), func(a Attempt) bool { return a.At.Equal(at) })
	return d.withSlowAttempt(now), true
}

// belongsTo reports whether the delivery still belongs to the attempt with the start time at. The attempt must hold the
// lease. If the attempt needed no lease, no other worker may have begun an attempt, and no redelivery may have been
// requested.
func (d Delivery) belongsTo(at clock.Timestamp, isLeased bool) bool {
	if isLeased {
		return d.LeaseUntil != nil && d.LeaseUntil.Equal(leaseEnd(at))
	}
	return d.Status == Pending && d.LeaseUntil == nil && len(d.Attempts) == 0 && d.Tries == 0 && d.Manual == 0
}

// withFinalStatus returns the delivery with its final status. It has no entry in the index.
func (d Delivery) withFinalStatus(status Status, reason string) Delivery {
	d.Status, d.Reason = status, reason
	d.NextAttemptAt, d.LeaseUntil, d.DueAt, d.Due, d.Wakes, d.Manual = nil, nil, nil, "", 0, 0
	return d
}

// afterRestart returns the delivery at the beginning of a new run of the schedule, due now in the fast lane. If manual
// is true, the restart counts as a requested redelivery. If an attempt is in progress, it keeps its lease, and the new
// run begins when the result of that attempt is stored or the lease expires.
func (d Delivery) afterRestart(now time.Time, manual bool) Delivery {
	lease := d.LeaseUntil
	d = d.withFastAttempt(now, now.Add(messageTimeout))
	d.LeaseUntil, d.Deadline, d.Tries = lease, clock.Stamp(now.Add(deliverWithin)), 0
	if manual {
		d.Manual++
	}
	return d
}

// withRetry returns the delivery with its next attempt at next, in the same lane. In the fast lane, a message waits in
// the queue if that is soon, and the index entry is only needed if the message is lost. An existing index entry that is
// late enough is kept, because each change of the entry costs a write. The entry is always later than the end of a
// lease that begins now.
func (d Delivery) withRetry(next, now time.Time) Delivery {
	if d.waitsInSlowLane() {
		return d.withSlowAttempt(next)
	}
	due := next
	if isSoon(next, now) {
		due = next.Add(messageTimeout)
		if d.DueAt != nil && !d.DueAt.Time().Before(next.Add(messageTimeout/2)) && d.DueAt.Time().Before(due) {
			due = d.DueAt.Time()
		}
	}
	return d.withFastAttempt(next, due)
}

// isSoon reports whether a message waits in the queue for an attempt at next.
func isSoon(next, now time.Time) bool { return next.Sub(now) <= maxMessageDelay }

// appendAttempt returns the latest maxAttemptsKept attempts after another one was added. It does not change its
// arguments.
func appendAttempt(attempts []Attempt, a Attempt) []Attempt {
	kept := attempts[max(0, len(attempts)+1-maxAttemptsKept):]
	return append(slices.Clone(kept), a)
}

// withLease returns the delivery with a lease for one more attempt, which begins now, and the time of that attempt. The
// attempt is marked as interrupted until its result is known, and the delivery is scheduled as it is after a failed
// attempt. So the delivery is retried, and finally fails, even if each attempt kills its function.
func (d Delivery) withLease(w Webhook, now time.Time, jitter float64) (Delivery, clock.Timestamp) {
	at := clock.Stamp(now)
	if n := len(d.Attempts); n > 0 && !at.Time().After(d.Attempts[n-1].At.Time()) {
		at = clock.Stamp(d.Attempts[n-1].At.Time().Add(time.Millisecond)) // keeps the times unique
	}
	d.Tries++
	d.Attempts = appendAttempt(d.Attempts, Attempt{At: at, Error: interruptedText})
	lease := leaseEnd(at)
	next := lease.Time() // if the last attempt is interrupted, another worker stores the failure after the lease
	interrupted := sender.Result{Error: interruptedText, Aborted: true}
	if decision := decide(d, w, interrupted, now, jitter); decision.outcome == outcomeRetry {
		next = decision.at
	}
	d = d.withRetry(next, now)
	d.LeaseUntil = &lease
	return d, at
}

// withResult returns the delivery with the result of an attempt, and false if it has the result already. isManual
// reports whether the attempt was a redelivery when it began. The decision is applied only if the delivery still
// belongs to the attempt, and no redelivery was requested in the meantime. A requested redelivery is attempted
// immediately, in a new run.
func (d Delivery) withResult(
	a Attempt, isLeased, isManual bool, decision decision, now time.Time,
) (_ Delivery, changed bool) {
	isOwn := d.belongsTo(a.At, isLeased)
	i := slices.IndexFunc(d.Attempts, func(stored Attempt) bool {
		return stored.At.Equal(a.At) && (stored.Error == interruptedText) == isLeased
	})
	switch {
	case isLeased && i >= 0:
		d.Attempts, changed = slices.Clone(d.Attempts), true
		d.Attempts[i] = a
		if isManual {
			d.Manual = max(0, d.Manual-1)
		}
	case !isLeased && i < 0:
		d.Attempts, changed = appendAttempt(d.Attempts, a), true
		slices.SortStableFunc(d.Attempts, func(a, b Attempt) int { return a.At.Time().Compare(b.At.Time()) })
		if isOwn {
			d.Tries = 1
		}
	}
	if !isOwn {
		return d, changed
	}
	d.LeaseUntil = nil
	switch {
	case d.Manual > 0:
		return d.afterRestart(now, false), true
	case decision.outcome == outcomeSucceeded:
		return d.withFinalStatus(Succeeded, ""), true
	case decision.outcome == outcomeRetry:
		return d.withRetry(decision.at, now), true
	}
	return d.withFinalStatus(Failed, ""), true
}

// newAttempt returns the stored form of the result of an attempt.
func newAttempt(at clock.Timestamp, r sender.Result) Attempt {
	return Attempt{
		At: at, StatusCode: r.StatusCode, DurationMs: int(r.Duration.Milliseconds()), Error: r.Error, Response: r.Response,
	}
}
