package delivery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/lambdafn"
	"devplatform/shared/queue"
)

// SlowWorker handles the messages of the slow lane: it creates the deliveries of events, and runs the turns of
// endpoints.
type SlowWorker struct{ *worker }

// NewSlowWorker returns a worker of the slow lane. It does no I/O.
func NewSlowWorker(d WorkerDeps) SlowWorker { return SlowWorker{newWorker(d, slowLane)} }

// Handle handles the messages of one invocation, which are from one queue, and returns one error for each. It runs the
// turns of different accounts concurrently. It creates deliveries for one message at a time, so that the writes do not
// take the capacity of the table from the fast lane. Errors: lambdafn.ErrLater if the queue must deliver the message
// again later; errors of storage, after which a retry may succeed.
func (w SlowWorker) Handle(ctx context.Context, received []lambdafn.QueueMessage) []error {
	messages, indexes, errs := w.parse(ctx, received)
	shared, cancel := newBatch(ctx)
	defer cancel()
	accounts := map[string][]*turn{}
	for n, m := range messages {
		i := indexes[n]
		if len(m.Events) > 0 {
			errs[i] = w.createOrReturn(ctx, shared, m, received[i])
			continue
		}
		account := cmp.Or(received[i].Group, m.WorkspaceID)
		t := &turn{worker: w.worker, batch: shared, received: received[i], named: m.Deliveries, err: &errs[i]}
		t.webhook.WorkspaceID, t.webhook.ID = m.WorkspaceID, m.WebhookID
		accounts[account] = append(accounts[account], t)
	}
	var group sync.WaitGroup
	for account, turns := range accounts {
		group.Go(func() { w.runTurns(ctx, shared, account, turns) })
	}
	group.Wait()
	w.metrics.Put(ctx, shared.tally.all()...)
	return errs
}

// longTurn is the time after which no further turn begins in the slot of an account: an endpoint hangs or has many
// deliveries, and the queue gives the next message to another account.
const longTurn = PromptTime

// runTurns runs turns of the endpoints of an account, one after the other, in one slot of the account.
func (w SlowWorker) runTurns(ctx context.Context, shared *batch, account string, turns []*turn) {
	slot, err := w.takeSlot(ctx, account)
	if err != nil {
		for _, t := range turns {
			*t.err = err
		}
		return
	}
	begin := w.now()
	for _, t := range turns {
		if slot == nil || w.now().Sub(begin) >= longTurn {
			shared.tally.count(metricNoSlot)
			*t.err = t.later(ctx)
			continue
		}
		*t.err = fault.Recover(func() error { return t.run(ctx) })
	}
	if slot == nil {
		return
	}
	if err := w.store.releaseSlot(ctx, *slot); err != nil { // its lease expires
		w.logger.WarnContext(ctx, "slot was not released", "account", account, "cause", err.Error())
	}
}

const (
	// slotTries is how often a worker looks for a free slot. Between that, it waits for slotPause ±50 %.
	slotTries = 4
	slotPause = 200 * time.Millisecond
)

// takeSlot takes a free slot of an account. It returns nil if there is none.
func (w SlowWorker) takeSlot(ctx context.Context, account string) (*slotLease, error) {
	for try := 1; ; try++ {
		slot, err := w.store.takeSlot(ctx, account, w.now())
		if err != nil || slot != nil || try == slotTries {
			return slot, err
		}
		if !w.sleep(ctx, time.Duration(float64(slotPause)*(1+w.jitter()/2))) {
			return nil, nil
		}
	}
}

// createOrReturn creates the deliveries that a message asks for. If that fails, it returns the message to the queue. No
// other record remembers these deliveries. The waits between the attempts grow and add up to seven hours, so that the
// deliveries are created even after an outage of hours.
func (w SlowWorker) createOrReturn(
	ctx context.Context, shared *batch, m message, received lambdafn.QueueMessage,
) error {
	err := fault.Recover(func() error { return w.create(ctx, shared, m) })
	if err == nil {
		return nil
	}
	w.logger.ErrorContext(ctx, "deliveries were not created", "workspace", m.WorkspaceID, "cause", err.Error())
	return w.returnTo(ctx, w.creations, received, createWait(received.Receives))
}

// createWait returns the wait before another attempt to create deliveries. receives counts the attempts. The waits
// before the tenth and last attempt add up to seven hours.
func createWait(receives int) time.Duration {
	const first, longest = 10 * time.Second, 2 * time.Hour
	wait := first
	for range min(max(receives, 1), 10) - 1 {
		wait *= 3
	}
	return min(wait, longest)
}

// create creates the deliveries of events to webhooks in the slow lane, and sends messages for the turns of their
// endpoints. The webhooks are made due after their deliveries are stored: a turn that begins in between could otherwise
// find nothing. If the function crashes in between, the message is received again. If create runs twice, it finds the
// deliveries of the first run.
func (w SlowWorker) create(ctx context.Context, shared *batch, m message) error {
	webhooks, _, err := w.store.Webhooks(ctx, m.WorkspaceID) // the fan-out has reported those that cannot be decoded
	if err != nil {
		return err
	}
	occurrences, err := w.store.occurrences(ctx, m)
	if err != nil {
		return err
	}
	named := slices.DeleteFunc(webhooks, func(webhook Webhook) bool { return !slices.Contains(m.Webhooks, webhook.ID) })
	items := deliveriesOf(occurrences, named, slowLane, w.now())
	created, err := w.store.addAll(ctx, items)
	if err != nil {
		return err
	}
	shared.tally.add(metricCreated, float64(created))
	turns, err := w.armAll(ctx, named, items)
	if err != nil {
		return err
	}
	return w.slow.Send(ctx, turns...)
}

// armAll makes the webhooks with pending deliveries due, and returns the messages for their turns.
func (w SlowWorker) armAll(ctx context.Context, webhooks []Webhook, items []newItem) ([]queue.Message, error) {
	waiting := map[string][]string{} // by webhook
	for _, n := range items {
		if n.delivery.Status == Pending {
			waiting[n.delivery.WebhookID] = append(waiting[n.delivery.WebhookID], n.delivery.ID)
		}
	}
	var turns []queue.Message
	for _, webhook := range webhooks {
		if len(waiting[webhook.ID]) == 0 {
			continue
		}
		send, err := w.store.arm(ctx, webhook, false, w.now())
		if err != nil {
			return nil, err
		}
		if send {
			turns = append(turns, webhook.turnMessage(waiting[webhook.ID]...).queued(webhook.account(), 0))
		}
	}
	return turns, nil
}

// occurrences reads the events that a message names.
func (s Store) occurrences(ctx context.Context, m message) ([]occurrence, error) {
	keys := make([]db.Key, len(m.Events))
	for i, e := range m.Events {
		keys[i] = event.KeyOf(m.WorkspaceID, e.ProjectID, e.ID)
	}
	items, err := s.Events.BatchGet(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var all []occurrence
	for i, key := range keys {
		if items[key] == nil {
			continue // it has expired
		}
		o, err := occurrenceOf(i, items[key])
		if err != nil {
			return nil, fmt.Errorf("delivery: an event cannot be decoded: %w", err)
		}
		all = append(all, o)
	}
	return all, nil
}
