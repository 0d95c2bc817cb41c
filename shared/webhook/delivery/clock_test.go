package delivery

import (
	"fmt"
	"testing"
	"time"
)

// A delivery that waits for its next attempt when the clock jumps ahead is due immediately. It is sent once, not once
// for each step of the schedule that was skipped.
func TestDeliveriesWhenTheClockJumpsAhead(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Hour, 24 * time.Hour, 70 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			workspaceID := f.newWorkspace()
			for i := range 8 {
				f.subscribe(workspaceID, f.receiver.URL(fmt.Sprintf("/fail/%d?n=2", i)))
			}
			f.publish(f.newEvent(workspaceID))
			f.handleMessages()
			if n := f.receiver.Total(); n != 8 {
				t.Fatalf("got %d first attempts, want 8", n)
			}
			f.advance(by)
			for range 3 {
				f.runRetryJob()
				f.handleMessages()
			}
			if n := f.receiver.Total(); n != 16 {
				t.Errorf("got %d requests after the jump, want one for each of 8 deliveries", n-8)
			}
			f.runUntilFinished()
			for _, d := range f.allDeliveries() {
				if d.Status != Succeeded || len(d.Attempts) != 3 {
					t.Errorf("got %s after %d attempts, want a success after 3", d.Status, len(d.Attempts))
				}
			}
			for _, w := range f.allWebhooks() {
				if !w.Active || w.DisabledReason != "" {
					t.Errorf("got webhook %+v, want an active one after two failures", w)
				}
			}
		})
	}
}

// If the clock jumps beyond the deadline of a delivery, the delivery fails without another attempt, in both lanes.
func TestDeliveryAfterItsDeadline(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Webhook){"fast": func(*Webhook) {}, "slow": inSlowLane} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			workspaceID := f.newWorkspace()
			f.subscribe(workspaceID, f.receiver.URL("/status/500"), change)
			f.publish(f.newEvent(workspaceID))
			f.handleMessages()
			f.advance(deliverWithin + time.Hour)
			f.runUntilFinished()
			if d := f.wantDelivery(Failed, 1); d.Reason != reasonDeadline {
				t.Errorf("got reason %q, want %q", d.Reason, reasonDeadline)
			}
			f.wantRequests(1)
		})
	}
}
