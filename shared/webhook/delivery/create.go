package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/queue"
)

// mergeCreations merges creations to the same webhooks of a workspace.
func mergeCreations(creations []creation) (merged []creation) {
	for _, c := range creations {
		i := slices.IndexFunc(merged, func(other creation) bool {
			return other.message.WorkspaceID == c.message.WorkspaceID &&
				slices.Equal(other.message.Webhooks, c.message.Webhooks)
		})
		if i < 0 {
			merged = append(merged, c)
			continue
		}
		merged[i].message.Events = append(merged[i].message.Events, c.message.Events...)
		merged[i].indexes = append(merged[i].indexes, c.indexes...)
	}
	for i, c := range merged { // a message can be received twice
		slices.SortFunc(c.message.Events, func(a, b eventRef) int { return cmp.Compare(a.ID, b.ID) })
		merged[i].message.Events = slices.Compact(c.message.Events)
	}
	return merged
}

// createOrReturn creates deliveries. If that fails, it returns their messages to the queue, and sets the errors of the
// messages. The messages are the only record of these deliveries. The waits between the attempts grow and add up to
// seven hours, so that the deliveries are created even after an outage of hours.
func (w SlowWorker) createOrReturn(ctx context.Context, c creation, received []lambdafn.QueueMessage, errs []error) {
	err := async.Recover(func() error { return w.create(ctx, c.message) })
	if err == nil {
		return
	}
	w.Logger.ErrorContext(ctx, "deliveries were not created", "workspace", c.message.WorkspaceID, "cause", err.Error())
	for _, i := range c.indexes {
		errs[i] = w.returnTo(ctx, w.Creations, received[i], createWait(received[i].Receives))
	}
}

// createWait returns the wait after a failed attempt to create deliveries. receives counts the attempts. The waits
// before the tenth attempt add up to seven hours. There is no wait after it: when the message would be received again,
// the queue moves it to the failure queue.
func createWait(receives int) time.Duration {
	const first, longest, attempts = 10 * time.Second, 2 * time.Hour, 10
	if receives >= attempts {
		return 0
	}
	wait := first
	for range max(receives, 1) - 1 {
		wait *= 3
	}
	return min(wait, longest)
}

// create stores the deliveries of events to webhooks. Then it sends messages for the deliveries in the fast lane, and
// makes the webhooks with deliveries in the slow lane due. If a webhook were due before its deliveries are stored, a
// turn could find nothing. If the function crashes, the message is received again. Deliveries that were stored before
// keep their lane. If one of the webhooks cannot be decoded, or a delivery cannot be stored, create returns an error at
// the end: a retry creates the deliveries after a repair. If the workspace has ended or is read-only, create stores
// nothing.
func (w SlowWorker) create(ctx context.Context, m message) error {
	webhooks, broken, err := w.Store.Webhooks(ctx, m.WorkspaceID)
	if err != nil {
		return err
	}
	occurrences, err := w.Store.occurrences(ctx, m)
	if err != nil {
		return err
	}
	named := slices.DeleteFunc(webhooks, func(webhook Webhook) bool { return !slices.Contains(m.Webhooks, webhook.ID) })
	items := newItems(occurrences, named, w.Clock())
	w.Store.addAll(ctx, items)
	sendFast(ctx, w.Fast, items)
	turns, err := w.makeAllDue(ctx, named, items)
	if err == nil {
		err = w.Slow.Send(ctx, turns...)
	}
	if i := slices.IndexFunc(items, func(n newItem) bool { return n.err != nil }); i >= 0 && err == nil {
		err = items[i].err
	}
	for _, b := range broken {
		isBroken := func(id string) bool { return db.WebhookKey(m.WorkspaceID, id) == b.Key }
		if slices.ContainsFunc(m.Webhooks, isBroken) {
			err = errors.Join(err, fmt.Errorf("delivery: webhook %s cannot be decoded: %w", b.Key.SK, b.Cause))
		}
	}
	return err
}

// makeAllDue makes the webhooks with new deliveries in the slow lane due, and returns the messages for their turns.
func (w SlowWorker) makeAllDue(ctx context.Context, webhooks []Webhook, items []newItem) ([]queue.Message, error) {
	waiting := map[string][]string{} // by webhook
	for _, n := range items {
		if n.err == nil && !n.isDropped && n.delivery.waitsInSlowLane() {
			waiting[n.delivery.WebhookID] = append(waiting[n.delivery.WebhookID], n.delivery.ID)
		}
	}
	var turns []queue.Message
	for _, webhook := range webhooks {
		if len(waiting[webhook.ID]) == 0 {
			continue
		}
		mustSend, err := w.Store.makeDue(ctx, webhook, false, w.Clock())
		if err != nil {
			return nil, err
		}
		if mustSend {
			turns = append(turns, webhook.turnMessage(waiting[webhook.ID]...).queueMessage(0))
		}
	}
	return turns, nil
}

// occurrences reads the events that a message names. It makes one call.
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
		o, err := decodeOccurrence(i, items[key])
		if err != nil {
			return nil, fmt.Errorf("delivery: an event cannot be decoded: %w", err)
		}
		all = append(all, o)
	}
	return all, nil
}
