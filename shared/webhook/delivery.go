package webhook

import (
	"crypto/sha256"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

// Status is where a delivery stands.
type Status string

// The states of a delivery.
const (
	// Pending waits for its first or next attempt, or is being attempted.
	Pending Status = "pending"
	// Succeeded was answered with 2xx.
	Succeeded Status = "succeeded"
	// Failed is given up.
	Failed Status = "failed"
)

// Delivery is one event on its way to one webhook, as stored. Attribute names are part of the data format.
//
// It is never changed in place: a transition makes the next version of it, and store.save stores that on the condition that
// the version before is still there.
type Delivery struct {
	ID          string     `dynamodbav:"id"`
	WebhookID   string     `dynamodbav:"webhookId"`
	WorkspaceID string     `dynamodbav:"workspaceId"`
	EventID     string     `dynamodbav:"eventId"`
	Type        event.Type `dynamodbav:"type"`
	Payload     event.Text `dynamodbav:"payload"` // the body of every attempt, byte for byte
	Status      Status     `dynamodbav:"status"`
	// Attempts are the latest ones, at most maxAttemptsKept, oldest first. While LeaseUntil is in the future the last one is
	// under way, and stands there as the interrupted one that it will be if nobody comes to record it.
	Attempts []Attempt `dynamodbav:"attempts"`
	// Tries counts the attempts of the present run of the schedule. A redelivery begins a new run.
	Tries int `dynamodbav:"tries"`
	// Manual counts the attempts that were asked for by hand and have not come to their end yet: as long as there are any, the next
	// attempt is one of them, which is made whatever state the webhook is in.
	Manual int `dynamodbav:"manualAttempts,omitempty"`
	// Test tells that it was made to test the webhook, with an event that never was: a recovery leaves it alone.
	Test bool `dynamodbav:"test,omitempty"`
	// NextAttemptAt is when the next attempt is planned for; nil unless pending.
	NextAttemptAt *clock.Timestamp `dynamodbav:"nextAttemptAt,omitempty"`
	// LeaseUntil is until when the attempt under way belongs to whoever began it; nil if none is.
	LeaseUntil *clock.Timestamp `dynamodbav:"leaseUntil,omitempty"`
	// Due and DueAt are its place in the index of what is due, absent unless pending. DueAt is when the retry job sends it to the
	// queue if nothing has happened to it till then, never before LeaseUntil; Wakes counts how often that was in vain.
	Due   string           `dynamodbav:"due,omitempty"`
	DueAt *clock.Timestamp `dynamodbav:"dueAt,omitempty"`
	Wakes int              `dynamodbav:"wakes,omitempty"`
	// Reason says, for people, why it failed without an attempt; "" if the last attempt says all.
	Reason string `dynamodbav:"reason,omitempty"`
	// Version counts the transitions, Writer names who made the last one: see store.save.
	Version   int    `dynamodbav:"version"`
	Writer    string `dynamodbav:"writer"`
	ExpiresAt int64  `dynamodbav:"expiresAt"` // seconds since 1970
}

// Attempt is one POST to an endpoint and what came of it.
type Attempt struct {
	At         clock.Timestamp `dynamodbav:"at"`
	StatusCode int             `dynamodbav:"statusCode,omitempty"` // 0: no answer
	DurationMs int             `dynamodbav:"durationMs"`
	Error      string          `dynamodbav:"error,omitempty"`    // why it failed, for people; "": it did not
	Response   string          `dynamodbav:"response,omitempty"` // the beginning of the answer's body
}

const (
	// deliveryRetention is how long deliveries are kept.
	deliveryRetention = 30 * 24 * time.Hour
	// maxAttemptsKept bounds the log of a delivery that is redelivered again and again: an item has 400 KB.
	maxAttemptsKept = 50
	// signalLoss is how long a message may take to lead to an attempt before it counts as lost.
	signalLoss = 2 * time.Minute
)

// newDelivery is the delivery of an event that happened at a time to a webhook, due now. It has the same id each time: the event's
// timestamp, which is what recoveries go by, and the first 80 bits of SHA-256(event, webhook).
func newDelivery(e event.Record, at time.Time, w Webhook, now time.Time) Delivery {
	hash := sha256.Sum256([]byte(e.ID + w.ID))
	d := Delivery{
		ID: id.Delivery.From(at, [10]byte(hash[:10])), WebhookID: w.ID, WorkspaceID: w.WorkspaceID,
		EventID: e.ID, Type: e.Type, Payload: e.Payload, Attempts: []Attempt{},
		ExpiresAt: at.Add(deliveryRetention).Unix(),
	}
	return d.pending(now, now.Add(signalLoss))
}

// pending is the delivery with its next attempt planned and its place in the index of what is due.
func (d Delivery) pending(next, due time.Time) Delivery {
	nextAt, dueAt := clock.Stamp(next), clock.Stamp(due)
	d.Status, d.Reason, d.LeaseUntil = Pending, "", nil
	d.NextAttemptAt, d.DueAt, d.Due = &nextAt, &dueAt, db.DuePartition(d.shard())
	return d
}

// final is the delivery out of the index, with nothing to come.
func (d Delivery) final(status Status, reason string) Delivery {
	d.Status, d.Reason = status, reason
	d.NextAttemptAt, d.LeaseUntil, d.DueAt, d.Due, d.Wakes, d.Manual = nil, nil, nil, "", 0, 0
	return d
}

// again is the delivery at the beginning of a new run of the schedule, due now, with one more attempt by hand if it is manual. An
// attempt under way keeps its lease: when it comes to its end, the delivery goes on; should it never, the lease ends.
func (d Delivery) again(now time.Time, manual bool) Delivery {
	lease := d.LeaseUntil
	d.Tries, d.Wakes = 0, 0
	if manual {
		d.Manual++
	}
	d = d.pending(now, now.Add(signalLoss)) // which is longer than a lease
	d.LeaseUntil = lease
	return d
}

// leased reports whether an attempt is under way.
func (d Delivery) leased(now time.Time) bool {
	return d.LeaseUntil != nil && d.LeaseUntil.Time().After(now)
}

// shard spreads deliveries over the index by the random end of their ids.
func (d Delivery) shard() int {
	sum := sha256.Sum256([]byte(d.ID))
	return int(sum[0]) % db.DueShards
}
