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
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	e := f.newEvent(workspaceID)
	f.publish(e)
	send, requested := f.fast.send, false
	f.fast.send = func(ctx context.Context, r sender.Request) sender.Result {
		result := send(ctx, r)
		if !requested {
			requested = true
			f.redeliver()
		}
		return result
	}
	errs := f.fast.Handle(t.Context(), f.receiveMessages())
	if !errors.Is(errs[0], lambdafn.ErrLater) {
		t.Errorf("got %v, want ErrLater: the message must return to the queue", errs[0])
	}
	if d := f.wantDelivery(Pending, 1); d.Manual != 1 || d.Attempts[0].StatusCode != 200 {
		t.Fatalf("got delivery %+v, want one requested redelivery after a 200", d)
	}
	f.handleMessages()
	if d := f.wantDelivery(Succeeded, 2); d.Manual != 0 {
		t.Errorf("got %d requested redeliveries, want none", d.Manual)
	}
	f.wantRequests(2)
}

// Each requested redelivery leads to a separate request, even if the function is killed during one of them.
func TestConcurrentRedeliveries(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/ok/a", "/status/500"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			workspaceID := f.newWorkspace()
			w := f.subscribe(workspaceID, f.receiver.URL(path))
			e := f.newEvent(workspaceID)
			f.publish(e)
			f.handleMessages()
			for range 6 {
				f.redeliver()
				f.publish(e) // sends the message of the redelivery
			}
			w.Active = false // so that only redeliveries are attempted
			f.putWebhook(w)
			send := f.fast.send
			var interrupted atomic.Bool
			f.fast.send = func(ctx context.Context, r sender.Request) sender.Result {
				if f.receiver.Total() == 3 && interrupted.CompareAndSwap(false, true) {
					return sender.Result{Error: "x", Aborted: true}
				}
				return send(ctx, r)
			}
			f.runUntilFinished()
			f.wantRequests(7)
			d := f.onlyDelivery()
			if len(d.Attempts) != 8 || d.Manual != 0 {
				t.Fatalf("got %d attempts and %d requested redeliveries, want 8 and 0", len(d.Attempts), d.Manual)
			}
			if got := d.Attempts[3].Error; got != interruptedText {
				t.Errorf("got error %q of the fourth attempt, want %q", got, interruptedText)
			}
		})
	}
}

// A write of a lease that conflicts with another writer is repeated. If it conflicts every time, the message is
// returned to the queue, because the other writer might not have sent a message.
func TestLeaseConflicts(t *testing.T) {
	t.Parallel()
	for conflicts, wantRequests := range map[int]int{0: 1, 1: 1, 2: 1, 20: 0} {
		t.Run(fmt.Sprint(conflicts), func(t *testing.T) {
			t.Parallel()
			f, _ := publishOne(t, "/ok/a")
			f.redeliver() // its attempt takes a lease
			remaining := conflicts
			f.fast.jitter = func() float64 { // called between the read and the write
				if remaining--; remaining >= 0 {
					f.changeDelivery(func(d Delivery) Delivery { return d })
				}
				return 0
			}
			errs := f.fast.Handle(t.Context(), f.receiveMessages())
			f.wantRequests(wantRequests)
			if later := errors.Is(errs[0], lambdafn.ErrLater); later != (wantRequests == 0) {
				t.Errorf("got %v, want ErrLater: %t", errs[0], wantRequests == 0)
			}
			f.advance(time.Second)
			f.handleMessages()
			f.wantDelivery(Succeeded, 1)
			f.wantRequests(1)
		})
	}
}

// A message that was received maxReceives times is not returned for the next redelivery, because the queue could move
// it to the dead-letter queue.
func TestMessageReceivedOftenIsNotReturned(t *testing.T) {
	t.Parallel()
	f, _ := publishOne(t, "/ok/a")
	for range 2 {
		f.redeliver()
	}
	messages := f.receiveMessages()
	messages[0].Receives = maxReceives
	if errs := f.fast.Handle(t.Context(), messages); errs[0] != nil {
		t.Errorf("got %v, want no error: the message must not return to the queue", errs[0])
	}
	f.deleteMessage(messages[0])
	f.runUntilFinished()
	f.wantDelivery(Succeeded, 2)
	f.wantRequests(2)
}
