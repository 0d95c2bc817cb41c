package delivery

import (
	"context"
	"errors"
	"sync"
	"time"

	"devplatform/shared/webhook/sender"
)

// attemptTime is the time that an invocation reserves for an attempt: up to 15 s for the request, and the rest for
// storing the result.
const attemptTime = 17 * time.Second

// batch is the state that the attempts of one invocation share.
type batch struct {
	start context.Context // ends when too little time remains to begin an attempt
	tally tally
	due   sync.Map // by webhook and leaveFastLane: a func() error that calls Store.makeDue once
	turns sync.Map // by ID: the webhooks for which a message for a turn must be sent

	mu        sync.Mutex
	endpoints map[endpointKey]*endpoint
}

// newBatch returns the batch of an invocation.
func newBatch(ctx context.Context) (*batch, context.CancelFunc) {
	start, cancel := endingBefore(ctx, attemptTime)
	return &batch{start: start, endpoints: map[endpointKey]*endpoint{}}, cancel
}

// endingBefore returns a context whose deadline is the deadline of ctx minus reserve.
func endingBefore(ctx context.Context, reserve time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-reserve))
}

// makeDue calls Store.makeDue once for a webhook and leaveFastLane.
func (b *batch) makeDue(ctx context.Context, s Store, w Webhook, leaveFastLane bool, now time.Time) error {
	key := struct {
		webhookID     string
		leaveFastLane bool
	}{w.ID, leaveFastLane}
	once, _ := b.due.LoadOrStore(key, sync.OnceValue(func() error {
		send, err := s.makeDue(ctx, w, leaveFastLane, now)
		if send {
			b.turns.Store(w.ID, w)
		}
		return err
	}))
	err := once.(func() error)()
	if err != nil {
		b.due.Delete(key) // so that the next call tries again
	}
	return err
}

// endpointKey identifies the endpoint of a webhook.
type endpointKey struct {
	webhookID  string
	generation int
}

// endpoint is the health of an endpoint during an invocation. The results of concurrent attempts are stored with one
// write or a few, and not with one for each.
type endpoint struct {
	mu      sync.Mutex
	latest  Health   // after the results so far
	stored  Health   // as read or stored
	pending []Health // to be stored: the latest success, and the latest failure if it is later
	saving  bool     // an attempt stores the pending health
}

// endpoint returns the endpoint of a webhook.
func (b *batch) endpoint(w Webhook) *endpoint {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := endpointKey{w.ID, w.Generation}
	if b.endpoints[key] == nil {
		b.endpoints[key] = &endpoint{latest: w.Health, stored: w.Health}
	}
	return b.endpoints[key]
}

// forget removes the endpoint of a webhook, because the webhook was read again. No attempt may be in progress.
func (b *batch) forget(w Webhook) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.endpoints, endpointKey{w.ID, w.Generation})
}

// add adds the result of an attempt that ended at a time, and returns the health after it.
func (e *endpoint) add(r sender.Result, at time.Time) Health {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.latest = e.latest.after(r, at)
	last := len(e.pending) - 1
	switch {
	case r.Aborted: // nothing has changed
	case r.OK(): // it ends the series of failures, so these need not be stored
		e.pending = []Health{e.latest}
	case last >= 0 && e.pending[last].LastStatus == Failed:
		e.pending[last] = e.latest
	default:
		e.pending = append(e.pending, e.latest)
	}
	return e.latest
}

// save stores the pending health, unless another attempt does so. If a write fails, save continues with the next
// health: the attempt that added it does not store it itself. w is the endpoint's webhook.
func (e *endpoint) save(ctx context.Context, s Store, w Webhook) (errs error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.saving && len(e.pending) > 0 {
		after := e.pending[0]
		if e.pending = e.pending[1:]; !after.changedSince(e.stored) {
			continue
		}
		e.saving, w.Health = true, e.stored
		err := func() error {
			e.mu.Unlock()
			defer e.mu.Lock()
			return s.saveHealth(ctx, w, after)
		}()
		e.saving = false
		if err == nil {
			e.stored = after
		}
		errs = errors.Join(errs, err)
	}
	return errs
}
