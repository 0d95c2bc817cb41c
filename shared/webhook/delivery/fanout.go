package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
)

// Fanout creates the deliveries of events: one for each webhook that subscribes to the event. It makes one read for
// each workspace and one write for each delivery. Its work does not depend on the webhooks of other workspaces.
//
// A delivery is stored before its message is sent. Its ID depends only on the event and the webhook. So a replay of the
// stream creates no second delivery, but sends the message again. If a message is lost, the retry job sends another
// one.
type Fanout struct {
	store   Store
	queue   queue.Queue
	now     clock.Clock
	logger  *slog.Logger
	metrics *metric.Metrics
}

// NewFanout returns a fan-out. It does no I/O.
func NewFanout(d Deps) *Fanout {
	return &Fanout{
		store: Store{Client: d.DB, Table: d.Webhooks}, queue: d.Queue, now: d.Clock, logger: d.Logger, metrics: d.Metrics,
	}
}

// The largest numbers of concurrent reads and writes.
const (
	fanoutReads  = 8
	fanoutWrites = 32
)

// occurrence is an event of a stream record.
type occurrence struct {
	record int // index of the stream record
	event  event.Record
	at     time.Time
}

// newItem is a delivery that the fan-out creates.
type newItem struct {
	record   int // index of the stream record
	delivery Delivery
}

// Handle creates the deliveries of the events in a batch of the stream of the events table, and returns one error for
// each record. Errors: lambdafn.ErrPoison if a record cannot be decoded; errors of storage and of the queue, after
// which a retry completes the work.
func (f *Fanout) Handle(ctx context.Context, records []lambdafn.StreamRecord) []error {
	errs := make([]error, len(records))
	byWorkspace := map[string][]occurrence{}
	for i, r := range records {
		if r.EventName != "INSERT" { // events do not change, and the expiry of an item is ignored
			continue
		}
		o, err := readOccurrence(i, r)
		if err != nil {
			errs[i] = fmt.Errorf("%w: no delivery was created: %w", lambdafn.ErrPoison, err)
			continue
		}
		byWorkspace[o.event.WorkspaceID] = append(byWorkspace[o.event.WorkspaceID], o)
	}
	var counts tally
	items := f.plan(ctx, byWorkspace, errs, &counts)
	items = f.storeAll(ctx, items, errs, &counts)
	f.enqueue(ctx, items, errs)
	f.metrics.Put(ctx, counts.all()...)
	return errs
}

// readOccurrence reads the event of a stream record.
func readOccurrence(record int, r lambdafn.StreamRecord) (occurrence, error) {
	e, err := event.FromItem(r.NewImage)
	if err != nil {
		return occurrence{}, err
	}
	if !id.Workspace.Valid(e.WorkspaceID) {
		return occurrence{}, fmt.Errorf("delivery: event %q has an invalid workspace ID %q", e.ID, e.WorkspaceID)
	}
	at, err := e.Timestamp()
	if err != nil {
		return occurrence{}, fmt.Errorf("delivery: event %q: %w", e.ID, err)
	}
	return occurrence{record, e, at}, nil
}

// plan reads the webhooks of the workspaces and returns the deliveries of their events.
func (f *Fanout) plan(
	ctx context.Context, byWorkspace map[string][]occurrence, errs []error, counts *tally,
) []newItem {
	workspaces := slices.Sorted(maps.Keys(byWorkspace))
	parts := make([][]newItem, len(workspaces))
	for i, err := range lambdafn.Parallel(len(workspaces), fanoutReads, func(i int) error {
		webhooks, broken, err := f.store.Webhooks(ctx, workspaces[i])
		if err != nil {
			return err
		}
		for _, b := range broken {
			counts.count(metricUnreadable)
			f.logger.ErrorContext(ctx, "webhook cannot be decoded and receives no events",
				"key", b.Key.SK, "cause", b.Cause.Error())
		}
		parts[i] = deliveriesOf(byWorkspace[workspaces[i]], webhooks, f.now())
		return nil
	}) {
		if err != nil {
			for _, o := range byWorkspace[workspaces[i]] {
				errs[o.record] = err
			}
			parts[i] = nil
		}
	}
	return slices.Concat(parts...)
}

// deliveriesOf returns the deliveries of the events of one workspace: one for each event and each webhook that
// subscribes to it. If the service has disabled a webhook, its deliveries have the status Failed, so that they can be
// recovered.
func deliveriesOf(occurrences []occurrence, webhooks []Webhook, now time.Time) []newItem {
	var items []newItem
	for _, o := range occurrences {
		for _, w := range webhooks {
			if !w.wants(o.event, o.at) {
				continue
			}
			d := newDelivery(o.event, o.at, w, now)
			if !w.Active {
				d = d.finished(Failed, w.inactiveReason())
			}
			items = append(items, newItem{o.record, d})
		}
	}
	return items
}

// storeAll stores the deliveries that do not exist yet. It returns all deliveries that are now stored.
func (f *Fanout) storeAll(ctx context.Context, items []newItem, errs []error, counts *tally) []newItem {
	var stored []newItem
	for i, err := range lambdafn.Parallel(len(items), fanoutWrites, func(i int) error {
		created, err := f.store.add(ctx, items[i].delivery)
		if created {
			counts.count(metricCreated)
		}
		return err
	}) {
		if err != nil {
			errs[items[i].record] = err
			continue
		}
		stored = append(stored, items[i])
	}
	return stored
}

// enqueue sends the messages of the pending deliveries, including those that were stored earlier: the earlier
// invocation may have failed before it sent their messages.
func (f *Fanout) enqueue(ctx context.Context, items []newItem, errs []error) {
	items = slices.DeleteFunc(items, func(n newItem) bool { return n.delivery.Status != Pending })
	pending := make([]Delivery, len(items))
	for i, n := range items {
		pending[i] = n.delivery
	}
	err := enqueue(ctx, f.queue, pending)
	for i, n := range items {
		if failed := queue.FailedAt(err, i); failed != nil {
			errs[n.record] = failed
		}
	}
}
