package delivery

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/sender"
)

// Health describes an endpoint by the results of its latest attempts. The zero Health is the health of a new endpoint.
type Health struct {
	// Prompt is true if the latest success took less than PromptTime and no attempt has timed out since. See lane.
	Prompt bool `dynamodbav:"prompt,omitempty"`
	// Failures counts the failed attempts since the last success. FailingSince is when the first of them ended.
	Failures     int              `dynamodbav:"failures,omitempty"`
	FailingSince *clock.Timestamp `dynamodbav:"failingSince,omitempty"`
	// LastAt and LastStatus describe the latest attempt. While only LastAt changes, it is stored at most once a minute.
	LastAt     *clock.Timestamp `dynamodbav:"lastAt,omitempty"`
	LastStatus Status           `dynamodbav:"lastStatus,omitempty"`
}

const (
	// PromptTime is the time in which an endpoint of the fast lane must respond. An attempt in the fast lane is aborted
	// after this time.
	PromptTime = 2 * time.Second
	// slowFailures is the number of consecutive failures after which an endpoint moves to the slow lane.
	slowFailures = 3
	// disableAfter and disableFailures are the duration and the number of consecutive failures after which a webhook is
	// disabled. Failures beyond disableFailures are not counted.
	disableAfter    = 5 * 24 * time.Hour
	disableFailures = 10
	// healthInterval is how often the health is stored while only the time of the latest attempt changes.
	healthInterval = time.Minute
)

// shouldDisable reports whether the endpoint has been failing for so long that the webhook must be disabled.
func (h Health) shouldDisable(now time.Time) bool {
	return h.Failures >= disableFailures && h.FailingSince != nil &&
		!h.FailingSince.Time().After(now.Add(-disableAfter))
}

// after returns the health after an attempt. at is the time at which the attempt ended. A success ends the series of
// failures. The duration of the success decides the lane. A time-out moves the endpoint to the slow lane at once.
func (h Health) after(r sender.Result, at time.Time) Health {
	if r.Aborted {
		return h
	}
	stamp := clock.Stamp(at)
	if r.OK() {
		return Health{Prompt: r.Duration < PromptTime, LastAt: &stamp, LastStatus: Succeeded}
	}
	h.LastAt, h.LastStatus = &stamp, Failed
	if h.FailingSince == nil {
		h.FailingSince = &stamp
	}
	// Concurrent attempts each add to the stored count, so it can be higher than disableFailures.
	if h.Failures < disableFailures {
		h.Failures++
	}
	if r.TimedOut {
		h.Prompt = false
	}
	return h
}

// changedSince reports whether the health must be stored. before is the stored health.
func (h Health) changedSince(before Health) bool {
	if h.LastAt == nil {
		return false
	}
	return h.Prompt != before.Prompt || h.Failures != before.Failures || h.LastStatus != before.LastStatus ||
		before.LastAt == nil || h.LastAt.Time().Sub(before.LastAt.Time()) >= healthInterval
}

// lane is the part of the pipeline that attempts the deliveries to an endpoint.
type lane int

const (
	fastLane lane = iota // attempts are aborted after PromptTime
	slowLane             // attempts are made in the turns of the endpoint
)

// lane returns the lane of the endpoint. A new endpoint is in the slow lane until its first prompt success.
func (h Health) lane() lane {
	if h.Prompt && h.Failures < slowFailures {
		return fastLane
	}
	return slowLane
}
