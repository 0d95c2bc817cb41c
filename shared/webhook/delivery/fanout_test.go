package delivery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
)

// The deliveries of a batch share the calls of the fan-out and one read. Each needs one write after its attempt.
func TestCallsOfABatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	for i := range 2 {
		f.subscribe(workspaceID, f.receiver.URL(fmt.Sprintf("/ok/%d", i)), func(w *Webhook) {
			w.LastAt, w.LastStatus = stamp(midnight), Succeeded
		})
	}
	var events []event.Record
	for range 5 {
		events = append(events, f.newEvent(workspaceID))
	}
	f.publish(events...)
	want := fanoutCalls("BatchGetItem", "BatchWriteItem")
	if diff := cmp.Diff(want, f.takeCalls()); diff != "" {
		t.Errorf("the calls of the fan-out (-want +got):\n%s", diff)
	}
	if n, errs := f.handleMessages(); n != 10 || len(errs) > 0 {
		t.Fatalf("got %d messages and the errors %v, want 10 messages without errors", n, errs)
	}
	if diff := cmp.Diff(map[string]int{"BatchGetItem": 1, "UpdateItem": 10}, f.takeCalls()); diff != "" {
		t.Errorf("the calls of the worker (-want +got):\n%s", diff)
	}
}

// fanoutCalls returns the calls of the fan-out for one workspace: the webhooks, the messages, and more calls that store
// deliveries.
func fanoutCalls(more ...string) map[string]int {
	calls := map[string]int{"Query": 1, "SendMessageBatch": 1}
	for _, operation := range more {
		calls[operation]++
	}
	return calls
}

// A workspace with few deliveries does not wait for others: its messages are sent before all deliveries are stored.
func TestFewDeliveriesComeFirst(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var calls []string // the operations, and the bodies of the calls
	f := newFixture(t)
	f.breakCalls(func(operation, body string) callOutcome {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, operation+" "+body)
		return callPasses
	})
	quiet := f.newWorkspace()
	w := f.subscribe(quiet, "https://example.com")
	events := []event.Record{f.newEvent(quiet)}
	for range 2 * fanoutChunk / singleWrites {
		workspaceID := f.newWorkspace()
		for range singleWrites {
			f.subscribe(workspaceID, "https://example.com")
		}
		events = append(events, f.newEvent(workspaceID))
	}
	f.publish(events...)
	sent := slices.IndexFunc(calls, func(call string) bool {
		return strings.HasPrefix(call, "SendMessageBatch") && strings.Contains(call, w.ID)
	})
	all, before := 0, 0 // batches of writes, two for each chunk
	for i, call := range calls {
		if strings.HasPrefix(call, "BatchWriteItem") {
			all++
			if i < sent {
				before++
			}
		}
	}
	if all != 4 || before != 2 {
		t.Errorf("%d of %d batches were stored before the message of the quiet workspace was sent, want 2 of 4", before, all)
	}
}

// An event is sent only to the webhooks that subscribed to it before it occurred.
func TestUnsubscribedEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	early := f.newEvent(workspaceID)
	f.advance(time.Millisecond)
	want := f.subscribe(workspaceID, f.receiver.URL("/ok/a"), func(w *Webhook) {
		w.Events = []string{"comment.*", "file.created"}
	})
	for _, change := range []func(*Webhook){
		func(w *Webhook) { w.Active, w.DeactivatedAt = false, stamp(f.now()) },
		func(w *Webhook) { w.Events = []string{"project.*", "file.deleted"} },
		func(w *Webhook) { w.ProjectID = "prj_01KGA4ZK70ABCDEFGHJKMNPQRT" },
	} {
		f.subscribe(workspaceID, f.receiver.URL("/ok/b"), change)
	}
	f.subscribe(f.newWorkspace(), f.receiver.URL("/ok/b"))
	otherType := f.newEvent(workspaceID, func(e *event.Record) { e.Type = event.MemberAdded })
	f.publish(early, f.newEvent(workspaceID), otherType)
	f.runUntilFinished()
	if d := f.wantDelivery(Succeeded, 1); d.WebhookID != want.ID {
		t.Errorf("got a delivery to webhook %s, want %s", d.WebhookID, want.ID)
	}
	f.wantRequests(1)
}

// The time of an event is the timestamp of its payload, not the slightly earlier time in its ID.
func TestEventTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	eventID := f.ids.New(id.Event)
	f.advance(5 * time.Millisecond)
	w := f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	f.publish(f.newEvent(workspaceID, func(e *event.Record) { e.ID = eventID }))
	f.runUntilFinished()
	d := f.wantDelivery(Succeeded, 1)
	if at, _ := id.Delivery.Time(d.ID); !at.Equal(w.CreatedAt.Time()) || d.EventID != eventID {
		t.Errorf("got a delivery of event %s at %v, want event %s at %v", d.EventID, at, eventID, w.CreatedAt)
	}
	for _, payload := range []event.Text{
		`{}`, `{"timestamp":null}`, `{"timestamp":"yesterday"}`, `{"timestamp":1}`, `null`, `{`,
	} {
		invalid := streamRecords(t, f.newEvent(workspaceID, func(e *event.Record) { e.Payload = payload }))
		if errs := f.fanout.Handle(t.Context(), invalid); !errors.Is(errs[0], lambdafn.ErrPoison) {
			t.Errorf("payload %s: got %v, want ErrPoison", payload, errs[0])
		}
	}
	if n := len(f.allDeliveries()); n != 1 {
		t.Errorf("got %d deliveries, want 1", n)
	}
}

// Invalid messages and stream records go to the failure queue, and do not affect valid ones.
func TestInvalidMessagesAndRecords(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	f.publish(f.newEvent(workspaceID))
	valid := f.receiveMessages()
	invalid := []lambdafn.QueueMessage{{ID: "m1", Body: "not JSON"}, {ID: "m2", Body: `{"deliveryId":"dlv_1"}`}}
	for i, err := range f.fast.Handle(t.Context(), append(invalid, valid...)) {
		if err != nil {
			t.Errorf("message %d: %v", i, err)
		}
	}
	bodies := strings.Join(f.failedMessages(), "\n")
	for _, want := range []string{
		`"body":"not JSON","messageId":"m1"`, `"messageId":"m2"`, "does not contain the IDs",
	} {
		if !strings.Contains(bodies, want) {
			t.Errorf("the failure queue does not contain %s: %s", want, bodies)
		}
	}
	f.wantRequests(1)
	inProject := func(e *event.Record) { e.ProjectID = "prj_" + strings.Repeat("x", 300_000) }
	records := streamRecords(t, f.newEvent(workspaceID), f.newEvent("ws_x"), f.newEvent(workspaceID),
		f.newEvent(workspaceID, inProject))
	records[0].NewImage["type"] = &types.AttributeValueMemberN{Value: "1"}
	delete(records[0].NewImage, "id")
	errs := f.fanout.Handle(t.Context(), records)
	for i, poison := range []bool{true, true, false, true} {
		if got := errors.Is(errs[i], lambdafn.ErrPoison); got != poison {
			t.Errorf("record %d: got %v, want ErrPoison: %t", i, errs[i], poison)
		}
	}
}

// A webhook that cannot be decoded, or whose IDs are not valid, does not affect other webhooks.
func TestDamagedWebhooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	damages := map[string]string{
		"createdAt": "yesterday", "id": "x", "workspaceId": f.newWorkspace(), "accountId": "usr_" + strings.Repeat("X", 300),
	}
	for attribute, value := range damages {
		damaged := f.subscribe(workspaceID, f.receiver.URL("/ok/b"))
		item, err := db.Encode(damaged)
		if err != nil {
			t.Fatal(err)
		}
		item[attribute] = &types.AttributeValueMemberS{Value: value}
		f.putItem(db.WebhookKey(workspaceID, damaged.ID), item)
	}
	f.publish(f.newEvent(workspaceID))
	f.runUntilFinished()
	f.wantDelivery(Succeeded, 1)
	f.wantLog(fmt.Sprintf(`"WebhooksUnreadable":[%d]`, len(damages)))
}

// If DynamoDB rejects a delivery, only the record of its event is poison. All other deliveries are created, also those
// of the same event.
func TestRejectedDelivery(t *testing.T) {
	t.Parallel()
	for _, healthy := range []int{1, singleWrites, 2 * maxDirect} { // written alone, in batches, and by SlowWorker
		f := newFixture(t)
		workspaceID := f.newWorkspace()
		f.subscribe(workspaceID, f.receiver.URL("/ok/a"), func(w *Webhook) {
			w.Active, w.DisabledReason = false, strings.Repeat("x", 210_000)
		})
		for range healthy {
			f.subscribe(workspaceID, f.receiver.URL("/ok/b"))
		}
		// A delivery with the reason and this type is too large for an item.
		e := f.newEvent(workspaceID, func(e *event.Record) { e.Type = event.Type(strings.Repeat("x", 210_000)) })
		f.putEvents(e)
		errs := f.fanout.Handle(t.Context(), streamRecords(t, e))
		if isDirect := healthy < maxDirect; lambdafn.IsPoison(errs[0]) != isDirect || (errs[0] == nil) == isDirect {
			t.Errorf("%d healthy webhooks: got error %v, want poison: %t", healthy, errs[0], isDirect)
		}
		f.runUntilFinished()
		if n := len(f.allDeliveries()); n != healthy || f.receiver.Total() != healthy {
			t.Errorf("got %d deliveries and %d requests, want %d", n, f.receiver.Total(), healthy)
		}
	}
}

// The events of a workspace that has ended, or is read-only, have no deliveries, in neither lane. The other workspaces
// of the batch do.
func TestFanoutOfEndedWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ended, suspended, quiet := f.newWorkspace(), f.newWorkspace(), f.newWorkspace()
	for _, workspaceID := range []string{ended, suspended} {
		f.subscribe(workspaceID, f.receiver.URL("/ok/ended"))
		f.subscribe(workspaceID, f.receiver.URL("/ok/ended-slow"), inSlowLane)
	}
	f.subscribe(quiet, f.receiver.URL("/ok/quiet"))
	f.endWorkspace(ended)
	f.suspendOwners(suspended)
	f.publish(f.newEvent(ended), f.newEvent(suspended), f.newEvent(quiet))
	f.runUntilFinished()
	if n := len(f.allDeliveries()); n != 1 || len(f.receiver.To("/ok/quiet")) != 1 {
		t.Errorf("got %d deliveries, want only the one of the other workspace", n)
	}
}

// If a workspace ends, or becomes read-only, before its deliveries are created, none is created.
func TestCreationInEndedWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ended, suspended := f.newWorkspace(), f.newWorkspace()
	f.subscribe(ended, f.receiver.URL("/ok/a"), inSlowLane)
	f.subscribe(suspended, f.receiver.URL("/ok/b"), inSlowLane)
	f.publish(f.newEvent(ended), f.newEvent(suspended))
	f.endWorkspace(ended)
	f.suspendOwners(suspended)
	if n, errs := f.handleMessages(); n != 2 || len(errs) > 0 {
		t.Errorf("got %d messages and the errors %v, want two messages", n, errs)
	}
	if n := len(f.allDeliveries()); n != 0 {
		t.Errorf("got %d deliveries, want none", n)
	}
}
