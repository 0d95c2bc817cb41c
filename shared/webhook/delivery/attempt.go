package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
)

// attempt handles one delivery: it begins an attempt, sends the request, and records the result. Its methods are in the
// order in which run calls them.
//
// The fast lane makes the first attempt of a delivery without a lease, with one write to the table: the result. Every
// other attempt needs two: the first, in begin, takes the lease of the delivery and stores the attempt as interrupted.
// If the function dies before the result is recorded, an attempt with a lease still counts, and the delivery is found
// in the index.
type attempt struct {
	worker   *worker
	batch    *batch
	received lambdafn.QueueMessage // in the fast lane
	target                         // as read; after begin, delivery is the stored version

	moveTried bool // see hasMoved
	// Set by begin.
	made    bool     // an attempt has begun
	leased  bool     // with a lease
	trying  Delivery // the delivery with this attempt
	at      clock.Timestamp
	jitter  float64
	secrets []string
	// Set by run.
	result sender.Result
	ended  time.Time
	// Set by decide.
	decision decision
	health   Health // of the endpoint, after the attempt
}

// run plans what to do with the delivery and does it. In the fast lane, it returns lambdafn.ErrLater if the queue must
// deliver the message again.
func (a *attempt) run(ctx context.Context) error {
	err := a.begin(ctx)
	if err != nil || !a.made {
		return err
	}
	a.result = a.worker.send(ctx, signedRequest(*a.delivery, a.payload, a.webhook.URL, a.secrets, a.at.Time()))
	a.ended = a.worker.now()
	if a.worker.lane == fastLane && a.result.TimedOut {
		return a.moveToSlowLane(ctx)
	}
	a.decide(ctx)
	a.report(ctx)
	if a.result.Aborted {
		return nil // the function ran out of time: the delivery stays in the index
	}
	if err := a.record(ctx); err != nil {
		return err
	}
	a.saveHealth(ctx)
	return a.requeue(ctx)
}

// begin carries out the plan for the delivery. If another writer changed the delivery after it was read, begin reads it
// and plans again.
func (a *attempt) begin(ctx context.Context) error {
	isStale := false
	err := db.Retry(ctx, "begin attempt", func(ctx context.Context) error {
		if isStale {
			targets, err := a.worker.store.targets(ctx, a.delivery.message())
			if err != nil {
				return err
			}
			a.target = targets[0]
		}
		isStale = true
		return a.carryOutPlan(ctx)
	})
	if errors.Is(err, db.ErrConflict) && a.worker.lane == fastLane {
		return a.worker.returnAfter(ctx, a.received, time.Second)
	}
	return err
}

// carryOutPlan carries out the plan for the delivery. Error: db.ErrStale if the delivery was changed after it was read;
// then nothing has changed.
func (a *attempt) carryOutPlan(ctx context.Context) error {
	if a.err != nil {
		return a.rejectUndecodable(ctx)
	}
	if a.delivery == nil {
		return nil // expired
	}
	now := a.worker.now()
	switch p := planNext(*a.delivery, a.webhook, a.worker.lane, now); p.action {
	case actionSkip:
		return nil
	case actionWait:
		switch {
		case a.worker.lane == slowLane: // the index shows when it is due
			return nil
		case isSoon(p.until, now):
			return a.worker.returnAfter(ctx, a.received, p.until.Sub(now))
		case a.delivery.DueAt != nil && a.delivery.DueAt.Time().Equal(p.until): // the retry job sends a message
			return nil
		}
		return a.save(ctx, a.delivery.withFastAttempt(p.until, p.until))
	case actionMove:
		return a.move(ctx, false, func(d Delivery) (Delivery, bool) { return d.afterMove(now), true })
	case actionFail:
		err := a.save(ctx, a.delivery.withFinalStatus(Failed, p.reason))
		if err == nil {
			a.worker.logger.InfoContext(ctx, "delivery failed without an attempt",
				append(a.delivery.logAttrs(), "reason", p.reason)...)
		}
		return err
	default:
		return a.start(ctx, now)
	}
}

// rejectUndecodable handles a record that cannot be decoded.
func (a *attempt) rejectUndecodable(ctx context.Context) error {
	if a.worker.lane == fastLane {
		return a.worker.reject(ctx, a.received, a.err)
	}
	attrs := []any{"cause", a.err.Error()}
	if a.webhook != nil {
		attrs = append(attrs, "webhook", a.webhook.ID)
	}
	a.worker.logger.ErrorContext(ctx, "delivery cannot be decoded", attrs...)
	return nil
}

// move moves the delivery to the slow lane. next returns its next version, and false if it must not be moved. The
// webhook is made due before the delivery is stored, so that a crash in between loses nothing.
func (a *attempt) move(ctx context.Context, leaveFastLane bool, next func(Delivery) (Delivery, bool)) error {
	if err := a.batch.makeDue(ctx, a.worker.store, *a.webhook, leaveFastLane, a.worker.now()); err != nil {
		return err
	}
	if next, ok := next(*a.delivery); ok {
		return a.save(ctx, next)
	}
	return nil
}

// start begins an attempt.
func (a *attempt) start(ctx context.Context, now time.Time) (err error) {
	if a.batch.start.Err() != nil {
		return fmt.Errorf("%w: too little time remains for an attempt", lambdafn.ErrLater)
	}
	if a.secrets, err = a.worker.secrets(ctx, *a.webhook, now); err != nil {
		return err
	}
	a.jitter = a.worker.jitter()
	a.leased = a.worker.lane == slowLane || needsLease(*a.delivery, a.received.Receives)
	if !a.leased {
		a.trying, a.at = a.delivery.withAttempt(now)
		a.made = true
		return nil
	}
	a.trying, a.at = a.delivery.withLease(*a.webhook, now, a.jitter)
	err = a.save(ctx, a.trying)
	a.made = err == nil
	return err
}

// save stores the next version of the delivery. Error: db.ErrStale.
func (a *attempt) save(ctx context.Context, next Delivery) error {
	a.moveTried = a.moveTried || next.waitsInSlowLane() && !a.delivery.waitsInSlowLane()
	stored, err := a.worker.store.save(ctx, *a.delivery, next)
	if err == nil {
		a.delivery = &stored
	}
	return err
}

// signedRequest returns the signed request of an attempt. at is the time at which the attempt begins.
func signedRequest(d Delivery, payload event.Text, url string, secrets []string, at time.Time) sender.Request {
	body := []byte(payload)
	header := signature.Sign(secrets, d.EventID, d.ID, string(d.Type), at, body)
	return sender.Request{URL: url, Body: body, Header: header}
}

// moveToSlowLane moves the delivery to the slow lane after an attempt in the fast lane that took too long. The attempt
// is not counted, and the endpoint leaves the fast lane.
func (a *attempt) moveToSlowLane(ctx context.Context) error {
	err := a.change(ctx, "move delivery", func(ctx context.Context) error {
		return a.move(ctx, true, func(d Delivery) (Delivery, bool) { return d.afterTimeout(a.at, a.leased, a.ended) })
	})
	if err == nil && a.hasMoved() {
		a.worker.logger.InfoContext(ctx, "delivery moved to the slow lane",
			append(a.delivery.logAttrs(), "durationMs", a.result.Duration.Milliseconds())...)
	}
	return err
}

// hasMoved reports whether the attempt has moved the delivery to the slow lane. moveTried is true if it sent such a
// write: the response can be lost, and then the delivery shows whether the write was executed.
func (a *attempt) hasMoved() bool { return a.moveTried && a.delivery.waitsInSlowLane() }

// change calls store, which stores the next version of the delivery. If another writer changed the delivery, or storage
// is unavailable, it reads the delivery and calls store again: a write that seemed to fail may have been executed. It
// returns nil if the delivery has expired.
func (a *attempt) change(ctx context.Context, operation string, store func(context.Context) error) error {
	first := true
	err := db.Retry(ctx, operation, func(ctx context.Context) error {
		if !first {
			current, err := a.worker.store.Get(ctx, a.delivery.WebhookID, a.delivery.ID)
			if err != nil {
				return retryUnavailable(err)
			}
			a.delivery = &current
		}
		first = false
		return retryUnavailable(store(ctx))
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}

// decide decides what happens to the delivery, and disables the webhook if that is the decision. It does so before the
// result is recorded, because the decision changes if the webhook cannot be disabled. If the function dies before the
// result is recorded, the worker that receives the next message stores the delivery as failed, because the webhook is
// not active.
func (a *attempt) decide(ctx context.Context) {
	a.health = a.batch.endpoint(*a.webhook).add(a.result, a.ended)
	a.decision = decide(a.trying, *a.webhook, a.result, a.ended, a.jitter)
	if a.decision.outcome == outcomeDisable && !a.disable(ctx) {
		a.decision = retryOrGiveUp(a.trying, a.result, a.ended, a.jitter)
	}
}

// disable disables the webhook. It reports false if the decision no longer applies, because the webhook has a new
// endpoint, or another attempt succeeded. It also reports false if storage is unavailable: the delivery is then
// retried, and the next failure leads to the same decision.
func (a *attempt) disable(ctx context.Context) bool {
	w, log := *a.webhook, a.worker.logger
	disabled, err := a.worker.store.disable(ctx, w, w.after(a.result, a.ended), a.decision, a.ended)
	if err != nil {
		log.ErrorContext(ctx, "webhook was not disabled", "webhook", w.ID, "reason", a.decision.reason, "cause", err.Error())
		return false
	}
	if disabled {
		a.batch.tally.count(metricDisabled)
		log.WarnContext(ctx, "webhook disabled", "webhook", w.ID, "reason", a.decision.reason)
		return true
	}
	current, err := a.worker.store.Webhook(ctx, w.WorkspaceID, w.ID)
	return err == nil && current.Generation == w.Generation && !current.Active
}

// report logs and counts the attempt. The log must not contain the request, the response, or the URL.
func (a *attempt) report(ctx context.Context) {
	d, r := a.trying, a.result
	outcome := outcomeNames[a.decision.outcome]
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
	a.worker.logger.InfoContext(ctx, "delivery attempt", attrs...)
	a.batch.tally.count(metricAttempts)
	if !r.OK() {
		a.batch.tally.count(metricFailures)
		return
	}
	a.batch.tally.count(metricSuccesses)
	if firstRun := len(d.Attempts) == d.Tries; firstRun {
		latency := a.ended.Sub(d.eventTime())
		a.batch.tally.observe(metricLatency, metric.Milliseconds, float64(latency.Milliseconds()))
	}
}

// record stores the result. It retries while storage is unavailable, because an attempt whose result is not recorded is
// repeated. If another writer changed the delivery during the attempt, as a redelivery does, record adds the result to
// the changed delivery. If the endpoint has left the fast lane, the same write moves the delivery to the slow lane.
func (a *attempt) record(ctx context.Context) error {
	moves := a.decision.outcome == outcomeRetry && a.worker.lane == fastLane && a.health.lane() == slowLane
	if moves {
		if err := a.batch.makeDue(ctx, a.worker.store, *a.webhook, false, a.ended); err != nil {
			a.worker.logger.WarnContext(ctx, "delivery stays in the fast lane until its next attempt",
				append(a.delivery.logAttrs(), "cause", err.Error())...)
			moves = false
		}
	}
	result := attemptOf(a.at, a.result)
	err := a.change(ctx, "record attempt", func(ctx context.Context) error {
		var next Delivery
		var changed bool
		if a.leased {
			next, changed = a.delivery.withResult(result, a.trying.Manual > 0, a.decision, a.ended)
		} else {
			next, changed = a.delivery.withFirstResult(result, a.decision, a.ended)
		}
		if !changed {
			return nil
		}
		if moves && a.isRetryOf(next) {
			next = next.withSlowAttempt(a.decision.at)
		}
		return a.save(ctx, next)
	})
	if err != nil {
		return fmt.Errorf("delivery: the result of an attempt of %s was not recorded: %w", a.delivery.ID, err)
	}
	return nil
}

// isRetryOf reports whether the next attempt of the delivery is the retry that was decided. It is not if another writer
// changed the delivery during the attempt.
func (a *attempt) isRetryOf(d Delivery) bool {
	return a.decision.outcome == outcomeRetry && d.Status == Pending && d.Manual == 0 && d.LeaseUntil == nil &&
		d.NextAttemptAt != nil && d.NextAttemptAt.Equal(clock.Stamp(a.decision.at))
}

// retryUnavailable returns an error that db.Retry retries if err is db.ErrUnavailable. The write may have been
// executed, so the delivery has to be read again.
func retryUnavailable(err error) error {
	if errors.Is(err, db.ErrUnavailable) {
		return fmt.Errorf("%w: %w", db.ErrStale, err)
	}
	return err
}

// saveHealth stores the health of the endpoint after the attempt. The result is already recorded, so an error is only
// logged.
func (a *attempt) saveHealth(ctx context.Context) {
	if a.decision.outcome == outcomeDisable { // disable has stored it
		return
	}
	if err := a.batch.endpoint(*a.webhook).save(ctx, a.worker.store, *a.webhook); err != nil {
		a.worker.logger.WarnContext(ctx, "endpoint health was not stored", "webhook", a.webhook.ID, "cause", err.Error())
	}
}

// requeue returns the message to the queue of the fast lane if the next attempt is soon. Otherwise the retry job sends
// a new one. In the slow lane, the turn looks for the next delivery.
func (a *attempt) requeue(ctx context.Context) error {
	isManual := a.delivery.Status == Pending && a.delivery.Manual > 0 // its message may have been received and skipped
	switch {
	case a.worker.lane == slowLane && isManual:
		if err := a.worker.fast.Send(ctx, a.delivery.message().queued(a.delivery.AccountID, 0)); err != nil {
			a.worker.logger.WarnContext(ctx, "message was not sent, the retry job sends it",
				"delivery", a.delivery.ID, "cause", err.Error())
		}
	case a.worker.lane == slowLane:
	case isManual && a.received.Receives < maxReceives:
		return a.worker.returnAfter(ctx, a.received, 0)
	case a.isRetryOf(*a.delivery) && !a.delivery.waitsInSlowLane() && isSoon(a.decision.at, a.ended):
		return a.worker.returnAfter(ctx, a.received, a.decision.at.Sub(a.ended))
	}
	return nil
}
