package delivery

import (
	"testing"
	"time"
)

// If the clock jumps beyond the deadline of a delivery, the delivery fails without another attempt, in both lanes.
func TestDeliveryAfterItsDeadline(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Webhook){"fast": func(*Webhook) {}, "slow": inSlowLane} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _ := publishOne(t, "/status/500", change)
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
