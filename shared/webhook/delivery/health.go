package delivery

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/sender"
)

// Health describes an endpoint by the results of its latest attempts. The zero Health is that of a new endpoint.
type Health struct {
	// Timeouts counts consecutive time-outs, including slow failures. From maxTimeouts on, only a success resets it.
	Timeouts int `dynamodbav:"timeouts,omitempty"`
	// Failures counts the failed attempts since the last success. FailingSince is when the first of them ended.
	Failures     int              `dynamodbav:"failures,omitempty"`
	FailingSince *clock.Timestamp `dynamodbav:"failingSince,omitempty"`
	// LastAt and LastStatus describe the latest attempt. While only LastAt changes, it is stored at most once a minute.
	LastAt     *clock.Timestamp `dynamodbav:"lastAt,omitempty"`
	LastStatus Status           `dynamodbav:"lastStatus,omitempty"`
	// ProbeUntil is the end of the probe lease. Its holder is the only delivery that may probe an unhealthy endpoint.
	ProbeUntil *clock.Timestamp `dynamodbav:"probeUntil,omitempty"`
}

const (
	// maxTimeouts is the number of consecutive time-outs after which an endpoint is unhealthy.
	maxTimeouts = 3
	// disableAfter and disableFailures are the duration and the number of consecutive failures after which a webhook is
	// disabled. Failures beyond disableFailures are not counted.
	disableAfter    = 5 * 24 * time.Hour
	disableFailures = 10
	// slowFailure is the duration from which a failed attempt counts as a time-out: an endpoint that responds with 500
	// after 14 s occupies a worker almost as long as an endpoint that hangs. A slow success does not count as one.
	slowFailure = 5 * time.Second
	// healthInterval is how often the health is stored while only the time of the latest attempt changes.
	healthInterval = time.Minute
)

// unhealthy reports whether the endpoint timed out so often that only one delivery at a time may probe it.
func (h Health) unhealthy() bool { return h.Timeouts >= maxTimeouts }

// probing reports whether a delivery holds the probe lease of the endpoint.
func (h Health) probing(now time.Time) bool {
	return h.ProbeUntil != nil && h.ProbeUntil.Time().After(now)
}

// shouldDisable reports whether the endpoint has been failing for so long that the webhook must be disabled.
func (h Health) shouldDisable(now time.Time) bool {
	return h.Failures >= disableFailures && h.FailingSince != nil &&
		!h.FailingSince.Time().After(now.Add(-disableAfter))
}

// after returns the health after an attempt. at is the time at which the attempt ended.
//
// A success resets everything. The third consecutive time-out or slow failure makes the endpoint unhealthy. Any other
// failure resets the count of time-outs, unless the endpoint is unhealthy: only a success makes it healthy again. When
// a probe fails quickly, the probe lease is released, so that the next probe can begin immediately. When a probe times
// out, the lease is kept until it expires. So probes of an endpoint that hangs occupy one worker for a third of the
// time.
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
	// Concurrent attempts each add to the stored count, so it can be higher than disableFailures.
	if h.Failures < disableFailures {
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
