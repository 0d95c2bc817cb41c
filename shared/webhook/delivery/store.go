package delivery

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/workspace/record"
)

// The attributes of deliveries and webhooks that the retry job writes.
const (
	attrDueAt   = "dueAt"
	attrWakes   = "wakes"   // projected into the index: it determines the time of the next wake
	attrWokenBy = "wokenBy" // random ID of the latest wake: identifies the wake if the response to the write was lost
)

// Store reads and writes webhooks and their deliveries. Package webhook writes the settings of webhooks.
type Store struct {
	Client *db.Client
	Table  db.Table // of webhooks
	Events db.Table // only read
	// Projects has the records of workspaces, which are only read.
	Projects db.Table
}

// Webhook reads a webhook of a workspace. Error: db.ErrNotFound.
func (s Store) Webhook(ctx context.Context, workspaceID, webhookID string) (Webhook, error) {
	item, err := s.Table.Get(ctx, db.WebhookKey(workspaceID, webhookID))
	if err != nil {
		return Webhook{}, err
	}
	return DecodeWebhook(item)
}

// BrokenItem is a stored item that cannot be decoded.
type BrokenItem struct {
	Key   db.Key
	Cause error
}

// Webhooks reads the webhooks of a workspace in one call. Items that cannot be decoded are returned separately: one
// broken item must not prevent deliveries to the other webhooks.
func (s Store) Webhooks(ctx context.Context, workspaceID string) ([]Webhook, []BrokenItem, error) {
	items, err := s.Table.QueryAll(ctx, db.WebhooksOf(workspaceID))
	if err != nil {
		return nil, nil, err
	}
	webhooks := make([]Webhook, 0, len(items))
	var broken []BrokenItem
	for _, item := range items {
		w, err := DecodeWebhook(item)
		if err != nil {
			broken = append(broken, BrokenItem{db.KeyOf(item), err})
			continue
		}
		webhooks = append(webhooks, w)
	}
	return webhooks, broken, nil
}

// target is a delivery, its payload and its webhook as they are stored.
type target struct {
	delivery *Delivery // nil: it has expired
	webhook  *Webhook  // nil: it was deleted, or its workspace has ended or is read-only
	payload  event.Text
	err      error // of a record that cannot be decoded
}

// targets reads the deliveries that messages name, with their payloads, their webhooks and the records of their
// workspaces. It makes one call, and a second one if the first call does not return the event of a delivery.
func (s Store) targets(ctx context.Context, messages ...message) ([]target, error) {
	refs := make([]db.Ref, 0, 4*len(messages))
	for _, m := range messages {
		refs = append(refs, s.Table.Ref(db.DeliveryKey(m.WebhookID, m.DeliveryID)),
			s.Table.Ref(db.WebhookKey(m.WorkspaceID, m.WebhookID)), s.Projects.Ref(db.WorkspaceKey(m.WorkspaceID)))
		if m.Event != nil {
			refs = append(refs, s.Events.Ref(event.KeyOf(m.WorkspaceID, m.Event.ProjectID, m.Event.ID)))
		}
	}
	items, err := s.Client.BatchGet(ctx, refs...)
	if err != nil {
		return nil, err
	}
	targets, missing := make([]target, len(messages)), []db.Ref(nil)
	for i, m := range messages {
		t := &targets[i]
		var deliveryErr, webhookErr error
		t.delivery, deliveryErr = optional(items[s.Table.Ref(db.DeliveryKey(m.WebhookID, m.DeliveryID))], decodeDelivery)
		t.webhook, webhookErr = optional(items[s.Table.Ref(db.WebhookKey(m.WorkspaceID, m.WebhookID))], DecodeWebhook)
		workspace, err := record.Decode(items[s.Projects.Ref(db.WorkspaceKey(m.WorkspaceID))])
		if !workspace.MayAct() {
			t.webhook = nil
		}
		t.err = errors.Join(deliveryErr, webhookErr, err)
		if t.err == nil && t.delivery != nil && t.delivery.Payload == "" {
			if ref := s.Events.Ref(t.delivery.eventKey()); items[ref] == nil {
				missing = append(missing, ref)
			}
		}
	}
	if len(missing) > 0 {
		events, err := s.Client.BatchGet(ctx, missing...)
		if err != nil {
			return nil, err
		}
		maps.Copy(items, events)
	}
	for i, t := range targets {
		if t.err != nil || t.delivery == nil {
			continue
		}
		d, err := withPayload(*t.delivery, items[s.Events.Ref(t.delivery.eventKey())])
		if errors.Is(err, db.ErrNotFound) {
			targets[i].delivery = nil // the event has expired, and so has the delivery
			continue
		}
		targets[i].payload, targets[i].err = d.Payload, err
	}
	return targets, nil
}

// withPayload returns the delivery with its payload, from the stored event if the delivery does not contain it. Error:
// db.ErrNotFound if there is no event.
func withPayload(d Delivery, item db.Item) (Delivery, error) {
	if d.Payload != "" {
		return d, nil
	}
	if item == nil {
		return d, db.ErrNotFound
	}
	e, err := event.FromItem(item)
	d.Payload = e.Payload
	return d, err
}

// optional decodes an item. It returns nil if there is no item.
func optional[T any](item db.Item, decode func(db.Item) (T, error)) (*T, error) {
	if item == nil {
		return nil, nil
	}
	record, err := decode(item)
	return &record, err
}

// Get reads a delivery. It does not read a payload in the events table. Error: db.ErrNotFound.
func (s Store) Get(ctx context.Context, webhookID, deliveryID string) (Delivery, error) {
	item, err := s.Table.Get(ctx, db.DeliveryKey(webhookID, deliveryID))
	if err != nil {
		return Delivery{}, err
	}
	return decodeDelivery(item)
}

// Read reads a delivery and sets its payload. Error: db.ErrNotFound.
func (s Store) Read(ctx context.Context, webhookID, deliveryID string) (Delivery, error) {
	d, err := s.Get(ctx, webhookID, deliveryID)
	if err != nil || d.Payload != "" {
		return d, err
	}
	items, err := s.Events.BatchGet(ctx, d.eventKey())
	if err != nil {
		return d, err
	}
	return withPayload(d, items[d.eventKey()])
}

// addAll stores new deliveries that do not exist yet. It drops the deliveries of workspaces that have ended or are
// read-only. It sets isDropped, wasStored and err in the items. If it reads an existing delivery, it also sets Due in
// the item. After an error, some deliveries are stored and others are not, and it is safe to call addAll again.
//
// addAll stores at most singleWrites deliveries with one write each. If there are more, it reads which of them exist,
// and then stores the others in batches, which takes a fraction of the calls.
func (s Store) addAll(ctx context.Context, items []newItem) {
	isBatch, refs := len(items) > singleWrites, []db.Ref(nil)
	for _, n := range items {
		refs = append(refs, s.Projects.Ref(db.WorkspaceKey(n.delivery.WorkspaceID)))
		if isBatch {
			refs = append(refs, s.Table.Ref(n.delivery.key()))
		}
	}
	found, readErr := s.Client.BatchGet(ctx, refs...)
	missing := map[db.Key]db.Item{}
	for i := range items {
		n := &items[i]
		workspace, err := record.Decode(found[s.Projects.Ref(db.WorkspaceKey(n.delivery.WorkspaceID))])
		stored := found[s.Table.Ref(n.delivery.key())]
		n.delivery.Version, n.delivery.Writer = 1, rand.Text()
		switch {
		case readErr != nil:
			n.err = readErr
		case err != nil:
			n.err = fmt.Errorf("%w: the workspace of a delivery: %w", lambdafn.ErrPoison, err)
		case !workspace.MayAct():
			n.isDropped = true
		case stored != nil:
			n.wasStored, n.delivery.Due = true, textOf(stored, attrDue)
		default:
			missing[n.delivery.key()], n.err = db.Encode(n.delivery)
		}
	}
	if isBatch && len(missing) > 0 && s.putAll(ctx, missing, items) {
		return
	}
	for i, err := range lambdafn.Parallel(len(items), singleWrites, func(i int) error {
		n := &items[i]
		if n.err != nil || n.isDropped || n.wasStored {
			return n.err
		}
		_, err := s.Client.Do(ctx, s.Table.Create(n.delivery.key(), n.delivery))
		if errors.Is(err, db.ErrConditionFailed) {
			n.wasStored, err = true, nil
		}
		return err
	}) {
		items[i].err = err
	}
}

// putAll stores the missing deliveries in batches, without conditions. If two functions create the same delivery at the
// same time, the second one can replace the delivery after its first attempts. The delivery is then sent again. putAll
// returns false if DynamoDB rejects a delivery: each delivery must then be stored alone. Any other error applies to all
// items.
func (s Store) putAll(ctx context.Context, missing map[db.Key]db.Item, items []newItem) bool {
	err := s.Table.PutAll(ctx, missing)
	if errors.Is(err, db.ErrRejected) {
		return false
	}
	for i := range items {
		items[i].err = cmp.Or(err, items[i].err)
	}
	return true
}

// save stores the next version of a delivery and returns it with its version number. read is the previous version. The
// payload, which Read sets, is not written. save is for use within db.Retry. Error: db.ErrStale if the stored delivery
// is not the version that was read.
func (s Store) save(ctx context.Context, read, next Delivery) (Delivery, error) {
	next.Version, next.Writer = read.Version+1, rand.Text()
	read.Payload = next.Payload
	// The retry job changes dueAt and wakes without storing a new version.
	update, err := Changes(read, next, attrDueAt, attrWakes)
	if err != nil {
		return next, err
	}
	_, err = s.Client.DoOnce(ctx, s.Table.Update(next.key(), update).
		If(expression.Name("version").Equal(expression.Value(read.Version))).
		Recognize(hasText("writer", next.Writer)))
	return next, err
}

// Changes returns the update that turns one version of a stored record into the next. It writes the attributes that
// differ, and the attributes in always, which other writers may have changed.
func Changes[T any](read, next T, always ...string) (update expression.UpdateBuilder, _ error) {
	before, err := db.Encode(read)
	if err != nil {
		return update, err
	}
	after, err := db.Encode(next)
	if err != nil {
		return update, err
	}
	for _, name := range always {
		before[name] = nil
	}
	for name, value := range after {
		if !reflect.DeepEqual(before[name], value) {
			update = update.Set(expression.Name(name), expression.Value(value))
		}
	}
	for name := range before {
		if after[name] == nil {
			update = update.Remove(expression.Name(name))
		}
	}
	return update, nil
}

// change stores the version of a delivery that next returns. operation is the name of the change in the log. If another
// writer changed the delivery, change reads it and calls next again. If retryUnavailable is set, it does so even if
// storage is unavailable: a write that seemed to fail may have been executed, so next must recognize its own change. It
// reports false if next reports no change. Errors: db.ErrNotFound, db.ErrConflict.
func (s Store) change(
	ctx context.Context, operation string, d Delivery, retryUnavailable bool, next func(Delivery) (Delivery, bool),
) (result Delivery, changed bool, _ error) {
	isStale := false
	err := db.Retry(ctx, operation, func(ctx context.Context) (err error) {
		if isStale {
			d, err = s.Get(ctx, d.WebhookID, d.ID)
		}
		isStale = true
		if err == nil {
			if result, changed = next(d); changed {
				result, err = s.save(ctx, d, result)
			}
		}
		if retryUnavailable && errors.Is(err, db.ErrUnavailable) {
			return fmt.Errorf("%w: %w", db.ErrStale, err)
		}
		return err
	})
	return result, changed && err == nil, err
}

// hasText returns a function that reports whether an item has an attribute with this text. If the response to a write
// was lost, the text shows the retry that the first write was executed.
func hasText(attribute, text string) func(db.Item) bool {
	return func(stored db.Item) bool { return textOf(stored, attribute) == text }
}

// textOf returns the text in an attribute, or "" if the item has no such text.
func textOf(item db.Item, attribute string) string {
	if value, ok := item[attribute].(*types.AttributeValueMemberS); ok {
		return value.Value
	}
	return ""
}

// shownAttributes are the attributes of a delivery that List reads. The payload is omitted because it can be long.
var shownAttributes = []string{"id", "eventId", "type", "status", "attempts", "nextAttemptAt", "reason"}

const (
	// filterCalls and filterPage limit the work for a page of one status: the number of calls, and the number of
	// deliveries that each call reads.
	filterCalls = 5
	filterPage  = 100
)

// List reads at most limit deliveries of a webhook without their payloads, newest first. after is the ID of the last
// delivery of the previous page; "" for the first page. If status is not "", List reads a limited number of deliveries
// and returns those that match: the result may be shorter than limit, or empty, although more deliveries match. next is
// the ID after which the next page begins; "" on the last page.
func (s Store) List(
	ctx context.Context, webhookID string, status Status, after string, limit int,
) (found []Delivery, next string, _ error) {
	prefix := db.DeliveriesOf(webhookID)
	q := db.Query{Prefix: prefix, After: prefix.After(after), Limit: limit, Descending: true, Only: shownAttributes}
	calls := 1
	if status != "" {
		q.Limit, calls = max(limit, filterPage), filterCalls
	}
	for range calls {
		deliveries, position, err := db.List(ctx, s.Table, q, db.DecodeByID(func(d Delivery) string { return d.ID }))
		if err != nil {
			return nil, "", err
		}
		for _, d := range deliveries {
			if status == "" || d.Status == status {
				found = append(found, d)
			}
			if len(found) == limit {
				return found, d.ID, nil
			}
		}
		if position.IsZero() {
			return found, "", nil
		}
		q.After = position
	}
	return found, prefix.Rest(q.After), nil
}
