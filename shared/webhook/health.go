package webhook

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/sender"
)

const (
	// hopelessAfter and hopelessFailures are how long and how many attempts a run of failures is after which a webhook is
	// switched off. More failures than that are not counted.
	hopelessAfter    = 5 * 24 * time.Hour
	hopelessFailures = 10
	// slowFailure is the time from which on a failed attempt counts like a time-out. A worker is held up as well by an endpoint
	// that takes 14 s to answer 500 as by one that hangs, while one that fails at once costs nothing. A success may take its time.
	slowFailure = 5 * time.Second
	// healthEvery is how often attempts that bring no news are noted.
	healthEvery = time.Minute
)

// unhealthy reports whether the endpoint has timed out so often that it is tried with one delivery at a time.
func (h Health) unhealthy() bool { return h.Timeouts >= maxTimeouts }

// probing reports whether a delivery has the endpoint's probe lease.
func (h Health) probing(now time.Time) bool {
	return h.ProbeUntil != nil && h.ProbeUntil.Time().After(now)
}

// hopeless reports whether nothing has come through for so long that nothing more is sent.
func (h Health) hopeless(now time.Time) bool {
	return h.Failures >= hopelessFailures && h.FailingSince != nil && !h.FailingSince.Time().After(now.Add(-hopelessAfter))
}

// after is the health once an attempt has ended at a time with a result.
//
// A success makes up for everything. A time-out counts towards the breaker, and so does a failure that took as long as one might; any
// other breaks the row of time-outs unless the breaker is open already: only a success closes it. The probe lease is given back
// when the probe was answered, so that the next may follow at once; after a time-out it runs out, so that an endpoint that hangs
// takes a third of one worker's time.
func (h Health) after(r sender.Result, at time.Time) Health {
	if r.Aborted {
		return h
	}
	stamp := clock.Stamp(at)
	if r.OK() {
		return Health{LastAt: &stamp, LastStatus: Succeeded}
	}
	h.LastAt, h.LastStatus = &stamp, Failed
	if h.FailingSince == nil {
		h.FailingSince = &stamp
	}
	if h.Failures < hopelessFailures { // attempts at once may have counted beyond it
		h.Failures++
	}
	switch {
	case r.TimedOut || r.Duration >= slowFailure:
		if h.Timeouts < maxTimeouts {
			h.Timeouts++
		}
	case h.unhealthy():
		h.ProbeUntil = nil
	default:
		h.Timeouts = 0
	}
	return h
}

// newsSince reports whether the health is worth a write, given the one before.
func (h Health) newsSince(before Health) bool {
	if h.LastAt == nil {
		return false
	}
	return h.Timeouts != before.Timeouts || h.Failures != before.Failures || h.LastStatus != before.LastStatus ||
		(h.ProbeUntil == nil) != (before.ProbeUntil == nil) ||
		before.LastAt == nil || h.LastAt.Time().Sub(before.LastAt.Time()) >= healthEvery
}
