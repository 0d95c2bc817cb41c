package delivery

import (
	"crypto/sha256"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/webhook/sender"
)

const (
	// messageTimeout is the time after which a message that led to no attempt counts as lost. It is longer than a
	// lease.
	messageTimeout = 2 * time.Minute
	// maxMessageDelay is the longest wait that a message spends in the queue. A delivery waits longer in the index
	// only.
	maxMessageDelay = time.Minute
)

// newDelivery returns the delivery of an event to a webhook, due now. at is the time of the event. The ID depends on
// the event and the webhook only, so that a replay of the event finds the delivery: it is the time of the event, by
// which recoveries select, and the first 80 bits of SHA-256(event, webhook).
func newDelivery(e event.Record, at time.Time, w Webhook, now time.Time) Delivery {
	hash := sha256.Sum256([]byte(e.ID + w.ID))
	d := Delivery{
		ID: id.Delivery.From(at, [10]byte(hash[:10])), WebhookID: w.ID, WorkspaceID: w.WorkspaceID,
		EventID: e.ID, Type: e.Type, Payload: e.Payload, Attempts: []Attempt{},
		ExpiresAt: at.Add(retention).Unix(),
	}
	return d.scheduled(now, now.Add(messageTimeout))
}

// scheduled returns the delivery as pending: next is the time of the next attempt, due its place in the index.
func (d Delivery) scheduled(next, due time.Time) Delivery {
	nextAt, dueAt := clock.Stamp(next), clock.Stamp(due)
	d.Status, d.Reason, d.LeaseUntil = Pending, "", nil
	d.NextAttemptAt, d.DueAt, d.Due = &nextAt, &dueAt, db.DuePartition(d.shard())
	return d
}

// shard spreads deliveries over the shards of the index.
func (d Delivery) shard() int {
	sum := sha256.Sum256([]byte(d.ID))
	return int(sum[0]) % db.DueShards
}

// finished returns the delivery with its final status, without an entry in the index.
func (d Delivery) finished(status Status, reason string) Delivery {
	d.Status, d.Reason = status, reason
	d.NextAttemptAt, d.LeaseUntil, d.DueAt, d.Due, d.Wakes, d.Manual = nil, nil, nil, "", 0, 0
	return d
}

// restarted returns the delivery at the beginning of a new run of the schedule, due now. manual adds a redelivery. An
// attempt in progress keeps its lease: the new run begins when its result is recorded or the lease expires.
func (d Delivery) restarted(now time.Time, manual bool) Delivery {
	lease := d.LeaseUntil
	d.Tries, d.Wakes = 0, 0
	if manual {
		d.Manual++
	}
	d = d.scheduled(now, now.Add(messageTimeout))
	d.LeaseUntil = lease
	return d
}

// deferred returns the delivery with its next attempt at a time at which the retry job sends a message: no message
// waits in the queue.
func (d Delivery) deferred(next time.Time) Delivery {
	d.Wakes = 0
	return d.scheduled(next, next)
}

// rescheduled returns the delivery with its next attempt at a time. If that is soon, a message waits in the queue, and
// the index entry is for the case that the message is lost. An existing index entry is kept if it is good enough,
// because each change of it costs a write. The entry is always later than a lease that begins now.
func (d Delivery) rescheduled(next, now time.Time) Delivery {
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

// claimed returns the delivery with one more attempt in progress, which begins now, and the time of that attempt. The
// attempt is stored as interrupted and is followed by whatever follows a failure. So attempts continue, and come to an
// end, even if each of them kills its function.
func (d Delivery) claimed(w Webhook, now time.Time, jitter float64) (Delivery, clock.Timestamp) {
	at := clock.Stamp(now)
	if n := len(d.Attempts); n > 0 && !at.Time().After(d.Attempts[n-1].At.Time()) {
		at = clock.Stamp(d.Attempts[n-1].At.Time().Add(time.Millisecond)) // keeps the times unique
	}
	d.Tries++
	attempts := append([]Attempt(nil), d.Attempts[max(0, len(d.Attempts)+1-maxAttemptsKept):]...)
	d.Attempts = append(attempts, Attempt{At: at, Error: interruptedText})
	lease := leaseOf(at)
	next := lease.Time() // after the last attempt: a worker has to see that it was the last
	if v := decide(d, w, sender.Result{Error: interruptedText, Aborted: true}, now, jitter); v.outcome == outcomeRetry {
		next = v.at
	}
	d = d.rescheduled(next, now)
	d.LeaseUntil = &lease
	return d, at
}

// recorded returns the delivery with the result of an attempt, and false if the result is recorded already. manual is
// true if the attempt was a redelivery when it began. The decision has an effect only if the attempt still has its
// lease and no redelivery was requested in the meantime: each redelivery is attempted at once, in a run of its own.
func (d Delivery) recorded(a Attempt, manual bool, v decision, now time.Time) (Delivery, bool) {
	changed := false
	attempts := append([]Attempt(nil), d.Attempts...)
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
	switch v.outcome {
	case outcomeSucceeded:
		return d.finished(Succeeded, ""), true
	case outcomeRetry:
		return d.rescheduled(v.at, now), true
	default:
		return d.finished(Failed, ""), true
	}
}

// attemptOf returns the stored form of the result of an attempt.
func attemptOf(at clock.Timestamp, r sender.Result) Attempt {
	return Attempt{
		At: at, StatusCode: r.StatusCode, DurationMs: int(r.Duration.Milliseconds()), Error: r.Error, Response: r.Response,
	}
}
