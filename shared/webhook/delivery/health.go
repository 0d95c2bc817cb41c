package delivery

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/sender"
)

// Health is what the latest attempts show about an endpoint. The zero Health is that of a new endpoint.
type Health struct {
	// Timeouts counts consecutive time-outs, including slow failures. From maxTimeouts on, only a success resets it.
	Timeouts int `dynamodbav:"timeouts,omitempty"`
	// Failures counts the failed attempts since the last success. FailingSince is when the first of them began.
	Failures     int              `dynamodbav:"failures,omitempty"`
	FailingSince *clock.Timestamp `dynamodbav:"failingSince,omitempty"`
	// LastAt and LastStatus describe the latest attempt. Of consecutive successes, at most one a minute is stored.
	LastAt     *clock.Timestamp `dynamodbav:"lastAt,omitempty"`
	LastStatus Status           `dynamodbav:"lastStatus,omitempty"`
	// ProbeUntil is the end of the probe lease: which delivery may probe an unhealthy endpoint.
	ProbeUntil *clock.Timestamp `dynamodbav:"probeUntil,omitempty"`
}

const (
	// maxTimeouts is the number of consecutive time-outs after which an endpoint is unhealthy.
	maxTimeouts = 3
	// hopelessAfter and hopelessFailures are the duration and the length of a series of failures after which a webhook
	// is disabled. Failures beyond hopelessFailures are not counted.
	hopelessAfter    = 5 * 24 * time.Hour
	hopelessFailures = 10
	// slowFailure is the duration from which a failed attempt counts as a time-out. An endpoint that takes 14 s to
	// respond with 500 occupies a worker as an endpoint that hangs does. A failure at once costs nothing. Successes may
	// be slow.
	slowFailure = 5 * time.Second
	// healthInterval is how often health is stored while it does not change.
	healthInterval = time.Minute
)

// unhealthy reports whether the endpoint timed out so often that only one delivery at a time may try it.
func (h Health) unhealthy() bool { return h.Timeouts >= maxTimeouts }

// probing reports whether a delivery holds the probe lease of the endpoint.
func (h Health) probing(now time.Time) bool {
	return h.ProbeUntil != nil && h.ProbeUntil.Time().After(now)
}

// hopeless reports whether the endpoint has been failing for so long that the webhook is disabled.
func (h Health) hopeless(now time.Time) bool {
	return h.Failures >= hopelessFailures && h.FailingSince != nil &&
		!h.FailingSince.Time().After(now.Add(-hopelessAfter))
}

// after returns the health after an attempt that ended at a time.
//
// A success resets everything. A time-out or a slow failure opens the breaker if it is the third in a row. Any other
// failure ends the row, unless the breaker is open: only a success closes it. When the endpoint responds to a probe,
// the lease is released, so that the next probe can follow at once. After a time-out the lease expires, so that an
// endpoint that hangs takes a third of the time of one worker.
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
	if h.Failures < hopelessFailures { // concurrent attempts may have counted more
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

// changedSince reports whether the health should be stored, given the stored one.
func (h Health) changedSince(before Health) bool {
	if h.LastAt == nil {
		return false
	}
	return h.Timeouts != before.Timeouts || h.Failures != before.Failures || h.LastStatus != before.LastStatus ||
		(h.ProbeUntil == nil) != (before.ProbeUntil == nil) ||
		before.LastAt == nil || h.LastAt.Time().Sub(before.LastAt.Time()) >= healthInterval
}
