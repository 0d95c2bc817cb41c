package delivery

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/queue"
)

// FastWorker attempts the deliveries of the fast lane.
type FastWorker struct{ *worker }

// NewFastWorker returns a worker of the fast lane. It does no I/O.
func NewFastWorker(d WorkerDeps) FastWorker { return FastWorker{newWorker(d, fastLane)} }

// Handle handles the messages of one invocation concurrently, and returns one error for each. Errors: lambdafn.ErrLater
// if the queue must deliver the message again when the next attempt is due; errors of storage and of the key ring,
// after which a retry may succeed.
func (w FastWorker) Handle(ctx context.Context, received []lambdafn.QueueMessage) []error {
	messages, indexes, errs := w.parse(ctx, received)
	targets, err := w.store.targets(ctx, messages...)
	if err != nil {
		for _, i := range indexes {
			errs[i] = err
		}
		return errs
	}
	shared, cancel := newInvocation(ctx)
	defer cancel()
	attempts := make([]*attempt, len(messages))
	for i, err := range lambdafn.Parallel(len(messages), len(messages), func(i int) error {
		if slices.ContainsFunc(messages[:i], func(m message) bool { return m.DeliveryID == messages[i].DeliveryID }) {
			return nil // a duplicate
		}
		attempts[i] = &attempt{worker: w.worker, invocation: shared, received: received[indexes[i]], target: targets[i]}
		return attempts[i].run(ctx)
	}) {
		errs[indexes[i]] = err
	}
	for i, err := range w.moveAll(ctx, attempts) {
		errs[indexes[i]] = cmp.Or(errs[indexes[i]], err)
	}
	w.saveHealth(ctx, attempts)
	w.metrics.Put(ctx, shared.all()...)
	return errs
}

// moveAll moves the deliveries that must move to the slow lane, and sends the messages for the turns of their
// endpoints. If a message is not sent, the retry job sends it. It returns the error of each attempt.
func (w FastWorker) moveAll(ctx context.Context, attempts []*attempt) []error {
	errs, byWebhook := make([]error, len(attempts)), map[string][]int{}
	for i, a := range attempts {
		if a != nil && a.toSlowLane != nil {
			byWebhook[a.webhook.ID] = append(byWebhook[a.webhook.ID], i)
		}
	}
	webhooks := slices.Sorted(maps.Keys(byWebhook))
	turns := make([][]queue.Message, len(webhooks))
	for n, err := range lambdafn.Parallel(len(webhooks), len(webhooks), func(n int) (err error) {
		var moves []*attempt
		for _, i := range byWebhook[webhooks[n]] {
			moves = append(moves, attempts[i])
		}
		var moveErrs []error
		turns[n], moveErrs, err = w.moveDeliveries(ctx, moves)
		for k, i := range byWebhook[webhooks[n]][:len(moveErrs)] {
			errs[i] = moveErrs[k]
		}
		return err
	}) {
		for _, i := range byWebhook[webhooks[n]] {
			errs[i] = cmp.Or(errs[i], err)
		}
	}
	if err := w.slow.Send(ctx, slices.Concat(turns...)...); err != nil {
		w.logger.WarnContext(ctx, "messages for turns were not sent, the retry job sends them", "cause", err.Error())
	}
	return errs
}

// moveDeliveries moves deliveries of one webhook to the slow lane. If an attempt timed out, the endpoint leaves the
// fast lane. The webhook is made due before the deliveries are stored, so that a crash in between loses nothing.
// moveDeliveries returns the message for the turn, if one must be sent, and the error of each attempt.
func (w FastWorker) moveDeliveries(
	ctx context.Context, attempts []*attempt,
) (turn []queue.Message, errs []error, _ error) {
	first := attempts[max(0, slices.IndexFunc(attempts, func(a *attempt) bool { return a.hasBegun }))]
	webhook := *first.webhook
	mustSend, err := w.store.makeDue(ctx, webhook, first.hasBegun, w.now())
	if err != nil {
		return nil, nil, err
	}
	moved := make([]*Delivery, len(attempts))
	errs = lambdafn.Parallel(len(attempts), len(attempts), func(i int) (err error) {
		moved[i], err = attempts[i].moveToSlowLane(ctx)
		return err
	})
	var waiting []string
	for _, d := range moved {
		if d != nil {
			waiting = append(waiting, d.ID)
			mustSend = mustSend || d.Manual > 0 // its turn does not wait until the endpoint has rested
		}
	}
	if mustSend {
		turn = []queue.Message{webhook.turnMessage(waiting...).queued(webhook.AccountID, 0)}
	}
	return turn, errs, nil
}

// moveToSlowLane stores the moved delivery. It returns nil if another worker changed the delivery so that it must not
// move. An attempt that timed out is not counted.
func (a *attempt) moveToSlowLane(ctx context.Context) (*Delivery, error) {
	hasMoved := false // the response to an earlier write can be lost, and then the delivery has moved already
	d, _, err := a.worker.store.change(ctx, "move delivery", *a.delivery, true, func(d Delivery) (Delivery, bool) {
		next, moves := a.toSlowLane(d)
		hasMoved = hasMoved || moves
		return next, moves
	})
	switch {
	case errors.Is(err, db.ErrNotFound): // it has expired
		return nil, nil
	case err != nil || !hasMoved || !d.waitsInSlowLane():
		return nil, err
	}
	a.invocation.count(metricMoved)
	if a.hasBegun {
		a.worker.logger.InfoContext(ctx, "delivery moved to the slow lane",
			append(d.logAttrs(), "durationMs", a.result.Duration.Milliseconds())...)
	}
	return &d, nil
}
