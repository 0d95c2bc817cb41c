package delivery

import (
	"time"

	"devplatform/shared/clock"
)

// Turns is the state of the turns of an endpoint in the slow lane. The zero Turns means that no delivery waits.
type Turns struct {
	// Due and DueAt are the keys of the webhook in the index of due deliveries; absent if no delivery waits. At DueAt,
	// the retry job sends a message for a turn. Wakes counts these messages since the latest turn.
	Due   string           `dynamodbav:"due,omitempty"`
	DueAt *clock.Timestamp `dynamodbav:"dueAt,omitempty"`
	Wakes int              `dynamodbav:"wakes,omitempty"`
	// TurnUntil is the end of the lease of the turn in progress, and TurnBy is a random ID of the turn. They are absent if
	// no turn is in progress.
	TurnUntil *clock.Timestamp `dynamodbav:"turnUntil,omitempty"`
	TurnBy    string           `dynamodbav:"turnBy,omitempty"`
	// NotBefore is the earliest time of the next turn; nil unless the latest turn failed.
	NotBefore *clock.Timestamp `dynamodbav:"notBefore,omitempty"`
	// Window is the number of concurrent attempts with which the next turn begins; 0 stands for 1. It is the number that
	// the latest turn reached, 0 if that turn failed or was interrupted, and 0 if no delivery waits.
	Window int `dynamodbav:"window,omitempty"`
	// AddedAt is the time of the first addition of deliveries after the latest turn began, or of a later addition that
	// requested another message, because the first message was lost or late. It is nil if no deliveries were added. A
	// turn that finds no delivery ends only if AddedAt is nil. See hasRecentAddition.
	AddedAt *clock.Timestamp `dynamodbav:"addedAt,omitempty"`
	// DrainedAt is the end of the first turn that found no further delivery that is due; nil if deliveries were added
	// since then. The index is eventually consistent, so another turn has to confirm this after confirmAfter.
	DrainedAt *clock.Timestamp `dynamodbav:"drainedAt,omitempty"`
}

const (
	// maxWindow is the maximum number of concurrent attempts of a turn. maxPromptWindow is the maximum number if the
	// endpoint responds promptly: it has recovered and works off its backlog.
	maxWindow       = 8
	maxPromptWindow = 32
	// slotsPerAccount is the number of concurrent turns of the endpoints of an account.
	slotsPerAccount = 2
	// shortestTurnWait and longestTurnWait limit the wait after a turn that failed. The wait is the duration of the
	// outage multiplied by outagePart.
	shortestTurnWait = 5 * time.Second
	longestTurnWait  = time.Hour
	outagePart       = 0.1
	// The wait after a turn that failed is at least the duration of its longest attempt multiplied by restPerAttempt.
	restPerAttempt = 4
	// confirmAfter is the time after which another turn confirms that no delivery waits. It is longer than the index
	// needs to show a new delivery, and than the time between reading a webhook and storing its deliveries.
	confirmAfter = 2 * time.Minute
)

// hasTurn reports whether a turn is in progress.
func (t Turns) hasTurn(now time.Time) bool {
	return t.TurnUntil != nil && t.TurnUntil.Time().After(now)
}

// isResting reports whether the next turn has to wait because the latest one failed.
func (t Turns) isResting(now time.Time) bool {
	return t.NotBefore != nil && t.NotBefore.Time().After(now.Add(clockSkew))
}

// isDueAfterRest reports whether the next turn has to wait because the latest one failed, and is due when it may begin.
// If deliveries are added then, nothing has to be stored.
func (t Turns) isDueAfterRest(now time.Time) bool {
	return t.isResting(now) && t.DueAt != nil && !t.DueAt.Time().After(t.NotBefore.Time().Add(messageTimeout))
}

// dueAfterAddition returns when the endpoint is due after deliveries were added.
func (t Turns) dueAfterAddition(now time.Time) (dueAt time.Time) {
	dueAt = now.Add(messageTimeout)
	if t.isResting(now) {
		dueAt = t.NotBefore.Time()
	}
	if t.DueAt != nil && t.DueAt.Time().Before(dueAt) {
		dueAt = t.DueAt.Time()
	}
	return dueAt
}

// hasRecentAddition reports whether deliveries were added a short time ago, after the latest turn. A message for the
// next turn is on its way then, unless the endpoint rests.
func (t Turns) hasRecentAddition(now time.Time) bool {
	return t.AddedAt != nil && t.AddedAt.Time().Add(messageTimeout).After(now)
}

// needsMessage reports whether a message for a turn must be sent after deliveries were added now. No message is
// sent if the next turn has to wait, if a turn is in progress, which looks for further deliveries when it ends, or if
// deliveries were added a short time before.
func (t Turns) needsMessage(now time.Time) bool {
	return !t.isResting(now) && !t.hasTurn(now) && t.AddedAt != nil && t.AddedAt.Equal(clock.Stamp(now))
}

// turnEnd describes the end of a turn.
type turnEnd struct {
	hasFailed bool          // attempts were made, and none of the latest ones succeeded
	duration  time.Duration // of the longest of the latest attempts
	hasMore   bool          // deliveries that are due remain
	window    int           // the number of concurrent attempts, with which the next turn also begins
	nextDue   time.Time     // the earliest time at which another delivery is due; zero if no other delivery waits
}

// nextTurns decides when the endpoint of a webhook has its next turn. w has the health after the turn.
//
// Policy: after a failed turn, the next one is after a tenth of the time since the endpoint began to fail, so that an
// endpoint that was down for an hour is tried every six minutes. It is not before four times the duration of the failed
// attempts, so that an endpoint that hangs occupies a worker for at most a fifth of the time. Otherwise the next turn
// begins as soon as a delivery is due. If no delivery is due, another turn confirms this, because the index may not
// show all deliveries yet. Then the endpoint is due with its next delivery, or leaves the index.
func (e turnEnd) nextTurns(w Webhook, now time.Time, jitter float64) (next Turns) {
	dueAt := now
	if !e.hasMore {
		drainedAt := now
		if w.DrainedAt != nil {
			drainedAt = w.DrainedAt.Time()
		}
		dueAt = drainedAt.Add(confirmAfter)
		isConfirmed := !dueAt.After(now)
		if isConfirmed && e.nextDue.IsZero() {
			return Turns{}
		}
		if isConfirmed || !e.nextDue.IsZero() && e.nextDue.Before(dueAt) {
			dueAt = e.nextDue
		}
		next.DrainedAt = stamp(drainedAt)
	}
	if e.hasFailed {
		rested := now.Add(turnWait(w.FailingSince, e.duration, now, jitter))
		next.NotBefore = stamp(rested)
		if dueAt.Before(rested) {
			dueAt = rested
		}
	}
	if e.window > 1 {
		next.Window = e.window
	}
	next.Due, next.DueAt = duePartition(w.ID), stamp(dueAt)
	return next
}

// turnWait returns the wait after a failed turn. duration is the duration of its failed attempts.
func turnWait(failingSince *clock.Timestamp, duration time.Duration, now time.Time, jitter float64) time.Duration {
	var outage time.Duration
	if failingSince != nil {
		outage = now.Sub(failingSince.Time())
	}
	wait := time.Duration(outagePart * float64(outage))
	wait = min(max(wait, restPerAttempt*duration, shortestTurnWait), longestTurnWait)
	return wait + time.Duration(spread*jitter*float64(wait))
}

// widestWindow returns the maximum number of concurrent attempts of a turn.
func (h Health) widestWindow() int {
	if h.Prompt {
		return maxPromptWindow
	}
	return maxWindow
}

// window returns the number of concurrent attempts with which the next turn begins.
func (w Webhook) window() int { return max(1, min(w.Window, w.widestWindow())) }

// stamp returns a pointer to a timestamp.
func stamp(at time.Time) *clock.Timestamp {
	stamped := clock.Stamp(at)
	return &stamped
}
