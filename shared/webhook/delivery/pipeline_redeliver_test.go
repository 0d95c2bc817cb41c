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

// A redelivery that is asked for while an attempt is under way is never swallowed, and the attempt's result is not either.
func TestARedeliveryDuringAnAttempt(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	e := p.happens(workspaceID)
	p.told(e)
	send, asked := p.worker.send, false
	p.worker.send = func(ctx context.Context, r sender.Request) sender.Result {
		result := send(ctx, r)
		if !asked {
			asked = true
			p.redeliver()
		}
		return result
	}
	errs := p.worker.Handle(t.Context(), p.receive())
	d := p.only()
	if !errors.Is(errs[0], lambdafn.ErrLater) {
		t.Errorf("its message does not come again: %v", errs)
	}
	if d.Status != Pending || d.Manual != 1 || len(d.Attempts) != 1 || d.Attempts[0].StatusCode != 200 {
		t.Fatalf("delivery: %+v", d)
	}
	p.work()
	if d := p.only(); d.Status != Succeeded || len(d.Attempts) != 2 || d.Manual != 0 || p.receiver.Total() != 2 {
		t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
	}
}

// However many redeliveries are asked for at once, each is a request of its own; a crash among them swallows none.
func TestManyRedeliveriesAtOnce(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/ok/a", "/status/500"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			p := newPipeline(t)
			workspaceID := newWorkspace(p)
			w := p.subscribe(workspaceID, p.receiver.URL(path))
			e := p.happens(workspaceID)
			p.told(e)
			p.work()
			for range 6 {
				p.redeliver()
				p.told(e) // the message that it sends
			}
			w.Active = false // so that nothing but what was asked for is made
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
			if d := p.only(); p.receiver.Total() != 7 || len(d.Attempts) != 8 || d.Manual != 0 || !crashed.Load() || d.Attempts[3].Error != interruptedText {
				t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
			}
		})
	}
}

// A claim that conflicts with another writer is repeated. If it conflicts every time, the message comes again: the other
// writer may have sent none.
func TestClaimConflicts(t *testing.T) {
	t.Parallel()
	for losses, requests := range map[int]int{0: 1, 1: 1, 2: 1, 20: 0} {
		t.Run(fmt.Sprint(losses), func(t *testing.T) {
			t.Parallel()
			p := newPipeline(t)
			workspaceID := newWorkspace(p)
			p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
			p.told(p.happens(workspaceID))
			left := losses
			p.worker.jitter = func() float64 { // between the reading and the claim
				if left--; left >= 0 {
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
			p.work()
			if d := p.only(); d.Status != Succeeded || p.receiver.Total() != 1 {
				t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
			}
		})
	}
}

// A message that has come so often that the queue might take it for one that kills its function is not asked back.
func TestAMessageReceivedOften(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.told(p.happens(workspaceID))
	for range 2 {
		p.redeliver()
	}
	messages := p.receive()
	messages[0].Receives = maxReceives
	if errs := p.worker.Handle(t.Context(), messages); errs[0] != nil {
		t.Errorf("it comes again: %v", errs)
	}
	p.remove(messages[0])
	p.run()
	if d := p.only(); d.Status != Succeeded || p.receiver.Total() != 2 {
		t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
	}
}

// One by hand is made though the webhook is off, and once.
func TestRedeliveryToAnInactiveWebhook(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/status/500"))
	e := p.happens(workspaceID)
	p.told(e)
	p.work()
	w.Active = false
	p.put(w)
	p.redeliver()
	p.told(e)
	p.run()
	if d := p.only(); d.Status != Failed || len(d.Attempts) != 2 || p.receiver.Total() != 2 {
		t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
	}
}
