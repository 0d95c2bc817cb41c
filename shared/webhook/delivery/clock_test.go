package delivery

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/webhook/sender"
)

// What waits for its next attempt when the clock jumps ahead is due at once, and sent once: not once for each step that was jumped over.
func TestDeliveriesWhenTheClockJumpsAhead(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Hour, 24 * time.Hour, 20 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			p := newPipeline(t)
			workspaceID := newWorkspace(p)
			w := p.subscribe(workspaceID, p.receiver.URL("/fail/a?n=2"))
			for range 8 {
				p.told(p.happens(workspaceID))
			}
			p.work()
			if n := p.receiver.Total(); n != 8 {
				t.Fatalf("%d first attempts", n)
			}
			p.advance(by)
			for range 3 {
				p.retry()
				p.work()
			}
			if n := p.receiver.Total(); n != 16 {
				t.Errorf("%d requests after the jump, want one for each of 8 deliveries", n-8)
			}
			p.run()
			for _, d := range p.all() {
				if d.Status != Succeeded || len(d.Attempts) != 3 {
					t.Errorf("after %d attempts it is %s", len(d.Attempts), d.Status)
				}
			}
			if got := p.hook(w); !got.Active || got.DisabledReason != "" {
				t.Errorf("an endpoint that failed twice, long ago by the clock: %+v", got)
			}
		})
	}
}

// A clock that was ahead is put right while deliveries wait, and while one is being attempted whose function has died: none is sent
// twice for that, and all have come to their end by the time that the clock is where it was.
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
				p.told(p.happens(workspaceID))
			}
			send, died := p.worker.send, atomic.Bool{}
			p.worker.send = func(ctx context.Context, r sender.Request) sender.Result {
				if died.CompareAndSwap(false, true) {
					panic("killed")
				}
				return send(ctx, r)
			}
			p.work() // the first attempts fail, or die
			p.advance(-by)
			p.told(p.happens(workspaceID)) // life goes on: its first attempt is now
			for range 3 {
				p.retry()
				p.work()
			}
			if n := p.receiver.Total(); n != 4 {
				t.Errorf("%d requests, want the 4 first ones", n)
			}
			back := p.now()
			p.run()
			for _, d := range p.all() {
				if d.Status != Succeeded {
					t.Errorf("%+v", d)
				}
			}
			if took := p.now().Sub(back); took > by+10*time.Minute {
				t.Errorf("it took %v", took)
			}
			for id, n := range p.receiver.IDs("/fail/a") {
				if n != 2 {
					t.Errorf("%s came %d times", id, n)
				}
			}
		})
	}
}
