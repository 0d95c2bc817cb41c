package delivery

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/webhook/sender"
)

// A delivery that waits for its next attempt when the clock jumps ahead is due immediately. It is sent once, not once
// for each step of the schedule that was skipped.
func TestDeliveriesWhenTheClockJumpsAhead(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Hour, 24 * time.Hour, 20 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			p := newPipeline(t)
			workspaceID := newWorkspace(p)
			w := p.subscribe(workspaceID, p.receiver.URL("/fail/a?n=2"))
			for range 8 {
				p.publish(p.newEvent(workspaceID))
			}
			p.handleMessages()
			if n := p.receiver.Total(); n != 8 {
				t.Fatalf("%d first attempts", n)
			}
			p.advance(by)
			for range 3 {
				p.retry()
				p.handleMessages()
			}
			if n := p.receiver.Total(); n != 16 {
				t.Errorf("%d requests after the jump, want one for each of 8 deliveries", n-8)
			}
			p.run()
			for _, d := range p.allDeliveries() {
				if d.Status != Succeeded || len(d.Attempts) != 3 {
					t.Errorf("the delivery is %s after %d attempts", d.Status, len(d.Attempts))
				}
			}
			if got := p.storedWebhook(w); !got.Active || got.DisabledReason != "" {
				t.Errorf("an endpoint that failed twice, long ago by the clock: %+v", got)
			}
		})
	}
}

// The clock was ahead and is corrected while deliveries wait, and while an attempt is in progress whose function has
// died. No delivery is sent twice because of it, and all deliveries are finished when the clock reaches the earlier
// time again.
func TestDeliveriesWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{10 * time.Second, time.Hour, 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			p := newPipeline(t)
			workspaceID := newWorkspace(p)
			p.subscribe(workspaceID, p.receiver.URL("/fail/a?n=1"))
			p.advance(by)
			for range 4 {
				p.publish(p.newEvent(workspaceID))
			}
			send, died := p.worker.send, atomic.Bool{}
			p.worker.send = func(ctx context.Context, r sender.Request) sender.Result {
				if died.CompareAndSwap(false, true) {
					panic("killed")
				}
				return send(ctx, r)
			}
			p.handleMessages() // the first attempts fail, or die
			p.advance(-by)
			p.publish(p.newEvent(workspaceID)) // the first attempt of this event is due now
			for range 3 {
				p.retry()
				p.handleMessages()
			}
			if n := p.receiver.Total(); n != 4 {
				t.Errorf("%d requests, want the 4 first ones", n)
			}
			back := p.now()
			p.run()
			for _, d := range p.allDeliveries() {
				if d.Status != Succeeded {
					t.Errorf("%+v", d)
				}
			}
			if took := p.now().Sub(back); took > by+10*time.Minute {
				t.Errorf("the deliveries took %v", took)
			}
			for id, n := range p.receiver.IDs("/fail/a") {
				if n != 2 {
					t.Errorf("%s was received %d times", id, n)
				}
			}
		})
	}
}
