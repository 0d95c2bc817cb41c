package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
)

// attemptTime is the time that an invocation reserves for an attempt: up to 15 s for the request, and the rest for
// storing the result.
const attemptTime = 17 * time.Second

// batch is the state that the attempts of one invocation share.
type batch struct {
	start  context.Context // ends when too little time remains to begin an attempt
	probes sync.Map        // IDs of the webhooks that are probed by an attempt of this batch
	tally  tally
}

// Handle handles the messages of one invocation concurrently, and returns one error for each. Errors: lambdafn.ErrLater
// if the queue must deliver the message again when the next attempt is due; errors of storage and of the key ring,
// after which a retry may succeed.
func (w *Worker) Handle(ctx context.Context, received []lambdafn.QueueMessage) []error {
	errs := make([]error, len(received))
	var messages []message
	var indexes []int // for each message, its index in received
	for i, r := range received {
		m, err := parseMessage(r.Body)
		if err != nil {
			errs[i] = w.reject(ctx, r, err)
			continue
		}
		messages, indexes = append(messages, m), append(indexes, i)
	}
	targets, err := w.store.targets(ctx, messages...)
	if err != nil {
		for _, i := range indexes {
			errs[i] = err
		}
		return errs
	}
	start, cancel := endingBefore(ctx, attemptTime)
	defer cancel()
	shared := &batch{start: start}
	for i, err := range lambdafn.Parallel(len(messages), max(len(messages), 1), func(i int) error {
		a := &attempt{worker: w, batch: shared, received: received[indexes[i]], message: messages[i], target: targets[i]}
		return a.run(ctx)
	}) {
		errs[indexes[i]] = err
	}
	w.metrics.Put(ctx, shared.tally.all()...)
	return errs
}

// attempt handles one message: it claims the delivery, sends the request, and records the result. Its methods are in
// the order in which run calls them.
//
// An attempt needs three calls to the table. The first reads all deliveries and webhooks of the batch. The second, in
// claim, leases the delivery and stores the attempt as interrupted. The third, in record, stores the result. If the
// function dies between claim and record, the attempt still counts, and the retry job finds the delivery in the index.
type attempt struct {
	worker   *Worker
	batch    *batch
	received lambdafn.QueueMessage
	message  message
	target   // as read; after the claim, delivery is the claimed version

	// Set by claim.
	at      clock.Timestamp // when the attempt began
	jitter  float64
	secrets []string
	// Set by post.
	result sender.Result
	ended  time.Time
	// Set by decide.
	decision decision
}

// run handles the message. It returns lambdafn.ErrLater if the queue must deliver the message again.
func (a *attempt) run(ctx context.Context) error {
	claimed, err := a.claim(ctx)
	if err != nil || !claimed {
		return err
	}
	a.post(ctx)
	a.decide(ctx)
	a.report(ctx)
	if a.result.Aborted {
		return nil // the function ran out of time: the attempt stays interrupted, and the retry job finds the delivery
	}
	if err := a.record(ctx); err != nil {
		return err
	}
	a.saveHealth(ctx)
	return a.requeue(ctx)
}

// claim executes the plan for the delivery. It reports whether the plan is an attempt and this worker has claimed the
// delivery. If another writer changed the delivery after it was read, claim reads it and plans again.
func (a *attempt) claim(ctx context.Context) (claimed bool, err error) {
	stale := false
	err = db.Retry(ctx, "claim delivery", func() error {
		if stale {
			targets, err := a.worker.store.targets(ctx, a.message)
			if err != nil {
				return err
			}
			a.target = targets[0]
		}
		stale = true
		claimed, err = a.executePlan(ctx)
		return err
	})
	if errors.Is(err, db.ErrConflict) {
		return false, a.returnAfter(ctx, time.Second)
	}
	return claimed && err == nil, err
}

// executePlan executes the plan for the delivery. It reports whether this worker has claimed the delivery for an
// attempt. Error: db.ErrStale if the delivery was changed after it was read; then executePlan has changed nothing.
func (a *attempt) executePlan(ctx context.Context) (claimed bool, err error) {
	if a.err != nil {
		return false, a.worker.reject(ctx, a.received, a.err)
	}
	if a.delivery == nil {
		return false, nil // expired
	}
	now := a.worker.now()
	switch p := planNext(*a.delivery, a.webhook, now); p.action {
	case actionSkip:
		return false, nil
	case actionWait:
		return false, a.wait(ctx, p.until, now)
	case actionPark:
		return false, a.park(ctx, now)
	case actionFail:
		return false, a.fail(ctx, p.reason)
	default:
		return a.lease(ctx, p.probe, now)
	}
}

// wait handles a message that arrived before the next attempt is due. It returns the message to the queue if the
// attempt is due soon. Otherwise the retry job sends a new one.
func (a *attempt) wait(ctx context.Context, until, now time.Time) error {
	if isSoon(until, now) {
		return a.returnAfter(ctx, until.Sub(now))
	}
	if a.delivery.DueAt != nil && a.delivery.DueAt.Time().Equal(until) {
		return nil
	}
	return a.save(ctx, a.delivery.deferred(until))
}

// park defers the delivery, because another delivery probes the unhealthy endpoint.
func (a *attempt) park(ctx context.Context, now time.Time) error {
	err := a.save(ctx, a.delivery.deferred(now.Add(parkTime(a.webhook.FailingSince, now, a.worker.jitter()))))
	if err == nil {
		a.batch.tally.count(metricParked)
	}
	return err
}

// fail stores the delivery as failed, without an attempt.
func (a *attempt) fail(ctx context.Context, reason string) error {
	err := a.save(ctx, a.delivery.finished(Failed, reason))
	if err == nil {
		attrs := append(a.delivery.logAttrs(), "reason", reason)
		a.worker.logger.InfoContext(ctx, "delivery failed without an attempt", attrs...)
	}
	return err
}

// lease takes the lease of the delivery. If the attempt is a probe, it first takes the probe lease of the endpoint.
func (a *attempt) lease(ctx context.Context, probe bool, now time.Time) (leased bool, err error) {
	if a.batch.start.Err() != nil {
		return false, fmt.Errorf("%w: too little time remains for an attempt", lambdafn.ErrLater)
	}
	if a.secrets, err = a.worker.secrets(ctx, *a.webhook, now); err != nil {
		return false, err
	}
	a.webhook.ProbeUntil = nil // this attempt must not release the lease of another one
	if probe {
		taken, err := a.takeProbe(ctx, now)
		if err != nil {
			return false, err
		}
		if !taken {
			return false, a.park(ctx, now)
		}
	}
	a.jitter = a.worker.jitter()
	claimed, at := a.delivery.claimed(*a.webhook, now, a.jitter)
	a.at = at
	err = a.save(ctx, claimed)
	return err == nil, err
}

// takeProbe takes the probe lease of the endpoint. It reports false if another delivery holds the lease.
func (a *attempt) takeProbe(ctx context.Context, now time.Time) (bool, error) {
	if _, taken := a.batch.probes.LoadOrStore(a.webhook.ID, true); taken {
		return false, nil // without a call to storage
	}
	until := clock.Stamp(now.Add(leaseTime))
	taken, err := a.worker.store.takeProbe(ctx, *a.webhook, now, until.Time())
	if taken {
		a.webhook.ProbeUntil = &until
	}
	return taken, err
}

// save stores the next version of the delivery. Error: db.ErrStale.
func (a *attempt) save(ctx context.Context, next Delivery) error {
	stored, err := a.worker.store.save(ctx, *a.delivery, next)
	if err == nil {
		a.delivery = &stored
	}
	return err
}

// post sends the event to the endpoint.
func (a *attempt) post(ctx context.Context) {
	a.result = a.worker.send(ctx, signedRequest(*a.delivery, a.webhook.URL, a.secrets, a.at.Time()))
	a.ended = a.worker.now()
}

// signedRequest returns the signed request of an attempt. at is the time at which the attempt begins.
func signedRequest(d Delivery, url string, secrets []string, at time.Time) sender.Request {
	body := []byte(d.Payload)
	header := signature.Sign(secrets, d.EventID, d.ID, string(d.Type), at, body)
	return sender.Request{URL: url, Body: body, Header: header}
}

// decide decides what happens to the delivery, and disables the webhook if that is the decision. It does so before the
// result is recorded, because the decision changes if the webhook cannot be disabled. If the function dies before the
// result is recorded, the worker that receives the next message stores the delivery as failed, because the webhook is
// not active.
func (a *attempt) decide(ctx context.Context) {
	a.decision = decide(*a.delivery, *a.webhook, a.result, a.ended, a.jitter)
	if a.decision.outcome == outcomeDisable && !a.disable(ctx) {
		a.decision = retryOrGiveUp(*a.delivery, a.result, a.ended, a.jitter)
	}
}

// disable disables the webhook. It reports false if the decision does not apply any more, because the webhook has a new
// endpoint, or another attempt succeeded.
func (a *attempt) disable(ctx context.Context) bool {
	w, log := *a.webhook, a.worker.logger
	disabled, err := a.worker.store.disable(ctx, w, w.after(a.result, a.ended), a.decision, a.ended)
	if err != nil { // the next failure leads to the same decision
		log.ErrorContext(ctx, "webhook was not disabled", "webhook", w.ID, "reason", a.decision.reason, "cause", err.Error())
		return true
	}
	if disabled {
		a.batch.tally.count(metricDisabled)
		log.WarnContext(ctx, "webhook disabled", "webhook", w.ID, "reason", a.decision.reason)
		return true
	}
	current, err := a.worker.store.Webhook(ctx, w.WorkspaceID, w.ID)
	return err != nil || current.Generation == w.Generation && !current.Active
}

// report logs and counts the attempt. The log must not contain the request, the response, or the URL.
func (a *attempt) report(ctx context.Context) {
	d, r := a.delivery, a.result
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
// the changed delivery.
func (a *attempt) record(ctx context.Context) error {
	result, manual, claimed := attemptOf(a.at, a.result), a.delivery.Manual > 0, true
	err := db.Retry(ctx, "record attempt", func() error {
		if !claimed {
			current, err := a.worker.store.Get(ctx, a.message.WebhookID, a.message.DeliveryID)
			if err != nil {
				return retryUnavailable(err)
			}
			a.delivery = &current
		}
		claimed = false
		next, changed := a.delivery.recorded(result, manual, a.decision, a.ended)
		if !changed {
			return nil
		}
		return retryUnavailable(a.save(ctx, next))
	})
	if err != nil && !errors.Is(err, db.ErrNotFound) { // not found: it has expired
		return fmt.Errorf("delivery: the result of an attempt of %s was not recorded: %w", a.delivery.ID, err)
	}
	return nil
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
	after := a.webhook.after(a.result, a.ended)
	if a.decision.outcome == outcomeDisable || !after.changedSince(a.webhook.Health) { // disable has stored it
		return
	}
	if err := a.worker.store.saveHealth(ctx, *a.webhook, after); err != nil {
		a.worker.logger.WarnContext(ctx, "endpoint health was not stored", "webhook", a.webhook.ID, "cause", err.Error())
	}
}

// maxReceives limits how often a message can be returned to the queue, without a delay, for the next redelivery. The
// queue moves a message to its dead-letter queue after ten receives.
const maxReceives = 7

// requeue returns the message to the queue if the next attempt is soon. Otherwise the retry job sends a new one.
func (a *attempt) requeue(ctx context.Context) error {
	d, v := a.delivery, a.decision
	switch {
	case d.Status == Pending && d.Manual > 0:
		// The messages of the requested redeliveries may have been received and skipped during this attempt.
		if a.received.Receives < maxReceives {
			return a.returnAfter(ctx, 0)
		}
	case v.outcome == outcomeRetry && isSoon(v.at, a.ended) &&
		d.NextAttemptAt != nil && d.NextAttemptAt.Equal(clock.Stamp(v.at)):
		return a.returnAfter(ctx, v.at.Sub(a.ended))
	}
	return nil
}

// returnAfter returns the message to the queue, where it becomes visible after a wait. If that fails, the message
// becomes visible at the end of its visibility timeout, or the retry job sends a new one.
func (a *attempt) returnAfter(ctx context.Context, wait time.Duration) error {
	if err := a.worker.queue.Hide(ctx, a.received.ReceiptHandle, wait); err != nil {
		a.worker.logger.WarnContext(ctx, "message was not returned to the queue",
			"messageId", a.received.ID, "cause", err.Error())
	}
	return fmt.Errorf("%w: the next attempt is in %v", lambdafn.ErrLater, wait.Round(time.Millisecond))
}
