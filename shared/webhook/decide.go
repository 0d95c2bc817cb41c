package webhook

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/id"
	"devplatform/shared/webhook/sender"
)

// schedule is how long after a failed attempt the next one is made: after the first, the second, and so on (API.md §7).
var schedule = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// maxTries is how many attempts a run of the schedule has.
	maxTries = len(schedule) + 1
	// spread is by how much of itself a wait is longer or shorter, so that what failed together does not come back together.
	spread = 0.2
	// maxHidden is the longest wait that a message spends in the queue. Longer ones are spent in the table.
	maxHidden = time.Minute
	// leaseTime is how long an attempt belongs to whoever began it. It is longer than a function may live, which is longer than an
	// attempt takes: a lease that is over is that of an attempt whose function has died.
	leaseTime = 45 * time.Second
	// clockSkew is how much earlier than planned an attempt may be made: machines don't quite agree on the time.
	clockSkew = time.Second
)

// sentenceInterrupted is what an attempt says that nobody came to record.
const sentenceInterrupted = "the attempt was interrupted; whether the endpoint was reached is not known"

// turn is what a message leads to.
type turn int

const (
	turnSkip    turn = iota // nothing: it is over, or in somebody else's hands
	turnWait                // it is too early
	turnPark                // the endpoint is unhealthy, and another delivery is trying it
	turnFail                // it is given up without an attempt
	turnAttempt             // an attempt is to be made
)

// plan is a turn and what goes with it.
type plan struct {
	turn   turn
	until  time.Time // of turnWait: when it is to come again
	reason string    // of turnFail: why, for people; "" if the last attempt says all
	probe  bool      // of turnAttempt: only with the endpoint's probe lease
}

// planTurn decides what to do with a delivery whose message has come. Webhook is nil if there is none any more.
//
// Policy: the table is asked, never the message. What is over stays over, and an attempt under way is left to whoever makes it: if
// that one dies, its lease ends, and the delivery is found by its place in the index. An attempt that was interrupted counts, so
// that a delivery that kills its function comes to an end like any other. A delivery whose webhook was deleted, or switched off by
// its owner or the service, fails when its turn comes; an attempt that was asked for by hand is made all the same. An
// endpoint that keeps timing out is tried with one delivery at a time; the others step back, which is no attempt, but for those
// asked for by hand.
func planTurn(d Delivery, w *Webhook, now time.Time) plan {
	switch {
	case d.Status != Pending || d.leased(now):
		return plan{turn: turnSkip}
	case d.NextAttemptAt != nil && d.NextAttemptAt.Time().After(now.Add(clockSkew)):
		return plan{turn: turnWait, until: d.NextAttemptAt.Time()}
	case d.Tries >= maxTries:
		return plan{turn: turnFail}
	case w == nil:
		return plan{turn: turnFail, reason: "the webhook was deleted"}
	case !w.Active && d.Manual == 0:
		return plan{turn: turnFail, reason: w.offSentence()}
	case w.unhealthy() && d.Manual == 0 && w.probing(now):
		return plan{turn: turnPark}
	}
	return plan{turn: turnAttempt, probe: w.unhealthy() && d.Manual == 0}
}

// offSentence says why nothing is sent to a webhook that is not active.
func (w Webhook) offSentence() string {
	if w.DisabledReason != "" {
		return "the webhook was disabled: " + w.DisabledReason
	}
	return "the webhook is not active"
}

// fate is what becomes of a delivery after an attempt.
type fate int

const (
	fateDone    fate = iota // delivered
	fateRetry               // another attempt is made at a time
	fateGiveUp              // it was the last one
	fateDisable             // it was the last one, and the webhook is switched off
)

// verdict is a fate and what goes with it.
type verdict struct {
	fate   fate
	at     time.Time // of fateRetry
	reason string    // of fateDisable: why, for people
	// run is when the run of failures began that fateDisable is about, nil if it is about none: a success may have ended it.
	run *clock.Timestamp
}

// Why the service switches webhooks off, for people.
const (
	disabledGone    = "the endpoint answered 410 Gone"
	disabledFailing = "every delivery has failed for five days"
)

// judge decides what becomes of a delivery after an attempt, its Tries already counting it, that ended now with a result. Jitter is
// random, from -1 to 1. The webhook is as it was before the attempt.
//
// Failure policy: a 2xx is a success, everything else a failure, a redirect, too. A 410 means it: the webhook is switched off at
// once, and so is one that has failed for five days and ten attempts without a success between. Any other failure is tried again
// after the schedule's wait, or after a longer one if a 429 or 503 asks for it, up to twice the schedule's. After the last attempt of the
// schedule the delivery has failed for good, and so it has if its webhook was off already and the attempt was made by hand. An
// attempt that we broke off ourselves is a failed one of the delivery, and says nothing about the endpoint.
func judge(d Delivery, w Webhook, r sender.Result, now time.Time, jitter float64) verdict {
	switch {
	case r.OK():
		return verdict{fate: fateDone}
	case r.Gone && w.Active:
		return verdict{fate: fateDisable, reason: disabledGone}
	case w.Active && w.after(r, now).hopeless(now) && !r.Aborted:
		return verdict{fate: fateDisable, reason: disabledFailing, run: w.FailingSince}
	case !w.Active:
		return verdict{fate: fateGiveUp}
	}
	return onward(d, r, now, jitter)
}

// onward is the verdict on a failed attempt of an endpoint that more is sent to.
func onward(d Delivery, r sender.Result, now time.Time, jitter float64) verdict {
	if d.Tries >= maxTries {
		return verdict{fate: fateGiveUp}
	}
	return verdict{fate: fateRetry, at: now.Add(wait(d.Tries, r.RetryAfter, jitter))}
}

// wait is the time between the try-th attempt, counted from 1, and the next.
func wait(try int, asked time.Duration, jitter float64) time.Duration {
	step := schedule[min(max(try, 1), len(schedule))-1]
	own := step + time.Duration(spread*jitter*float64(step))
	return max(own, min(asked, 2*step))
}

// parkTime is how long a delivery steps back from an endpoint that has failed since a time: 1 to 5 minutes in the first hour, then in
// proportion, up to an hour. So what piles up in a long outage is not looked at every other minute, and comes back spread out.
func parkTime(since *clock.Timestamp, now time.Time, jitter float64) time.Duration {
	base := 3*time.Minute + time.Duration(jitter*float64(2*time.Minute))
	if since == nil {
		return base
	}
	return time.Duration(float64(base) * min(max(now.Sub(since.Time()).Hours(), 1), 12))
}

// claimed is the delivery with one more attempt under way, which begins now, and the time of that beginning. As long as nobody
// records how it ended, it stands there as an interrupted one, followed by what follows a failure: attempts go on also
// where every one of them kills its function.
func (d Delivery) claimed(w Webhook, now time.Time, jitter float64) (Delivery, clock.Timestamp) {
	at := clock.Stamp(now)
	if n := len(d.Attempts); n > 0 && !at.Time().After(d.Attempts[n-1].At.Time()) {
		at = clock.Stamp(d.Attempts[n-1].At.Time().Add(time.Millisecond)) // it tells attempts apart
	}
	d.Tries++
	attempts := append([]Attempt(nil), d.Attempts[max(0, len(d.Attempts)+1-maxAttemptsKept):]...)
	d.Attempts = append(attempts, Attempt{At: at, Error: sentenceInterrupted})
	lease := leaseOf(at)
	next := lease.Time() // after the last attempt: somebody has to see that it was the last
	if v := judge(d, w, sender.Result{Error: sentenceInterrupted, Aborted: true}, now, jitter); v.fate == fateRetry {
		next = v.at
	}
	d = d.planned(next, now)
	d.LeaseUntil = &lease
	return d, at
}

// leaseOf is until when an attempt that began at a time belongs to whoever makes it. No two attempts of a delivery have the same.
func leaseOf(at clock.Timestamp) clock.Timestamp { return clock.Stamp(at.Time().Add(leaseTime)) }

// soon reports whether a message waits in the queue for what is planned for a time.
func soon(next, now time.Time) bool { return next.Sub(now) <= maxHidden }

// planned is the delivery with its next attempt at a time, known now. If that is soon, a message waits for it in the queue, and the
// index is for the case that it gets lost; if not, the index brings it back. Its place there is left alone where it is good enough, for
// each change of it is a write more; it is always later than a lease that begins now.
func (d Delivery) planned(next, now time.Time) Delivery {
	due := next
	if soon(next, now) {
		due = next.Add(signalLoss)
		if d.DueAt != nil && !d.DueAt.Time().Before(next.Add(signalLoss/2)) && d.DueAt.Time().Before(due) {
			due = d.DueAt.Time()
		}
	}
	d.Wakes = 0
	return d.pending(next, due)
}

// put is the delivery with its next attempt at a time at which the index brings it back: no message waits for it.
func (d Delivery) put(next time.Time) Delivery {
	d.Wakes = 0
	return d.pending(next, next)
}

// recorded is the delivery after its attempt of a time is known to have ended, and false if it says so already. ByHand tells that it
// was one of those asked for by hand when it began: then that one is made. A verdict counts only if the delivery is still that
// attempt's, and nobody has asked for another: each that is asked for is made, at once, at the beginning of a run of its own.
func (d Delivery) recorded(a Attempt, byHand bool, v verdict, now time.Time) (Delivery, bool) {
	fresh := false
	attempts := append([]Attempt(nil), d.Attempts...)
	for i := range attempts {
		if attempts[i].At.Equal(a.At) && attempts[i].Error == sentenceInterrupted {
			attempts[i], fresh = a, true
		}
	}
	d.Attempts = attempts
	if fresh && byHand {
		d.Manual = max(0, d.Manual-1)
	}
	if d.LeaseUntil == nil || !d.LeaseUntil.Equal(leaseOf(a.At)) {
		return d, fresh
	}
	d.LeaseUntil = nil
	if d.Manual > 0 {
		return d.again(now, false), true
	}
	switch v.fate {
	case fateDone:
		return d.final(Succeeded, ""), true
	case fateRetry:
		return d.planned(v.at, now), true
	default:
		return d.final(Failed, ""), true
	}
}

// attemptOf is what is kept of a result of the attempt that began at a time.
func attemptOf(at clock.Timestamp, r sender.Result) Attempt {
	return Attempt{
		At: at, StatusCode: r.StatusCode, DurationMs: int(r.Duration.Milliseconds()), Error: r.Error, Response: r.Response,
	}
}

// first is when the event happened, and whether the delivery's present run of the schedule is its first.
func (d Delivery) first() (time.Time, bool) {
	happened, ok := id.Delivery.Time(d.ID)
	return happened, ok && len(d.Attempts) == d.Tries
}
