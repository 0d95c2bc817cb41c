package delivery

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/sender"
)

// schedule contains the waits after failed attempts: after the first, the second, and so on.
var schedule = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// maxTries is the number of attempts in one run of the schedule.
	maxTries = len(schedule) + 1
	// spread is the largest fraction by which jitter changes a wait, so that deliveries that failed together do not
	// come back together.
	spread = 0.2
	// clockSkew is how much earlier than planned an attempt may be made: the clocks of machines differ.
	clockSkew = time.Second
)

// action is what a worker does with a delivery whose message it received.
type action int

const (
	actionSkip    action = iota // nothing: the delivery is finished, or another worker has it
	actionWait                  // it is too early
	actionPark                  // the endpoint is unhealthy, and another delivery probes it
	actionFail                  // the delivery fails without an attempt
	actionAttempt               // an attempt is made
)

// plan is an action and its parameters.
type plan struct {
	action action
	until  time.Time // of actionWait: the time of the next attempt
	reason string    // of actionFail: why, for people; "" if the last attempt shows why
	probe  bool      // of actionAttempt: requires the probe lease of the endpoint
}

// planNext decides what to do with a delivery whose message was received. w is nil if the webhook does not exist.
//
// Policy: the stored delivery decides, never the message. A finished delivery stays finished. An attempt in progress is
// left to its worker: if that worker dies, its lease expires, and the retry job finds the delivery in the index. An
// interrupted attempt counts, so a delivery that kills its function comes to an end. A delivery whose webhook was
// deleted, or is not active, fails; a redelivery is attempted even if the webhook is not active. An endpoint that keeps
// timing out is probed with one delivery at a time. The others are parked, which does not count as an attempt.
// Redeliveries are not parked.
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
	outcomeSucceeded: "succeeded", outcomeRetry: "to be retried",
	outcomeGiveUp: "given up", outcomeDisable: "given up, webhook disabled",
}

// decision is an outcome and its parameters.
type decision struct {
	outcome outcome
	at      time.Time // of outcomeRetry: the time of the next attempt
	reason  string    // of outcomeDisable: why, for people
	// failingSince is the beginning of the series of failures because of which the webhook is disabled; nil if it is
	// disabled for another reason. If an attempt succeeds in the meantime, the series has ended.
	failingSince *clock.Timestamp
}

// Why the service disables a webhook, for people.
const (
	disabledGone    = "the endpoint answered 410 Gone"
	disabledFailing = "every delivery has failed for five days"
)

// decide returns what happens to a delivery after an attempt that ended now. d.Tries includes the attempt, w is the
// webhook as it was before the attempt, and jitter is a random number from -1 to 1.
//
// Failure policy: a 2xx is a success. Everything else is a failure, including redirects. A 410 disables the webhook at
// once, and so does a series of failures that is at least five days and ten attempts long. After any other failure the
// delivery is retried after the wait of the schedule, or after a longer wait if a 429 or 503 asks for it, up to twice
// that of the schedule. After the last attempt of the schedule the delivery has failed. It also has failed if the
// attempt was a redelivery to a webhook that is not active. An attempt that the service itself aborted counts as a
// failure of the delivery, but says nothing about the endpoint.
func decide(d Delivery, w Webhook, r sender.Result, now time.Time, jitter float64) decision {
	switch {
	case r.OK():
		return decision{outcome: outcomeSucceeded}
	case r.Gone && w.Active:
		return decision{outcome: outcomeDisable, reason: disabledGone}
	case w.Active && w.after(r, now).hopeless(now) && !r.Aborted:
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

// retryWait returns the wait after the try-th attempt, counted from 1. retryAfter is the wait that the endpoint asked
// for.
func retryWait(try int, retryAfter time.Duration, jitter float64) time.Duration {
	step := schedule[min(max(try, 1), len(schedule))-1]
	own := step + time.Duration(spread*jitter*float64(step))
	return max(own, min(retryAfter, 2*step))
}

// parkTime returns how long a delivery is parked if its endpoint has been failing since a time: 1 to 5 minutes in the
// first hour, then in proportion to the duration, up to an hour. So the deliveries that pile up during a long outage
// are looked at rarely, and come back at different times.
func parkTime(failingSince *clock.Timestamp, now time.Time, jitter float64) time.Duration {
	base := 3*time.Minute + time.Duration(jitter*float64(2*time.Minute))
	if failingSince == nil {
		return base
	}
	return time.Duration(float64(base) * min(max(now.Sub(failingSince.Time()).Hours(), 1), 12))
}
