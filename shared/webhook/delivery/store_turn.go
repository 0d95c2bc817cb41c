package delivery

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// The attributes of Turns.
const (
	attrDue       = "due"
	attrTurnUntil = "turnUntil"
	attrTurnBy    = "turnBy"
	attrNotBefore = "notBefore"
	attrAddedAt   = "addedAt"
	attrDrainedAt = "drainedAt"
	attrWindow    = "window"
)

// makeDue makes a webhook due, because deliveries to its endpoint are added to the slow lane. It reports whether a
// message for a turn must then be sent. The stored webhook decides this, because w may be out of date. If leaveFastLane
// is set, the endpoint leaves the fast lane, unless the webhook has a new endpoint. makeDue does nothing if the webhook
// was deleted, or if the endpoint rests and is already due after its rest.
func (s Store) makeDue(ctx context.Context, w Webhook, leaveFastLane bool, now time.Time) (mustSend bool, _ error) {
	if w.isDueAfterRest(now) && w.DrainedAt == nil && !leaveFastLane {
		return false, nil
	}
	addedAt, at := expression.Name(attrAddedAt), expression.Value(clock.Stamp(now).String())
	update := expression.Set(expression.Name(attrDue), expression.Value(duePartition(w.ID))).
		Set(expression.Name(attrDueAt), expression.Value(clock.Stamp(w.dueAfterAddition(now)).String())).
		Remove(expression.Name(attrDrainedAt))
	if w.AddedAt != nil && !w.hasRecentAddition(now) { // the message of that time was lost, or is late
		update = update.Set(addedAt, at)
	} else {
		update = update.Set(addedAt, addedAt.IfNotExists(at))
	}
	write := s.Table.Update(db.WebhookKey(w.WorkspaceID, w.ID), update).If(s.Table.Exists())
	if leaveFastLane {
		write = s.endpointUpdate(w, update.Remove(expression.Name(attrPrompt)))
	}
	item, err := s.Client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) && leaveFastLane { // the webhook was deleted, or has a new endpoint
		w.Turns = Turns{} // the turns belong to the old endpoint
		return s.makeDue(ctx, w, false, now)
	}
	if errors.Is(err, db.ErrConditionFailed) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	updated, err := DecodeWebhook(item)
	return err == nil && updated.needsMessage(now), err
}

// takeTurn takes the lease of a turn until a time, and returns the webhook as it is then. It reports false if another
// turn is in progress, or the webhook was deleted.
func (s Store) takeTurn(ctx context.Context, w Webhook, now, until time.Time) (_ Webhook, isTaken bool, _ error) {
	turnID, lease := rand.Text(), expression.Name(attrTurnUntil)
	update := expression.Set(lease, expression.Value(clock.Stamp(until).String())).
		Set(expression.Name(attrTurnBy), expression.Value(turnID)).Remove(expression.Name(attrAddedAt))
	if w.TurnUntil != nil { // the latest turn was interrupted
		update = update.Remove(expression.Name(attrWindow))
	}
	expired := lease.LessThanEqual(expression.Value(clock.Stamp(now).String()))
	item, err := s.Client.Do(ctx, s.Table.Update(db.WebhookKey(w.WorkspaceID, w.ID), update).If(s.Table.Exists()).
		If(expression.AttributeNotExists(lease).Or(expired)).Recognize(hasText(attrTurnBy, turnID)))
	if errors.Is(err, db.ErrConditionFailed) {
		return w, false, nil
	}
	if err != nil {
		return w, false, err
	}
	w, err = DecodeWebhook(item)
	return w, err == nil, err
}

// turnCondition is the condition under which a turn ends as planned. The constants are in the order in which
// turn.finish tries them, the strictest first.
type turnCondition int

const (
	ifUnchanged    turnCondition = iota // no deliveries were added, and the endpoint is the same
	ifSameEndpoint                      // the endpoint is the same
	unconditional
)

// endTurn releases the lease of a turn and stores when the next turn is due. w is the webhook as takeTurn returned it.
// It changes nothing and reports false if the condition does not hold, or if another turn has begun.
func (s Store) endTurn(ctx context.Context, w Webhook, next Turns, condition turnCondition) (bool, error) {
	update, err := Changes(Turns{}, next, attrDue, attrDueAt, attrWakes, attrTurnUntil, attrTurnBy, attrNotBefore,
		attrWindow, attrAddedAt, attrDrainedAt)
	if err != nil {
		return false, err
	}
	write := s.Table.Update(db.WebhookKey(w.WorkspaceID, w.ID), update).
		If(expression.Name(attrTurnBy).Equal(expression.Value(w.TurnBy))).
		Recognize(func(stored db.Item) bool { return stored[attrTurnBy] == nil }) // no other turn has begun
	if condition != unconditional {
		write = write.If(expression.Name(attrGeneration).Equal(expression.Value(w.Generation)))
	}
	if condition == ifUnchanged {
		write = write.If(expression.Name(attrAddedAt).AttributeNotExists())
	}
	return s.writeIf(ctx, write)
}

// slotsTTL is the time after which the unused slots of an account are deleted.
const slotsTTL = 24 * time.Hour

// slotLease is a slot of an account that a worker has taken. value is its stored form: the end of the lease, and a
// random text.
type slotLease struct{ account, attribute, value string }

// takeSlot takes a free slot of an account. It returns nil if there is none.
func (s Store) takeSlot(ctx context.Context, account string, now time.Time) (*slotLease, error) {
	item, err := s.Table.Get(ctx, db.SlotsKey(account))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return nil, err
	}
	stampedNow := clock.Stamp(now).String()
	for slot := range slotsPerAccount {
		lease := &slotLease{account, fmt.Sprint("slot", slot), clock.Stamp(now.Add(leaseTime)).String() + " " + rand.Text()}
		if textOf(item, lease.attribute) > stampedNow {
			continue
		}
		name := expression.Name(lease.attribute)
		update := expression.Set(name, expression.Value(lease.value)).
			Set(expression.Name(db.AttrExpiresAt), expression.Value(now.Add(slotsTTL).Unix()))
		isFree := name.AttributeNotExists().Or(name.LessThanEqual(expression.Value(stampedNow)))
		taken, err := s.writeIf(ctx, s.Table.Update(db.SlotsKey(account), update).If(isFree).
			Recognize(hasText(lease.attribute, lease.value)))
		if err != nil {
			return nil, err
		}
		if taken {
			return lease, nil
		}
	}
	return nil, nil
}

// releaseSlot releases a slot, unless its lease has expired and another worker has taken it.
func (s Store) releaseSlot(ctx context.Context, lease slotLease) error {
	name := expression.Name(lease.attribute)
	_, err := s.writeIf(ctx, s.Table.Update(db.SlotsKey(lease.account), expression.Remove(name)).
		If(name.Equal(expression.Value(lease.value))))
	return err
}
