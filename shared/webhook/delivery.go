package webhook

import (
	"cmp"
	"context"
	"errors"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/workspace"
)

// ListDeliveries returns a page of the deliveries of a webhook, newest first, and the cursor of the next page. See
// delivery.Store.List.
func (s *Service) ListDeliveries(
	ctx context.Context, caller httpapi.Caller, webhookID string, status delivery.Status, page httpapi.PageInput,
) ([]DeliveryItem, string, error) {
	scope := httpapi.ListScope(caller, "deliveries", webhookID, string(status))
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := cmp.Or(page.Limit, httpapi.DefaultLimit)
	var deliveries []delivery.Delivery
	var last string
	err = s.readIfAllowed(ctx, caller, webhookID, workspace.ReadWebhooks, func(string) (err error) {
		deliveries, last, err = s.log.List(ctx, webhookID, status, after, limit+1)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	now, items := s.now(), make([]DeliveryItem, len(deliveries))
	for i, d := range deliveries {
		items[i] = deliveryItem(d, now)
	}
	items, next, err := httpapi.CutPage(ctx, s.cursors, scope, items, limit,
		func(item DeliveryItem) string { return item.ID })
	if err == nil && next == "" && last != "" { // filtered by status: the log has more deliveries
		next, err = s.cursors.Seal(ctx, scope, last)
	}
	return items, next, err
}

// deliveryFor reads a delivery of a webhook with which the caller may do an action.
func (s *Service) deliveryFor(
	ctx context.Context, caller httpapi.Caller, webhookID, deliveryID string, action workspace.Action,
) (d delivery.Delivery, err error) {
	err = s.readIfAllowed(ctx, caller, webhookID, action, func(string) (err error) {
		d, err = s.log.Read(ctx, webhookID, deliveryID)
		return err
	})
	return d, deliveryError(err)
}

// deliveryError turns db.ErrNotFound into errNoDelivery.
func deliveryError(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return errNoDelivery.WithCause(err)
	}
	return err
}

// Redeliver sends a delivery again. See delivery.Log.Redeliver.
func (s *Service) Redeliver(
	ctx context.Context, caller httpapi.Caller, webhookID, deliveryID string,
) (delivery.Delivery, error) {
	d, err := s.deliveryFor(ctx, caller, webhookID, deliveryID, workspace.ManageWebhooks)
	if err != nil {
		return d, err
	}
	if _, err := s.limits.Count(ctx, s.counters("redeliver", caller, webhookID)...); err != nil {
		return d, err
	}
	d, err = s.log.Redeliver(ctx, d)
	return d, deliveryError(err)
}

// RecoverDeliveries sends deliveries again: those that failed or wait after a failed attempt, and whose events occurred
// between since and until. See delivery.Log.Recover. Error: errInactive.
func (s *Service) RecoverDeliveries(
	ctx context.Context, caller httpapi.Caller, webhookID string, since, until time.Time,
) (delivery.Recovery, error) {
	w, err := s.webhookFor(ctx, caller, webhookID, workspace.ManageWebhooks)
	if err != nil {
		return delivery.Recovery{}, err
	}
	if !w.Active {
		return delivery.Recovery{}, errInactive
	}
	if _, err := s.limits.Count(ctx, s.counters("recover", caller, webhookID)...); err != nil {
		return delivery.Recovery{}, err
	}
	return s.log.Recover(ctx, webhookID, since, until)
}

// TestWebhook sends an example event to a webhook and returns the delivery with its only attempt. See
// delivery.Log.Test.
func (s *Service) TestWebhook(
	ctx context.Context, caller httpapi.Caller, webhookID string, kind event.Type,
) (delivery.Delivery, error) {
	w, err := s.webhookFor(ctx, caller, webhookID, workspace.ManageWebhooks)
	if err != nil {
		return delivery.Delivery{}, err
	}
	test, err := s.limits.Begin(ctx, s.testsInProgress(caller, w), s.counters("test", caller, webhookID)...)
	if err != nil {
		return delivery.Delivery{}, err
	}
	defer func() {
		if err := test.End(ctx); err != nil {
			s.logger.WarnContext(ctx, "a test counts as in progress until its lease expires", "webhook", w.ID, "error", err)
		}
	}()
	now, e := s.now(), event.Record{ID: s.ids.New(id.Event), Type: kind}
	e.Payload, err = event.Example(kind, event.ExampleValues{
		EventID: e.ID, At: now, Actor: event.Actor{ID: caller.UserID, Username: caller.Account().Username},
		WorkspaceID: w.WorkspaceID, ProjectID: w.ProjectID, Webhook: event.Webhook{ID: w.ID, URL: w.URL},
	})
	if err != nil {
		return delivery.Delivery{}, err
	}
	return s.log.Test(ctx, w, e, now)
}

// testsInProgress returns the tests of the caller and of the webhook's workspace that are in progress.
func (s *Service) testsInProgress(caller httpapi.Caller, w delivery.Webhook) []limit.Operations {
	ofUser := limit.OperationRule{
		Name: "webhook-test-user", Limit: s.quotas.UserTests, Lease: testLease, Full: s.quotas.errUserTests(),
	}
	ofWorkspace := limit.OperationRule{
		Name: "webhook-test-workspace", Limit: s.quotas.WorkspaceTests, Lease: testLease,
		Full: s.quotas.errWorkspaceTests(),
	}
	return []limit.Operations{
		s.limits.Operations(ofUser, caller.UserID), s.limits.Operations(ofWorkspace, w.WorkspaceID),
	}
}

// counters returns the counters of an operation on a webhook: the counters of the webhook and of the caller.
func (s *Service) counters(operation string, caller httpapi.Caller, webhookID string) []limit.Counter {
	ofWebhook := limit.Rule{Name: "webhook-" + operation, Limit: maxOperations, Window: limitWindow}
	ofUser := limit.Rule{Name: "webhook-" + operation + "-user", Limit: s.quotas.UserCalls, Window: limitWindow}
	return []limit.Counter{s.limits.Counter(ofWebhook, webhookID), s.limits.Counter(ofUser, caller.UserID)}
}
