package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/lambdafn"
	"devplatform/shared/webhook/sender"
)

// If a redelivery is requested while an attempt is in progress, neither the redelivery nor the result of the attempt is
// lost.
func TestRedeliveryDuringAnAttempt(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	e := p.newEvent(workspaceID)
	p.publish(e)
	send, requested := p.worker.send, false
	p.worker.send = func(ctx context.Context, r sender.Request) sender.Result {
		result := send(ctx, r)
		if !requested {
			requested = true
			p.redeliver()
		}
		return result
	}
	errs := p.worker.Handle(t.Context(), p.receive())
	d := p.onlyDelivery()
	if !errors.Is(errs[0], lambdafn.ErrLater) {
		t.Errorf("the message was not returned: %v", errs)
	}
	if d.Status != Pending || d.Manual != 1 || len(d.Attempts) != 1 || d.Attempts[0].StatusCode != 200 {
		t.Fatalf("delivery: %+v", d)
	}
	p.handleMessages()
	if d := p.onlyDelivery(); d.Status != Succeeded || len(d.Attempts) != 2 || d.Manual != 0 || p.receiver.Total() != 2 {
		t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
	}
}

// Each of several redeliveries is a separate request. A crash during one of them loses none.
func TestConcurrentRedeliveries(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/ok/a", "/status/500"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			p := newPipeline(t)
			workspaceID := newWorkspace(p)
			w := p.subscribe(workspaceID, p.receiver.URL(path))
			e := p.newEvent(workspaceID)
			p.publish(e)
			p.handleMessages()
			for range 6 {
				p.redeliver()
				p.publish(e) // sends the message of the redelivery
			}
			w.Active = false // so that only redeliveries are attempted
			p.put(w)
			send := p.worker.send
			var crashed atomic.Bool
			p.worker.send = func(ctx context.Context, r sender.Request) sender.Result {
				if p.receiver.Total() == 3 && crashed.CompareAndSwap(false, true) {
					return sender.Result{Error: "x", Aborted: true} // as if the function had died
				}
				return send(ctx, r)
			}
			p.run()
			if d := p.onlyDelivery(); p.receiver.Total() != 7 || len(d.Attempts) != 8 || d.Manual != 0 || !crashed.Load() || d.Attempts[3].Error != interruptedText {
				t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
			}
		})
	}
}

// A claim that conflicts with another writer is repeated. If it conflicts every time, the message is returned to the
// queue, because the other writer may not have sent one.
func TestClaimConflicts(t *testing.T) {
	t.Parallel()
	for conflicts, requests := range map[int]int{0: 1, 1: 1, 2: 1, 20: 0} {
		t.Run(fmt.Sprint(conflicts), func(t *testing.T) {
			t.Parallel()
			p := newPipeline(t)
			workspaceID := newWorkspace(p)
			p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
			p.publish(p.newEvent(workspaceID))
			remaining := conflicts
			p.worker.jitter = func() float64 { // called between the read and the claim
				if remaining--; remaining >= 0 {
					p.change(func(d Delivery) Delivery { return d })
				}
				return 0
			}
			message := p.receive()
			errs := p.worker.Handle(t.Context(), message)
			if n := p.receiver.Total(); n != requests || errors.Is(errs[0], lambdafn.ErrLater) != (requests == 0) {
				t.Errorf("%d requests, %v", n, errs)
			}
			p.advance(time.Second)
			p.handleMessages()
			if d := p.onlyDelivery(); d.Status != Succeeded || p.receiver.Total() != 1 {
				t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
			}
		})
	}
}

// A message that was received maxReceives times is not returned for the next redelivery, because the queue could move
// it to the dead-letter queue.
func TestMessageReceivedOftenIsNotReturned(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	for range 2 {
		p.redeliver()
	}
	messages := p.receive()
	messages[0].Receives = maxReceives
	if errs := p.worker.Handle(t.Context(), messages); errs[0] != nil {
		t.Errorf("the message was returned: %v", errs)
	}
	p.remove(messages[0])
	p.run()
	if d := p.onlyDelivery(); d.Status != Succeeded || p.receiver.Total() != 2 {
		t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
	}
}

// A redelivery is attempted even if the webhook is not active, and is not retried.
func TestRedeliveryToAnInactiveWebhook(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/status/500"))
	e := p.newEvent(workspaceID)
	p.publish(e)
	p.handleMessages()
	w.Active = false
	p.put(w)
	p.redeliver()
	p.publish(e)
	p.run()
	if d := p.onlyDelivery(); d.Status != Failed || len(d.Attempts) != 2 || p.receiver.Total() != 2 {
		t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
	}
}
