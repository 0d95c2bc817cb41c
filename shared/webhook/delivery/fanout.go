package delivery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/queue"
)

// Fanout finds the webhooks that subscribe to events, with one read for each workspace. Its work does not depend on the
// webhooks of other workspaces.
//
// For endpoints of the fast lane, it creates the deliveries if they are few. A delivery is stored before its message is
// sent. Its ID depends only on the event and the webhook. So a replay of the stream creates no second delivery, but
// sends the message again. If a message is lost, the retry job sends another one.
//
// SlowWorker creates all other deliveries. Fanout sends it one message for each account of a workspace's webhooks. So
// an account with many deliveries does not delay the events of other accounts in the stream.
type Fanout struct{ Deps }

// NewFanout returns a fan-out. It does no I/O.
func NewFanout(d Deps) *Fanout { return &Fanout{d} }

const (
	// fanoutReads is the maximum number of concurrent reads.
	fanoutReads = 8
	// If a batch of the stream has at most maxDirect deliveries of the fast lane, the fan-out creates all of them. If it
	// has more, the fan-out creates only the deliveries of workspaces with at most maxDirectEach of them. So the events
	// of other accounts do not wait in the stream until many deliveries of one account are stored.
	maxDirect, maxDirectEach = 10, 4
	// fanoutChunk is the number of deliveries that are stored at the same time, before their messages are sent: two
	// batches of writes, and four of messages. So a workspace with few deliveries does not wait for the deliveries of
	// other workspaces.
	fanoutChunk = 40
	// singleWrites is the maximum number of deliveries that are stored with one write each, in one round trip. Storing
	// more of them in batches takes two round trips, and a fraction of the calls.
	singleWrites = 4
)

// Handle handles the events in a batch of the stream of the events table, and returns one error for each record. It
// stores the deliveries that it creates itself before it sends the messages for the others. Errors: lambdafn.ErrPoison
// if a record cannot be decoded; errors of storage and of the queues, after which a retry completes the work, unless
// lambdafn.IsPoison.
func (f *Fanout) Handle(ctx context.Context, records []lambdafn.StreamRecord) []error {
	errs := make([]error, len(records))
	var counts tally
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
	workspaces := slices.Collect(maps.Values(byWorkspace))
	wanted := make([][]newItem, len(workspaces))
	for i, err := range lambdafn.Parallel(len(workspaces), fanoutReads, func(i int) error {
		webhooks, broken, err := f.Store.Webhooks(ctx, workspaces[i][0].event.WorkspaceID)
		for _, b := range broken {
			counts.count(metricUnreadable)
			f.Logger.ErrorContext(ctx, "webhook cannot be decoded and receives no events",
				"key", b.Key.SK, "cause", b.Cause.Error())
		}
		wanted[i] = newItems(workspaces[i], webhooks, f.Clock())
		return err
	}) {
		for _, o := range workspaces[i] {
			fail(errs, o.record, err)
		}
	}
	direct, creations := divide(wanted)
	for chunk := range slices.Chunk(direct, fanoutChunk) {
		f.Store.addAll(ctx, chunk)
		sendFast(ctx, f.Fast, chunk)
		for _, n := range chunk {
			fail(errs, n.record, n.err)
		}
	}
	if len(creations) > 0 {
		f.sendCreations(ctx, creations, errs)
	}
	f.Metrics.Put(ctx, counts.all()...)
	return errs
}

// sendCreations sends the messages that ask SlowWorker to create deliveries. It sets the errors of the records.
func (f *Fanout) sendCreations(ctx context.Context, creations []creation, errs []error) {
	messages := make([]queue.Message, len(creations))
	for i, c := range creations {
		messages[i] = c.message.queueMessage(0)
	}
	err := f.Creations.Send(ctx, messages...)
	for i, c := range creations {
		for _, record := range c.indexes {
			fail(errs, record, queue.FailedAt(err, i))
		}
	}
}

// fail sets the error of a record, unless err is nil. An error after which a retry may succeed takes precedence: a
// record must not count as poison before all of its other deliveries are created.
func fail(errs []error, record int, err error) {
	if err != nil && (errs[record] == nil || lambdafn.IsPoison(errs[record])) {
		errs[record] = err
	}
}

// occurrence is an event of a stream record.
type occurrence struct {
	record int // index of the stream record
	event  event.Record
	at     time.Time
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

// newItem is a delivery to create.
type newItem struct {
	record    int  // index of the stream record
	lane      lane // of the endpoint
	delivery  Delivery
	wasStored bool  // by an earlier invocation
	isDropped bool  // the workspace has ended or is read-only
	err       error // the delivery could not be stored, or its message could not be sent
}

// newItems returns the deliveries of the events of one workspace: one for each event and each webhook that
// subscribes to it. If a webhook is not active, its deliveries have the status Failed, so that they can be recovered.
func newItems(occurrences []occurrence, webhooks []Webhook, now time.Time) []newItem {
	var items []newItem
	for _, o := range occurrences {
		for _, w := range webhooks {
			if !w.wants(o.event, o.at) {
				continue
			}
			d := newDelivery(o.event, o.at, w, now)
			if !w.Active {
				d = d.withFinalStatus(Failed, w.inactiveReason())
			}
			items = append(items, newItem{record: o.record, lane: w.lane(), delivery: d})
		}
	}
	return items
}

// creation is a message that asks for the creation of deliveries, or several such messages together.
type creation struct {
	indexes []int // in Fanout: of the stream records with the events; in SlowWorker: of the messages
	message message
}

// divide decides who creates the deliveries of a batch. wanted contains them by workspace. The fan-out creates direct:
// deliveries of the fast lane, beginning with the workspaces with the fewest deliveries. SlowWorker creates the others:
// there is one message for each account of a workspace's webhooks. See maxDirect.
func divide(wanted [][]newItem) (direct []newItem, creations []creation) {
	fast, total := make([][]newItem, len(wanted)), 0
	for i, items := range wanted {
		fast[i] = slices.DeleteFunc(slices.Clone(items), func(n newItem) bool { return n.lane == slowLane })
		total += len(fast[i])
	}
	for i, items := range wanted {
		if total > maxDirect && len(fast[i]) > maxDirectEach {
			fast[i] = nil
		}
		for _, n := range items {
			if n.lane == fastLane && fast[i] != nil {
				continue
			}
			d := n.delivery
			c := slices.IndexFunc(creations, func(c creation) bool {
				return c.message.WorkspaceID == d.WorkspaceID && c.message.AccountID == d.AccountID
			})
			if c < 0 {
				c = len(creations)
				creations = append(creations, creation{message: message{AccountID: d.AccountID, WorkspaceID: d.WorkspaceID}})
			}
			m := &creations[c].message
			if !slices.Contains(m.Webhooks, d.WebhookID) {
				m.Webhooks = append(m.Webhooks, d.WebhookID)
				slices.Sort(m.Webhooks)
			}
			if !slices.Contains(creations[c].indexes, n.record) {
				creations[c].indexes = append(creations[c].indexes, n.record)
				m.Events = append(m.Events, eventRef{d.EventID, d.ProjectID})
			}
		}
	}
	slices.SortStableFunc(fast, func(a, b []newItem) int { return len(a) - len(b) })
	return slices.Concat(fast...), creations
}

// replayDelay is the delay of a message for a delivery that was stored before. The first attempt, which has no lease,
// is over by then.
const replayDelay = 5 * PromptTime

// sendFast sends the messages of the items that are pending in the fast lane, including those that were stored earlier:
// the earlier invocation may have failed before it sent their messages. It sets err in the items whose messages were
// not sent.
func sendFast(ctx context.Context, fast queue.Queue, items []newItem) {
	var indexes []int
	var messages []queue.Message
	for i, n := range items {
		if n.err != nil || n.isDropped || n.delivery.Due == "" || n.delivery.waitsInSlowLane() {
			continue
		}
		delay := time.Duration(0)
		if n.wasStored {
			delay = replayDelay
		}
		indexes = append(indexes, i)
		messages = append(messages, n.delivery.message().queueMessage(delay))
	}
	err := fast.Send(ctx, messages...)
	for sent, i := range indexes {
		items[i].err = queue.FailedAt(err, sent)
	}
}
