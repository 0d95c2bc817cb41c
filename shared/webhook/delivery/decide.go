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
)

// action is what a worker does with a delivery whose message it received.
type action int

const (
	actionSkip    action = iota // nothing is done: the delivery is finished, or another worker has leased it
	actionWait                  // the next attempt is not due yet
	actionPark                  // the endpoint is unhealthy, and another delivery probes it
	actionFail                  // the delivery fails without an attempt
	actionAttempt               // an attempt is made
)

// plan is an action and its parameters.
type plan struct {
	action action
	until  time.Time // of actionWait: the time of the next attempt
	reason string    // of actionFail: a human-readable reason; "" if the last attempt shows the reason
	probe  bool      // of actionAttempt: requires the probe lease of the endpoint
}

// planNext decides what to do with a delivery whose message was received. w is nil if the webhook does not exist.
//
// Policy: only the stored delivery decides, not the message. A finished delivery is not attempted again. A delivery
// with an attempt in progress is skipped: if its worker dies, the lease expires, and the retry job finds the delivery
// in the index. An interrupted attempt counts, so that the number of attempts is limited even if each of them kills its
// function. A delivery fails if its webhook was deleted, or is not active; a redelivery is attempted even if the
// webhook is not active. An unhealthy endpoint is probed with one delivery at a time. The other deliveries are parked,
// which does not count as an attempt. Redeliveries are not parked.
func planNext(d Delivery, w *Webhook, now time.Time) plan {
	switch {
	case d.Status != Pending || d.leased(now):
		return plan{action: actionSkip}
	case d.NextAttemptAt != nil && d.NextAttemptAt.Time().After(now.Add(clockSkew)):
		return plan{action: actionWait, until: d.NextAttemptAt.Time()}
	case d.Tries >= maxTries:
		return plan{action: actionFail}
	case w == nil:
		return plan{action: actionFail, reason: "the webhook was deleted"}
	case !w.Active && d.Manual == 0:
		return plan{action: actionFail, reason: w.inactiveReason()}
	case w.unhealthy() && d.Manual == 0 && w.probing(now):
		return plan{action: actionPark}
	}
	return plan{action: actionAttempt, probe: w.unhealthy() && d.Manual == 0}
}

// outcome is what happens to a delivery after an attempt.
type outcome int

const (
	outcomeSucceeded outcome = iota
	outcomeRetry             // another attempt is made
	outcomeGiveUp            // the delivery failed
	outcomeDisable           // the delivery failed, and the webhook is disabled
)

// outcomeNames are the names of the outcomes in the log.
var outcomeNames = map[outcome]string{
	outcomeSucceeded: "succeeded", outcomeRetry: "will be retried",
	outcomeGiveUp: "failed", outcomeDisable: "failed, webhook disabled",
}

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
// to twice the wait of the schedule. The delivery fails after the last attempt of the schedule, and after a redelivery
// to a webhook that is not active. An attempt that the service itself aborted counts as a failed attempt of the
// delivery, but does not change the health of the endpoint.
func decide(d Delivery, w Webhook, r sender.Result, now time.Time, jitter float64) decision {
	switch {
	case r.OK():
		return decision{outcome: outcomeSucceeded}
	case r.Gone && w.Active:
		return decision{outcome: outcomeDisable, reason: disabledGone}
	case w.Active && w.after(r, now).shouldDisable(now) && !r.Aborted:
		return decision{outcome: outcomeDisable, reason: disabledFailing, failingSince: w.FailingSince}
	case !w.Active:
		return decision{outcome: outcomeGiveUp}
	}
	return retryOrGiveUp(d, r, now, jitter)
}

// retryOrGiveUp returns the decision after a failed attempt if the webhook stays active.
func retryOrGiveUp(d Delivery, r sender.Result, now time.Time, jitter float64) decision {
	if d.Tries >= maxTries {
		return decision{outcome: outcomeGiveUp}
	}
	return decision{outcome: outcomeRetry, at: now.Add(retryWait(d.Tries, r.RetryAfter, jitter))}
}

// retryWait returns the wait after an attempt. try is its number, counted from 1. retryAfter is the wait that the
// endpoint requested.
func retryWait(try int, retryAfter time.Duration, jitter float64) time.Duration {
	step := schedule[min(max(try, 1), len(schedule))-1]
	own := step + time.Duration(spread*jitter*float64(step))
	return max(own, min(retryAfter, 2*step))
}

// parkTime returns how long a delivery is parked: 1 to 5 minutes during the first hour of failures, and then in
// proportion to the duration of the failures, up to an hour. So the many deliveries of a long outage are checked
// rarely, and at different times.
func parkTime(failingSince *clock.Timestamp, now time.Time, jitter float64) time.Duration {
	base := 3*time.Minute + time.Duration(jitter*float64(2*time.Minute))
	if failingSince == nil {
		return base
	}
	return time.Duration(float64(base) * min(max(now.Sub(failingSince.Time()).Hours(), 1), 12))
}
