package delivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Without faults, one event for one webhook leads to one signed POST with the unchanged payload, and to no unnecessary
// calls.
func TestDelivery(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	e := f.newEvent(workspaceID)
	f.advance(20 * time.Millisecond)
	f.publish(e)
	if diff := cmp.Diff(fanoutCalls("BatchGetItem", "PutItem"), f.takeCalls()); diff != "" {
		t.Errorf("the calls of the fan-out (-want +got):\n%s", diff)
	}
	f.advance(30 * time.Millisecond)
	if _, errs := f.handleMessages(); len(errs) > 0 {
		t.Fatal(errs)
	}
	// The updates are the record and the health. The health is stored because this is the first success.
	if diff := cmp.Diff(map[string]int{"BatchGetItem": 1, "UpdateItem": 2}, f.takeCalls()); diff != "" {
		t.Errorf("the calls of the worker (-want +got):\n%s", diff)
	}
	requests := f.receiver.To("/ok/a")
	if len(requests) != 1 {
		t.Fatalf("got %d requests, want 1", len(requests))
	}
	request, d := requests[0], f.wantDelivery(Succeeded, 1)
	if err := request.Verify(webhookSecret); err != nil {
		t.Error(err)
	}
	if string(request.Body) != string(e.Payload) {
		t.Errorf("got body %s, want the payload %s", request.Body, e.Payload)
	}
	for header, want := range map[string]string{
		"Webhook-Id": e.ID, "X-Service-Delivery": d.ID, "X-Service-Event": "file.created",
		"X-Service-Timestamp": d.Attempts[0].At.String(),
	} {
		if got := request.Header.Get(header); got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
	if a := d.Attempts[0]; a.StatusCode != 200 || a.Error != "" || d.Due != "" || d.DueAt != nil || d.Payload != "" {
		t.Errorf("got delivery %+v, want a 200 without an error, no entry in the index, and no payload", d)
	}
	if got := f.storedWebhook(w); got.LastStatus != Succeeded || got.LastAt == nil || got.Revision != 1 {
		t.Errorf("got webhook %+v, want a success as the latest result and revision 1", got)
	}
	f.publish(e) // a replay only sends the message again
	f.runUntilFinished()
	f.wantRequests(1)
	f.wantLog(
		fmt.Sprintf(`"delivery":%q,"webhook":%q,"event":%q,"type":"file.created","attempt":1,"status":200,`+
			`"durationMs":0,"outcome":"succeeded"`, d.ID, w.ID, e.ID),
		`"DeliveryAttempts":[1]`, `"DeliverySuccesses":[1]`, `"DeliveryLatency":[50]`,
	)
	for _, forbidden := range []string{f.receiver.URL(""), webhookSecret, `"file.created"}`} {
		if strings.Contains(f.log.String(), forbidden) {
			t.Errorf("the log contains %s", forbidden)
		}
	}
}

// An endpoint that always fails receives ten attempts in 75 hours, at the times of the schedule.
func TestFullSchedule(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.fast.jitter, f.slow.jitter = noJitter, noJitter
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/status/500"))
	f.publish(f.newEvent(workspaceID))
	f.runUntilFinished()
	f.wantRequests(maxTries)
	d := f.wantDelivery(Failed, maxTries)
	if d.Reason != "" {
		t.Errorf("got reason %q, want none", d.Reason)
	}
	for i, step := range schedule {
		gap := d.Attempts[i+1].At.Time().Sub(d.Attempts[i].At.Time())
		if least, most := step*8/10, step*12/10+1100*time.Millisecond; gap < least || gap > most {
			t.Errorf("the wait before attempt %d is %v, want %v to %v", i+2, gap, least, most)
		}
		if a := d.Attempts[i]; a.StatusCode != 500 || a.Error != "status 500" || a.Response == "" {
			t.Errorf("attempt %d: got %+v, want status 500 and a response", i+1, a)
		}
	}
	if got := f.storedWebhook(w); !got.Active || got.Failures != 10 || got.LastStatus != Failed {
		t.Errorf("got webhook %+v, want an active one with 10 failures", got)
	}
}

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
