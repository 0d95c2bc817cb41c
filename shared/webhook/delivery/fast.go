package delivery

import (
	"context"
	"slices"

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
	shared, cancel := newBatch(ctx)
	defer cancel()
	attempts := make([]*attempt, len(messages))
	for i, err := range lambdafn.Parallel(len(messages), len(messages), func(i int) error {
		if slices.ContainsFunc(messages[:i], func(m message) bool { return m.DeliveryID == messages[i].DeliveryID }) {
			return nil // a duplicate
		}
		attempts[i] = &attempt{worker: w.worker, batch: shared, received: received[indexes[i]], target: targets[i]}
		return attempts[i].run(ctx)
	}) {
		errs[indexes[i]] = err
	}
	w.sendTurns(ctx, shared, attempts)
	w.metrics.Put(ctx, shared.tally.all()...)
	return errs
}

// sendTurns sends messages for the turns of endpoints to which deliveries have moved: one for each endpoint that needs
// it, and one for each endpoint to which a redelivery was requested. If that fails, the retry job sends them.
func (w FastWorker) sendTurns(ctx context.Context, shared *batch, attempts []*attempt) {
	waiting := map[string][]string{} // by webhook
	for _, a := range attempts {
		if a == nil || a.webhook == nil || a.delivery == nil || !a.delivery.waitsInSlowLane() {
			continue
		}
		if a.hasMoved() {
			shared.tally.count(metricMoved)
		}
		if a.hasMoved() && a.delivery.Manual > 0 {
			shared.turns.Store(a.webhook.ID, *a.webhook)
		}
		waiting[a.webhook.ID] = append(waiting[a.webhook.ID], a.delivery.ID)
	}
	var messages []queue.Message
	shared.turns.Range(func(id, webhook any) bool {
		w := webhook.(Webhook)
		messages = append(messages, w.turnMessage(waiting[id.(string)]...).queued(w.AccountID, 0))
		return true
	})
	if err := w.slow.Send(ctx, messages...); err != nil {
		w.logger.WarnContext(ctx, "messages for turns were not sent, the retry job sends them", "cause", err.Error())
	}
}
