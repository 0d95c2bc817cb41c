package delivery

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
)

// Log is the log of the deliveries of webhooks: it reads them, sends them again, and sends tests. It does not check who
// may do so.
type Log struct {
	Store
	Fast    queue.Queue // the queue of the fast lane
	Secrets Secrets
	Sender  *sender.Sender
	Clock   clock.Clock
	Logger  *slog.Logger
}

// Redeliver sends a delivery again and starts a new run of the schedule. It does not depend on the status of the
// delivery or of its webhook. If an attempt is in progress, the delivery is sent again after that attempt. Errors:
// db.ErrNotFound if the delivery has expired, db.ErrConflict.
func (l Log) Redeliver(ctx context.Context, d Delivery) (Delivery, error) {
	d, _, err := l.change(ctx, "redeliver", d, false, func(d Delivery) (Delivery, bool) {
		return d.afterRestart(l.Clock(), true), true
	})
	if err == nil {
		l.enqueue(ctx, d)
	}
	return d, err
}

// enqueue sends the messages of deliveries that are due. A failure is only logged, because the retry job sends the
// message within minutes.
func (l Log) enqueue(ctx context.Context, deliveries ...Delivery) {
	messages := make([]queue.Message, len(deliveries))
	for i, d := range deliveries {
		messages[i] = d.message().queueMessage(0)
	}
	if err := l.Fast.Send(ctx, messages...); err != nil {
		l.Logger.ErrorContext(ctx, "messages were not sent, the retry job sends them", "cause", err.Error())
	}
}

// Limits of one recovery.
const (
	// recoverTime is the time after which a recovery stops reading pages: the gateway times out after 29 s.
	recoverTime = 20 * time.Second
	// recoverPage is the number of deliveries in a page. recoverParallel is the number of concurrent changes.
	recoverPage     = 100
	recoverParallel = 16
)

// Recovery is the result of Log.Recover.
type Recovery struct {
	Count int // the number of deliveries that are sent again
	// ContinueFrom is the time of the last event that was processed if the recovery ran out of time; otherwise nil.
	ContinueFrom *clock.Timestamp
}

// Recover sends the deliveries again that failed, or that wait after a failed attempt, and whose events occurred
// between since and until. It begins with the oldest event and stops after recoverTime.
func (l Log) Recover(ctx context.Context, webhookID string, since, until time.Time) (result Recovery, _ error) {
	begin, prefix := l.Clock(), db.DeliveriesOf(webhookID)
	q := db.Query{Prefix: prefix, After: prefix.After(lastIDBefore(since)), Limit: recoverPage}
	for {
		page, next, err := db.List(ctx, l.Table, q, decodeDelivery)
		if err != nil {
			return result, err
		}
		selected, isLast := page, next.IsZero()
		if i := slices.IndexFunc(page, func(d Delivery) bool { return d.eventTime().After(until) }); i >= 0 {
			selected, isLast = page[:i], true
		}
		n, err := l.recoverAll(ctx, selected)
		if result.Count += n; err != nil || isLast {
			return result, err
		}
		if q.After = next; l.Clock().Sub(begin) >= recoverTime {
			result.ContinueFrom = stamp(page[len(page)-1].eventTime()) // only the last page can be empty
			return result, nil
		}
	}
}

// lastIDBefore returns a delivery ID that sorts after the deliveries of all events before t, and before all other
// deliveries.
func lastIDBefore(t time.Time) string {
	return id.Delivery.From(t.Add(-time.Nanosecond), [10]byte(bytes.Repeat([]byte{0xff}, 10)))
}

// recoverAll sends the recoverable deliveries again, and returns their number.
func (l Log) recoverAll(ctx context.Context, deliveries []Delivery) (int, error) {
	recovered := make([]*Delivery, len(deliveries))
	errs := lambdafn.Parallel(len(deliveries), recoverParallel, func(i int) error {
		d, changed, err := l.change(ctx, "recover delivery", deliveries[i], false, func(d Delivery) (Delivery, bool) {
			now := l.Clock()
			return d.afterRestart(now, false), d.isRecoverable(now)
		})
		if changed {
			recovered[i] = &d
		}
		switch {
		case errors.Is(err, db.ErrNotFound): // it has expired
			return nil
		case errors.Is(err, db.ErrRejected): // it must not prevent the recovery of the others
			l.Logger.ErrorContext(ctx, "delivery cannot be changed", "delivery", d.ID, "cause", err.Error())
			return nil
		}
		return err
	})
	var pending []Delivery
	for _, d := range recovered {
		if d != nil {
			pending = append(pending, *d)
		}
	}
	l.enqueue(ctx, pending...)
	return len(pending), cmp.Or(errs...)
}

// Test sends an event to a webhook, even if the webhook is not active, and returns the delivery with its only attempt.
// The result does not change the health of the endpoint. at is the time of the event.
func (l Log) Test(ctx context.Context, w Webhook, e event.Record, at time.Time) (Delivery, error) {
	secrets, err := l.Secrets.Live(ctx, w, at)
	if err != nil {
		return Delivery{}, err
	}
	d := newDelivery(e, at, w, at)
	d.Payload = e.Payload // the events table does not contain the event
	body := []byte(d.Payload)
	result := l.Sender.Send(ctx, sender.Request{
		URL: w.URL, Body: body, Header: signature.Sign(secrets, d.EventID, d.ID, string(d.Type), at, body),
	})
	status := Failed
	if result.OK() {
		status = Succeeded
	}
	d = d.withFinalStatus(status, "")
	d.Test, d.Tries, d.Attempts = true, 1, []Attempt{newAttempt(clock.Stamp(at), result)}
	d.Version, d.Writer = 1, rand.Text()
	_, err = l.Client.Do(ctx, l.Table.Create(d.key(), d))
	return d, err
}
