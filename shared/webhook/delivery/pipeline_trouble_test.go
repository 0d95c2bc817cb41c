package delivery

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/event"
	"devplatform/shared/webhook/sender"
)

// After three time-outs, one delivery at a time probes the endpoint. The others are parked, which is not an attempt.
// After a success, all of them are delivered.
func TestUnhealthyEndpointIsProbed(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/hang"))
	p.publish(p.newEvent(workspaceID), p.newEvent(workspaceID), p.newEvent(workspaceID))
	p.handleMessages()
	if got := p.storedWebhook(w); got.Timeouts != 3 || !got.unhealthy() {
		t.Fatalf("three time-outs at once: %+v", got)
	}
	var batch []event.Record
	for range 7 {
		batch = append(batch, p.newEvent(workspaceID))
	}
	p.publish(batch...)
	before := p.receiver.Total()
	p.handleMessages()
	if n := p.receiver.Total() - before; n != 1 {
		t.Errorf("%d deliveries tried the endpoint at once", n)
	}
	parked := 0
	for _, d := range p.allDeliveries() {
		if wait := d.NextAttemptAt.Time().Sub(p.now()); d.Tries == 0 {
			if parked++; wait < time.Minute || wait > 5*time.Minute || len(d.Attempts) != 0 || !d.DueAt.Equal(*d.NextAttemptAt) {
				t.Errorf("parked for %v: %+v", wait, d)
			}
		}
	}
	if parked != 6 || !strings.Contains(p.log.String(), `"DeliveriesParked":[6]`) {
		t.Errorf("%d deliveries are parked", parked)
	}
	p.receiver.Handle("/hang", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	p.run()
	for _, d := range p.allDeliveries() {
		if d.Status != Succeeded || d.Tries > 2 {
			t.Errorf("after the endpoint came back: %+v", d)
		}
	}
	if got := p.storedWebhook(w); got.unhealthy() || got.ProbeUntil != nil {
		t.Errorf("webhook: %+v", got)
	}
	if took := p.now().Sub(midnight); took > 10*time.Minute {
		t.Errorf("the deliveries took %v", took)
	}
}

// A redelivery needs no probe lease. It does not release the probe lease of another delivery.
func TestRedeliveryDuringAProbe(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	lease := stampPtr(midnight.Add(leaseTime))
	w := p.subscribe(workspaceID, p.receiver.URL("/status/500"), func(w *Webhook) { w.Timeouts, w.ProbeUntil = maxTimeouts, lease })
	p.publish(p.newEvent(workspaceID))
	p.redeliver()
	p.handleMessages()
	if got := p.storedWebhook(w); p.receiver.Total() != 1 || got.ProbeUntil == nil || !got.ProbeUntil.Equal(*lease) || got.Failures != 1 {
		t.Errorf("%d requests, webhook: %+v", p.receiver.Total(), got)
	}
}

// If another writer changes a delivery that is being parked, the delivery is read and planned again.
func TestParkConflicts(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"), func(w *Webhook) {
		w.Timeouts, w.ProbeUntil = maxTimeouts, stampPtr(midnight.Add(time.Minute))
	})
	p.publish(p.newEvent(workspaceID))
	moved := false
	p.worker.jitter = func() float64 {
		if moved {
			return 0
		}
		moved = true
		p.redeliver()
		return 0
	}
	if errs := p.worker.Handle(t.Context(), p.receive()); errs[0] != nil {
		t.Error(errs)
	}
	if d := p.onlyDelivery(); d.Status != Succeeded || d.Manual != 0 || p.receiver.Total() != 1 {
		t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
	}
}

// A hanging endpoint does not delay the other deliveries of its batch.
func TestHangingEndpointDoesNotDelayItsBatch(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/hang"))
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.handleMessages()
	}()
	if _, err := p.receiver.WaitFor(t.Context(), "/ok/a", 1); err != nil {
		t.Error(err)
	}
	<-done
	for _, d := range p.allDeliveries() {
		if d.Tries != 1 {
			t.Errorf("delivery: %+v", d)
		}
	}
}

// An attempt counts even if its function dies.
func TestInterruptedAttemptCounts(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	send, deaths := p.worker.send, 0
	p.worker.send = func(ctx context.Context, r sender.Request) sender.Result {
		if deaths++; deaths <= 3 {
			panic("killed")
		}
		return send(ctx, r)
	}
	for steps := 0; p.onlyDelivery().Status == Pending && steps < 100; steps++ {
		p.handleMessages()
		p.advance(30 * time.Second)
		if steps%2 == 0 {
			p.retry()
		}
	}
	d := p.onlyDelivery()
	if d.Status != Succeeded || len(d.Attempts) != 4 || d.Attempts[0].Error != interruptedText || d.Attempts[3].StatusCode != 200 {
		t.Fatalf("delivery: %+v", d)
	}
	if p.receiver.Total() != 1 {
		t.Errorf("%d requests", p.receiver.Total())
	}
}

// A delivery that kills its function in every attempt finally fails.
func TestDeliveryThatKillsItsFunctionFails(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	p.worker.send = func(context.Context, sender.Request) sender.Result { panic("killed") }
	p.run()
	if d := p.onlyDelivery(); d.Status != Failed || len(d.Attempts) != maxTries {
		t.Errorf("delivery: %+v", d)
	}
}

// Duplicate, early and late messages do not cause attempts.
func TestMessagesAreOnlySignals(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/fail/a?n=2"))
	e := p.newEvent(workspaceID)
	p.publish(e)
	p.publish(e)
	first := p.receive()
	if len(first) != 2 {
		t.Fatalf("%d messages", len(first))
	}
	later, dropped := 0, 0
	for _, err := range p.worker.Handle(t.Context(), first) {
		if err != nil {
			later++
		} else {
			dropped++
		}
	}
	if n := p.receiver.Total(); n != 1 || later < 1 || later+dropped != 2 { // the second message finds the attempt in progress, or its result
		t.Errorf("%d requests, %d later, %d dropped", n, later, dropped)
	}
	p.publish(e) // early: the message is returned to the queue
	if n, errs := p.handleMessages(); n != 1 || len(errs) != 1 || !strings.Contains(errs[0].Error(), "later") {
		t.Errorf("early: %d, %v", n, errs)
	}
	p.advance(7 * time.Second)
	if n, errs := p.handleMessages(); n != 1+later || len(errs) != 0 || p.receiver.Total() != 2 { // the second failed, its next is minutes away
		t.Errorf("%d messages, %v, %d requests", n, errs, p.receiver.Total())
	}
	p.publish(e) // very early: dropped
	before := p.onlyDelivery()
	if n, errs := p.handleMessages(); n != 1 || len(errs) != 0 {
		t.Errorf("very early: %d, %v", n, errs)
	}
	if diff := cmp.Diff(before, p.onlyDelivery()); diff != "" {
		t.Errorf("a message changed something: %s", diff)
	}
	p.run()
	if d := p.onlyDelivery(); d.Status != Succeeded || d.Tries != 3 || p.receiver.Total() != 3 {
		t.Errorf("%d requests, delivery: %+v", p.receiver.Total(), d)
	}
}

// No attempt begins if too little time remains.
func TestNoAttemptWithoutEnoughTime(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	ctx, cancel := context.WithTimeout(t.Context(), attemptTime-time.Second)
	defer cancel()
	errs := p.worker.Handle(ctx, p.receive())
	if len(errs) != 1 || !strings.Contains(fmt.Sprint(errs[0]), "too little time remains") || p.receiver.Total() != 0 || p.onlyDelivery().Tries != 0 {
		t.Errorf("%v, %d requests, %+v", errs, p.receiver.Total(), p.onlyDelivery())
	}
}

// An attempt that the function aborts is not a failure of the endpoint.
func TestAbortedAttemptDoesNotChangeHealth(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/hang"))
	p.publish(p.newEvent(workspaceID))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, _ = p.receiver.WaitFor(ctx, "/hang", 1)
		cancel()
	}()
	if errs := p.worker.Handle(ctx, p.receive()); errs[0] != nil {
		t.Error(errs)
	}
	d := p.onlyDelivery()
	if d.Tries != 1 || d.Attempts[0].Error != interruptedText || d.LeaseUntil == nil || p.storedWebhook(w).LastAt != nil {
		t.Errorf("delivery: %+v, webhook: %+v", d, p.storedWebhook(w))
	}
	if d.DueAt.Time().Before(d.LeaseUntil.Time()) {
		t.Errorf("due at %v, leased until %v", d.DueAt, d.LeaseUntil)
	}
}
