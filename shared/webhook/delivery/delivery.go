// Package delivery delivers events to the endpoints of webhooks. It contains the stored records, the fan-out that
// selects the webhooks of an event, the workers of the two lanes that attempt the deliveries, the retry job, and the
// log of a webhook's deliveries, from which they can be sent again. It must not contain subscriptions, access rules or
// HTTP endpoints: they belong to package webhook, which imports this package.
//
// The fast lane serves the endpoints that have responded promptly. The slow lane serves all others: a turn handles the
// waiting deliveries of one endpoint, and an account can have only a few turns at the same time. So endpoints that
// hang, fail or respond slowly do not delay the deliveries of other accounts.
//
// The table is the source of truth. A message in a queue only signals that a worker should check a delivery or an
// endpoint. A pure function decides each change of a delivery. The change is stored on the condition that the delivery
// was not changed after it was read. A pending delivery of the fast lane is always in the index of due deliveries, at a
// time that is not before the end of its lease. A pending delivery of the slow lane is in the partition of its webhook
// in the same index, and the webhook itself is due. If a message is lost or a function dies, the retry job finds the
// delivery or the webhook in the index.
package delivery

import (
	"errors"
	"slices"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

// Status is the state of a delivery.
type Status string

// The states of a delivery.
const (
	Pending   Status = "pending"   // waits for its next attempt, or an attempt is in progress
	Succeeded Status = "succeeded" // the endpoint responded with 2xx
	Failed    Status = "failed"    // no further attempt is made
)

// Delivery is one event that is sent to one webhook, as stored. The attribute names are part of the data format.
//
// A Delivery is not changed in place: each transition returns the next version, which Store.save stores.
type Delivery struct {
	ID          string     `dynamodbav:"id"`
	WebhookID   string     `dynamodbav:"webhookId"`
	WorkspaceID string     `dynamodbav:"workspaceId"`
	AccountID   string     `dynamodbav:"accountId"`           // see Webhook.AccountID
	ProjectID   string     `dynamodbav:"projectId,omitempty"` // the project of the event; "" if it has none
	EventID     string     `dynamodbav:"eventId"`
	Type        event.Type `dynamodbav:"type"`
	// Payload is the body of every attempt, byte for byte. Only the delivery of a test event contains it. The payloads
	// of all other deliveries are in the events table.
	Payload event.Text `dynamodbav:"payload,omitempty"`
	Status  Status     `dynamodbav:"status"`
	// Attempts contains the latest attempts, at most maxAttemptsKept, oldest first. While LeaseUntil is in the future,
	// the last one is in progress. An attempt in progress is stored as interrupted.
	Attempts []Attempt `dynamodbav:"attempts"`
	// Tries counts the attempts of the current run of the schedule. A redelivery starts a new run.
	Tries int `dynamodbav:"tries"`
	// Manual counts the requested redeliveries that are not completed. While it is not 0, the next attempt is a
	// redelivery, which is made even if the webhook is not active.
	Manual int `dynamodbav:"manualAttempts,omitempty"`
	// Test is true if the delivery was made to test the webhook. The event of a test never occurred, so recoveries ignore
	// the delivery.
	Test bool `dynamodbav:"test,omitempty"`
	// NextAttemptAt is the earliest time of the next attempt; nil unless pending.
	NextAttemptAt *clock.Timestamp `dynamodbav:"nextAttemptAt,omitempty"`
	// Deadline is the latest time for which an attempt of the current run is planned. See deadlineGrace.
	Deadline clock.Timestamp `dynamodbav:"deadline"`
	// LeaseUntil is the end of the lease of the attempt in progress; nil if no attempt has a lease. Until then, the
	// attempt belongs to the worker that began it. The first attempt in the fast lane has no lease.
	LeaseUntil *clock.Timestamp `dynamodbav:"leaseUntil,omitempty"`
	// Due and DueAt are the keys in the index of due deliveries; absent unless pending. In the fast lane, the retry job
	// sends a new message at DueAt, unless the delivery changes earlier. In the slow lane, DueAt is NextAttemptAt.
	// Wakes counts the messages of the retry job since the latest change.
	Due   string           `dynamodbav:"due,omitempty"`
	DueAt *clock.Timestamp `dynamodbav:"dueAt,omitempty"`
	Wakes int              `dynamodbav:"wakes,omitempty"`
	// Reason is the human-readable reason why the delivery failed without an attempt. It is "" if the last attempt
	// shows the reason.
	Reason string `dynamodbav:"reason,omitempty"`
	// Version counts the changes. Writer is a random ID of the latest change. See Store.save.
	Version   int    `dynamodbav:"version"`
	Writer    string `dynamodbav:"writer"`
	ExpiresAt int64  `dynamodbav:"expiresAt"` // Unix time in seconds
}

// decodeDelivery decodes a stored delivery. It returns an error if the item is not a complete delivery, or if its IDs
// are not valid or do not match its key. The service could not change such a delivery or send messages about it.
func decodeDelivery(item db.Item) (Delivery, error) {
	d, err := db.Decode[Delivery](item)
	if err == nil && (db.DeliveryKey(d.WebhookID, d.ID) != db.KeyOf(item) || !id.Workspace.Valid(d.WorkspaceID) ||
		!id.User.Valid(d.AccountID) || d.ProjectID != "" && !id.Project.Valid(d.ProjectID)) {
		err = errors.New("delivery: the IDs of a stored delivery are not valid")
	}
	return d, err
}

// Attempt is one request to an endpoint and its result.
type Attempt struct {
	At         clock.Timestamp `dynamodbav:"at"`                   // when it began; unique within a delivery
	StatusCode int             `dynamodbav:"statusCode,omitempty"` // 0: there was no response
	DurationMs int             `dynamodbav:"durationMs"`
	Error      string          `dynamodbav:"error,omitempty"`    // a human-readable message; "" if the attempt succeeded
	Response   string          `dynamodbav:"response,omitempty"` // the beginning of the response body
}

const (
	// retention is how long deliveries are stored.
	retention = 30 * 24 * time.Hour
	// maxAttemptsKept limits the attempts of a delivery that is redelivered many times: an item has at most 400 KB.
	maxAttemptsKept = 50
	// leaseTime is the duration of the leases of attempts, turns and slots. It is longer than a function can run: when a
	// lease expires, the function that took it is no longer running.
	leaseTime = 45 * time.Second
)

// interruptedText is the stored error of an attempt whose result was not recorded.
const interruptedText = "the attempt was interrupted; whether the endpoint was reached is not known"

// leaseEnd returns the end of the lease of an attempt. at is the time at which the attempt began. The result identifies
// the attempt within its delivery.
func leaseEnd(at clock.Timestamp) clock.Timestamp { return clock.Stamp(at.Time().Add(leaseTime)) }

// hasLease reports whether an attempt with a lease is in progress.
func (d Delivery) hasLease(now time.Time) bool {
	return d.LeaseUntil != nil && d.LeaseUntil.Time().After(now)
}

// waitsInSlowLane reports whether the delivery is pending in the slow lane.
func (d Delivery) waitsInSlowLane() bool {
	return d.Due != "" && d.Due == db.SlowPartition(d.WebhookID)
}

// dueInSlowLane returns when a turn can attempt the delivery, which waits in the slow lane.
func (d Delivery) dueInSlowLane() time.Time {
	var at time.Time
	for _, end := range []*clock.Timestamp{d.DueAt, d.LeaseUntil} {
		if end != nil && end.Time().After(at) {
			at = end.Time()
		}
	}
	return at
}

// isRecoverable reports whether a recovery sends the delivery again: the delivery failed, or waits after a failed
// attempt. A recovered delivery has no attempts in its new run, so a concurrent recovery does not send it again.
func (d Delivery) isRecoverable(now time.Time) bool {
	return !d.Test && (d.Status == Failed || d.Status == Pending && d.Tries > 0 && !d.hasLease(now))
}

// FinishedAttempts returns the attempts that are not in progress.
func (d Delivery) FinishedAttempts(now time.Time) []Attempt {
	return slices.DeleteFunc(slices.Clone(d.Attempts), func(a Attempt) bool {
		return a.Error == interruptedText && leaseEnd(a.At).Time().After(now)
	})
}

// key returns the key of the delivery in the table of webhooks.
func (d Delivery) key() db.Key { return db.DeliveryKey(d.WebhookID, d.ID) }

// eventKey returns the key of the delivery's event in the events table.
func (d Delivery) eventKey() db.Key { return event.KeyOf(d.WorkspaceID, d.ProjectID, d.EventID) }

// eventTime returns the time of the event.
func (d Delivery) eventTime() time.Time {
	at, _ := id.Delivery.Time(d.ID)
	return at
}

// logAttrs returns the log attributes that identify the delivery.
func (d Delivery) logAttrs() []any {
	return []any{"delivery", d.ID, "webhook", d.WebhookID, "event", d.EventID}
}
