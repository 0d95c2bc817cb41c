package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/testmode"
	"devplatform/shared/awsclient"
	"devplatform/shared/webhook/sender"
)

// callInjector is a transport that counts the calls of a function, and injects a fault into one of them.
type callInjector struct {
	next http.RoundTripper
	f    *fixture

	mu      sync.Mutex
	on      bool
	skipped string    // an operation whose calls are not counted
	calls   int       // the number of calls
	fault   callFault // nil: no fault is injected
	at      int       // the number of the call with the fault, counted from 0
	refused int       // the number of requests that are still to be refused
	dead    bool      // the function was killed: all further calls fail
	kill    func()    // ends the context of the function
}

// clockJump is longer than a lease and than the time after which a message counts as lost.
const clockJump = 10 * time.Minute

// callFault makes a call, or fails to do so.
type callFault func(i *callInjector, r *http.Request) (*http.Response, error)

// callFaults are the faults that are injected into each call.
var callFaults = map[string]callFault{
	"function killed before the call": func(i *callInjector, _ *http.Request) (*http.Response, error) {
		i.die()
		return nil, errKilled
	},
	"function killed after the call": func(i *callInjector, r *http.Request) (*http.Response, error) {
		_, _ = i.loseResponse(r)
		i.die()
		return nil, errKilled
	},
	"table throttled": func(i *callInjector, r *http.Request) (*http.Response, error) {
		i.refused = awsclient.MaxAttempts - 1 // the SDK repeats the request
		return i.throttle(r)
	},
	"response lost": (*callInjector).loseResponse,
	"clock jumps ahead": func(i *callInjector, r *http.Request) (*http.Response, error) {
		i.f.advance(clockJump)
		return i.next.RoundTrip(r)
	},
	"clock is set back": func(i *callInjector, r *http.Request) (*http.Response, error) {
		i.f.advance(-clockJump)
		return i.next.RoundTrip(r)
	},
}

// die kills the function.
func (i *callInjector) die() {
	i.dead = true
	i.kill()
}

// loseResponse makes a call and loses its response.
func (i *callInjector) loseResponse(r *http.Request) (*http.Response, error) {
	response, err := i.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	return nil, errors.New(faultResponseLost)
}

// throttle refuses a call of DynamoDB.
func (i *callInjector) throttle(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Content-Type") != "application/x-amz-json-1.0" {
		return i.next.RoundTrip(r)
	}
	response := httptest.NewRecorder()
	dynamotest.Throttled.Reply(response, r)
	return response.Result(), nil
}

func (i *callInjector) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case !i.on || dynamotest.Operation(r) == i.skipped:
		return i.next.RoundTrip(r)
	case i.dead:
		return nil, errKilled
	case i.refused > 0:
		i.refused--
		return i.throttle(r)
	}
	i.calls++
	if i.fault == nil || i.calls != i.at+1 {
		return i.next.RoundTrip(r)
	}
	return i.fault(i, r)
}

// isDead reports whether the function was killed.
func (i *callInjector) isDead() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.dead
}

// while injects the fault while a function runs. It reports whether the function was killed.
func (i *callInjector) while(ctx context.Context, run func(context.Context)) (killed bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	i.mu.Lock()
	i.on, i.kill = true, cancel
	i.mu.Unlock()
	run(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	killed, i.on, i.dead = i.dead, false, false
	return killed
}

// faultyStep is a step of the pipeline that has to survive a fault in each of its calls.
type faultyStep struct {
	name string
	// prepare brings the fixture to the state before the step. first is the result of the first request.
	prepare func(f *fixture, workspaceID string) (first sender.Result)
	// queue returns the URL of the queue with the messages of the step. It is "" if the step is a run of the fan-out for
	// the events that prepare has stored, and queue is nil if the step is a run of the retry job.
	queue func(f *fixture) string
}

func stream(*fixture) string           { return "" }
func fastQueue(f *fixture) string      { return f.deliveries }
func slowQueue(f *fixture) string      { return f.slowDeliveries }
func creationsQueue(f *fixture) string { return f.creations }

var (
	accepted = sender.Result{StatusCode: 200}
	rejected = sender.Result{StatusCode: 500, Error: "status 500"}
	timedOut = sender.Result{Error: "time-out", TimedOut: true, Duration: PromptTime}
)

// waitingDeliveries creates deliveries in the slow lane to several endpoints, and messages for their turns.
func waitingDeliveries(f *fixture, workspaceID string, endpoints, events int) {
	for i := range endpoints {
		f.subscribe(workspaceID, fmt.Sprintf("https://%d.example.com", i), inSlowLane)
	}
	f.publish(f.newEvents(workspaceID, events)...)
	f.createDeliveries()
}

// purgeSlowQueue deletes the messages for turns.
func (f *fixture) purgeSlowQueue() {
	for _, m := range f.receiveFrom(f.slowDeliveries) {
		f.deleteFrom(f.slowDeliveries, m)
	}
}

// faultySteps are the steps of both lanes.
var faultySteps = []faultyStep{
	{"fan-out of one delivery", func(f *fixture, workspaceID string) sender.Result {
		f.subscribe(workspaceID, "https://example.com")
		f.putEvents(f.newEvent(workspaceID))
		return accepted
	}, stream},
	{"fan-out of a chunk with two batches of writes, and of another chunk", func(f *fixture, _ string) sender.Result {
		for range fanoutChunk/singleWrites + 2 {
			workspaceID := f.newWorkspace()
			for range singleWrites {
				f.subscribe(workspaceID, "https://example.com")
			}
			f.putEvents(f.newEvent(workspaceID))
		}
		return accepted
	}, stream},
	{"fan-out to the slow lane", func(f *fixture, workspaceID string) sender.Result {
		f.subscribe(workspaceID, "https://example.com", inSlowLane)
		f.putEvents(f.newEvents(workspaceID, 2)...)
		return accepted
	}, stream},
	{"first attempt in the fast lane", func(f *fixture, workspaceID string) sender.Result {
		f.subscribe(workspaceID, "https://example.com")
		f.publish(f.newEvents(workspaceID, 2)...)
		return accepted
	}, fastQueue},
	{"attempt with a lease", func(f *fixture, workspaceID string) sender.Result {
		f.subscribe(workspaceID, "https://example.com")
		f.publish(f.newEvent(workspaceID))
		f.redeliver()
		return accepted
	}, fastQueue},
	{"time-out in the fast lane moves a delivery", func(f *fixture, workspaceID string) sender.Result {
		f.subscribe(workspaceID, "https://example.com")
		f.publish(f.newEvent(workspaceID))
		return timedOut
	}, fastQueue},
	{"deliveries to an endpoint of the slow lane move", func(f *fixture, workspaceID string) sender.Result {
		w := f.subscribe(workspaceID, "https://example.com")
		f.publish(f.newEvents(workspaceID, 2)...)
		w.Prompt = false
		f.putWebhook(w)
		return accepted
	}, fastQueue},
	{"failure in the fast lane, parked for minutes", func(f *fixture, workspaceID string) sender.Result {
		f.subscribe(workspaceID, "https://example.com")
		f.publish(f.newEvent(workspaceID))
		f.changeDelivery(func(d Delivery) Delivery {
			d.Tries, d.Attempts = 1, []Attempt{{At: *stamp(f.now()), StatusCode: 500, Error: "status 500"}}
			return d
		})
		return rejected
	}, fastQueue},
	{"failure in the fast lane moves a delivery", func(f *fixture, workspaceID string) sender.Result {
		f.subscribe(workspaceID, "https://example.com", func(w *Webhook) {
			w.Failures, w.FailingSince = slowFailures-1, stamp(f.now())
		})
		f.publish(f.newEvent(workspaceID))
		return rejected
	}, fastQueue},
	{"creation for both lanes", func(f *fixture, workspaceID string) sender.Result {
		f.subscribe(workspaceID, "https://example.com")
		f.subscribe(workspaceID, "https://example.com", inSlowLane)
		f.publish(f.newEvents(workspaceID, maxDirect+1)...)
		return accepted
	}, creationsQueue},
	{"creation", func(f *fixture, workspaceID string) sender.Result {
		for range 2 {
			f.subscribe(workspaceID, "https://example.com", inSlowLane)
		}
		f.publish(f.newEvents(workspaceID, 2)...)
		return accepted
	}, creationsQueue},
	{"turn", func(f *fixture, workspaceID string) sender.Result {
		waitingDeliveries(f, workspaceID, 1, 3)
		return accepted
	}, slowQueue},
	{"turn that fails, parked", func(f *fixture, workspaceID string) sender.Result {
		waitingDeliveries(f, workspaceID, 1, 2)
		return rejected
	}, slowQueue},
	{"turns of two endpoints in one slot", func(f *fixture, workspaceID string) sender.Result {
		waitingDeliveries(f, workspaceID, 2, 1)
		f.takeSlot(accountOf(workspaceID), f.now()) // by another function, which was killed
		return accepted
	}, slowQueue},
	{"no free slot", func(f *fixture, workspaceID string) sender.Result {
		waitingDeliveries(f, workspaceID, 1, 1)
		for range slotsPerAccount {
			f.takeSlot(accountOf(workspaceID), f.now())
		}
		return accepted
	}, slowQueue},
	{"wake-up of a delivery", func(f *fixture, workspaceID string) sender.Result {
		f.subscribe(workspaceID, "https://example.com")
		f.publish(f.newEvents(workspaceID, 2)...)
		f.purgeQueue()
		f.advance(messageTimeout)
		return accepted
	}, nil},
	{"wake-up of an endpoint", func(f *fixture, workspaceID string) sender.Result {
		waitingDeliveries(f, workspaceID, 1, 2)
		f.purgeSlowQueue()
		f.advance(messageTimeout)
		return accepted
	}, nil},
}

// run prepares a step, runs it with a fault in one of its calls, and then lets the pipeline work without faults. It
// checks that all deliveries succeed and returns the number of calls of the step.
func (s faultyStep) run(t *testing.T, fault callFault, at int) (calls int) {
	t.Helper()
	i := &callInjector{fault: fault, at: at}
	if s.queue == nil {
		i.skipped = "Query" // one for each shard, in no particular order
	}
	f := newFixture(t, func(next http.RoundTripper) http.RoundTripper {
		i.next = next
		return i
	})
	i.f = f
	workspaceID := f.newWorkspace()
	first := s.prepare(f, workspaceID)
	var requests atomic.Int32
	send := func(context.Context, sender.Request) sender.Result {
		switch {
		case i.isDead():
			return sender.Result{Error: errKilled.Error(), Aborted: true}
		case requests.Add(1) == 1:
			return first
		}
		return accepted
	}
	f.fast.send, f.slow.send = send, send
	s.step(f, i)
	f.handleMessages()
	f.advance(3*time.Minute + time.Second) // the messages of a killed function are visible again
	f.runSteps(200)
	f.checkAfterFault(workspaceID, int(requests.Load()))
	return i.calls
}

// step runs the step. It deletes the messages that were handled, unless the function was killed.
func (s faultyStep) step(f *fixture, i *callInjector) {
	f.t.Helper()
	if s.queue == nil {
		i.while(f.t.Context(), func(ctx context.Context) { _ = f.job.Run(ctx) })
		return
	}
	url := s.queue(f)
	var errs []error
	if url == "" {
		records := streamRecords(f.t, f.stored...)
		if i.while(f.t.Context(), func(ctx context.Context) { errs = f.fanout.Handle(ctx, records) }) ||
			errors.Join(errs...) != nil { // the stream repeats the batch
			f.publish(f.stored...)
		}
		return
	}
	messages := f.receiveFrom(url)
	killed := i.while(f.t.Context(), func(ctx context.Context) { errs = f.handlers()[url](ctx, messages) })
	for n, err := range errs {
		if err == nil && !killed {
			f.deleteFrom(url, messages[n])
		}
	}
}

// checkAfterFault checks that all deliveries succeeded, with few requests, and that all leases end.
func (f *fixture) checkAfterFault(workspaceID string, requests int) {
	f.t.Helper()
	all := f.allDeliveries()
	for _, d := range all {
		if d.Status != Succeeded {
			f.t.Errorf("got delivery %+v, want a success", d)
		}
	}
	if len(all) == 0 || requests < len(all) || requests > len(all)+3 {
		f.t.Errorf("got %d requests for %d deliveries, want one for each and at most three more", requests, len(all))
	}
	leases := f.now().Add(clockJump + leaseTime) // the clock may have been set back
	for _, w := range f.allWebhooks() {
		if w.hasTurn(leases) {
			f.t.Errorf("got webhook %+v, want one without a turn", w)
		}
	}
	for _, until := range f.storedSlots(accountOf(workspaceID)) {
		if until.After(leases) {
			f.t.Errorf("a slot is leased until %v, want at most %v", until, leases)
		}
	}
}

// A fault in any call of any step loses no delivery. The test covers the steps of both lanes, the moves between them,
// and deliveries that are parked, woken or wait for a slot.
func TestFaultInEachCall(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	for _, step := range faultySteps {
		t.Run(step.name, func(t *testing.T) {
			t.Parallel()
			calls := step.run(t, nil, 0)
			if calls == 0 {
				t.Fatal("the step makes no calls")
			}
			every := 4 // each fault is injected into every fourth call, the next fault into the calls after these
			if testmode.IsNightly() {
				every = 1
			}
			for i, name := range slices.Sorted(maps.Keys(callFaults)) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					for call := i % min(every, calls); call < calls; call += every {
						step.run(t, callFaults[name], call)
					}
				})
			}
		})
	}
}
