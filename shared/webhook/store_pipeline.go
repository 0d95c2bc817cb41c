package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// dueIndex has the deliveries that are pending, by when they are due.
var dueIndex = db.Index{Name: "due", PK: "due", SK: "dueAt"}

// unreadable is an item that can't be read.
type unreadable struct {
	key   db.Key
	cause error
}

// readableWebhooks are the webhooks of a workspace, in one read, and apart from them those that can't be read: one broken item
// must not keep events from the others.
func (s store) readableWebhooks(ctx context.Context, workspaceID string) ([]Webhook, []unreadable, error) {
	items, err := s.webhooks.QueryAll(ctx, db.WebhooksOf(workspaceID))
	if err != nil {
		return nil, nil, err
	}
	webhooks := make([]Webhook, 0, len(items))
	var broken []unreadable
	for _, item := range items {
		w, err := db.Decode[Webhook](item)
		if err != nil {
			broken = append(broken, unreadable{db.KeyOf(item), err})
			continue
		}
		webhooks = append(webhooks, w)
	}
	return webhooks, broken, nil
}

// target is a delivery and its webhook as they are now; nil for what is not there.
type target struct {
	delivery *Delivery
	webhook  *Webhook
	err      error // one of them can't be read
}

// targets reads what messages are about, all in one call.
func (s store) targets(ctx context.Context, messages []message) ([]target, error) {
	keys := make([]db.Key, 0, 2*len(messages))
	for _, m := range messages {
		keys = append(keys, db.DeliveryKey(m.WebhookID, m.DeliveryID), db.WebhookKey(m.WorkspaceID, m.WebhookID))
	}
	items, err := s.webhooks.BatchGet(ctx, keys...)
	if err != nil {
		return nil, err
	}
	targets := make([]target, len(messages))
	for i := range targets {
		delivery, derr := optional[Delivery](items[keys[2*i]])
		webhook, werr := optional[Webhook](items[keys[2*i+1]])
		targets[i] = target{delivery, webhook, errors.Join(derr, werr)}
	}
	return targets, nil
}

func optional[T any](item db.Item) (*T, error) {
	if item == nil {
		return nil, nil
	}
	record, err := db.Decode[T](item)
	return &record, err
}

// Attributes of a webhook's item that the pipeline writes one by one.
const (
	attrGeneration     = "generation"
	attrActive         = "active"
	attrDisabledReason = "disabledReason"
	attrRevision       = "revision"
	attrUpdatedAt      = "updatedAt"
	attrTimeouts       = "timeouts"
	attrFailures       = "failures"
	attrFailingSince   = "failingSince"
	attrLastAt         = "lastAt"
	attrLastStatus     = "lastStatus"
	attrProbeUntil     = "probeUntil"
	attrProbeBy        = "probeBy" // who took the probe lease, so that a lost answer does not lose it
)

// sameGeneration is the condition that the webhook is there and still has the endpoint that an attempt was made at.
func sameGeneration(w Webhook) expression.ConditionBuilder {
	return expression.AttributeExists(expression.Name(db.AttrPK)).
		And(expression.Name(attrGeneration).Equal(expression.Value(w.Generation)))
}

// takeProbe takes the endpoint's probe lease until a time; false if another has it, or it is another endpoint by now.
func (s store) takeProbe(ctx context.Context, w Webhook, now, until time.Time) (bool, error) {
	by, lease := rand.Text(), expression.Name(attrProbeUntil)
	update := expression.Set(lease, expression.Value(clock.Stamp(until).String())).Set(expression.Name(attrProbeBy), expression.Value(by))
	write := s.webhooks.Update(db.WebhookKey(w.WorkspaceID, w.ID), update).If(sameGeneration(w)).
		If(expression.AttributeNotExists(lease).Or(lease.LessThanEqual(expression.Value(clock.Stamp(now).String())))).
		Mine(func(stored db.Item) bool {
			writer, _ := stored[attrProbeBy].(*types.AttributeValueMemberS)
			return writer != nil && writer.Value == by
		})
	_, err := s.client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return false, nil
	}
	return err == nil, err
}

// noteHealth turns the health that a webhook was read with into another. Several may do so at once: what is counted is added.
// Nothing is written if it is another endpoint by now, or none.
func (s store) noteHealth(ctx context.Context, w Webhook, after Health) error {
	_, err := s.client.Do(ctx, s.webhooks.Update(db.WebhookKey(w.WorkspaceID, w.ID), healthUpdate(w.Health, after)).If(sameGeneration(w)))
	if errors.Is(err, db.ErrConditionFailed) {
		return nil
	}
	return err
}

// disable notes the health and switches the webhook off, as the verdict says; false if it was off already, is another endpoint by now,
// or the run of failures that the verdict is about has ended.
func (s store) disable(ctx context.Context, w Webhook, after Health, v verdict, now time.Time) (bool, error) {
	update := healthUpdate(w.Health, after).
		Set(expression.Name(attrActive), expression.Value(false)).
		Set(expression.Name(attrDisabledReason), expression.Value(v.reason)).
		Set(expression.Name(attrUpdatedAt), expression.Value(clock.Stamp(now).String())).
		Add(expression.Name(attrRevision), expression.Value(1))
	write := s.webhooks.Update(db.WebhookKey(w.WorkspaceID, w.ID), update).If(sameGeneration(w)).
		If(expression.Name(attrActive).Equal(expression.Value(true)))
	if v.run != nil {
		write = write.If(expression.Name(attrFailingSince).Equal(expression.Value(v.run.String())))
	}
	_, err := s.client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return false, nil
	}
	return err == nil, err
}

// healthUpdate is the update that leads from one health to the other.
func healthUpdate(before, after Health) expression.UpdateBuilder {
	update := expression.Set(expression.Name(attrLastAt), expression.Value(after.LastAt.String())).
		Set(expression.Name(attrLastStatus), expression.Value(string(after.LastStatus)))
	since := expression.Name(attrFailingSince)
	if after.LastStatus == Succeeded { // it makes up also for what others have noted since the webhook was read
		for _, attribute := range []string{attrTimeouts, attrFailures, attrFailingSince, attrProbeUntil} {
			update = update.Remove(expression.Name(attribute))
		}
		return update
	}
	update = countUpdate(update, attrTimeouts, before.Timeouts, after.Timeouts)
	update = countUpdate(update, attrFailures, before.Failures, after.Failures)
	// The first to say so is right. If another's success has ended the run that was read, this is the first failure of the next.
	update = update.Set(since, since.IfNotExists(expression.Value(after.LastAt.String())))
	if before.ProbeUntil != nil && after.ProbeUntil == nil {
		update = update.Remove(expression.Name(attrProbeUntil))
	}
	return update
}

// countUpdate adds what was counted, or begins anew. Nothing is ever taken off: others, who have read the same, would do so as well.
func countUpdate(update expression.UpdateBuilder, attribute string, before, after int) expression.UpdateBuilder {
	switch {
	case after > before:
		return update.Add(expression.Name(attribute), expression.Value(after-before))
	case after == 0 && before > 0:
		return update.Remove(expression.Name(attribute))
	}
	return update
}

// due is a delivery as the index shows it: its key, its place there, the time that is, and how often it was woken in vain.
type due struct {
	key   db.Key
	place string
	at    time.Time
	wakes int
}

// attrWakes is projected into the index, so that a wake knows where the next one is to be.
const attrWakes = "wakes"

// attrWokenBy is who made the last wake, so that a lost answer does not cost the message. The place does not tell: runs at once choose
// the same one.
const attrWokenBy = "wokenBy"

// dueUpto is a page of a shard's deliveries that are due up to a time, the most overdue first, and where the next page begins.
func (s store) dueUpto(ctx context.Context, shard int, upto time.Time, after db.IndexKey, limit int) ([]due, db.IndexKey, error) {
	page, err := s.webhooks.QueryIndex(ctx, db.IndexQuery{
		Index: dueIndex, Partition: db.DuePartition(shard), Upto: clock.Stamp(upto).String(), After: after, Limit: limit,
	})
	if err != nil {
		return nil, page.Next, err
	}
	all := make([]due, 0, len(page.Items))
	for _, item := range page.Items {
		place, ok := item[dueIndex.SK].(*types.AttributeValueMemberS)
		if !ok {
			continue // then the index would not have it
		}
		at, err := clock.ParseTimestamp(place.Value)
		if err != nil {
			at = clock.Stamp(upto) // nobody of here wrote that: its next place is a time
		}
		wakes := 0
		if n, ok := item[attrWakes].(*types.AttributeValueMemberN); ok {
			wakes, _ = strconv.Atoi(n.Value) // of what can't be read, none
		}
		all = append(all, due{db.KeyOf(item), place.Value, at.Time(), wakes})
	}
	return all, page.Next, nil
}

// wake gives a delivery another place in the index, on the condition that it still has the one that was seen, and answers with
// it, woken once more. Its version stays: whoever has read it may go on. Errors: errMoved; errUnreadable, and then it has the place all
// the same.
func (s store) wake(ctx context.Context, seen due, next time.Time) (Delivery, error) {
	by, dueAt := rand.Text(), expression.Name(dueIndex.SK)
	update := expression.Set(dueAt, expression.Value(clock.Stamp(next).String())).
		Set(expression.Name(attrWokenBy), expression.Value(by)).Add(expression.Name(attrWakes), expression.Value(1))
	write := s.webhooks.Update(seen.key, update).If(s.webhooks.Exists()).If(dueAt.Equal(expression.Value(seen.place))).
		Mine(func(stored db.Item) bool {
			writer, _ := stored[attrWokenBy].(*types.AttributeValueMemberS)
			return writer != nil && writer.Value == by
		})
	item, err := s.client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return Delivery{}, errMoved
	}
	if err != nil {
		return Delivery{}, err
	}
	d, err := db.Decode[Delivery](item)
	if err != nil {
		return d, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return d, nil
}

// errUnreadable says that a delivery is there and makes no sense.
var errUnreadable = errors.New("webhook: the delivery can't be read")
