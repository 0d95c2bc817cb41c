package delivery

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/webhook/sender"
)

// A delivery that is added while an endpoint rests is attempted soon after the rest, although the delivery that failed
// waits for hours.
func TestDeliveryAddedDuringARest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.slow.jitter = noJitter
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/status/500"), inSlowLane)
	f.publish(f.newEvent(workspaceID))
	f.handleMessages()
	step := func(d time.Duration) {
		f.advance(d)
		f.runRetryJob()
		f.handleMessages()
	}
	for f.onlyDelivery().Tries < 5 { // the next attempt is after five hours
		step(10 * time.Minute)
	}
	if !f.storedWebhook(w).isResting(f.now()) {
		t.Fatal("the endpoint does not rest")
	}
	f.receiver.Handle("/status/500", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	before, added := f.receiver.Total(), f.now()
	f.publish(f.newEvent(workspaceID))
	f.handleMessages()
	for f.receiver.Total() == before {
		step(time.Minute)
		if f.now().Sub(added) > 30*time.Minute {
			t.Fatal("the delivery was not attempted within 30 minutes")
		}
	}
}

// If some attempts of a turn panic or cannot be made, the others count: the endpoint has a rest after they failed.
func TestTurnWithFailedAndMissingAttempts(t *testing.T) {
	t.Parallel()
	for name, breakFirst := range map[string]func(w *worker){
		"no key": func(w *worker) {
			secrets, calls := w.secrets, atomic.Int32{}
			w.secrets = func(ctx context.Context, webhook Webhook, now time.Time) ([]string, error) {
				if calls.Add(1) == 1 {
					return nil, errors.New("no key")
				}
				return secrets(ctx, webhook, now)
			}
		},
		"panic": func(w *worker) {
			send, calls := w.send, atomic.Int32{}
			w.send = func(ctx context.Context, r sender.Request) sender.Result {
				if calls.Add(1) == 1 {
					panic("a bug")
				}
				return send(ctx, r)
			}
		},
	} {
		f := newFixture(t)
		w := f.subscribe(f.newWorkspace(), f.receiver.URL("/status/500"), inSlowLane, func(w *Webhook) { w.Window = 2 })
		f.publish(f.newEvents(w.WorkspaceID, 2)...)
		f.createDeliveries()
		breakFirst(f.slow.worker)
		f.handleMessages()
		f.wantRequests(1)
		if got := f.storedWebhook(w); !got.isResting(f.now()) || got.window() != 1 {
			t.Errorf("%s: got webhook %+v, want a rest after the failed attempt", name, got)
		}
	}
}

// If a webhook gets a new endpoint during a turn, the result of the turn does not delay the deliveries to it.
func TestNewEndpointDuringATurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	since := f.now().Add(-10 * time.Hour)
	w := f.subscribe(workspaceID, f.receiver.URL("/status/500"), inSlowLane, func(w *Webhook) {
		w.Failures, w.FailingSince, w.LastAt, w.LastStatus = 5, stamp(since), stamp(since), Failed
	})
	f.publish(f.newEvents(workspaceID, 2)...)
	f.createDeliveries()
	send := f.slow.send
	f.slow.send = func(ctx context.Context, r sender.Request) sender.Result {
		f.slow.send = send
		result := send(ctx, r)
		f.changeEndpoint(w, f.receiver.URL("/ok"))
		return result
	}
	f.handleMessages()
	if got := len(f.receiver.To("/ok")); got != 1 { // the other delivery waits for its retry
		t.Errorf("got %d requests to the new endpoint, want one", got)
	}
}
