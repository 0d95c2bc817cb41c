package delivery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/webhook/sender"
)

// Without faults, one event for one webhook leads to one signed POST with the unchanged payload, and to no unnecessary
// calls.
func TestDelivery(t *testing.T) {
	t.Parallel()
	calls, countTransport := countCalls()
	f := newFixture(t, countTransport)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	e := f.newEvent(workspaceID)
	f.advance(20 * time.Millisecond)
	f.publish(e)
	if diff := cmp.Diff(map[string]int{"Query": 1, "PutItem": 1, "SendMessageBatch": 1}, calls.take()); diff != "" {
		t.Errorf("the calls of the fan-out (-want +got):\n%s", diff)
	}
	f.advance(30 * time.Millisecond)
	if _, errs := f.handleMessages(); len(errs) > 0 {
		t.Fatal(errs)
	}
	// The updates are the record and the health. The health is stored because this is the first success.
	if diff := cmp.Diff(map[string]int{"BatchGetItem": 1, "UpdateItem": 2}, calls.take()); diff != "" {
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
	if a := d.Attempts[0]; a.StatusCode != 200 || a.Error != "" || d.Due != "" || d.DueAt != nil {
		t.Errorf("got delivery %+v, want a 200 without an error, and no entry in the index", d)
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
		`"DeliveriesCreated":[1]`, `"DeliveryAttempts":[1]`, `"DeliverySuccesses":[1]`, `"DeliveryLatency":[50]`,
	)
	for _, forbidden := range []string{f.receiver.URL(""), webhookSecret, `"file.created"}`} {
		if strings.Contains(f.log.String(), forbidden) {
			t.Errorf("the log contains %s", forbidden)
		}
	}
}

// The deliveries of a batch share the calls of the fan-out and one read. Each needs one write after its attempt.
func TestCallsOfABatch(t *testing.T) {
	t.Parallel()
	calls, countTransport := countCalls()
	f := newFixture(t, countTransport)
	workspaceID := f.newWorkspace()
	for i := range 2 {
		f.subscribe(workspaceID, f.receiver.URL(fmt.Sprintf("/ok/%d", i)), func(w *Webhook) {
			w.LastAt, w.LastStatus = stampPtr(midnight), Succeeded
		})
	}
	var events []event.Record
	for range 5 {
		events = append(events, f.newEvent(workspaceID))
	}
	f.publish(events...)
	want := map[string]int{"Query": 1, "BatchGetItem": 1, "BatchWriteItem": 1, "SendMessageBatch": 1}
	if diff := cmp.Diff(want, calls.take()); diff != "" {
		t.Errorf("the calls of the fan-out (-want +got):\n%s", diff)
	}
	if n, errs := f.handleMessages(); n != 10 || len(errs) > 0 {
		t.Fatalf("got %d messages and the errors %v, want 10 messages without errors", n, errs)
	}
	if diff := cmp.Diff(map[string]int{"BatchGetItem": 1, "UpdateItem": 10}, calls.take()); diff != "" {
		t.Errorf("the calls of the worker (-want +got):\n%s", diff)
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

func TestSuccessAfterFailures(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/fail/a?n=3"))
	f.publish(f.newEvent(workspaceID))
	f.runUntilFinished()
	d := f.wantDelivery(Succeeded, 4)
	if d.Attempts[2].StatusCode != 500 || d.Attempts[3].StatusCode != 200 {
		t.Errorf("got attempts %+v, want 500 and then 200 at the end", d.Attempts)
	}
	if got := f.storedWebhook(w); got.Failures != 0 || got.FailingSince != nil || got.LastStatus != Succeeded {
		t.Errorf("got webhook %+v, want no failures", got)
	}
}

// A 410 disables the webhook. Later events are stored as failed deliveries, so that they can be recovered, and are not
// sent.
func TestGoneDisablesTheWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/gone"))
	f.publish(f.newEvent(workspaceID))
	f.runUntilFinished()
	if got := f.storedWebhook(w); got.Active || got.DisabledReason != disabledGone || got.Revision != 2 {
		t.Errorf("got webhook %+v, want revision 2, disabled because of the 410", got)
	}
	if d := f.wantDelivery(Failed, 1); d.Attempts[0].StatusCode != 410 {
		t.Errorf("got status %d, want 410", d.Attempts[0].StatusCode)
	}
	later := f.newEvent(workspaceID)
	f.publish(later)
	f.runUntilFinished()
	for _, d := range f.allDeliveries() {
		if d.EventID != later.ID {
			continue
		}
		reason := "the webhook was disabled: " + disabledGone
		if d.Status != Failed || len(d.Attempts) != 0 || d.Reason != reason || d.Due != "" {
			t.Errorf("got %+v for the later event, want a failed delivery without an attempt", d)
		}
	}
	if n := len(f.allDeliveries()); n != 2 {
		t.Errorf("got %d deliveries, want 2", n)
	}
	f.wantRequests(1)
	f.wantLog(`"WebhooksDisabled":[1]`)
}

// A 410 from an endpoint that was replaced during the attempt does not disable the webhook. The delivery is retried at
// the new endpoint.
func TestGoneFromAReplacedEndpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/gone"))
	f.publish(f.newEvent(workspaceID))
	send := f.fast.send
	f.fast.send = func(ctx context.Context, r sender.Request) sender.Result {
		result := send(ctx, r)
		if result.Gone {
			w.URL, w.Generation = f.receiver.URL("/ok/a"), w.Generation+1
			f.putWebhook(w)
		}
		return result
	}
	errs := f.fast.Handle(t.Context(), f.receiveMessages())
	if !errors.Is(errs[0], lambdafn.ErrLater) {
		t.Errorf("got %v, want ErrLater", errs[0])
	}
	if d := f.wantDelivery(Pending, 1); d.NextAttemptAt.Time().Sub(f.now()) > 6*time.Second {
		t.Errorf("the next attempt is at %v, want at most 6 s after %v", d.NextAttemptAt, f.now())
	}
	f.runUntilFinished()
	if d := f.wantDelivery(Succeeded, 2); d.Attempts[0].StatusCode != 410 {
		t.Errorf("got status %d of the first attempt, want 410", d.Attempts[0].StatusCode)
	}
	if !f.storedWebhook(w).Active {
		t.Error("the webhook was disabled")
	}
	f.wantLog(`"outcome":"will be retried"`)
	if strings.Contains(f.log.String(), "webhook disabled") {
		t.Errorf("the log reports that the webhook was disabled:\n%s", f.log)
	}
}

// Five days without a success disable the webhook.
func TestFiveDaysOfFailuresDisableTheWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/status/500"))
	for range 3 {
		f.publish(f.newEvent(workspaceID))
		f.runUntilFinished()
		if got := f.storedWebhook(w); f.now().Sub(midnight) < disableAfter && !got.Active {
			t.Fatalf("the webhook was disabled after %v, want at least %v", f.now().Sub(midnight), disableAfter)
		}
	}
	got := f.storedWebhook(w)
	if got.Active || got.DisabledReason != disabledFailing {
		t.Errorf("got webhook %+v, want it to be disabled because of failures", got)
	}
	if after := f.now().Sub(midnight); after < disableAfter || after > disableAfter+30*time.Hour {
		t.Errorf("the webhook was disabled after %v, want %v to %v", after, disableAfter, disableAfter+30*time.Hour)
	}
}

// A success during the last failing attempt ends the series of failures: the webhook stays active, and the delivery is
// retried.
func TestSuccessPreventsDisabling(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/fail/a"), func(w *Webhook) {
		w.Failures, w.FailingSince, w.LastStatus = disableFailures, stampPtr(midnight.Add(-disableAfter)), Failed
	})
	f.publish(f.newEvent(workspaceID))
	send := f.slow.send
	f.slow.send = func(ctx context.Context, r sender.Request) sender.Result {
		if f.receiver.Total() == 0 {
			if err := f.store.saveHealth(ctx, w, w.after(sender.Result{StatusCode: 200}, f.now())); err != nil {
				t.Error(err)
			}
		}
		return send(ctx, r)
	}
	f.handleMessages()
	f.wantRequests(1)
	got := f.storedWebhook(w)
	if !got.Active || got.FailingSince == nil || !got.FailingSince.Time().Equal(f.now()) {
		t.Errorf("got webhook %+v, want an active one with failures since %v", got, f.now())
	}
	f.runUntilFinished()
	f.wantDelivery(Succeeded, 2)
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
		func(w *Webhook) { w.Active = false },
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

// A delivery fails if its webhook is deactivated, disabled or deleted before the attempt.
func TestInactiveOrDeletedBeforeTheAttempt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, reason string
		change       func(f *fixture, w Webhook)
	}{
		{"inactive", "the webhook is not active", func(f *fixture, w Webhook) {
			w.Active = false
			f.putWebhook(w)
		}},
		{"disabled", "the webhook was disabled: x", func(f *fixture, w Webhook) {
			w.Active, w.DisabledReason = false, "x"
			f.putWebhook(w)
		}},
		{"deleted", "the webhook was deleted", func(f *fixture, w Webhook) { f.deleteWebhook(w) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			workspaceID := f.newWorkspace()
			w := f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
			f.publish(f.newEvent(workspaceID))
			tc.change(f, w)
			f.runUntilFinished()
			if d := f.wantDelivery(Failed, 0); d.Reason != tc.reason || d.Due != "" {
				t.Errorf("got delivery %+v, want reason %q and no entry in the index", d, tc.reason)
			}
			f.wantRequests(0)
		})
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
	records := streamRecords(t, f.newEvent(workspaceID), f.newEvent("ws_x"), f.newEvent(workspaceID))
	records[0].NewImage["type"] = &types.AttributeValueMemberN{Value: "1"}
	delete(records[0].NewImage, "id")
	errs := f.fanout.Handle(t.Context(), records)
	for i, poison := range []bool{true, true, false} {
		if got := errors.Is(errs[i], lambdafn.ErrPoison); got != poison {
			t.Errorf("record %d: got %v, want ErrPoison: %t", i, errs[i], poison)
		}
	}
}

// A webhook that cannot be decoded does not affect other webhooks.
func TestUndecodableWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	broken := f.ids.New(id.Webhook)
	f.putItem(db.WebhookKey(workspaceID, broken), db.Item{"createdAt": &types.AttributeValueMemberS{Value: "yesterday"}})
	f.publish(f.newEvent(workspaceID))
	f.runUntilFinished()
	f.wantDelivery(Succeeded, 1)
	f.wantLog(broken, `"WebhooksUnreadable":[1]`)
}

// The work for an event depends only on its workspace: webhooks of other workspaces cause no calls.
func TestFanoutReadsItsWorkspaceOnly(t *testing.T) {
	t.Parallel()
	calls, countTransport := countCalls()
	f := newFixture(t, countTransport)
	for range 300 {
		f.subscribe(f.newWorkspace(), "https://example.com")
	}
	workspaceID := f.newWorkspace()
	for i := range maxDirect {
		f.subscribe(workspaceID, f.receiver.URL(fmt.Sprintf("/ok/%d", i)))
	}
	f.publish(f.newEvent(workspaceID))
	want := map[string]int{"Query": 1, "BatchGetItem": 1, "BatchWriteItem": 1, "SendMessageBatch": 1}
	if diff := cmp.Diff(want, calls.take()); diff != "" {
		t.Errorf("the calls of the fan-out (-want +got):\n%s", diff)
	}
	out, err := f.sdk.Query(t.Context(), &dynamodb.QueryInput{ // reads the same items as the fan-out
		TableName: &f.table, KeyConditionExpression: aws.String("pk = :pk"), Select: types.SelectCount,
		ExpressionAttributeValues: db.Item{":pk": &types.AttributeValueMemberS{Value: db.WebhooksOf(workspaceID).PK}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.ScannedCount != maxDirect {
		t.Errorf("the query reads %d items, want %d", out.ScannedCount, maxDirect)
	}
}

// A workspace with few deliveries does not wait for others: its messages are sent before all deliveries are stored.
func TestFewDeliveriesComeFirst(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var calls []string // the operations, and the bodies of the calls that send messages
	f := newFixture(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			call := dynamotest.Operation(r)
			if call == "SendMessageBatch" {
				call = readBody(r)
			}
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, call)
			return next.RoundTrip(r)
		})
	})
	quiet := f.newWorkspace()
	w := f.subscribe(quiet, "https://example.com")
	events := []event.Record{f.newEvent(quiet)}
	for range 2 * fanoutChunk / maxSingleWrites {
		workspaceID := f.newWorkspace()
		for range maxSingleWrites {
			f.subscribe(workspaceID, "https://example.com")
		}
		events = append(events, f.newEvent(workspaceID))
	}
	f.publish(events...)
	sent := slices.IndexFunc(calls, func(call string) bool { return strings.Contains(call, w.ID) })
	all, before := 0, 0 // batches of writes, two for each chunk
	for i, call := range calls {
		if call == "BatchWriteItem" {
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
