// Package delivery delivers events to the endpoints of webhooks. It contains the stored records, the fan-out that
// creates the deliveries of an event, the worker that attempts them, the retry job, and the log of a webhook's
// deliveries, from which they can be sent again. Subscriptions, access rules and HTTP endpoints belong to package
// webhook, which imports this one; nothing here may know them.
//
// The table is the source of truth. A message in the queue only signals that a delivery should be looked at. Each
// change of a delivery is decided by a pure function and stored on the condition that the delivery was not changed in
// between. A pending delivery is always in the index of due deliveries, at a time that is not before the end of its
// lease. If a message is lost or a function dies, the retry job finds the delivery there.
package delivery

import (
	"slices"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

// Status is the state of a delivery.
type Status string

// The states of a delivery.
const (
	Pending   Status = "pending"   // waits for its next attempt, or is being attempted
	Succeeded Status = "succeeded" // the endpoint responded with 2xx
	Failed    Status = "failed"    // no further attempt is made
)

// Delivery is one event that is sent to one webhook, as stored. The attribute names are part of the data format.
//
// A Delivery is not changed in place: each transition returns the next version, which Store.Save stores.
type Delivery struct {
	ID          string     `dynamodbav:"id"`
	WebhookID   string     `dynamodbav:"webhookId"`
	WorkspaceID string     `dynamodbav:"workspaceId"`
	EventID     string     `dynamodbav:"eventId"`
	Type        event.Type `dynamodbav:"type"`
	Payload     event.Text `dynamodbav:"payload"` // the body of every attempt, byte for byte; never changes
	Status      Status     `dynamodbav:"status"`
	// Attempts contains the latest attempts, at most maxAttemptsKept, oldest first. While LeaseUntil is in the future,
	// the last one is in progress. It is stored as interrupted until its result is recorded.
	Attempts []Attempt `dynamodbav:"attempts"`
	// Tries counts the attempts of the current run of the schedule. A redelivery starts a new run.
	Tries int `dynamodbav:"tries"`
	// Manual counts the redeliveries that were requested and not completed. While it is not 0, the next attempt is one
	// of them. It is made even if the webhook is not active.
	Manual int `dynamodbav:"manualAttempts,omitempty"`
	// Test is true if the delivery was made to test the webhook. Its event never occurred, so recoveries ignore it.
	Test bool `dynamodbav:"test,omitempty"`
	// NextAttemptAt is the time of the next attempt; nil unless pending.
	NextAttemptAt *clock.Timestamp `dynamodbav:"nextAttemptAt,omitempty"`
	// LeaseUntil is the time until which the attempt in progress belongs to the worker that began it; nil if there is
	// none.
	LeaseUntil *clock.Timestamp `dynamodbav:"leaseUntil,omitempty"`
	// Due and DueAt are the keys in the index of due deliveries; absent unless pending. At DueAt the retry job sends a
	// new message, unless something else changed the delivery before. Wakes counts the messages that led to nothing.
	Due   string           `dynamodbav:"due,omitempty"`
	DueAt *clock.Timestamp `dynamodbav:"dueAt,omitempty"`
	Wakes int              `dynamodbav:"wakes,omitempty"`
	// Reason says, for people, why the delivery failed without an attempt; "" if the last attempt shows why.
	Reason string `dynamodbav:"reason,omitempty"`
	// Version counts the changes, and Writer is a random ID of the latest one: see Store.Save.
	Version   int    `dynamodbav:"version"`
	Writer    string `dynamodbav:"writer"`
	ExpiresAt int64  `dynamodbav:"expiresAt"` // Unix time in seconds
}

// Attempt is one request to an endpoint and its result.
type Attempt struct {
	At         clock.Timestamp `dynamodbav:"at"`                   // when it began; unique within a delivery
	StatusCode int             `dynamodbav:"statusCode,omitempty"` // 0: there was no response
	DurationMs int             `dynamodbav:"durationMs"`
	Error      string          `dynamodbav:"error,omitempty"`    // why it failed, for people; "" if it succeeded
	Response   string          `dynamodbav:"response,omitempty"` // the beginning of the response body
}

const (
	// retention is how long deliveries are stored.
	retention = 30 * 24 * time.Hour
	// maxAttemptsKept limits the attempts of a delivery that is redelivered many times: an item has at most 400 KB.
	maxAttemptsKept = 50
	// leaseTime is how long an attempt belongs to the worker that began it. It is longer than a function can run, so
	// the function of an expired lease is not running any more.
	leaseTime = 45 * time.Second
)

// interruptedText is the stored error of an attempt whose result was not recorded.
const interruptedText = "the attempt was interrupted; whether the endpoint was reached is not known"

// leaseOf returns the end of the lease of the attempt that began at a time. It identifies the attempt.
func leaseOf(at clock.Timestamp) clock.Timestamp { return clock.Stamp(at.Time().Add(leaseTime)) }

// leased reports whether an attempt is in progress.
func (d Delivery) leased(now time.Time) bool {
	return d.LeaseUntil != nil && d.LeaseUntil.Time().After(now)
}

// recoverable reports whether a recovery sends the delivery again: it failed, or it waits after a failed attempt. A
// delivery that was sent again waits without an attempt, so concurrent recoveries do not send it twice.
func (d Delivery) recoverable(now time.Time) bool {
	return !d.Test && (d.Status == Failed || d.Status == Pending && d.Tries > 0 && !d.leased(now))
}

// FinishedAttempts returns the attempts without the one that is in progress.
func (d Delivery) FinishedAttempts(now time.Time) []Attempt {
	return slices.DeleteFunc(slices.Clone(d.Attempts), func(a Attempt) bool {
		return a.Error == interruptedText && leaseOf(a.At).Time().After(now)
	})
}

// eventTime returns the time of the event.
func (d Delivery) eventTime() time.Time {
	at, _ := id.Delivery.Time(d.ID)
	return at
}

// logAttrs returns the log attributes that identify the delivery.
func (d Delivery) logAttrs() []any {
	return []any{"delivery", d.ID, "webhook", d.WebhookID, "event", d.EventID}
}
