package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
)

// Fanout finds the webhooks that subscribe to events. It makes one read for each workspace. Its work does not depend on
// the webhooks of other workspaces.
//
// For endpoints of the fast lane, it creates the deliveries. A delivery is stored before its message is sent. Its ID
// depends only on the event and the webhook. So a replay of the stream creates no second delivery, but sends the
// message again. If a message is lost, the retry job sends another one.
//
// For endpoints of the slow lane, it sends one message for each workspace, and the worker of that lane creates the
// deliveries. So an account with many such deliveries does not delay the stream.
type Fanout struct {
	store     Store
	fast      queue.Queue
	creations queue.Queue
	now       clock.Clock
	logger    *slog.Logger
	metrics   *metric.Metrics
}

// NewFanout returns a fan-out. It does no I/O.
func NewFanout(d Deps) *Fanout {
	return &Fanout{
		store: d.store(), fast: d.Fast, creations: d.Creations, now: d.Clock, logger: d.Logger, metrics: d.Metrics,
	}
}

const (
	// fanoutReads is the largest number of concurrent reads.
	fanoutReads = 8
	// fanoutChunk is the number of deliveries that are stored at the same time, before their messages are sent: two
	// batches of writes, and four of messages. So a workspace with few deliveries does not wait for those of other
	// workspaces.
	fanoutChunk = 40
	// maxSingleWrites is the largest number of deliveries that are stored with a write for each, in one round trip.
	// Storing more of them in batches takes two round trips, and a fraction of the calls.
	maxSingleWrites = 4
)

// occurrence is an event of a stream record.
type occurrence struct {
	record int // index of the stream record
	event  event.Record
	at     time.Time
}

// newItem is a delivery to create.
type newItem struct {
	record   int // index of the stream record
	delivery Delivery
	existed  bool // an earlier invocation has stored the delivery
}

// creation is a message that asks the slow lane to create deliveries.
type creation struct {
	records []int // indexes of the stream records
	account string
	message message
}

// fanoutPlan is the work for the events of one workspace.
type fanoutPlan struct {
	items     []newItem  // of the fast lane
	creations []creation // none or one
}

// Handle handles the events in a batch of the stream of the events table, and returns one error for each record. The
// fast lane comes first. Errors: lambdafn.ErrPoison if a record cannot be decoded; errors of storage and of the queues,
// after which a retry completes the work.
func (f *Fanout) Handle(ctx context.Context, records []lambdafn.StreamRecord) []error {
	errs := make([]error, len(records))
	byWorkspace := map[string][]occurrence{}
	for i, r := range records {
		if r.EventName != "INSERT" { // events do not change, and the expiry of an item is ignored
			continue
		}
		o, err := occurrenceOf(i, r.NewImage)
		if err != nil {
			errs[i] = fmt.Errorf("%w: no delivery was created: %w", lambdafn.ErrPoison, err)
			continue
		}
		byWorkspace[o.event.WorkspaceID] = append(byWorkspace[o.event.WorkspaceID], o)
	}
	var counts tally
	plan := f.plan(ctx, byWorkspace, errs, &counts)
	for chunk := range slices.Chunk(plan.items, fanoutChunk) {
		f.enqueue(ctx, f.storeAll(ctx, chunk, errs, &counts), errs)
	}
	f.sendCreations(ctx, plan.creations, errs)
	f.metrics.Put(ctx, counts.all()...)
	return errs
}

// occurrenceOf decodes a stored event. record is its index.
func occurrenceOf(record int, item db.Item) (occurrence, error) {
	e, err := event.FromItem(item)
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

// plan reads the webhooks of the workspaces and returns the work for their events. The workspaces with the fewest
// deliveries come first.
func (f *Fanout) plan(
	ctx context.Context, byWorkspace map[string][]occurrence, errs []error, counts *tally,
) (all fanoutPlan) {
	workspaces := slices.Sorted(maps.Keys(byWorkspace))
	plans := make([]fanoutPlan, len(workspaces))
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
		plans[i] = planFanout(byWorkspace[workspaces[i]], webhooks, f.now())
		return nil
	}) {
		if err != nil {
			for _, o := range byWorkspace[workspaces[i]] {
				errs[o.record] = err
			}
		}
	}
	slices.SortStableFunc(plans, func(a, b fanoutPlan) int { return len(a.items) - len(b.items) })
	for _, p := range plans {
		all.items, all.creations = append(all.items, p.items...), append(all.creations, p.creations...)
	}
	return all
}

// planFanout returns the work for the events of one workspace.
func planFanout(occurrences []occurrence, webhooks []Webhook, now time.Time) (p fanoutPlan) {
	var fast []Webhook
	c := creation{}
	for _, w := range webhooks {
		if w.lane() == fastLane {
			fast = append(fast, w)
			continue
		}
		c.account, c.message.WorkspaceID = w.account(), w.WorkspaceID
		c.message.Webhooks = append(c.message.Webhooks, w.ID)
	}
	p.items = deliveriesOf(occurrences, fast, fastLane, now)
	for _, o := range occurrences {
		if slices.ContainsFunc(webhooks, func(w Webhook) bool { return w.lane() == slowLane && w.wants(o.event, o.at) }) {
			c.message.Events = append(c.message.Events, eventRef{o.event.ID, o.event.ProjectID})
			c.records = append(c.records, o.record)
		}
	}
	if len(c.records) > 0 {
		p.creations = []creation{c}
	}
	return p
}

// deliveriesOf returns the deliveries of the events of one workspace: one for each event and each webhook that
// subscribes to it. The deliveries are in lane l. If the service has disabled a webhook, its deliveries have the status
// Failed, so that they can be recovered.
func deliveriesOf(occurrences []occurrence, webhooks []Webhook, l lane, now time.Time) []newItem {
	var items []newItem
	for _, o := range occurrences {
		for _, w := range webhooks {
			if !w.wants(o.event, o.at) {
				continue
			}
			d := newDelivery(o.event, o.at, w, l, now)
			if !w.Active {
				d = d.finished(Failed, w.inactiveReason())
			}
			items = append(items, newItem{record: o.record, delivery: d})
		}
	}
	return items
}

// storeAll stores the deliveries that do not exist yet. It returns the deliveries that are known to be stored,
// including those that existed. If a batch fails, it returns none: the retry of their records sends their messages.
func (f *Fanout) storeAll(ctx context.Context, items []newItem, errs []error, counts *tally) []newItem {
	if len(items) > maxSingleWrites {
		created, err := f.store.addAll(ctx, items)
		counts.add(metricCreated, float64(created))
		if err != nil {
			for _, n := range items {
				errs[n.record] = err
			}
			return nil
		}
		return items
	}
	var stored []newItem
	for i, err := range lambdafn.Parallel(len(items), len(items), func(i int) error {
		created, err := f.store.add(ctx, items[i].delivery)
		if created {
			counts.count(metricCreated)
		}
		items[i].existed = !created
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

// replayDelay is the delay of a message for a delivery that existed. The first attempt, which has no lease, is over by
// then.
const replayDelay = 5 * PromptTime

// enqueue sends the messages of the pending deliveries, including those that were stored earlier: the earlier
// invocation may have failed before it sent their messages.
func (f *Fanout) enqueue(ctx context.Context, items []newItem, errs []error) {
	items = slices.DeleteFunc(items, func(n newItem) bool { return n.delivery.Status != Pending })
	messages := make([]queue.Message, len(items))
	for i, n := range items {
		delay := time.Duration(0)
		if n.existed {
			delay = replayDelay
		}
		messages[i] = n.delivery.message().queued(n.delivery.account(), delay)
	}
	err := f.fast.Send(ctx, messages...)
	for i, n := range items {
		if failed := queue.FailedAt(err, i); failed != nil {
			errs[n.record] = failed
		}
	}
}

// sendCreations sends the messages that ask the slow lane to create deliveries.
func (f *Fanout) sendCreations(ctx context.Context, creations []creation, errs []error) {
	messages := make([]queue.Message, len(creations))
	for i, c := range creations {
		messages[i] = c.message.queued(c.account, 0)
	}
	err := f.creations.Send(ctx, messages...)
	for i, c := range creations {
		if failed := queue.FailedAt(err, i); failed != nil {
			for _, record := range c.records {
				errs[record] = failed
			}
		}
	}
}
