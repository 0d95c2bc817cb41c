package delivery

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/awsclient"
	"devplatform/shared/lambdafn"
	"devplatform/shared/webhook/sender"
)

// Attempts in one invocation that fail store the health of their endpoint with few writes. From the third failure on,
// the deliveries move to the slow lane when their results are recorded.
func TestFailuresOfABatch(t *testing.T) {
	t.Parallel()
	const events = maxDirect
	counter, middleware := countCalls()
	var results sync.WaitGroup // the first attempt stores the health when all results are stored, also for the others
	results.Add(events)
	f := newFixture(t, middleware, func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			body := ""
			if dynamotest.Operation(r) == "UpdateItem" {
				body = readBody(r)
			}
			if strings.Contains(body, attrLastStatus) {
				results.Wait()
			}
			response, err := next.RoundTrip(r)
			if strings.Contains(body, "DELIVERY#") {
				results.Done()
			}
			return response, err
		})
	})
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/fail/a?n=1000"))
	f.publish(f.newEvents(workspaceID, events)...)
	messages := f.receiveMessages()
	counter.take()
	returned := 0
	for i, err := range f.fast.Handle(t.Context(), messages) {
		if err != nil {
			returned++
			continue
		}
		f.deleteMessage(messages[i])
	}
	calls := counter.take()
	f.wantRequests(events)
	if returned != slowFailures-1 {
		t.Errorf("%d messages were returned to the queue, want %d", returned, slowFailures-1)
	}
	if fast, slow := f.pending(w); fast != returned || slow != events-returned {
		t.Errorf("%d and %d deliveries are in the lanes, want %d and %d", fast, slow, returned, events-returned)
	}
	got := f.storedWebhook(w)
	if got.Failures != disableFailures || got.lane() != slowLane || got.Due == "" || got.LastStatus != Failed {
		t.Errorf("got webhook %+v, want %d failures in the slow lane, and a turn that is due", got, disableFailures)
	}
	if most := events + 1 + slowFailures; calls["UpdateItem"] > most { // results, the turn, the health
		t.Errorf("got the calls %v, want at most %d UpdateItem", calls, most)
	}
	if n := len(f.receiveFrom(f.slowDeliveries)); n != 1 {
		t.Errorf("got %d messages for turns, want one", n)
	}
}

// If the response to the write that moves a delivery is lost, the message for the turn is sent nevertheless.
func TestTurnAfterALostResponse(t *testing.T) {
	t.Parallel()
	var lost atomic.Int32 // responses that are lost
	f := newFixture(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if dynamotest.Operation(r) != "UpdateItem" || lost.Load() == 0 || !strings.Contains(readBody(r), "DELIVERY#") {
				return next.RoundTrip(r)
			}
			if lost.Add(-1) == 2 { // the first one is executed
				if response, err := next.RoundTrip(r); err == nil {
					_ = response.Body.Close()
				}
			}
			return nil, errors.New("connection lost")
		})
	})
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/fail/a?n=1"), func(w *Webhook) {
		w.Failures, w.FailingSince = slowFailures-1, stampPtr(f.now())
	})
	f.publish(f.newEvent(workspaceID))
	lost.Store(awsclient.MaxAttempts) // all attempts of the SDK
	if errs := f.fast.Handle(t.Context(), f.receiveMessages()); errs[0] != nil {
		t.Fatal(errs[0])
	}
	if lost.Load() != 0 {
		t.Fatal("no response was lost")
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
	f := newFixture(t, failWrites("DELIVERY#", func() bool { return true }))
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

// failWrites is a middleware in which updates of items fail whose request contains a text, while active returns true.
func failWrites(text string, active func() bool) middleware {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if active() && dynamotest.Operation(r) == "UpdateItem" && strings.Contains(readBody(r), text) {
				return nil, errors.New("connection lost")
			}
			return next.RoundTrip(r)
		})
	}
}

// If health cannot be stored, the health that other attempts have added is stored nevertheless.
func TestHealthAfterAnError(t *testing.T) {
	t.Parallel()
	var lost atomic.Int32
	f := newFixture(t, failCalls("UpdateItem", func() bool { return lost.Add(-1) >= 0 }))
	since := f.now()
	w := f.subscribe(f.newWorkspace(), "https://example.com", func(w *Webhook) {
		w.Failures, w.FailingSince, w.LastAt, w.LastStatus = 9, stampPtr(since), stampPtr(since), Failed
	})
	f.advance(time.Minute)
	shared, cancel := newBatch(t.Context())
	defer cancel()
	e := shared.endpoint(w)
	e.add(promptOK, f.now())
	e.add(failure, f.now())
	lost.Store(awsclient.MaxAttempts) // all attempts of the SDK
	if err := e.save(t.Context(), f.fast.store, w); err == nil {
		t.Error("the first write succeeded")
	}
	if got := f.storedWebhook(w); got.Failures != 1 || !got.FailingSince.Time().Equal(f.now()) {
		t.Errorf("got health %+v, want one failure, after the success that was not stored", got.Health)
	}
}

// The results of one invocation count in their order, and cause few writes.
func TestResultsOfAnInvocation(t *testing.T) {
	t.Parallel()
	const save = "" // stores the health
	for _, tc := range []struct {
		name     string
		failures int // in the health that was read
		results  []any
		want     int  // failures that are stored
		fast     bool // whether the endpoint is in the fast lane
		writes   int
	}{
		{"failures", 0, []any{failure, failure, save, failure, save}, 3, false, 2},
		{"a success ends the series that was read", 2, []any{promptOK, failure, save}, 1, true, 2},
		{"a success ends the series that was stored", 0, []any{failure, failure, failure, save, promptOK, save}, 0, true, 2},
		{"a success ends a series that was not stored", 0, []any{failure, failure, failure, promptOK, save}, 0, true, 0},
		{"an aborted attempt changes nothing", 1, []any{sender.Result{Aborted: true, Error: "aborted"}, save}, 1, true, 0},
		{"a time-out", 0, []any{tooSlow, failure, save}, 2, false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			counter, middleware := countCalls()
			f := newFixture(t, middleware)
			w := f.subscribe(f.newWorkspace(), "https://example.com", func(w *Webhook) {
				w.LastAt, w.LastStatus = stampPtr(f.now()), Succeeded
				if w.Failures = tc.failures; w.Failures > 0 {
					w.FailingSince, w.LastStatus = stampPtr(f.now()), Failed
				}
			})
			shared, cancel := newBatch(t.Context())
			defer cancel()
			counter.take()
			for _, step := range tc.results {
				e := shared.endpoint(w)
				if r, ok := step.(sender.Result); ok {
					e.add(r, f.now())
				} else if err := e.save(t.Context(), f.fast.store, w); err != nil {
					t.Fatal(err)
				}
			}
			if got := counter.take()["UpdateItem"]; got != tc.writes {
				t.Errorf("got %d writes, want %d", got, tc.writes)
			}
			got := f.storedWebhook(w)
			if got.Failures != tc.want || (got.lane() == fastLane) != tc.fast {
				t.Errorf("got health %+v, want %d failures, fast lane: %t", got.Health, tc.want, tc.fast)
			}
		})
	}
}

// If the webhook cannot be made due, the result is recorded, and the delivery stays in the fast lane.
func TestResultIsRecordedWithoutATurn(t *testing.T) {
	t.Parallel()
	var outage atomic.Bool
	f := newFixture(t, failWrites("WS#", outage.Load))
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/fail/a?n=1"), func(w *Webhook) {
		w.Failures, w.FailingSince = slowFailures-1, stampPtr(f.now())
	})
	f.publish(f.newEvent(workspaceID))
	outage.Store(true)
	if errs := f.fast.Handle(t.Context(), f.receiveMessages()); !errors.Is(errs[0], lambdafn.ErrLater) {
		t.Errorf("got error %v, want ErrLater", errs[0])
	}
	if d := f.wantDelivery(Pending, 1); d.waitsInSlowLane() {
		t.Errorf("got delivery %+v, want one in the fast lane", d)
	}
	f.wantLog("delivery stays in the fast lane", "endpoint health was not stored")
	outage.Store(false)
	f.runUntilFinished()
	f.wantDelivery(Succeeded, 2)
}

// TestAttemptsToRecord counts the writes of a result that storage always refuses. The retries of the layers must not
// multiply.
func TestAttemptsToRecord(t *testing.T) {
	t.Parallel()
	var writes atomic.Int32
	f := newFixture(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if dynamotest.Operation(r) == "UpdateItem" && strings.Contains(readBody(r), "DELIVERY#") {
				writes.Add(1)
				return nil, errors.New("no connection")
			}
			return next.RoundTrip(r)
		})
	})
	w := f.subscribe(f.newWorkspace(), f.receiver.URL("/"))
	f.publish(f.newEvents(w.WorkspaceID, 1)...)
	err := f.fast.Handle(t.Context(), f.receiveMessages())[0]
	if n := writes.Load(); err == nil || n < 2 || n > 20 {
		t.Errorf("got error %v after %d writes of the result, want an error after at most 20", err, n)
	}
}
