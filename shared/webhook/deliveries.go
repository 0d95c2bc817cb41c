package webhook

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
)

// defaultLimit is how many deliveries a page has if the request does not say (API.md §1).
const defaultLimit = 50

// deliveries is a page of a webhook's log, newest first, with the cursor of the next page, "" if it is the last. A status, unless
// it is "", names those that are wanted; such a page may be short of them, even empty, though the log goes on.
func (s *Service) deliveries(ctx context.Context, webhookID string, status Status, page httpapi.PageInput) (items []DeliveryItem, next string, err error) {
	scope := httpapi.ListScope(httpapi.CallerFrom(ctx), "deliveries", webhookID, string(status))
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	if page.Limit == 0 {
		page.Limit = defaultLimit
	}
	var all []Delivery
	seen := ""
	err = s.beside(ctx, webhookID, func(ctx context.Context, _ string) (err error) {
		all, seen, err = s.store.deliveriesOf(ctx, webhookID, status, after, page.Limit+1)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	now := s.now()
	items = make([]DeliveryItem, len(all))
	for i, d := range all {
		items[i] = d.item(now)
	}
	if n := httpapi.Fit(items, page.Limit); n < len(items) {
		items, seen = items[:n], items[n-1].ID
	}
	if seen != "" {
		next, err = s.cursors.Seal(ctx, scope, seen)
	}
	return items, next, err
}

// delivery reads one delivery of a webhook that the caller may work on.
func (s *Service) delivery(ctx context.Context, webhookID, deliveryID string) (d Delivery, err error) {
	err = s.beside(ctx, webhookID, func(ctx context.Context, _ string) (err error) {
		d, err = s.store.delivery(ctx, webhookID, deliveryID)
		return err
	})
	return d, orNoDelivery(err)
}

func orNoDelivery(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return errNoDelivery.WithCause(err)
	}
	return err
}

// redeliver has a delivery sent once more, whatever its status and its webhook's, at the beginning of a run of the schedule. One that
// is being attempted is sent again as soon as that attempt has come to its end.
func (s *Service) redeliver(ctx context.Context, webhookID, deliveryID string) (Delivery, error) {
	d, err := s.delivery(ctx, webhookID, deliveryID)
	if err != nil {
		return d, err
	}
	if err := s.limited(ctx, "redeliver", webhookID); err != nil {
		return d, err
	}
	anew := func(d Delivery, now time.Time) (Delivery, bool) { return d.again(now, true), true }
	if d, _, err = s.move(ctx, d, anew); err != nil {
		return d, orNoDelivery(err)
	}
	s.signal(ctx, d)
	return d, nil
}

// move stores what a decision makes of a delivery, which is read anew and decided on anew as long as others move it; false if the
// decision was to leave it as it is. Errors: db.ErrNotFound, CONFLICT.
func (s *Service) move(ctx context.Context, d Delivery, decide func(Delivery, time.Time) (Delivery, bool)) (Delivery, bool, error) {
	for attempt := 0; ; attempt++ {
		next, moves := decide(d, s.now())
		if !moves {
			return d, false, nil
		}
		stored, err := s.store.save(ctx, next)
		if !errors.Is(err, errMoved) {
			return stored, err == nil, err
		}
		if !patient(ctx, attempt) {
			return d, false, fault.ErrConflict.WithCause(err)
		}
		if d, err = s.store.delivery(ctx, d.WebhookID, d.ID); err != nil {
			return d, false, err
		}
	}
}

// Bounds of one recovery.
const (
	// recoverTime is how long it begins with more deliveries: the gateway waits 29 s.
	recoverTime = 20 * time.Second
	// recoverPage is how many deliveries are read at once, recoverParallel how many moved.
	recoverPage     = 100
	recoverParallel = 16
)

// recovery is what a recovery has done.
type recovery struct {
	count int
	// from is the moment from which on there may be more; nil if all was done.
	from *clock.Timestamp
}

// recoverFailed has everything sent again whose event lies in a span of time and that has failed, or waits after an attempt that
// has. It works from the oldest on until its time is up.
func (s *Service) recoverFailed(ctx context.Context, webhookID string, since, until time.Time) (recovery, error) {
	w, err := s.open(ctx, webhookID)
	if err != nil {
		return recovery{}, err
	}
	if !w.Active {
		return recovery{}, errInactive
	}
	if err := s.limited(ctx, "recover", webhookID); err != nil {
		return recovery{}, err
	}
	var done recovery
	begin := s.now()
	for after := justBefore(since); ; {
		deliveries, more, err := s.store.deliveriesSince(ctx, webhookID, after, recoverPage)
		if err != nil {
			return done, err
		}
		within, past := span(deliveries, since, until)
		n, err := s.recoverAll(ctx, within)
		if done.count += n; err != nil {
			return done, err
		}
		if past || !more {
			return done, nil
		}
		after = deliveries[len(deliveries)-1].ID
		if s.now().Sub(begin) >= recoverTime {
			at, _ := id.Delivery.Time(after)
			from := clock.Stamp(at)
			done.from = &from
			return done, nil
		}
	}
}

// justBefore is an id that no delivery has, behind those of all events before a moment and before those from it on.
func justBefore(moment time.Time) string {
	last := [10]byte{}
	for i := range last {
		last[i] = 0xff
	}
	return id.Delivery.From(moment.Add(-time.Millisecond), last)
}

// span are those of deliveries, in the order of their events, whose events lie from since to until, and whether there are
// some behind it.
func span(deliveries []Delivery, since, until time.Time) (within []Delivery, past bool) {
	for _, d := range deliveries {
		at, _ := id.Delivery.Time(d.ID)
		if at.After(until) {
			return within, true
		}
		if !at.Before(since) {
			within = append(within, d)
		}
	}
	return within, false
}

// recoverAll has those of deliveries sent again that a recovery sends, and answers how many they are.
func (s *Service) recoverAll(ctx context.Context, deliveries []Delivery) (int, error) {
	moved := make([]*Delivery, len(deliveries))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(recoverParallel)
	anew := func(d Delivery, now time.Time) (Delivery, bool) { return d.again(now, false), d.recoverable(now) }
	for i, d := range deliveries {
		group.Go(func() error {
			d, ok, err := s.move(groupCtx, d, anew)
			if ok {
				moved[i] = &d
			}
			if errors.Is(err, db.ErrNotFound) { // it has expired
				return nil
			}
			return err
		})
	}
	err := group.Wait()
	var sent []Delivery
	for _, d := range slices.DeleteFunc(moved, func(d *Delivery) bool { return d == nil }) {
		sent = append(sent, *d)
	}
	if len(sent) > 0 {
		s.signal(ctx, sent...)
	}
	return len(sent), err
}

// test sends an example of an event to a webhook, whatever state it is in, and answers with the delivery, whose only attempt is made
// by now. What comes of it says nothing about the endpoint's health.
func (s *Service) test(ctx context.Context, webhookID string, kind event.Type) (Delivery, error) {
	w, err := s.open(ctx, webhookID)
	if err != nil {
		return Delivery{}, err
	}
	if err := s.limited(ctx, "test", webhookID); err != nil {
		return Delivery{}, err
	}
	now := s.now()
	d, err := s.example(ctx, w, kind, now)
	if err != nil {
		return d, err
	}
	secrets, err := s.sealer.liveSecrets(ctx, w, now)
	if err != nil {
		return d, err
	}
	body := []byte(d.Payload)
	result := s.sender.Send(ctx, sender.Request{
		URL: w.URL, Body: body, Header: signature.Sign(secrets, d.EventID, d.ID, string(d.Type), now, body),
	})
	d.Attempts = []Attempt{attemptOf(clock.Stamp(now), result)}
	status := Failed
	if result.OK() {
		status = Succeeded
	}
	d = d.final(status, "")
	_, err = s.store.add(ctx, d)
	return d, err
}

// example is the delivery of an example of an event.
func (s *Service) example(ctx context.Context, w Webhook, kind event.Type, now time.Time) (Delivery, error) {
	caller := httpapi.CallerFrom(ctx)
	e := event.Record{ID: s.ids.New(id.Event), Type: kind}
	var err error
	e.Payload, err = event.Example(kind, event.Scene{
		EventID: e.ID, At: now, Actor: event.Actor{ID: caller.UserID, Username: caller.Username},
		WorkspaceID: w.WorkspaceID, ProjectID: w.ProjectID, Webhook: event.Webhook{ID: w.ID, URL: w.URL},
	})
	if err != nil {
		return Delivery{}, err
	}
	d := newDelivery(e, now, w, now)
	d.Test, d.Tries = true, 1
	return d, nil
}
