package delivery

import (
	"context"
	"slices"

	"devplatform/shared/lambdafn"
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
	for i, err := range lambdafn.Parallel(len(messages), len(messages), func(i int) error {
		if slices.ContainsFunc(messages[:i], func(m message) bool { return m.DeliveryID == messages[i].DeliveryID }) {
			return nil // a duplicate
		}
		a := &attempt{worker: w.worker, batch: shared, received: received[indexes[i]], target: targets[i]}
		return a.run(ctx)
	}) {
		errs[indexes[i]] = err
	}
	w.metrics.Put(ctx, shared.tally.all()...)
	return errs
}
