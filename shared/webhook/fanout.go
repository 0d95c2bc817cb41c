package webhook

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

// FanoutDeps are what the fan-out is built on.
type FanoutDeps struct {
	DB         *db.Client
	Webhooks   db.Table
	Deliveries queue.Queue
	Clock      clock.Clock
	Logger     *slog.Logger
	Metrics    *metric.Metrics
}

// Fanout makes deliveries of events: one for each webhook that wants to be told. It is one read a workspace and one write a
// delivery, however many webhooks there are elsewhere.
//
// A delivery is stored before its message is sent, under an id that the event and the webhook make. So whatever is done twice finds
// what was done before, and a message that was not sent is sent by the replay, or, should that be lost as well, by the retry job.
type Fanout struct {
	store      store
	deliveries queue.Queue
	now        clock.Clock
	logger     *slog.Logger
	metrics    *metric.Metrics
}

// NewFanout builds the fan-out. It does no input or output.
func NewFanout(d FanoutDeps) *Fanout {
	return &Fanout{
		store: store{client: d.DB, webhooks: d.Webhooks}, deliveries: d.Deliveries, now: d.Clock, logger: d.Logger, metrics: d.Metrics,
	}
}

// Bounds of what the fan-out does at once.
const (
	fanoutReads  = 8
	fanoutWrites = 32
)

// occurrence is an event and the record that tells of it.
type occurrence struct {
	record int
	event  event.Record
	at     time.Time
}

// parcel is a delivery to be, of a record.
type parcel struct {
	record   int
	delivery Delivery
}

// Handle makes the deliveries of the events in a batch of the events table's stream, and answers with what became of each record.
// Errors: lambdafn.ErrPoison, of one that makes no sense; storage's and the queue's, where trying again goes on where it broke off.
func (f *Fanout) Handle(ctx context.Context, records []lambdafn.StreamRecord) []error {
	errs := make([]error, len(records))
	byWorkspace := map[string][]occurrence{}
	for i, r := range records {
		if r.EventName != "INSERT" { // an event is never changed, and expires
			continue
		}
		o, err := readOccurrence(i, r)
		if err != nil {
			errs[i] = fmt.Errorf("%w: nobody was told: %w", lambdafn.ErrPoison, err)
			continue
		}
		byWorkspace[o.event.WorkspaceID] = append(byWorkspace[o.event.WorkspaceID], o)
	}
	var told tally
	parcels := f.keep(ctx, f.plan(ctx, byWorkspace, errs, &told), errs, &told)
	f.signal(ctx, parcels, errs)
	f.metrics.Put(ctx, told.all()...)
	return errs
}

func readOccurrence(record int, r lambdafn.StreamRecord) (occurrence, error) {
	happened, err := event.FromItem(r.NewImage)
	if err != nil {
		return occurrence{}, err
	}
	if !id.Workspace.Valid(happened.WorkspaceID) {
		return occurrence{}, fmt.Errorf("webhook: event %q of workspace %q", happened.ID, happened.WorkspaceID)
	}
	at, err := happened.Happened()
	if err != nil {
		return occurrence{}, fmt.Errorf("webhook: event %q: %w", happened.ID, err)
	}
	return occurrence{record, happened, at}, nil
}

// plan are the deliveries that the events lead to.
func (f *Fanout) plan(ctx context.Context, byWorkspace map[string][]occurrence, errs []error, told *tally) []parcel {
	workspaces := slices.Sorted(maps.Keys(byWorkspace))
	parts := make([][]parcel, len(workspaces))
	for i, err := range lambdafn.Parallel(len(workspaces), fanoutReads, func(i int) error {
		webhooks, broken, err := f.store.readableWebhooks(ctx, workspaces[i])
		if err != nil {
			return err
		}
		for _, b := range broken {
			told.count(metricUnreadable)
			f.logger.ErrorContext(ctx, "a webhook can't be read, and is told nothing", "key", b.key.SK, "cause", b.cause.Error())
		}
		parts[i] = parcelsOf(byWorkspace[workspaces[i]], webhooks, f.now())
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

// parcelsOf are the deliveries of events to those webhooks of their workspace that want to be told. Where the service has
// switched a webhook off, its deliveries are kept as failed ones, for when its owners have mended the endpoint and ask for them.
func parcelsOf(happened []occurrence, webhooks []Webhook, now time.Time) []parcel {
	var parcels []parcel
	for _, o := range happened {
		for _, w := range webhooks {
			if !w.wants(o.event, o.at) {
				continue
			}
			d := newDelivery(o.event, o.at, w, now)
			if !w.Active {
				d = d.final(Failed, w.offSentence())
			}
			parcels = append(parcels, parcel{o.record, d})
		}
	}
	return parcels
}

// wants reports whether the webhook is told of an event of its workspace that happened at a time.
func (w Webhook) wants(e event.Record, at time.Time) bool {
	if !w.Active && w.DisabledReason == "" { // its owner's wish
		return false
	}
	if (w.ProjectID != "" && w.ProjectID != e.ProjectID) || w.CreatedAt.Time().After(at) {
		return false
	}
	return slices.ContainsFunc(w.Events, func(pattern string) bool { return event.Matches(pattern, e.Type) })
}

// keep stores the deliveries that are not there yet, and answers with those that are now.
func (f *Fanout) keep(ctx context.Context, parcels []parcel, errs []error, told *tally) []parcel {
	kept := parcels[:0:0]
	for i, err := range lambdafn.Parallel(len(parcels), fanoutWrites, func(i int) error {
		made, err := f.store.add(ctx, parcels[i].delivery)
		if made {
			told.count(metricMade)
		}
		return err
	}) {
		if err != nil {
			errs[parcels[i].record] = err
			continue
		}
		kept = append(kept, parcels[i])
	}
	return kept
}

// signal sends the messages of those that are pending. Of one that was there before, nobody knows whether it was ever sent.
func (f *Fanout) signal(ctx context.Context, parcels []parcel, errs []error) {
	parcels = slices.DeleteFunc(parcels, func(p parcel) bool { return p.delivery.Status != Pending })
	pending := make([]Delivery, len(parcels))
	for i, p := range parcels {
		pending[i] = p.delivery
	}
	err := signal(ctx, f.deliveries, pending)
	for i, p := range parcels {
		if failed := queue.FailedAt(err, i); failed != nil {
			errs[p.record] = failed
		}
	}
}
