package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/awsclient"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/sender"
)

// A hanging endpoint does not delay the other deliveries of its batch.
func TestHangingEndpointDoesNotDelayItsBatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, "https://hang.example.com")
	f.subscribe(workspaceID, "https://ok.example.com")
	f.publish(f.newEvent(workspaceID))
	delivered := make(chan struct{})
	f.fast.send = func(_ context.Context, r sender.Request) sender.Result {
		if strings.Contains(r.URL, "hang.") {
			<-delivered // the other attempt ends first
			return timedOut
		}
		close(delivered)
		return accepted
	}
	f.slow.send = func(context.Context, sender.Request) sender.Result { return rejected }
	f.handleMessages()
	for _, d := range f.allDeliveries() {
		if d.Tries != 1 {
			t.Errorf("got delivery %+v, want one attempt", d)
		}
	}
}

// A delivery that kills its function in every attempt finally fails.
func TestDeliveryThatKillsItsFunctionFails(t *testing.T) {
	t.Parallel()
	f, _ := publishOne(t, "/ok/a")
	f.fast.send = func(context.Context, sender.Request) sender.Result { panic("killed") }
	f.runUntilFinished()
	f.wantDelivery(Failed, maxTries)
}

// Duplicate and early messages do not cause additional attempts.
func TestMessagesAreOnlySignals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/fail/a?n=2"))
	e := f.newEvent(workspaceID)
	f.publish(e)
	message := f.receiveMessages()[0]
	errs := f.fast.Handle(t.Context(), []lambdafn.QueueMessage{message, message})
	f.wantRequests(1)
	if !errors.Is(errs[0], lambdafn.ErrLater) || errs[1] != nil {
		t.Errorf("got the errors %v, want ErrLater for the first message and none for the duplicate", errs)
	}

	// Seconds before the next attempt, a message is returned to the queue.
	f.sendMessage(f.onlyDelivery())
	if n, errs := f.handleMessages(); n != 1 || len(errs) != 1 || !errors.Is(errs[0], lambdafn.ErrLater) {
		t.Errorf("got %d messages and the errors %v, want one message with ErrLater", n, errs)
	}
	f.advance(7 * time.Second)
	if n, errs := f.handleMessages(); n != 2 || len(errs) != 0 {
		t.Errorf("got %d messages and the errors %v, want 2 messages without errors", n, errs)
	}
	f.wantRequests(2)

	// Minutes before the next attempt, a message of a replay is deleted. It is delayed until the first attempt is over.
	f.publish(e)
	if n, _ := f.handleMessages(); n != 0 {
		t.Errorf("got %d messages immediately after a replay, want none", n)
	}
	f.advance(replayDelay)
	before := f.onlyDelivery()
	if n, errs := f.handleMessages(); n != 1 || len(errs) != 0 {
		t.Errorf("got %d messages and the errors %v, want one message without an error", n, errs)
	}
	if diff := cmp.Diff(before, f.onlyDelivery()); diff != "" {
		t.Errorf("a message changed the delivery:\n%s", diff)
	}
	f.runUntilFinished()
	f.wantDelivery(Succeeded, 3)
	f.wantRequests(3)
}

// No attempt begins if too little time remains.
func TestNoAttemptWithoutEnoughTime(t *testing.T) {
	t.Parallel()
	f, _ := publishOne(t, "/ok/a")
	ctx, cancel := context.WithTimeout(t.Context(), attemptTime-time.Second)
	defer cancel()
	errs := f.fast.Handle(ctx, f.receiveMessages())
	if len(errs) != 1 || !strings.Contains(fmt.Sprint(errs[0]), "too little time remains") {
		t.Errorf("got %v, want an error that too little time remains", errs)
	}
	f.wantDelivery(Pending, 0)
	f.wantRequests(0)
}

// An attempt that the function aborts is not a failure of the endpoint.
func TestAbortedAttemptDoesNotChangeHealth(t *testing.T) {
	t.Parallel()
	f, w := publishOne(t, "/hang")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, _ = f.receiver.WaitFor(ctx, "/hang", 1)
		cancel()
	}()
	if errs := f.fast.Handle(ctx, f.receiveMessages()); errs[0] != nil {
		t.Error(errs[0])
	}
	if d := f.wantDelivery(Pending, 0); d.Tries != 0 || !d.DueAt.Time().After(f.now()) {
		t.Errorf("got delivery %+v, want one without attempts that is due later", d)
	}
	if got := f.storedWebhook(w); got.LastAt != nil {
		t.Errorf("got webhook %+v, want no attempt in its health", got)
	}
}

// While storage or the queue is unavailable, messages and records fail and are retried later.
func TestOutages(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		operation   string // fails during the outage
		fanoutFails bool
		workerFails bool
		requests    int // during the outage
		jobFails    bool
	}{
		{"Query", true, false, 1, true},
		{"BatchGetItem", true, true, 0, false},
		{"PutItem", true, false, 1, false},
		{"SendMessageBatch", true, false, 1, true},
		{"ChangeMessageVisibility", false, false, 1, false},
		{"UpdateItem", false, true, 1, true}, // the first attempt needs no write before the request
	} {
		t.Run(tc.operation, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			workspaceID := f.newWorkspace()
			f.subscribe(workspaceID, f.receiver.URL("/fail/a"))
			e := f.newEvent(workspaceID)
			f.breakCalls(refuseAll(tc.operation))
			err := errors.Join(f.fanout.Handle(t.Context(), streamRecords(t, e))...)
			unavailable := errors.Is(err, db.ErrUnavailable) || errors.Is(err, queue.ErrUnavailable)
			if (err != nil) != tc.fanoutFails || unavailable != tc.fanoutFails {
				t.Errorf("fan-out: got %v, want ErrUnavailable: %t", err, tc.fanoutFails)
			}
			f.breakCalls(nil)
			f.publish(e)
			f.advance(replayDelay)
			f.breakCalls(refuseAll(tc.operation))
			err = f.fast.Handle(t.Context(), f.receiveMessages()[:1])[0]
			if failed := errors.Is(err, db.ErrUnavailable); failed != tc.workerFails {
				t.Errorf("worker: got %v, want ErrUnavailable: %t", err, tc.workerFails)
			}
			f.wantRequests(tc.requests)
			f.advance(4 * time.Minute)
			if err := f.job.Run(t.Context()); (err != nil) != tc.jobFails {
				t.Errorf("retry job: got %v, want an error: %t", err, tc.jobFails)
			}
			f.breakCalls(nil)
			f.runUntilFinished()
			if d := f.onlyDelivery(); d.Status != Succeeded || d.Tries > 3 {
				t.Errorf("got delivery %+v, want a success after at most three attempts", d)
			}
		})
	}
}

// The result of an attempt is stored even if responses are lost repeatedly, so that the request is not sent twice.
func TestRecordIsRetried(t *testing.T) {
	t.Parallel()
	const lostResponses = 2 * awsclient.MaxAttempts // twice the attempts of one SDK call
	f := newFixture(t)
	f.loseResponses(lostResponses)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	f.publish(f.newEvent(workspaceID))
	if _, errs := f.handleMessages(); len(errs) != 0 {
		t.Errorf("got the errors %v, want none", errs)
	}
	f.wantDelivery(Succeeded, 1)
	f.wantRequests(1)
}
