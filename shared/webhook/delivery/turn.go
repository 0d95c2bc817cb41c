package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
)

// turn attempts the deliveries of one endpoint that wait in the slow lane, the oldest first: one at first, and more at
// the same time while they succeed. The next turn begins with the number that this one reached, unless this one fails.
// Only one turn of an endpoint is in progress at a time. Its methods are in the order in which run calls them.
type turn struct {
	worker     *worker
	invocation *invocation
	received   lambdafn.QueueMessage
	webhook    Webhook
	named      []string // IDs of deliveries that messages name
	err        *error   // receives the error of the message

	now   time.Time       // when the turn began
	after db.IndexKey     // position in the index
	seen  map[string]bool // IDs of the deliveries that were read
	end   turnEnd
}

// run runs the turn. It returns lambdafn.ErrLater if the queue must deliver the message again. A message that does not
// lead to a turn is not needed: the webhook is due, or a turn is in progress that looks for further deliveries at its
// end.
func (t *turn) run(ctx context.Context) error {
	hasBegun, err := t.begin(ctx)
	if err != nil || !hasBegun {
		return err
	}
	t.invocation.count(metricTurns)
	if err := t.work(ctx); err != nil { // the next turn continues
		t.worker.Logger.ErrorContext(ctx, "turn failed", "webhook", t.webhook.ID, "cause", err.Error())
		t.end.nextDue, t.end.window = t.worker.Clock().Add(shortestTurnWait), 1
	}
	return t.finish(ctx)
}

// begin takes the lease of the turn. It reports false if there is no turn now.
func (t *turn) begin(ctx context.Context) (bool, error) {
	t.now, t.seen = t.worker.Clock(), map[string]bool{}
	w, err := t.worker.Store.Webhook(ctx, t.webhook.WorkspaceID, t.webhook.ID)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil // deleted
	}
	if err != nil {
		return false, err
	}
	t.webhook = w
	if w.isResting(t.now) {
		// A turn does not wait until the endpoint has rested if a redelivery of a named delivery was requested.
		targets, err := t.read(ctx, t.named)
		if err != nil || !slices.ContainsFunc(targets, func(d target) bool {
			return d.err == nil && d.delivery != nil && d.delivery.Manual > 0
		}) {
			return false, err
		}
		if w.hasTurn(t.now) {
			return false, t.returnMessage(ctx)
		}
	}
	if w.hasTurn(t.now) {
		return false, nil
	}
	fresh, isTaken, err := t.worker.Store.takeTurn(ctx, w, t.now, t.now.Add(leaseTime))
	if err != nil || !isTaken {
		return false, err
	}
	t.webhook, t.end.window = fresh, fresh.window()
	return true, nil
}

// quickReceives is the number of receives after which a message is no longer returned to the queue because other turns
// have the lease of the endpoint or the slots of the account. After that, the retry job sends the next message.
const quickReceives = 4

// returnMessage returns the message to the queue for a few seconds, unless it was received quickReceives times.
func (t *turn) returnMessage(ctx context.Context) error {
	if t.received.Receives >= quickReceives {
		return nil
	}
	wait := time.Duration((3 + 2*t.worker.jitter()) * float64(time.Second)) // 1 to 5 s
	return t.worker.returnTo(ctx, t.worker.Slow, t.received, wait)
}

// work attempts the deliveries that are due, t.end.window of them at a time. It returns when all attempts made at the
// same time failed, no delivery is due, or the time ends.
func (t *turn) work(ctx context.Context) error {
	for {
		ids, err := t.next(ctx)
		if err != nil || len(ids) == 0 {
			return err
		}
		if t.invocation.start.Err() != nil {
			t.end.hasMore = true
			return nil //nolint:nilerr // the time of the turn has ended
		}
		targets, err := t.read(ctx, ids)
		if err != nil || targets[0].webhook == nil { // deleted, or the workspace may not act
			return err
		}
		attempts, err := t.attemptAll(ctx, targets)
		isOver := t.conclude(attempts)         // even if some attempts returned an error
		if errors.Is(err, lambdafn.ErrLater) { // the time ended
			t.end.hasMore = true
			return nil
		}
		if err != nil {
			return err
		}
		if isOver {
			ids, err := t.next(ctx)
			t.end.hasMore = len(ids) > 0
			return err
		}
	}
}

// next returns the IDs of at most window deliveries that may be due. Deliveries that messages name come first. If it
// returns none, t.end shows when another delivery is due.
func (t *turn) next(ctx context.Context) ([]string, error) {
	for len(t.named) > 0 {
		n := min(len(t.named), t.end.window)
		ids := t.takeUnseen(t.named[:n])
		t.named = t.named[n:]
		if len(ids) > 0 {
			return ids, nil
		}
	}
	for {
		now := t.worker.Clock()
		page, after, err := t.worker.Store.due(ctx, db.IndexQuery{
			Partition: db.SlowPartition(t.webhook.ID), After: t.after, Limit: t.end.window,
		}, now)
		if err != nil {
			return nil, err
		}
		var due []string
		for _, e := range page {
			if e.at.After(now.Add(clockSkew)) {
				t.noteDue(e.at)
				return t.takeUnseen(due), nil
			}
			if !e.isWebhook() { // always, unless another program wrote the entry
				due = append(due, db.DeliveriesOf(t.webhook.ID).Rest(e.key))
			}
		}
		t.after = after
		if ids := t.takeUnseen(due); len(ids) > 0 || after.IsZero() {
			return ids, nil
		}
	}
}

// takeUnseen returns the IDs that the turn has not read yet. It changes t.seen.
func (t *turn) takeUnseen(ids []string) (fresh []string) {
	for _, deliveryID := range ids {
		if !t.seen[deliveryID] {
			t.seen[deliveryID] = true
			fresh = append(fresh, deliveryID)
		}
	}
	return fresh
}

// noteDue notes that a delivery is due at a time.
func (t *turn) noteDue(at time.Time) {
	if t.end.nextDue.IsZero() || at.Before(t.end.nextDue) {
		t.end.nextDue = at
	}
}

// read reads deliveries, and the webhook as it is now: a turn takes seconds, and a webhook that was deactivated or
// deleted in the meantime must send nothing.
func (t *turn) read(ctx context.Context, deliveryIDs []string) ([]target, error) {
	messages := make([]message, len(deliveryIDs))
	for i, deliveryID := range deliveryIDs {
		messages[i] = message{WorkspaceID: t.webhook.WorkspaceID, WebhookID: t.webhook.ID, DeliveryID: deliveryID}
	}
	return t.worker.Store.targets(ctx, messages...)
}

// attemptAll attempts deliveries concurrently. It returns all attempts, and the first error. A delivery that no retry
// can handle is only logged: it must not prevent the other attempts.
func (t *turn) attemptAll(ctx context.Context, targets []target) ([]*attempt, error) {
	attempts := make([]*attempt, len(targets))
	errs := lambdafn.Parallel(len(targets), len(targets), func(i int) error {
		attempts[i] = &attempt{worker: t.worker, invocation: t.invocation, target: targets[i]}
		if err := targets[i].err; err != nil {
			return fmt.Errorf("%w: %w", lambdafn.ErrPoison, err)
		}
		return attempts[i].run(ctx)
	})
	for i, err := range errs {
		if lambdafn.IsPoison(err) {
			t.worker.Logger.ErrorContext(ctx, "delivery cannot be attempted", "webhook", t.webhook.ID, "cause", err.Error())
			errs[i] = nil
		}
	}
	t.worker.saveHealth(ctx, attempts)
	return attempts, cmp.Or(errs...) //nolint:wrapcheck // an error of an attempt
}

// conclude updates the turn after concurrent attempts. It reports whether the turn is over because none succeeded.
func (t *turn) conclude(attempts []*attempt) (isOver bool) {
	made, succeeded := 0, 0
	t.end.duration = 0
	for _, a := range attempts {
		if d := a.delivery; a.err == nil && d != nil && d.waitsInSlowLane() {
			t.noteDue(d.dueInSlowLane())
		}
		if !a.hasBegun || a.endedAt.IsZero() { // not made, or it panicked
			continue
		}
		made++
		t.end.duration = max(t.end.duration, a.result.Duration)
		t.webhook.Health = t.webhook.after(a.result, a.endedAt)
		if a.result.OK() {
			succeeded++
		}
	}
	t.end.hasFailed = made > 0 && succeeded == 0
	switch {
	case succeeded > 0:
		t.end.window = min(2*t.end.window, t.webhook.widestWindow())
	case t.end.hasFailed:
		t.end.window = 1
	}
	return t.end.hasFailed
}

// finish stores when the next turn is due, and ends the turn. If the next turn is soon, it returns the message to the
// queue. If deliveries were added during the turn, the next turn is due now. If the webhook has a new endpoint, the
// result of the turn does not apply to it.
func (t *turn) finish(ctx context.Context) error {
	condition := ifUnchanged
	if t.end.hasMore {
		condition = ifSameEndpoint
	}
	for ; ; condition++ {
		turns, wait, returnsMessage := t.planEnd(t.worker.Clock(), t.worker.jitter())
		hasEnded, err := t.worker.Store.endTurn(ctx, t.webhook, turns, condition)
		switch {
		case err != nil: // the lease expires, and the webhook stays due
			t.worker.Logger.ErrorContext(ctx, "turn was not ended", "webhook", t.webhook.ID, "cause", err.Error())
			return nil
		case !hasEnded && condition == ifUnchanged: // probably, deliveries were added
			t.end.hasMore = true
		case !hasEnded && condition == ifSameEndpoint:
			t.end = turnEnd{hasMore: true}
		case returnsMessage:
			return t.worker.returnTo(ctx, t.worker.Slow, t.received, wait)
		default:
			return nil
		}
	}
}

// planEnd decides when the next turn is. If it is soon, the message returns to the queue for a wait. While the message
// is there, the retry job sends another one only if this message is lost.
func (t *turn) planEnd(now time.Time, jitter float64) (next Turns, wait time.Duration, returnsMessage bool) {
	next = t.end.nextTurns(t.webhook, now, jitter)
	if next.DueAt == nil {
		return next, 0, false
	}
	dueAt := next.DueAt.Time()
	returnsMessage = isSoon(dueAt, now) && t.received.Receives < maxReceives
	if returnsMessage {
		next.DueAt = stamp(dueAt.Add(messageTimeout))
	}
	return next, max(0, dueAt.Sub(now)), returnsMessage
}
