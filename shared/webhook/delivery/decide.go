package delivery

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/sender"
)

// schedule contains the wait after each failed attempt: after the first, the second, and so on.
var schedule = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// maxTries is the number of attempts in one run of the schedule.
	maxTries = len(schedule) + 1
	// spread is the largest fraction by which jitter changes a wait, so that deliveries that failed at the same time
	// are not retried at the same time.
	spread = 0.2
	// clockSkew is how much earlier than planned an attempt may begin, because the clocks of machines differ.
	clockSkew = time.Second
	// deliverWithin is the time in which a run of the schedule must succeed.
	deliverWithin = 75 * time.Hour
	// deadlineGrace is how much later an attempt may begin that was planned for the deadline.
	deadlineGrace = 5 * time.Minute
)

// action is the next step of a worker for a delivery.
type action int

const (
	actionSkip    action = iota // nothing is done: the delivery is finished, in the other lane, leased, or not due yet
	actionReturn                // the message returns to the queue of the fast lane until the next attempt
	actionPark                  // the retry job sends a message for the next attempt
	actionMove                  // the delivery moves to the slow lane
	actionFail                  // the delivery fails without an attempt
	actionAttempt               // an attempt is made
)

// plan is an action and its parameters.
type plan struct {
	action action
	until  time.Time // of actionReturn and actionPark: the time of the next attempt
	reason string    // of actionFail: a human-readable reason; "" if the last attempt shows the reason
}

// The human-readable reasons for which a delivery fails without an attempt.
const (
	reasonDeleted  = "the webhook was deleted, or all owners of its workspace are suspended"
	reasonDeadline = "the delivery did not succeed within 75 hours"
)

// planNext decides the next step of a worker of a lane for a delivery. w is nil if the webhook does not exist.
//
// Policy: only the stored delivery decides, not the message. A finished delivery is not attempted again. A delivery
// that waits in the other lane, or whose attempt has a lease, is skipped: its lane, or the retry job, finds it in the
// index. The same applies to a delivery that is not due yet. If it is due soon, its message returns to the queue of the
// fast lane. An interrupted attempt with a lease counts, so that the number of attempts is limited even if each of them
// kills its function. A delivery fails after its deadline, and if its webhook was deleted, or is not active. A
// redelivery is attempted in spite of the deadline, and even if the webhook is not active. The fast lane attempts only
// deliveries to endpoints of the fast lane. It moves all other deliveries to the slow lane.
func planNext(d Delivery, w *Webhook, l lane, now time.Time) plan {
	var until time.Time
	if d.NextAttemptAt != nil {
		until = d.NextAttemptAt.Time()
	}
	isEarly := until.After(now.Add(clockSkew))
	isInIndex := l == slowLane || d.DueAt != nil && d.DueAt.Time().Equal(until)
	switch {
	case d.Status != Pending || d.hasLease(now) || d.waitsInSlowLane() != (l == slowLane):
		return plan{action: actionSkip}
	case isEarly && l == fastLane && isSoon(until, now):
		return plan{action: actionReturn, until: until}
	case isEarly && isInIndex:
		return plan{action: actionSkip}
	case isEarly:
		return plan{action: actionPark, until: until}
	case d.Tries >= maxTries:
		return plan{action: actionFail}
	case w == nil:
		return plan{action: actionFail, reason: reasonDeleted}
	case !w.Active && d.Manual == 0:
		return plan{action: actionFail, reason: w.inactiveReason()}
	case d.Manual == 0 && now.After(d.Deadline.Time().Add(deadlineGrace)):
		return plan{action: actionFail, reason: reasonDeadline}
	case l == fastLane && w.lane() == slowLane:
		return plan{action: actionMove}
	}
	return plan{action: actionAttempt}
}

// needsLease reports whether an attempt in the fast lane must take the lease of the delivery. The first attempt of a
// new delivery does not need a lease: normally, no other worker attempts the delivery (see Store.addAll for the
// exception), and the retry job sends no message before this worker ends. After a second receive of the message, a
// message of the retry job, or a redelivery, another worker may have attempted the delivery. receives counts the
// receives of the message.
func needsLease(d Delivery, receives int) bool {
	return d.Tries > 0 || d.Manual > 0 || d.Wakes > 0 || len(d.Attempts) > 0 || receives > 1
}

// outcome is the decision about a delivery after an attempt, as the log shows it.
type outcome string

const (
	outcomeSucceeded outcome = "succeeded"
	outcomeRetry     outcome = "will be retried"
	outcomeGiveUp    outcome = "failed"
	outcomeDisable   outcome = "failed, webhook disabled"
)

// decision is an outcome and its parameters.
type decision struct {
	outcome outcome
	at      time.Time // of outcomeRetry: the time of the next attempt
	reason  string    // of outcomeDisable: a human-readable reason
	// failingSince is the beginning of the series of failures for which the webhook is disabled; nil if it is disabled
	// for another reason. The store checks it again: a success in the meantime ends the series.
	failingSince *clock.Timestamp
}

// The human-readable reasons for which the service disables a webhook.
const (
	disabledGone    = "the endpoint responded with 410 Gone"
	disabledFailing = "every attempt in the last five days failed"
)

// decide returns the decision after an attempt that ended now. d.Tries includes the attempt, w is the webhook as it was
// before the attempt, and jitter is a random number from -1 to 1.
//
// Failure policy: a 2xx is a success. Every other result is a failure, including redirects. A 410 disables the webhook
// immediately. A series of failures of at least five days and ten attempts also disables it. After any other failure,
// the delivery is retried after the wait of the schedule. If a 429 or 503 requests a longer wait, that wait is used, up
// to twice the wait of the schedule. The delivery fails after the last attempt of the schedule or before its deadline,
// and after a redelivery to a webhook that is not active. An attempt that the service itself aborted counts as a failed
// attempt of the delivery, but does not change the health of the endpoint.
func decide(d Delivery, w Webhook, r sender.Result, now time.Time, jitter float64) decision {
	switch {
	case r.OK():
		return decision{outcome: outcomeSucceeded}
	case !w.Active:
		return decision{outcome: outcomeGiveUp}
	case r.Aborted:
		return retryOrGiveUp(d, r, now, jitter)
	case r.Gone:
		return decision{outcome: outcomeDisable, reason: disabledGone}
	case w.after(r, now).shouldDisable(now):
		return decision{outcome: outcomeDisable, reason: disabledFailing, failingSince: w.FailingSince}
	}
	return retryOrGiveUp(d, r, now, jitter)
}

// retryOrGiveUp returns the decision after a failed attempt if the webhook stays active. If the next attempt would be
// after the deadline, it is made at the deadline instead. If the time until the deadline is shorter than the minimum
// wait after this attempt, there is no further attempt.
func retryOrGiveUp(d Delivery, r sender.Result, now time.Time, jitter float64) decision {
	if d.Tries >= maxTries {
		return decision{outcome: outcomeGiveUp}
	}
	at := now.Add(retryWait(d.Tries, r.RetryAfter, jitter))
	if at.After(d.Deadline.Time()) {
		if now.Add(retryWait(d.Tries, 0, -1)).After(d.Deadline.Time()) {
			return decision{outcome: outcomeGiveUp}
		}
		at = d.Deadline.Time()
	}
	return decision{outcome: outcomeRetry, at: at}
}

// retryWait returns the wait after an attempt. try is its number, counted from 1. retryAfter is the wait that the
// endpoint requested.
func retryWait(try int, retryAfter time.Duration, jitter float64) time.Duration {
	step := schedule[min(max(try, 1), len(schedule))-1]
	scheduled := step + time.Duration(spread*jitter*float64(step))
	return max(scheduled, min(retryAfter, 2*step))
}
