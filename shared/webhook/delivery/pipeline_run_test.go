package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

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
	calls, countingTransport := countCalls()
	p := newPipeline(t, countingTransport)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	e := p.newEvent(workspaceID)
	p.advance(20 * time.Millisecond)
	p.publish(e)
	if diff := cmp.Diff(map[string]int{"Query": 1, "PutItem": 1, "SendMessageBatch": 1}, calls.take()); diff != "" {
		t.Errorf("fan-out: %s", diff)
	}
	p.advance(30 * time.Millisecond)
	if _, errs := p.handleMessages(); len(errs) > 0 {
		t.Fatal(errs)
	}
	// The claim, the record, and the health: this is the first success of the webhook. Of further ones, one a minute is
	// stored.
	if diff := cmp.Diff(map[string]int{"BatchGetItem": 1, "UpdateItem": 3}, calls.take()); diff != "" {
		t.Errorf("delivery: %s", diff)
	}
	requests := p.receiver.To("/ok/a")
	if len(requests) != 1 {
		t.Fatalf("%d requests", len(requests))
	}
	r, d := requests[0], p.onlyDelivery()
	if err := r.Verify(pipelineSecret); err != nil {
		t.Error(err)
	}
	if string(r.Body) != string(e.Payload) || r.ID() != e.ID || r.Header.Get("X-Service-Delivery") != d.ID ||
		r.Header.Get("X-Service-Event") != "file.created" || r.Header.Get("X-Service-Timestamp") != d.Attempts[0].At.String() {
		t.Errorf("sent %s with %v", r.Body, r.Header)
	}
	if d.Status != Succeeded || len(d.Attempts) != 1 || d.Attempts[0].StatusCode != 200 || d.Attempts[0].Error != "" || d.Due != "" || d.DueAt != nil {
		t.Errorf("delivery: %+v", d)
	}
	if got := p.storedWebhook(w); got.LastStatus != Succeeded || got.LastAt == nil || got.Revision != 1 {
		t.Errorf("webhook: %+v", got)
	}
	p.publish(e) // a replay only sends the message again
	p.run()
	if n := p.receiver.Total(); n != 1 {
		t.Errorf("%d requests after a replay", n)
	}
	line := fmt.Sprintf(`"delivery":%q,"webhook":%q,"event":%q,"type":"file.created","attempt":1,"status":200,"durationMs":0,"outcome":"succeeded"`, d.ID, w.ID, e.ID)
	for _, want := range []string{line, `"DeliveriesMade":[1]`, `"DeliveryAttempts":[1]`, `"DeliverySuccesses":[1]`, `"DeliveryLatency":[50]`} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, p.log)
		}
	}
	for _, never := range []string{p.receiver.URL(""), pipelineSecret, `"file.created"}`} {
		if strings.Contains(p.log.String(), never) {
			t.Errorf("the log contains %s", never)
		}
	}
}

// The deliveries of a batch share one read. Each needs two writes.
func TestCallsOfABatch(t *testing.T) {
	t.Parallel()
	calls, countingTransport := countCalls()
	p := newPipeline(t, countingTransport)
	workspaceID := newWorkspace(p)
	for i := range 2 {
		p.subscribe(workspaceID, p.receiver.URL(fmt.Sprintf("/ok/%d", i)), func(w *Webhook) { w.LastAt, w.LastStatus = stampPtr(midnight), Succeeded })
	}
	p.publish(p.newEvent(workspaceID), p.newEvent(workspaceID), p.newEvent(workspaceID), p.newEvent(workspaceID), p.newEvent(workspaceID))
	if diff := cmp.Diff(map[string]int{"Query": 1, "PutItem": 10, "SendMessageBatch": 1}, calls.take()); diff != "" {
		t.Errorf("fan-out: %s", diff)
	}
	if n, errs := p.handleMessages(); n != 10 || len(errs) > 0 {
		t.Fatal(n, errs)
	}
	if diff := cmp.Diff(map[string]int{"BatchGetItem": 1, "UpdateItem": 20}, calls.take()); diff != "" {
		t.Errorf("delivery: %s", diff)
	}
}

// An endpoint that always fails receives ten attempts in 75 hours, at the times of the schedule.
func TestFullSchedule(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/status/500"))
	p.publish(p.newEvent(workspaceID))
	p.run()
	d := p.onlyDelivery()
	if d.Status != Failed || len(d.Attempts) != maxTries || d.Reason != "" || p.receiver.Total() != maxTries {
		t.Fatalf("%d requests, delivery: %+v", p.receiver.Total(), d)
	}
	for i, step := range schedule {
		gap := d.Attempts[i+1].At.Time().Sub(d.Attempts[i].At.Time())
		if least, most := step*8/10, step*12/10+1100*time.Millisecond; gap < least || gap > most {
			t.Errorf("attempt %d came after %v, want %v to %v", i+2, gap, least, most)
		}
		if a := d.Attempts[i]; a.StatusCode != 500 || a.Error != "status 500" || a.Response == "" {
			t.Errorf("attempt %d: %+v", i+1, a)
		}
	}
	if got := p.storedWebhook(w); !got.Active || got.Failures != 10 || got.LastStatus != Failed {
		t.Errorf("webhook: %+v", got)
	}
}

func TestSuccessAfterFailures(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/fail/a?n=3"))
	p.publish(p.newEvent(workspaceID))
	p.run()
	if d := p.onlyDelivery(); d.Status != Succeeded || len(d.Attempts) != 4 || d.Attempts[2].StatusCode != 500 || d.Attempts[3].StatusCode != 200 {
		t.Errorf("delivery: %+v", d)
	}
	if got := p.storedWebhook(w); got.Failures != 0 || got.FailingSince != nil || got.LastStatus != Succeeded {
		t.Errorf("webhook: %+v", got)
	}
}

// A 410 disables the webhook. Later events are stored as failed deliveries, so that they can be recovered, and are not
// sent.
func TestGoneDisablesTheWebhook(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/gone"))
	p.publish(p.newEvent(workspaceID))
	p.run()
	if got := p.storedWebhook(w); got.Active || got.DisabledReason != disabledGone || got.Revision != 2 {
		t.Errorf("webhook: %+v", got)
	}
	if d := p.onlyDelivery(); d.Status != Failed || len(d.Attempts) != 1 || d.Attempts[0].StatusCode != 410 {
		t.Errorf("delivery: %+v", d)
	}
	later := p.newEvent(workspaceID)
	p.publish(later)
	p.run()
	for _, d := range p.allDeliveries() {
		if d.EventID == later.ID && (d.Status != Failed || len(d.Attempts) != 0 || d.Reason != "the webhook was disabled: "+disabledGone || d.Due != "") {
			t.Errorf("the later delivery: %+v", d)
		}
	}
	if n := p.receiver.Total(); len(p.allDeliveries()) != 2 || n != 1 {
		t.Errorf("%d deliveries, %d requests", len(p.allDeliveries()), n)
	}
	if !strings.Contains(p.log.String(), `"WebhooksDisabled":[1]`) {
		t.Error("the metric is missing in the log")
	}
}

// A 410 from an endpoint that was replaced during the attempt does not disable the webhook. The delivery is retried at
// the new endpoint.
func TestGoneFromAReplacedEndpoint(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/gone"))
	p.publish(p.newEvent(workspaceID))
	send := p.worker.send
	p.worker.send = func(ctx context.Context, r sender.Request) sender.Result {
		result := send(ctx, r)
		if result.Gone {
			w.URL, w.Generation = p.receiver.URL("/ok/a"), w.Generation+1
			p.put(w)
		}
		return result
	}
	errs := p.worker.Handle(t.Context(), p.receive())
	if d := p.onlyDelivery(); !errors.Is(errs[0], lambdafn.ErrLater) || d.Status != Pending || d.NextAttemptAt.Time().Sub(p.now()) > 6*time.Second {
		t.Errorf("%v, delivery: %+v", errs, d)
	}
	p.run()
	if d := p.onlyDelivery(); d.Status != Succeeded || len(d.Attempts) != 2 || d.Attempts[0].StatusCode != 410 || !p.storedWebhook(w).Active {
		t.Errorf("delivery: %+v", d)
	}
	if log := p.log.String(); strings.Contains(log, "webhook disabled") || !strings.Contains(log, `"outcome":"will be retried"`) {
		t.Errorf("log: %s", log)
	}
}

// Five days without a success disable the webhook.
func TestFiveDaysOfFailuresDisableTheWebhook(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/status/500"))
	for range 3 {
		p.publish(p.newEvent(workspaceID))
		p.run()
		if got := p.storedWebhook(w); p.now().Sub(midnight) < disableAfter && !got.Active {
			t.Fatalf("disabled after %v", p.now().Sub(midnight))
		}
	}
	got := p.storedWebhook(w)
	if got.Active || got.DisabledReason != disabledFailing {
		t.Errorf("webhook: %+v", got)
	}
	if after := p.now().Sub(midnight); after < disableAfter || after > disableAfter+30*time.Hour {
		t.Errorf("it was disabled after %v", after)
	}
}

// A success during the last failing attempt ends the series of failures: the webhook stays active, and the delivery is
// retried.
func TestSuccessPreventsDisabling(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/fail/a"), func(w *Webhook) {
		w.Failures, w.FailingSince, w.LastStatus = disableFailures, stampPtr(midnight.Add(-disableAfter)), Failed
	})
	p.publish(p.newEvent(workspaceID))
	send := p.worker.send
	p.worker.send = func(ctx context.Context, r sender.Request) sender.Result {
		if p.receiver.Total() == 0 {
			if err := p.store.saveHealth(ctx, w, w.after(sender.Result{StatusCode: 200}, p.now())); err != nil {
				t.Error(err)
			}
		}
		return send(ctx, r)
	}
	errs := p.worker.Handle(t.Context(), p.receive())
	if got := p.storedWebhook(w); !errors.Is(errs[0], lambdafn.ErrLater) || !got.Active || got.FailingSince == nil || !got.FailingSince.Time().Equal(p.now()) {
		t.Errorf("%v, webhook: %+v", errs, got)
	}
	p.run()
	if d := p.onlyDelivery(); d.Status != Succeeded || len(d.Attempts) != 2 {
		t.Errorf("delivery: %+v", d)
	}
}

// The time of an event is the timestamp of its payload, not the slightly earlier time in its ID.
func TestEventTime(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	eventID := p.ids.New(id.Event)
	p.advance(5 * time.Millisecond)
	w := p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	late := p.newEvent(workspaceID, func(e *event.Record) { e.ID = eventID })
	p.publish(late)
	p.run()
	d := p.onlyDelivery()
	if at, _ := id.Delivery.Time(d.ID); !at.Equal(w.CreatedAt.Time()) || d.EventID != eventID || d.Status != Succeeded {
		t.Errorf("of %v, made at %v: %+v", w.CreatedAt, at, d)
	}
	for _, payload := range []event.Text{`{}`, `{"timestamp":null}`, `{"timestamp":"yesterday"}`, `{"timestamp":1}`, `null`, `{`} {
		broken := stream(t, p.newEvent(workspaceID, func(e *event.Record) { e.Payload = payload }))
		if errs := p.fanout.Handle(t.Context(), broken); !errors.Is(errs[0], lambdafn.ErrPoison) {
			t.Errorf("%s: %v", payload, errs)
		}
	}
	if n := len(p.allDeliveries()); n != 1 {
		t.Errorf("%d deliveries", n)
	}
}

func TestUnsubscribedEvents(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	early := p.newEvent(workspaceID)
	p.advance(time.Millisecond)
	want := p.subscribe(workspaceID, p.receiver.URL("/ok/a"), func(w *Webhook) { w.Events = []string{"comment.*", "file.created"} })
	for _, change := range []func(*Webhook){
		func(w *Webhook) { w.Active = false },
		func(w *Webhook) { w.Events = []string{"project.*", "file.deleted"} },
		func(w *Webhook) { w.ProjectID = "prj_01KGA4ZK70ABCDEFGHJKMNPQRT" },
	} {
		p.subscribe(workspaceID, p.receiver.URL("/ok/b"), change)
	}
	p.subscribe(newWorkspace(p), p.receiver.URL("/ok/b"))
	p.publish(early, p.newEvent(workspaceID), p.newEvent(workspaceID, func(e *event.Record) { e.Type = event.MemberAdded }))
	p.run()
	if d := p.onlyDelivery(); d.WebhookID != want.ID || d.Status != Succeeded || p.receiver.Count("/ok/b") != 0 {
		t.Errorf("delivery: %+v", d)
	}
}

// A delivery fails if its webhook is deactivated, disabled or deleted before the attempt.
func TestInactiveOrDeletedBeforeTheAttempt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, reason string
		change       func(p *pipeline, w Webhook)
	}{
		{"inactive", "the webhook is not active", func(p *pipeline, w Webhook) { w.Active = false; p.put(w) }},
		{"disabled", "the webhook was disabled: x", func(p *pipeline, w Webhook) { w.Active, w.DisabledReason = false, "x"; p.put(w) }},
		{"deleted", "the webhook was deleted", func(p *pipeline, w Webhook) {
			if _, err := p.store.Client.Do(p.t.Context(), p.store.Table.Delete(db.WebhookKey(w.WorkspaceID, w.ID))); err != nil {
				p.t.Fatal(err)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newPipeline(t)
			workspaceID := newWorkspace(p)
			w := p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
			p.publish(p.newEvent(workspaceID))
			tc.change(p, w)
			p.run()
			if d := p.onlyDelivery(); d.Status != Failed || d.Reason != tc.reason || d.Due != "" || p.receiver.Total() != 0 {
				t.Errorf("delivery: %+v", d)
			}
		})
	}
}

func TestInvalidMessagesAndRecords(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	good := p.receive()
	batch := append([]lambdafn.QueueMessage{{ID: "m1", Body: "what?"}, {ID: "m2", Body: `{"deliveryId":"dlv_1"}`}}, good...)
	for i, err := range p.worker.Handle(t.Context(), batch) {
		if err != nil {
			t.Errorf("message %d: %v", i, err)
		}
	}
	bodies := strings.Join(p.failedMessages(), "\n")
	if !strings.Contains(bodies, `"body":"what?","messageId":"m1"`) || !strings.Contains(bodies, `"messageId":"m2"`) || !strings.Contains(bodies, "does not contain the IDs of a delivery") {
		t.Errorf("in the failure queue: %s", bodies)
	}
	if p.receiver.Total() != 1 {
		t.Error("an invalid message delayed the others")
	}
	records := stream(t, p.newEvent(workspaceID), p.newEvent("ws_x"), p.newEvent(workspaceID))
	records[0].NewImage["type"] = &types.AttributeValueMemberN{Value: "1"}
	delete(records[0].NewImage, "id")
	errs := p.fanout.Handle(t.Context(), records)
	for i, poison := range []bool{true, true, false} {
		if strings.Contains(fmt.Sprint(errs[i]), "poison") != poison {
			t.Errorf("record %d: %v", i, errs[i])
		}
	}
}

// A webhook that cannot be decoded does not affect other webhooks.
func TestUndecodableWebhook(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	broken := p.ids.New(id.Webhook)
	if _, err := p.store.Client.Do(t.Context(), p.store.Table.Put(db.WebhookKey(workspaceID, broken), db.Item{
		"createdAt": &types.AttributeValueMemberS{Value: "yesterday"},
	})); err != nil {
		t.Fatal(err)
	}
	p.publish(p.newEvent(workspaceID))
	p.run()
	if d := p.onlyDelivery(); d.Status != Succeeded {
		t.Errorf("delivery: %+v", d)
	}
	if log := p.log.String(); !strings.Contains(log, broken) || !strings.Contains(log, `"WebhooksUnreadable":[1]`) {
		t.Errorf("log: %s", log)
	}
}

// The work for an event depends only on its workspace: webhooks of other workspaces cause no calls.
func TestFanoutReadsItsWorkspaceOnly(t *testing.T) {
	t.Parallel()
	calls, countingTransport := countCalls()
	p := newPipeline(t, countingTransport)
	for range 300 {
		p.subscribe(newWorkspace(p), "https://example.com")
	}
	workspaceID := newWorkspace(p)
	for i := range 20 {
		p.subscribe(workspaceID, p.receiver.URL(fmt.Sprintf("/ok/%d", i)))
	}
	p.publish(p.newEvent(workspaceID))
	if diff := cmp.Diff(map[string]int{"Query": 1, "PutItem": 20, "SendMessageBatch": 2}, calls.take()); diff != "" {
		t.Error(diff)
	}
	out, err := p.sdk.Query(t.Context(), &dynamodb.QueryInput{ // the number of items that the query read
		TableName: &p.table, KeyConditionExpression: ptr("pk = :pk"), Select: types.SelectCount,
		ExpressionAttributeValues: db.Item{":pk": &types.AttributeValueMemberS{Value: db.WebhooksOf(workspaceID).PK}},
	})
	if err != nil || out.ScannedCount != 20 {
		t.Errorf("%v, %v", out, err)
	}
}

func ptr[T any](v T) *T { return &v }
