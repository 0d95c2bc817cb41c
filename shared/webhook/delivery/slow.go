package delivery

import (
	"cmp"
	"context"

	"devplatform/shared/async"
	"devplatform/shared/lambdafn"
)

// SlowWorker runs the turns of the endpoints of the slow lane. It also creates deliveries, for both lanes.
type SlowWorker struct{ *worker }

// NewSlowWorker returns a worker of the slow lane. It does no I/O.
func NewSlowWorker(d WorkerDeps) SlowWorker { return SlowWorker{newWorker(d, slowLane)} }

// Handle handles the messages of one invocation, which are from one queue, and returns one error for each. It runs the
// turns of different accounts concurrently. It creates deliveries for one workspace at a time, so that the writes do
// not take the capacity of the table from the fast lane. Errors: lambdafn.ErrLater if the queue must deliver the
// message again later; errors of storage, after which a retry may succeed.
func (w SlowWorker) Handle(ctx context.Context, received []lambdafn.QueueMessage) []error {
	errs := make([]error, len(received))
	shared, cancel := newInvocation(ctx)
	defer cancel()
	turnsOf := map[string][]*turn{} // by account
	var creations []creation
	for i, r := range received {
		m, err := parseMessage(r.Body, slowLane)
		c := creation{indexes: []int{i}, message: m}
		switch {
		case err != nil:
			errs[i] = w.reject(ctx, r, err)
		case len(m.Events) == 0:
			t := &turn{worker: w.worker, invocation: shared, received: r, named: m.Deliveries, err: &errs[i]}
			t.webhook.WorkspaceID, t.webhook.ID = m.WorkspaceID, m.WebhookID
			turnsOf[r.Group] = append(turnsOf[r.Group], t)
		case r.Receives > 1: // an error of one message must not affect the others again
			w.createOrReturn(ctx, c, received, errs)
		default:
			creations = append(creations, c)
		}
	}
	for _, c := range mergeCreations(creations) {
		w.createOrReturn(ctx, c, received, errs)
	}
	var group async.Group
	for account, turns := range turnsOf {
		group.Go(func() error {
			err := async.Recover(func() error { return w.runTurns(ctx, shared, account, turns) })
			for _, t := range turns {
				*t.err = cmp.Or(*t.err, err)
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	w.Metrics.Put(ctx, shared.all()...)
	return errs
}

// longTurn is the time after which no further turn begins in the slot of an account: an endpoint hangs or has many
// deliveries. The queue then delivers a message of another account next.
const longTurn = PromptTime

// runTurns runs turns of the endpoints of an account, one after the other, in one slot of the account. It sets the
// error of each turn, and returns an error if it could not run the turns.
func (w SlowWorker) runTurns(ctx context.Context, shared *invocation, account string, turns []*turn) error {
	slot, err := w.Store.takeSlot(ctx, account, w.Clock())
	if err != nil {
		return err
	}
	begin := w.Clock()
	for _, t := range turns {
		if slot == nil || w.Clock().Sub(begin) >= longTurn {
			shared.count(metricTurnsDelayed)
			*t.err = t.returnMessage(ctx)
			continue
		}
		*t.err = async.Recover(func() error { return t.run(ctx) })
	}
	if slot == nil {
		return nil
	}
	if err := w.Store.releaseSlot(ctx, *slot); err != nil { // its lease expires
		w.Logger.WarnContext(ctx, "slot was not released", "account", account, "cause", err.Error())
	}
	return nil
}
