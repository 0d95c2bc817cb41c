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
	"devplatform/shared/workspace/record"
)

// Fanout finds the webhooks that subscribe to events. It makes one read for each workspace, and one for the records of
// all workspaces with deliveries. Its work does not depend on the webhooks of other workspaces.
//
// For endpoints of the fast lane, it creates the deliveries if they are few. A delivery is stored before its message is
// sent. Its ID depends only on the event and the webhook. So a replay of the stream creates no second delivery, but
// sends the message again. If a message is lost, the retry job sends another one.
//
// SlowWorker creates all other deliveries. Fanout sends it one message for each account of a workspace's webhooks. So
// an account with many deliveries does not delay the events of other accounts in the stream.
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
	// fanoutReads is the maximum number of concurrent reads.
	fanoutReads = 8
	// If a batch of the stream has at most maxDirect deliveries, the fan-out creates all of them. If it has more, the
	// fan-out creates only the deliveries of workspaces with at most maxDirectEach deliveries.
	maxDirect, maxDirectEach = 10, 4
	// fanoutChunk is the number of deliveries that are stored at the same time, before their messages are sent: two
	// batches of writes, and four of messages. So a workspace with few deliveries does not wait for the deliveries of
	// other workspaces.
	fanoutChunk = 40
	// singleWrites is the maximum number of deliveries that are stored with one write each, in one round trip. Storing
	// more of them in batches takes two round trips, and a fraction of the calls.
	singleWrites = 4
)

// occurrence is an event of a stream record.
type occurrence struct {
	record int // index of the stream record
	event  event.Record
	at     time.Time
}

// creation is a message that asks for the creation of deliveries, or several such messages together.
type creation struct {
	indexes []int // of the stream records that it is for, or of the messages
	account string
	message message
}

// assignment divides the deliveries of the events of one workspace: the fan-out creates items, and SlowWorker creates
// the others, for which messages ask.
type assignment struct {
	items     []newItem  // all in the fast lane
	creations []creation // one for each account
}

func (a assignment) isEmpty() bool { return len(a.items) == 0 && len(a.creations) == 0 }

// Handle handles the events in a batch of the stream of the events table, and returns one error for each record. The
// deliveries that it creates come before the messages of the others. Errors: lambdafn.ErrPoison if a record cannot be
// decoded; errors of storage and of the queues, after which a retry completes the work, unless lambdafn.IsPoison.
func (f *Fanout) Handle(ctx context.Context, records []lambdafn.StreamRecord) []error {
	errs := make([]error, len(records))
	byWorkspace := map[string][]occurrence{}
	for i, r := range records {
		if r.EventName != "INSERT" { // events do not change, and the expiry of an item is ignored
			continue
		}
		o, err := decodeOccurrence(i, r.NewImage)
		if err != nil {
			errs[i] = fmt.Errorf("%w: no delivery was created: %w", lambdafn.ErrPoison, err)
			continue
		}
		byWorkspace[o.event.WorkspaceID] = append(byWorkspace[o.event.WorkspaceID], o)
	}
	var counts tally
	items, creations := f.route(ctx, byWorkspace, errs, &counts)
	for chunk := range slices.Chunk(items, fanoutChunk) {
		f.enqueue(ctx, f.storeAll(ctx, chunk, errs, &counts), errs)
	}
	f.sendCreations(ctx, creations, errs)
	f.metrics.Put(ctx, counts.all()...)
	return errs
}

// decodeOccurrence decodes a stored event. record is its index.
func decodeOccurrence(record int, item db.Item) (occurrence, error) {
	e, err := event.FromItem(item)
	if err != nil {
		return occurrence{}, err
	}
	if !id.Workspace.Valid(e.WorkspaceID) || e.ProjectID != "" && !id.Project.Valid(e.ProjectID) {
		return occurrence{}, fmt.Errorf("delivery: event %q has an invalid workspace ID or project ID", e.ID)
	}
	at, err := e.Timestamp()
	if err != nil {
		return occurrence{}, fmt.Errorf("delivery: event %q: %w", e.ID, err)
	}
	return occurrence{record, e, at}, nil
}

// route reads the webhooks of the workspaces and returns the deliveries that the fan-out creates, and the messages that
// ask for the creation of the others. The workspaces with the fewest deliveries come first.
//
// If there are more than maxDirect deliveries, SlowWorker creates the deliveries of each workspace with more than
// maxDirectEach. So the events of other accounts do not wait in the stream until many deliveries of one account are
// stored.
func (f *Fanout) route(
	ctx context.Context, byWorkspace map[string][]occurrence, errs []error, counts *tally,
) (items []newItem, creations []creation) {
	workspaces := slices.Sorted(maps.Keys(byWorkspace))
	webhooks, all := make([][]Webhook, len(workspaces)), make([]assignment, len(workspaces))
	total := 0
	for i, err := range lambdafn.Parallel(len(workspaces), fanoutReads, func(i int) error {
		var broken []BrokenItem
		var err error
		webhooks[i], broken, err = f.store.Webhooks(ctx, workspaces[i])
		for _, b := range broken {
			counts.count(metricUnreadable)
			f.logger.ErrorContext(ctx, "webhook cannot be decoded and receives no events",
				"key", b.Key.SK, "cause", b.Cause.Error())
		}
		return err
	}) {
		occurrences := byWorkspace[workspaces[i]]
		if err != nil {
			for _, o := range occurrences {
				fail(errs, o.record, err)
			}
			continue
		}
		all[i] = assign(occurrences, webhooks[i], f.now())
	}
	f.dropEnded(ctx, workspaces, all, func(i int, err error) {
		for _, o := range byWorkspace[workspaces[i]] {
			fail(errs, o.record, err)
		}
	})
	for _, r := range all {
		total += len(r.items)
	}
	for i, r := range all {
		if total > maxDirect && len(r.items) > maxDirectEach {
			all[i] = assignment{creations: newCreations(byWorkspace[workspaces[i]], webhooks[i])}
		}
	}
	slices.SortStableFunc(all, func(a, b assignment) int { return len(a.items) - len(b.items) })
	for _, r := range all {
		items, creations = append(items, r.items...), append(creations, r.creations...)
	}
	return items, creations
}

// dropEnded drops the deliveries of workspaces that have ended or are read-only. It makes one call to storage if there
// are deliveries. If the call fails, dropEnded drops all deliveries, and calls failed with the index of each of their
// workspaces.
func (f *Fanout) dropEnded(
	ctx context.Context, workspaceIDs []string, all []assignment, failed func(i int, err error),
) {
	var withDeliveries []string
	for i, r := range all {
		if !r.isEmpty() {
			withDeliveries = append(withDeliveries, workspaceIDs[i])
		}
	}
	if len(withDeliveries) == 0 {
		return
	}
	workspaces, err := record.Read(ctx, f.store.Projects, withDeliveries...)
	for i, r := range all {
		if r.isEmpty() {
			continue
		}
		if w, exists := workspaces[workspaceIDs[i]]; !exists || !w.MayAct() {
			all[i] = assignment{}
		}
		if err != nil {
			failed(i, err)
		}
	}
}

// assign divides the deliveries of the events of one workspace by the lanes of its endpoints.
func assign(occurrences []occurrence, webhooks []Webhook, now time.Time) assignment {
	var fast, slow []Webhook
	for _, w := range webhooks {
		if w.lane() == fastLane {
			fast = append(fast, w)
		} else {
			slow = append(slow, w)
		}
	}
	return assignment{newItems(occurrences, fast, now), newCreations(occurrences, slow)}
}

// newCreations returns the messages that ask for the creation of the deliveries of events to webhooks of their
// workspace: one for each account of the webhooks.
func newCreations(occurrences []occurrence, webhooks []Webhook) (all []creation) {
	for _, w := range webhooks {
		for _, o := range occurrences {
			if !w.wants(o.event, o.at) {
				continue
			}
			n := slices.IndexFunc(all, func(c creation) bool { return c.account == w.AccountID })
			if n < 0 {
				n, all = len(all), append(all, creation{account: w.AccountID, message: message{WorkspaceID: w.WorkspaceID}})
			}
			c := &all[n]
			if !slices.Contains(c.message.Webhooks, w.ID) {
				c.message.Webhooks = append(c.message.Webhooks, w.ID)
			}
			if !slices.Contains(c.indexes, o.record) {
				c.indexes = append(c.indexes, o.record)
				c.message.Events = append(c.message.Events, eventRef{o.event.ID, o.event.ProjectID})
			}
		}
	}
	return all
}

// storeAll stores the deliveries that do not exist yet. It returns the deliveries that are known to be stored,
// including those that existed. If a batch fails, it returns none: the retry of their records sends their messages.
func (f *Fanout) storeAll(ctx context.Context, items []newItem, errs []error, counts *tally) (stored []newItem) {
	var created int
	if len(items) > singleWrites {
		var err error
		if created, err = f.store.addAll(ctx, items); err != nil {
			for i := range items {
				items[i].err = err
			}
		}
	} else {
		created = f.store.addEach(ctx, items)
	}
	if created > 0 {
		counts.add(metricCreated, float64(created))
	}
	for _, n := range items {
		if n.err != nil {
			fail(errs, n.record, n.err)
			continue
		}
		stored = append(stored, n)
	}
	return stored
}

// fail sets the error of a record. An error after which a retry may succeed takes precedence: a record must not count
// as poison before all of its other deliveries are created.
func fail(errs []error, record int, err error) {
	if errs[record] == nil || lambdafn.IsPoison(errs[record]) {
		errs[record] = err
	}
}

// enqueue sends the messages of the pending deliveries, including those that were stored earlier: the earlier
// invocation may have failed before it sent their messages.
func (f *Fanout) enqueue(ctx context.Context, items []newItem, errs []error) {
	items, messages := fastMessages(items)
	err := f.fast.Send(ctx, messages...)
	for i, n := range items {
		if failed := queue.FailedAt(err, i); failed != nil {
			fail(errs, n.record, failed)
		}
	}
}

// sendCreations sends the messages that ask for the creation of deliveries.
func (f *Fanout) sendCreations(ctx context.Context, creations []creation, errs []error) {
	messages := make([]queue.Message, len(creations))
	for i, c := range creations {
		messages[i] = c.message.queued(c.account, 0)
	}
	err := f.creations.Send(ctx, messages...)
	for i, c := range creations {
		if failed := queue.FailedAt(err, i); failed != nil {
			for _, record := range c.indexes {
				fail(errs, record, failed)
			}
		}
	}
}
