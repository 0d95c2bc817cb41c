package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
)

// patience limits the wait for a result that comes at once on an idle machine.
const patience = time.Minute

// A new endpoint is in the slow lane. After its first prompt success, it is in the fast lane.
func TestNewEndpointBecomesFast(t *testing.T) {
	t.Parallel()
	f, w := publishOne(t, "/ok/a", inSlowLane)
	if diff := cmp.Diff(fanoutCalls(), f.takeCalls()); diff != "" {
		t.Errorf("the calls of the fan-out (-want +got):\n%s", diff)
	}
	if n := len(f.allDeliveries()); n != 0 {
		t.Errorf("the fan-out created %d deliveries, want none", n)
	}
	f.handleMessages()
	f.wantDelivery(Succeeded, 1)
	f.wantRequests(1)
	f.wantLog(`"SlowTurns":[1]`)
	if got := f.storedWebhook(w); got.lane() != fastLane || got.hasTurn(f.now()) || got.DrainedAt == nil {
		t.Errorf("got webhook %+v, want a fast endpoint without a turn or deliveries that wait", got)
	}
	f.takeCalls()
	f.publish(f.newEvent(w.WorkspaceID))
	if diff := cmp.Diff(fanoutCalls("BatchGetItem", "PutItem"), f.takeCalls()); diff != "" {
		t.Errorf("the calls of the fan-out for a fast endpoint (-want +got):\n%s", diff)
	}
	f.handleMessages()
	f.wantRequests(2)
}

// When no delivery waits, a second turn confirms it, and the webhook leaves the index.
func TestDrainedWebhookLeavesTheIndex(t *testing.T) {
	t.Parallel()
	f, w := publishOne(t, "/ok/a", inSlowLane)
	f.handleMessages()
	for range 5 {
		if f.storedWebhook(w).DueAt == nil {
			break
		}
		f.advance(time.Minute)
		f.runRetryJob()
		f.handleMessages()
	}
	if got := f.storedWebhook(w); got.Due != "" || got.DueAt != nil || got.DrainedAt != nil || got.Wakes != 0 {
		t.Errorf("got webhook %+v, want one that is not in the index", got)
	}
	f.wantRequests(1)
}

// An attempt in the fast lane that takes too long is not counted. The slow lane makes it again, and further deliveries
// to the endpoint do not reach the fast lane.
func TestSlowEndpointLeavesTheFastLane(t *testing.T) {
	t.Parallel()
	for _, tries := range []int{0, 1} { // the first attempt has no lease, the second one has
		t.Run(fmt.Sprint(tries, " earlier attempts"), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			requests := 0
			f.fast.send = func(context.Context, sender.Request) sender.Result {
				requests++
				return timedOut
			}
			f.slow.send = f.fast.send
			workspaceID := f.newWorkspace()
			w := f.subscribe(workspaceID, "https://example.com")
			f.publish(f.newEvent(workspaceID))
			if tries > 0 {
				f.changeDelivery(func(d Delivery) Delivery {
					d.Tries, d.Attempts = 1, []Attempt{{At: *stamp(f.now()), StatusCode: 500, Error: "status 500"}}
					return d
				})
			}
			message := f.receiveMessages()
			if errs := f.fast.Handle(t.Context(), message); errs[0] != nil {
				t.Fatal(errs[0])
			}
			f.deleteMessage(message[0])
			d := f.wantDelivery(Pending, tries)
			if d.Tries != tries || !d.waitsInSlowLane() || d.LeaseUntil != nil {
				t.Errorf("got delivery %+v, want one that waits in the slow lane after %d tries", d, tries)
			}
			if got := f.storedWebhook(w); got.lane() != slowLane || got.DueAt == nil || got.Failures != 0 {
				t.Errorf("got webhook %+v, want one in the slow lane that is due and has no failures", got)
			}
			f.handleMessages()
			f.wantDelivery(Pending, tries+1)
			if got := f.storedWebhook(w); got.Failures != 1 || got.NotBefore == nil {
				t.Errorf("got webhook %+v, want one failure and a rest", got)
			}
			if requests != 2 {
				t.Errorf("got %d requests, want one in each lane", requests)
			}
			f.wantLog(`"DeliveriesMoved":[1]`)
		})
	}
}

// A turn attempts one delivery, then two, four and eight at the same time, the oldest first.
func TestTurnWidens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, "https://example.com", inSlowLane)
	var mu sync.Mutex
	var order []string
	inFlight, highest, full := 0, 0, make(chan struct{})
	f.slow.send = func(_ context.Context, r sender.Request) sender.Result {
		mu.Lock()
		order = append(order, r.Header.Get("X-Service-Delivery"))
		inFlight++
		if inFlight == maxWindow && highest < maxWindow {
			close(full)
		}
		highest = max(highest, inFlight)
		widening := len(order) <= maxWindow // the message names the first deliveries
		mu.Unlock()
		if !widening {
			select {
			case <-full:
			case <-time.After(patience):
			}
		}
		mu.Lock()
		inFlight--
		mu.Unlock()
		return sender.Result{StatusCode: 200, Duration: 2 * PromptTime} // the endpoint stays in the slow lane
	}
	f.publish(f.newEvents(workspaceID, 40)...)
	f.handleMessages()
	if len(order) != 40 || highest != maxWindow {
		t.Errorf("got %d attempts, at most %d at the same time, want 40 and %d", len(order), highest, maxWindow)
	}
	sorted := slices.Sorted(slices.Values(order))
	for i, deliveryID := range order { // concurrent attempts are in no particular order
		if at := slices.Index(sorted, deliveryID); at <= i-maxWindow || at >= i+maxWindow {
			t.Errorf("attempt %d is for delivery %d, want the oldest deliveries first", i, at)
		}
	}
}

// The next turn begins with as many concurrent attempts as the latest one ended with. After a turn that failed or was
// interrupted, it begins with one.
func TestNextTurnBeginsWithTheWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, "https://example.com", inSlowLane)
	result := sender.Result{StatusCode: 200, Duration: 2 * PromptTime}
	f.slow.send = func(context.Context, sender.Request) sender.Result { return result }
	f.publish(f.newEvents(workspaceID, 4)...)
	f.handleMessages()
	if got := f.storedWebhook(w).window(); got != 8 { // rounds of 1, 2 and 1 attempts
		t.Errorf("after four successes: got %d concurrent attempts, want 8", got)
	}
	result = sender.Result{StatusCode: 500, Error: "status 500"}
	f.advance(time.Minute)
	f.publish(f.newEvents(workspaceID, 4)...)
	f.handleMessages()
	if got := f.storedWebhook(w); got.window() != 1 || got.Failures != 4 {
		t.Errorf("after a failed turn: got %d concurrent attempts and %d failures, want 1 and 4", got.window(), got.Failures)
	}
	w = f.storedWebhook(w)
	w.Window, w.TurnUntil, w.NotBefore = 8, stamp(f.now().Add(-time.Second)), nil
	f.putWebhook(w)
	if got, taken, err := f.store.takeTurn(t.Context(), w, f.now(), f.now().Add(leaseTime)); !taken || err != nil ||
		got.window() != 1 {
		t.Errorf("after an interrupted turn: got %d concurrent attempts, taken %t, error %v, want 1", got.window(), taken, err)
	}
}

// If no slot of the account is free, all messages return to the queue, including two messages for the same endpoint:
// each of them can name a redelivery.
func TestMessagesReturnIfNoSlotIsFree(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/ok/a"), inSlowLane)
	f.publish(f.newEvents(workspaceID, 2)...)
	f.createDeliveries()
	all := f.allDeliveries()
	messages := f.receiveFrom(f.slowDeliveries)
	for _, d := range all {
		m := w.turnMessage(d.ID).queueMessage(0)
		messages = append(messages, lambdafn.QueueMessage{
			ID: d.ID, ReceiptHandle: messages[0].ReceiptHandle, Body: m.Body, Group: m.Group, Receives: 1,
		})
	}
	for range slotsPerAccount {
		f.takeSlot(w.AccountID, f.now())
	}
	for i, err := range f.slow.Handle(t.Context(), messages) {
		if !errors.Is(err, lambdafn.ErrLater) {
			t.Errorf("message %d: got error %v, want ErrLater", i, err)
		}
	}
	// If the search for a slot panics, the messages fail, and not the process.
	f.slow.jitter = func() float64 { panic("broken") }
	for i, err := range f.slow.Handle(t.Context(), messages) {
		if err == nil || !strings.Contains(err.Error(), "panic: broken") {
			t.Errorf("message %d: got error %v, want the panic", i, err)
		}
	}
	f.wantRequests(0)
}

// A redelivery does not wait until a failing endpoint has rested.
func TestRedeliveryToARestingEndpoint(t *testing.T) {
	t.Parallel()
	f, w := publishOne(t, "/fail/a?n=1", inSlowLane)
	f.handleMessages()
	d := f.wantDelivery(Pending, 1)
	if !f.storedWebhook(w).isResting(f.now()) {
		t.Fatal("the endpoint does not rest after a failure")
	}
	log := Log{Store: f.store, Fast: f.fast.Fast, Clock: f.now, Logger: f.slow.Logger}
	if _, err := log.Redeliver(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	f.handleMessages()
	f.wantDelivery(Succeeded, 2)
}

// An entry of the slow lane that is not a delivery does not prevent the attempts of the deliveries behind it.
func TestSlowEntryOfAWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/ok/a"), inSlowLane)
	f.publish(f.newEvents(workspaceID, maxWindow+1)...)
	f.createDeliveries()
	f.putItem(db.WebhookKey(workspaceID, f.ids.New(id.Webhook)), db.Item{
		attrDue:   &types.AttributeValueMemberS{Value: db.SlowPartition(w.ID)},
		attrDueAt: &types.AttributeValueMemberS{Value: clock.Stamp(f.now().Add(-time.Hour)).String()},
	})
	f.handleMessages()
	f.wantRequests(maxWindow + 1)
}

// A delivery whose attempt always panics, that is too large to be changed, or that cannot be decoded does not prevent
// the attempts of the other deliveries.
func TestDeliveryThatCannotBeAttempted(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(f *fixture, first Delivery){
		"panic": func(f *fixture, first Delivery) {
			send := f.slow.send
			f.slow.send = func(ctx context.Context, r sender.Request) sender.Result {
				if r.Header.Get(signature.HeaderDelivery) == first.ID {
					panic("broken")
				}
				return send(ctx, r)
			}
		},
		"not decodable": func(f *fixture, first Delivery) {
			item, err := db.Encode(first)
			if err != nil {
				f.t.Fatal(err)
			}
			item["deadline"] = &types.AttributeValueMemberS{Value: "tomorrow"}
			f.putItem(first.key(), item)
		},
		"too large": func(f *fixture, first Delivery) {
			for size := 409_600; ; size -= 10 {
				first.Type = event.Type(strings.Repeat("x", size))
				item, err := db.Encode(first)
				if err != nil {
					f.t.Fatal(err)
				}
				write := f.store.Table.Put(db.DeliveryKey(first.WebhookID, first.ID), item)
				if _, err := f.store.Client.Do(f.t.Context(), write); err == nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			workspaceID := f.newWorkspace()
			f.subscribe(workspaceID, f.receiver.URL("/ok/a"), inSlowLane)
			f.publish(f.newEvents(workspaceID, 3)...)
			f.createDeliveries()
			damage(f, slices.MinFunc(f.allDeliveries(), func(a, b Delivery) int { return strings.Compare(a.ID, b.ID) }))
			f.handleMessages()
			f.wantRequests(2)
			f.wantLog("delivery cannot be attempted")
		})
	}
}
