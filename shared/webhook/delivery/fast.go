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
	errs := make([]error, len(received))
	shared, cancel := newInvocation(ctx)
	defer cancel()
	var messages []message
	var attempts []*attempt // of the messages
	for i, r := range received {
		m, err := parseMessage(r.Body, fastLane)
		switch {
		case err != nil:
			errs[i] = w.reject(ctx, r, err)
		case !slices.ContainsFunc(messages, func(other message) bool { return other.DeliveryID == m.DeliveryID }):
			messages = append(messages, m) // not a duplicate
			attempts = append(attempts, &attempt{worker: w.worker, invocation: shared, received: r, messageErr: &errs[i]})
		}
	}
	targets, err := w.Store.targets(ctx, messages...)
	if err != nil {
		for _, a := range attempts {
			*a.messageErr = err
		}
		return errs
	}
	for i, err := range lambdafn.Parallel(len(attempts), len(attempts), func(i int) error {
		a := attempts[i]
		if a.target = targets[i]; a.err != nil {
			return w.reject(ctx, a.received, a.err)
		}
		return a.run(ctx)
	}) {
		*attempts[i].messageErr = err
	}
	moving := slices.DeleteFunc(slices.Clone(attempts), func(a *attempt) bool { return a.toSlowLane == nil })
	if len(moving) > 0 {
		w.moveAll(ctx, moving)
	}
	w.saveHealth(ctx, attempts)
	w.Metrics.Put(ctx, shared.all()...)
	return errs
}

// moveAll moves deliveries to the slow lane, and sends the messages for the turns of their endpoints. If a message is
// not sent, the retry job sends it. moveAll sets the errors of the messages of the attempts.
func (w FastWorker) moveAll(ctx context.Context, attempts []*attempt) {
	byWebhook := map[string][]*attempt{}
	for _, a := range attempts {
		byWebhook[a.webhook.ID] = append(byWebhook[a.webhook.ID], a)
	}
	groups := slices.Collect(maps.Values(byWebhook))
	turns := make([][]queue.Message, len(groups))
	for i, err := range lambdafn.Parallel(len(groups), len(groups), func(i int) (err error) {
		turns[i], err = w.moveDeliveries(ctx, groups[i])
		return err
	}) {
		for _, a := range groups[i] {
			*a.messageErr = cmp.Or(*a.messageErr, err)
		}
	}
	if err := w.Slow.Send(ctx, slices.Concat(turns...)...); err != nil {
		w.Logger.WarnContext(ctx, "messages for turns were not sent, the retry job sends them", "cause", err.Error())
	}
}

// moveDeliveries moves deliveries of one webhook to the slow lane, and sets the errors of the messages of their
// attempts. If an attempt timed out, the endpoint leaves the fast lane. The webhook is made due before the deliveries
// are stored, so that a crash in between loses nothing. moveDeliveries returns the message for the turn, if one must be
// sent.
func (w FastWorker) moveDeliveries(ctx context.Context, attempts []*attempt) (turn []queue.Message, _ error) {
	timedOut := slices.IndexFunc(attempts, func(a *attempt) bool { return a.hasBegun })
	webhook := *attempts[max(0, timedOut)].webhook
	mustSend, err := w.Store.makeDue(ctx, webhook, timedOut >= 0, w.Clock())
	if err != nil {
		return nil, err
	}
	moved := make([]*Delivery, len(attempts))
	var waiting []string
	for i, err := range lambdafn.Parallel(len(attempts), len(attempts), func(i int) (err error) {
		moved[i], err = attempts[i].moveToSlowLane(ctx)
		return err
	}) {
		*attempts[i].messageErr = cmp.Or(*attempts[i].messageErr, err)
		if d := moved[i]; d != nil {
			waiting = append(waiting, d.ID)
			mustSend = mustSend || d.Manual > 0 // its turn does not wait until the endpoint has rested
		}
	}
	if mustSend {
		turn = []queue.Message{webhook.turnMessage(waiting...).queueMessage(0)}
	}
	return turn, nil
}

// moveToSlowLane stores the moved delivery. It returns nil if another worker changed the delivery so that it must not
// move. An attempt that timed out is not counted.
func (a *attempt) moveToSlowLane(ctx context.Context) (*Delivery, error) {
	hasMoved := false // the response to an earlier write can be lost, and then the delivery has moved already
	d, _, err := a.worker.Store.change(ctx, "move delivery", *a.delivery, true, func(d Delivery) (Delivery, bool) {
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
		a.worker.Logger.InfoContext(ctx, "delivery moved to the slow lane",
			append(d.logAttrs(), "durationMs", a.result.Duration.Milliseconds())...)
	}
	return &d, nil
}
