package webhook

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/webhook/delivery"
)

func TestListDeliveries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	at := f.timestamp()
	inFiveSeconds := clock.Stamp(f.clock.Now().Add(5 * time.Second)).String()
	inOneHour := clock.Stamp(f.clock.Now().Add(time.Hour)).String()
	refused := map[string]any{
		"at": at, "statusCode": nil, "durationMs": 5.0, "error": "the connection was refused", "response": nil,
	}
	ok := map[string]any{"at": at, "statusCode": 200.0, "durationMs": 5.0, "error": nil, "response": "ok"}
	var want []any
	for _, tc := range []struct {
		state         stateFunc
		status        string
		attempts      []any
		nextAttemptAt any
		reason        string
	}{
		{state: nil, status: "pending", attempts: []any{}, nextAttemptAt: at},
		{state: succeeded, status: "succeeded", attempts: []any{ok}},
		{state: failed, status: "failed", attempts: []any{refused}},
		{state: waiting, status: "pending", attempts: []any{refused}, nextAttemptAt: inOneHour},
		{state: inProgress, status: "pending", attempts: []any{}, nextAttemptAt: inFiveSeconds},
		{state: notAttempted, status: "failed", attempts: []any{}, reason: "the webhook is not active"},
	} {
		d := f.putDelivery(path, tc.state)
		item := map[string]any{
			"id": d.ID, "eventId": d.EventID, "type": "file.created", "status": tc.status, "attempts": tc.attempts,
			"nextAttemptAt": tc.nextAttemptAt,
		}
		if tc.reason != "" {
			item["reason"] = tc.reason
		}
		want = append(want, item)
	}
	slices.SortFunc(want, func(a, b any) int { return -strings.Compare(idOf(a), idOf(b)) })
	for attribute, value := range map[string]string{"attempts": "many", "id": strings.Repeat("x", 2000)} {
		damaged := f.putDelivery(path, succeeded)
		update := expression.Set(expression.Name(attribute), expression.Value(value))
		_, err := f.client.Do(t.Context(), f.webhooks.Update(db.DeliveryKey(damaged.WebhookID, damaged.ID), update))
		f.must(err)
	}
	response := ada.Get(path+"/deliveries").Want(t, http.StatusOK)
	if diff := cmp.Diff(map[string]any{"deliveries": want}, response.Body); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	if response.Calls != 3 { // session and pointer, role, and the page
		t.Errorf("got %d calls to DynamoDB, want 3", response.Calls)
	}
	for _, item := range want {
		one := ada.Get(path+"/deliveries/"+idOf(item)).Want(t, http.StatusOK)
		if payload, _ := one.Body["payload"].(map[string]any); payload["type"] != "file.created" {
			t.Errorf("got %s, want the payload of a file.created event", one.Raw)
		}
		if one.Calls != 3 {
			t.Errorf("got %d calls to DynamoDB, want 3", one.Calls)
		}
		delete(one.Body, "payload")
		if diff := cmp.Diff(item, any(one.Body)); diff != "" {
			t.Errorf("the delivery (-want +got):\n%s", diff)
		}
	}
	f.clock.Advance(leaseTime) // the lease of the attempt in progress expires
	interrupted := ada.Get(path+"/deliveries?status=pending").Want(t, http.StatusOK)
	if !strings.Contains(interrupted.Raw, interruptedText) {
		t.Errorf("got %s, want an interrupted attempt", interrupted.Raw)
	}
	f.clock.Advance(retention)
	if expired := ada.Get(path+"/deliveries").Want(t, http.StatusOK); len(expired.List("deliveries")) != 0 {
		t.Errorf("got %s, want no deliveries after the retention", expired.Raw)
	}
	ada.Get(path+"/deliveries/"+idOf(want[0])).Want(t, http.StatusNotFound, fault.CodeDeliveryNotFound)
}

// idOf returns the ID of an item in a response.
func idOf(item any) string {
	object, _ := item.(map[string]any)
	text, _ := object["id"].(string)
	return text
}

// With every page size, each delivery that matches the status is listed once, newest first.
func TestDeliveryPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.user("ada"), f.user("grace")
	path := ada.createWebhook("/ok")
	var all []delivery.Delivery
	for i := range 130 {
		f.clock.Advance(time.Millisecond)
		state := []stateFunc{succeeded, failed, nil}[i%13%3]
		all = append(all, f.putDelivery(path, state))
	}
	slices.Reverse(all)
	first := ada.Get(path+"/deliveries").Want(t, http.StatusOK)
	if n := len(first.List("deliveries")); n != 50 || first.Text("nextCursor") == "" {
		t.Errorf("got %d deliveries and cursor %q, want 50 and a cursor", n, first.Text("nextCursor"))
	}
	checkPages := func(status, limit string) {
		var want, got []string
		for _, d := range all {
			if status == "" || string(d.Status) == status {
				want = append(want, d.ID)
			}
		}
		list := path + "/deliveries?limit=" + limit
		if status != "" {
			list += "&status=" + status
		}
		cursor := ""
		for {
			page := ada.Get(list+cursor).Want(t, http.StatusOK)
			got = append(got, page.Texts("deliveries", "id")...)
			if page.Text("nextCursor") == "" {
				break
			}
			cursor = "&cursor=" + page.Text("nextCursor")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("status %q, limit %s (-want +got):\n%s", status, limit, diff)
		}
	}
	for _, status := range []string{"", "pending", "succeeded", "failed"} {
		for _, limit := range []string{"7", "50", "100"} {
			checkPages(status, limit)
		}
	}
	cursor := ada.Get(path + "/deliveries?limit=1").Text("nextCursor")
	for otherList, u := range map[string]*user{ // a cursor is valid for one list only
		path + "/deliveries?status=failed&cursor=":         ada,
		ada.createWebhook("/ok") + "/deliveries?cursor=":   ada,
		grace.createWebhook("/ok") + "/deliveries?cursor=": grace,
	} {
		u.Get(otherList+cursor).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	for _, invalid := range []string{"limit=0", "limit=101", "status=lost", "cursor=x"} {
		ada.Get(path+"/deliveries?"+invalid).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
}

// The limits of one request, which package delivery defines.
const filterCalls, filterPage = 5, 100

// A page of a rare status ends after a limited number of reads. The next page continues there.
func TestFilteringByStatusIsLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	rare := f.putDelivery(path, failed)
	for range filterCalls*filterPage + 1 {
		f.clock.Advance(time.Millisecond)
		f.putDelivery(path, succeeded)
	}
	first := ada.Get(path+"/deliveries?status=failed").Want(t, http.StatusOK)
	if len(first.List("deliveries")) != 0 || first.Text("nextCursor") == "" || first.Calls != 2+filterCalls {
		t.Errorf("got %s with %d calls, want an empty page, a cursor and %d calls", first.Raw, first.Calls, 2+filterCalls)
	}
	second := ada.Get(path+"/deliveries?status=failed&cursor="+first.Text("nextCursor")).Want(t, http.StatusOK)
	if diff := cmp.Diff([]string{rare.ID}, second.Texts("deliveries", "id")); diff != "" {
		t.Errorf("the second page (-want +got):\n%s", diff)
	}
	if cursor := second.Text("nextCursor"); cursor != "" {
		t.Errorf("got cursor %q on the last page, want none", cursor)
	}
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok", object{"active": false}) // redeliveries are sent even if the webhook is not active
	for name, state := range map[string]stateFunc{
		"new": nil, "succeeded": succeeded, "failed": failed, "waiting": waiting, "in progress": inProgress,
		"not attempted": notAttempted,
	} {
		d := f.putDelivery(path, state)
		f.clock.Advance(time.Second)
		response := ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil).Want(t, http.StatusAccepted)
		if response.Text("status") != "pending" || response.Text("nextAttemptAt") != f.timestamp() ||
			response.Text("id") != d.ID || response.Body["reason"] != nil || strings.Contains(response.Raw, interruptedText) {
			t.Errorf("%s: got %s, want a pending delivery that is due now, without an attempt in progress", name, response.Raw)
		}
		if response.Calls != 6 { // session and pointer, role, delivery, two limits, and the write
			t.Errorf("%s: got %d calls to DynamoDB, want 6", name, response.Calls)
		}
		after := f.storedDelivery(d)
		if after.Manual != 1 || after.Tries != 0 || !after.NextAttemptAt.Time().Equal(f.clock.Now()) ||
			after.DueAt.Time().Sub(f.clock.Now()) != messageTimeout {
			t.Errorf("%s: got %+v, want a new run of the schedule that is due now", name, after)
		}
		if !cmp.Equal(after.LeaseUntil, d.LeaseUntil) || len(after.Attempts) != len(d.Attempts) {
			t.Errorf("%s: got %+v, want the lease and the attempts of %+v", name, after, d)
		}
		if diff := cmp.Diff([]string{d.ID}, f.receiveMessages()); diff != "" {
			t.Errorf("%s: the messages in the queue (-want +got):\n%s", name, diff)
		}
	}
}

func TestConcurrentRedeliveries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	d := f.putDelivery(path, failed)
	const n = 6
	responses := slicetest.Concurrently(n, func(int) slicetest.Response {
		return ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil)
	})
	if diff := cmp.Diff(map[int]int{http.StatusAccepted: n}, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("the statuses (-want +got):\n%s", diff)
	}
	if after := f.storedDelivery(d); after.Version != d.Version+n || after.Manual != n {
		t.Errorf("got version %d and %d redeliveries, want version %d and %d", after.Version, after.Manual, d.Version+n, n)
	}
	if messages := f.receiveMessages(); len(messages) != n {
		t.Errorf("got %d messages, want %d", len(messages), n)
	}
}

// A message that cannot be sent is not an error, because the retry job finds the delivery in the table.
func TestQueueUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	redelivered, toRecover := f.putDelivery(path, failed), f.putDelivery(path, notAttempted)
	wire := sqstest.NewWire(t, *f.sqs.Options().BaseEndpoint, nil)
	f.startService(f.sdk, wire.Client(sqstest.Once))
	wire.Break("SendMessageBatch", sqstest.MissingQueue)
	ada.Do("POST", path+"/deliveries/"+redelivered.ID+"/redeliver", nil).Want(t, http.StatusAccepted)
	recovered := ada.Do("POST", path+"/recover", object{"since": noon}).Want(t, http.StatusAccepted)
	if recovered.Body["count"] != 1.0 || wire.Hits() != 2 {
		t.Errorf("got %s and %d failed sends, want a count of 1 and 2 failed sends", recovered.Raw, wire.Hits())
	}
	for _, d := range []delivery.Delivery{redelivered, toRecover} {
		after := f.storedDelivery(d)
		if after.Status != delivery.Pending || after.Due == "" ||
			after.DueAt.Time().After(f.clock.Now().Add(messageTimeout)) {
			t.Errorf("got %+v, want a pending delivery that the retry job finds within %v", after, messageTimeout)
		}
	}
}

func TestDeliveryExpiresDuringRedelivery(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	d := f.putDelivery(path, failed)
	wire := f.newWire()
	wire.Before("UpdateItem", func() {
		if _, err := f.client.Do(t.Context(), f.webhooks.Delete(db.DeliveryKey(d.WebhookID, d.ID))); err != nil {
			t.Error(err)
		}
	})
	ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil).Want(t, http.StatusNotFound, fault.CodeDeliveryNotFound)
}

// The payload of a delivery is read from the events table, byte for byte.
func TestPayloadOfADelivery(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	eventID, payload := f.ids.New(id.Event), `{"type":"comment.created","data":{"comment":{"body":"<b>&"}}}`
	projectID := f.ids.New(id.Project)
	d := f.putDelivery(path, func(d delivery.Delivery, _ time.Time) delivery.Delivery {
		d.EventID, d.ProjectID, d.Payload = eventID, projectID, ""
		return d
	})
	record := event.Record{
		ID: eventID, Type: event.CommentCreated, WorkspaceID: d.WorkspaceID, ProjectID: projectID,
		Payload: event.Text(payload), ExpiresAt: d.ExpiresAt,
	}
	item, err := db.Encode(record)
	f.must(err)
	_, err = f.client.Do(t.Context(), f.events.Put(event.KeyOf(d.WorkspaceID, projectID, eventID), item))
	f.must(err)
	response := ada.Get(path+"/deliveries/"+d.ID).Want(t, http.StatusOK)
	if !strings.Contains(response.Raw, `"payload":`+payload) || response.Calls != 4 {
		t.Errorf("got %s after %d calls, want payload %s after 4 calls", response.Raw, response.Calls, payload)
	}
}

// After a webhook is deleted, its deliveries cannot be read or sent again.
func TestDeliveriesOfDeletedWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	pending, redelivered := f.putDelivery(path, nil), f.putDelivery(path, failed)
	ada.Do("POST", path+"/deliveries/"+redelivered.ID+"/redeliver", nil).Want(t, http.StatusAccepted)
	ada.Do("DELETE", path, nil).Want(t, http.StatusOK)
	for _, response := range []slicetest.Response{
		ada.Get(path + "/deliveries"), ada.Get(path + "/deliveries/" + pending.ID),
		ada.Do("POST", path+"/deliveries/"+pending.ID+"/redeliver", nil),
		ada.Do("POST", path+"/recover", object{"since": noon}),
	} {
		response.Want(t, http.StatusNotFound, fault.CodeWebhookNotFound)
	}
	for _, want := range []string{"can no longer be read", "deleted 30 days after their events"} {
		if !strings.Contains(deleteDescription, want) {
			t.Errorf("got description %q, want one that contains %q", deleteDescription, want)
		}
	}
}
