package delivery

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/awsclient"
	"devplatform/shared/lambdafn"
	"devplatform/shared/webhook/sender"
)

// Attempts in one invocation that fail store the health of their endpoint with one write. The endpoint leaves the fast
// lane, and the deliveries move when they are due again.
func TestFailuresOfABatch(t *testing.T) {
	t.Parallel()
	const events = maxDirect
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/fail/a?n=1000"))
	f.publish(f.newEvents(workspaceID, events)...)
	messages := f.receiveMessages()
	f.takeCalls()
	for i, err := range f.fast.Handle(t.Context(), messages) {
		if !errors.Is(err, lambdafn.ErrLater) {
			t.Errorf("message %d: got %v, want ErrLater", i, err)
		}
	}
	if n := f.takeCalls()["UpdateItem"]; n != events+1 {
		t.Errorf("got %d writes, want the results and the health", n)
	}
	if got := f.storedWebhook(w); got.Failures != disableFailures || got.lane() != slowLane || got.LastStatus != Failed {
		t.Errorf("got webhook %+v, want %d failures in the slow lane", got, disableFailures)
	}
	f.advance(7 * time.Second) // longer than the first wait
	again := f.receiveMessages()
	f.fast.Handle(t.Context(), again)
	f.wantRequests(events)
	if fast, slow := f.pending(w); fast != 0 || slow != events {
		t.Errorf("%d and %d deliveries are in the lanes, want all in the slow lane", fast, slow)
	}
	if n := len(f.receiveFrom(f.slowDeliveries)); n != 1 {
		t.Errorf("got %d messages for turns, want one", n)
	}
}

// If the response to the write that moves a delivery is lost, the message for the turn is sent nevertheless.
func TestTurnAfterALostResponse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, "https://example.com")
	f.fast.send = func(context.Context, sender.Request) sender.Result { return timedOut }
	f.publish(f.newEvent(workspaceID))
	var moves atomic.Int32
	f.breakCalls(func(operation, body string) callOutcome {
		if operation != "UpdateItem" || !strings.Contains(body, "DELIVERY#") || moves.Add(1) > awsclient.MaxAttempts {
			return callPasses
		}
		if moves.Load() == 1 {
			return responseLost
		}
		return callRefused // all attempts of the SDK fail
	})
	if errs := f.fast.Handle(t.Context(), f.receiveMessages()); errs[0] != nil || moves.Load() < awsclient.MaxAttempts {
		t.Fatalf("got the errors %v after %d writes", errs, moves.Load())
	}
	if _, slow := f.pending(w); slow != 1 {
		t.Errorf("got %d deliveries in the slow lane, want one", slow)
	}
	if n := len(f.receiveFrom(f.slowDeliveries)); n != 1 {
		t.Errorf("got %d messages for turns, want one", n)
	}
	f.wantLog(`"DeliveriesMoved":[1]`)
}

// If an endpoint was made due, the message for its turn is sent, although the delivery could not be moved. Otherwise
// no other worker would send a message for some time.
func TestTurnWithoutAMove(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.breakCalls(func(operation, body string) callOutcome {
		if operation == "UpdateItem" && strings.Contains(body, "DELIVERY#") {
			return callRefused
		}
		return callPasses
	})
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/ok"))
	f.publish(f.newEvent(workspaceID))
	w.Prompt = false
	f.putWebhook(w)
	if errs := f.fast.Handle(t.Context(), f.receiveMessages()); errs[0] == nil {
		t.Fatal("the delivery was moved")
	}
	if n := len(f.receiveFrom(f.slowDeliveries)); n != 1 {
		t.Errorf("got %d messages for turns, want one", n)
	}
}

// The results of attempts that were made at the same time count in the order of their ends, with one write.
func TestHealthOfABatch(t *testing.T) {
	t.Parallel()
	aborted := sender.Result{Aborted: true, Error: "aborted"}
	for _, tc := range []struct {
		name     string
		failures int // in the health that was read
		results  []sender.Result
		want     int  // failures that are stored
		fast     bool // whether the endpoint is in the fast lane
		writes   int
	}{
		{"failures", 0, []sender.Result{failure, failure, failure}, 3, false, 1},
		{"a success ends the series that was read", 2, []sender.Result{promptOK, failure}, 1, true, 1},
		{"as many failures as before a success", 2, []sender.Result{promptOK, failure, failure}, 2, true, 1},
		{"a success ends a series that was not stored", 0, []sender.Result{failure, failure, failure, promptOK}, 0, true, 0},
		{"an aborted attempt changes nothing", 1, []sender.Result{aborted}, 1, true, 0},
		{"a time-out", 0, []sender.Result{tooSlow, failure}, 2, false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			w := f.subscribe(f.newWorkspace(), "https://example.com", func(w *Webhook) {
				w.LastAt, w.LastStatus = stamp(f.now()), Succeeded
				if w.Failures = tc.failures; w.Failures > 0 {
					w.FailingSince, w.LastStatus = stamp(f.now()), Failed
				}
			})
			attempts := make([]*attempt, len(tc.results))
			for i, r := range tc.results { // in the opposite order
				a := &attempt{result: r, endedAt: f.now().Add(time.Duration(i+1) * time.Second), changesHealth: true}
				a.webhook, attempts[len(attempts)-1-i] = &w, a
			}
			f.takeCalls()
			f.fast.saveHealth(t.Context(), append(attempts, &attempt{}))
			if n := f.takeCalls()["UpdateItem"]; n != tc.writes {
				t.Errorf("got %d writes, want %d", n, tc.writes)
			}
			got := f.storedWebhook(w)
			if got.Failures != tc.want || (got.lane() == fastLane) != tc.fast {
				t.Errorf("got health %+v, want %d failures, fast lane: %t", got.Health, tc.want, tc.fast)
			}
			if tc.failures > 0 && tc.writes > 0 && !got.FailingSince.Time().Equal(f.now().Add(2*time.Second)) {
				t.Errorf("got failures since %v, want the first one after the success", got.FailingSince)
			}
		})
	}
}

// TestAttemptsToRecord counts the writes of a result that storage always refuses. The retries of the layers must not
// multiply.
func TestAttemptsToRecord(t *testing.T) {
	t.Parallel()
	var writes atomic.Int32
	f := newFixture(t)
	f.breakCalls(func(operation, body string) callOutcome {
		if operation == "UpdateItem" && strings.Contains(body, "DELIVERY#") {
			writes.Add(1)
			return callRefused
		}
		return callPasses
	})
	w := f.subscribe(f.newWorkspace(), f.receiver.URL("/"))
	f.publish(f.newEvents(w.WorkspaceID, 1)...)
	err := f.fast.Handle(t.Context(), f.receiveMessages())[0]
	if n := writes.Load(); err == nil || n < 2 || n > 20 {
		t.Errorf("got error %v after %d writes of the result, want an error after at most 20", err, n)
	}
}
