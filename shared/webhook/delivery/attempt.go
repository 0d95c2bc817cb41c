package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/webhook/notice"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
)

// attempt handles one delivery: it begins an attempt, sends the request, and records the result. Its methods are in the
// order in which run calls them.
//
// The fast lane makes the first attempt of a delivery without a lease, with one write to the table: the result. Every
// other attempt needs two: the first, in prepare, takes the lease of the delivery and stores the attempt as
// interrupted. If the function dies before the result is recorded, the retry job or a turn finds the delivery in the
// index. An attempt with a lease still counts.
type attempt struct {
	worker     *worker
	invocation *invocation
	received   lambdafn.QueueMessage // in the fast lane
	messageErr *error                // in the fast lane: receives the error of the message
	target                           // as read, without an error; after prepare, delivery is the stored version

	// toSlowLane is not nil if the delivery must move to the slow lane. It returns the moved delivery, and false if
	// another worker changed the delivery so that it must not move. See FastWorker.moveDeliveries.
	toSlowLane func(Delivery) (Delivery, bool)
	// Set by prepare and begin.
	hasBegun  bool
	isLeased  bool
	attempted Delivery // the delivery with this attempt
	at        clock.Timestamp
	jitter    float64
	secrets   []string
	// Set by run.
	result        sender.Result
	endedAt       time.Time
	decision      decision
	changesHealth bool
}

// run decides what to do with the delivery and does it. It returns lambdafn.ErrLater if the queue must deliver the
// message again, or if too little time remains for an attempt.
func (a *attempt) run(ctx context.Context) error {
	switch err := a.prepare(ctx); {
	case errors.Is(err, db.ErrConflict) && a.worker.lane == fastLane:
		return a.worker.returnTo(ctx, a.worker.Fast, a.received, time.Second)
	case err != nil || !a.hasBegun:
		return err
	}
	d, body := a.attempted, []byte(a.payload)
	a.result = a.worker.send(ctx, sender.Request{
		URL: a.webhook.URL, Body: body,
		Header: signature.Sign(a.secrets, d.EventID, d.ID, string(d.Type), a.at.Time(), body),
	})
	a.endedAt = a.worker.Clock()
	if a.worker.lane == fastLane && a.result.TimedOut {
		a.toSlowLane = func(d Delivery) (Delivery, bool) { return d.afterTimeout(a.at, a.isLeased, a.endedAt) }
		return nil
	}
	a.decision = decide(d, *a.webhook, a.result, a.endedAt, a.jitter)
	// The webhook is disabled before the result is recorded, because the decision changes if it cannot be disabled. If
	// the function dies in between, the next worker stores the delivery as failed, because the webhook is not active.
	if a.decision.outcome == outcomeDisable && !a.disable(ctx) {
		a.decision = retryOrGiveUp(d, a.result, a.endedAt, a.jitter)
	}
	a.report(ctx)
	if a.result.Aborted {
		return nil // the function ran out of time: the delivery stays in the index
	}
	// A result that is not recorded leads to another attempt, so the write is retried while storage is unavailable. If
	// another writer changed the delivery during the attempt, for example for a redelivery, the changed delivery gets the
	// result, too.
	stored, _, err := a.worker.Store.change(ctx, "record attempt", *a.delivery, true, func(d Delivery) (Delivery, bool) {
		return d.withResult(newAttempt(a.at, a.result), a.isLeased, a.attempted.Manual > 0, a.decision, a.endedAt)
	})
	switch {
	case err == nil:
		a.delivery = &stored
	case !errors.Is(err, db.ErrNotFound): // otherwise, it has expired
		return fmt.Errorf("delivery: the result of an attempt of %s was not recorded: %w", d.ID, err)
	}
	a.changesHealth = a.decision.outcome != outcomeDisable // disable has stored the health
	return a.requeue(ctx)
}

// prepare decides the next step for the delivery, and stores the change that the step makes. It sets hasBegun if an
// attempt has begun. If another writer changed the delivery after it was read, prepare reads it and plans again.
func (a *attempt) prepare(ctx context.Context) error {
	w, isStale := a.worker, false
	return db.Retry(ctx, "begin attempt", func(ctx context.Context) error {
		if isStale {
			targets, err := w.Store.targets(ctx, a.delivery.message())
			if err != nil {
				return err
			}
			if a.target = targets[0]; a.err != nil {
				return a.err
			}
		}
		isStale = true
		if a.delivery == nil {
			return nil // expired
		}
		var next Delivery
		now := w.Clock()
		p := planNext(*a.delivery, a.webhook, w.lane, now)
		switch p.action {
		case actionSkip:
			return nil
		case actionReturn:
			return w.returnTo(ctx, w.Fast, a.received, p.until.Sub(now))
		case actionMove:
			a.toSlowLane = func(d Delivery) (Delivery, bool) { return d.afterMove(now) }
			return nil
		case actionPark:
			next = a.delivery.withFastAttempt(p.until, p.until)
		case actionFail:
			next = a.delivery.withFinalStatus(Failed, p.reason)
		case actionAttempt:
			if err := a.begin(ctx, now); err != nil || a.hasBegun {
				return err
			}
			next = a.attempted
		}
		stored, err := w.Store.save(ctx, *a.delivery, next)
		if err != nil {
			return err
		}
		a.delivery, a.hasBegun = &stored, p.action == actionAttempt
		if p.action == actionFail {
			w.Logger.InfoContext(ctx, "delivery failed without an attempt", append(next.logAttrs(), "reason", p.reason)...)
		}
		return nil
	})
}

// begin begins an attempt that needs no lease. Any other attempt begins when prepare has stored the lease that begin
// adds.
func (a *attempt) begin(ctx context.Context, now time.Time) (err error) {
	w := a.worker
	if a.invocation.start.Err() != nil {
		return fmt.Errorf("%w: too little time remains for an attempt", lambdafn.ErrLater)
	}
	if a.secrets, err = w.secrets(ctx, *a.webhook, now); err != nil {
		return err
	}
	a.jitter = w.jitter()
	if a.isLeased = w.lane == slowLane || needsLease(*a.delivery, a.received.Receives); a.isLeased {
		a.attempted, a.at = a.delivery.withLease(*a.webhook, now, a.jitter)
		return nil
	}
	a.attempted, a.at, a.hasBegun = *a.delivery, clock.Stamp(now), true
	a.attempted.Tries++
	return nil
}

// disable disables the webhook, and stores a mail about it to the webhook's creator. It reports false if the decision
// no longer applies, because the webhook has a new endpoint, or another attempt succeeded. It also reports false if
// storage is unavailable: the delivery is then retried, and the next failure leads to the same decision.
func (a *attempt) disable(ctx context.Context) bool {
	w, log := *a.webhook, a.worker.Logger
	mails, err := a.worker.Notices.Disabled(ctx, w.CreatedBy, w.WorkspaceID, a.decision.reason,
		notice.Webhook{Description: w.Description, URL: w.URL})
	disabled := false
	if err == nil {
		disabled, err = a.worker.Store.disable(ctx, w, w.after(a.result, a.endedAt), a.decision, a.endedAt, mails...)
	}
	if err != nil {
		log.ErrorContext(ctx, "webhook was not disabled", "webhook", w.ID, "reason", a.decision.reason, "cause", err.Error())
		return false
	}
	if disabled {
		a.invocation.count(metricDisabled)
		log.WarnContext(ctx, "webhook disabled", "webhook", w.ID, "reason", a.decision.reason)
		return true
	}
	current, err := a.worker.Store.Webhook(ctx, w.WorkspaceID, w.ID)
	return err == nil && current.Generation == w.Generation && !current.Active
}

// report logs and counts the attempt. The log must not contain the request, the response, or the URL.
func (a *attempt) report(ctx context.Context) {
	d, r := a.attempted, a.result
	outcome := string(a.decision.outcome)
	if r.Aborted {
		outcome = "interrupted"
	}
	attrs := append(d.logAttrs(), "type", string(d.Type), "attempt", d.Tries, "status", r.StatusCode,
		"durationMs", r.Duration.Milliseconds(), "outcome", outcome)
	if r.Error != "" {
		attrs = append(attrs, "cause", r.Error)
	}
	if a.decision.outcome == outcomeRetry {
		attrs = append(attrs, "next", clock.Stamp(a.decision.at).String())
	}
	a.worker.Logger.InfoContext(ctx, "delivery attempt", attrs...)
	a.invocation.count(metricAttempts)
	if !r.OK() {
		a.invocation.count(metricFailures)
		return
	}
	a.invocation.count(metricSuccesses)
	isFirstRun := len(d.Attempts) <= d.Tries
	if isFirstRun {
		latency := a.endedAt.Sub(d.eventTime())
		a.invocation.observe(metricLatency, metric.Milliseconds, float64(latency.Milliseconds()))
	}
}

// requeue returns the message to the queue of the fast lane if the next attempt is soon. Otherwise the retry job sends
// a new one. In the slow lane, where the turn finds the next delivery, requeue only sends the messages of requested
// redeliveries, which are in the fast lane.
func (a *attempt) requeue(ctx context.Context) error {
	d := a.delivery
	isManual := d.Status == Pending && d.Manual > 0 // its message may have been received and skipped
	// Another writer may have changed the delivery during the attempt.
	isOwnRetry := a.decision.outcome == outcomeRetry && d.Status == Pending && d.Manual == 0 && d.LeaseUntil == nil &&
		d.NextAttemptAt != nil && d.NextAttemptAt.Equal(clock.Stamp(a.decision.at))
	switch {
	case a.worker.lane == slowLane && isManual:
		if err := a.worker.Fast.Send(ctx, d.message().queueMessage(0)); err != nil {
			a.worker.Logger.WarnContext(ctx, "message was not sent, the retry job sends it",
				"delivery", d.ID, "cause", err.Error())
		}
	case a.worker.lane == slowLane:
	case isManual && a.received.Receives < maxReceives:
		return a.worker.returnTo(ctx, a.worker.Fast, a.received, 0)
	case isOwnRetry && !d.waitsInSlowLane() && isSoon(a.decision.at, a.endedAt):
		return a.worker.returnTo(ctx, a.worker.Fast, a.received, a.decision.at.Sub(a.endedAt))
	}
	return nil
}
