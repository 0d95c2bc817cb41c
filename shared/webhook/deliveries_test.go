package webhook

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/webhook/delivery"
)

func TestListDeliveries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	at := s.stamp()
	later := clock.Stamp(noon.Add(time.Millisecond * 2).Add(time.Hour)).String()
	refused := map[string]any{"at": at, "statusCode": nil, "durationMs": 5.0, "error": "the connection was refused", "response": nil}
	ok := map[string]any{"at": at, "statusCode": 200.0, "durationMs": 5.0, "error": nil, "response": "ok"}
	var want []any
	for _, tc := range []struct {
		change   func(delivery.Delivery, time.Time) delivery.Delivery
		status   string
		attempts []any
		next     any
		reason   string
	}{
		{nil, "pending", []any{}, at, ""},
		{succeeded, "succeeded", []any{ok}, nil, ""},
		{failed, "failed", []any{refused}, nil, ""},
		{waiting, "pending", []any{refused}, later, ""},
		{inProgress, "pending", []any{}, clock.Stamp(s.clock.Now().Add(5 * time.Second)).String(), ""},
		{unsent, "failed", []any{}, nil, "the webhook is not active"},
	} {
		d := s.deliver(path, tc.change)
		item := map[string]any{
			"id": d.ID, "eventId": d.EventID, "type": "file.created", "status": tc.status, "attempts": tc.attempts, "nextAttemptAt": tc.next,
		}
		if tc.reason != "" {
			item["reason"] = tc.reason
		}
		want = append(want, item)
	}
	slices.SortFunc(want, func(a, b any) int { return -strings.Compare(idOf(a), idOf(b)) })
	a := ada.Get(path+"/deliveries").Want(t, http.StatusOK)
	if diff := cmp.Diff(map[string]any{"deliveries": want}, a.Body); diff != "" {
		t.Error(diff)
	}
	if a.Calls != 4 { // session, place, role, and the page
		t.Errorf("%d calls to DynamoDB", a.Calls)
	}
	for _, item := range want {
		one := ada.Get(path+"/deliveries/"+idOf(item)).Want(t, http.StatusOK)
		if payload, _ := one.Body["payload"].(map[string]any); payload["type"] != "file.created" || one.Calls != 4 {
			t.Error(one.Raw, one.Calls)
		}
		delete(one.Body, "payload")
		if diff := cmp.Diff(item, any(one.Body)); diff != "" {
			t.Error(diff)
		}
	}
	s.clock.Advance(leaseTime) // the result was not recorded
	interrupted := ada.Get(path+"/deliveries?status=pending").Want(t, http.StatusOK)
	if !strings.Contains(interrupted.Raw, interruptedText) {
		t.Error(interrupted.Raw)
	}
	s.clock.Advance(retention)
	if old := ada.Get(path+"/deliveries").Want(t, http.StatusOK); len(old.List("deliveries")) != 0 {
		t.Error(old.Raw)
	}
	ada.Get(path+"/deliveries/"+idOf(want[0])).Want(t, http.StatusNotFound, fault.CodeDeliveryNotFound)
}

func idOf(item any) string {
	object, _ := item.(map[string]any)
	text, _ := object["id"].(string)
	return text
}

// With every page size, each delivery with the status is listed once, newest first.
func TestDeliveryPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada, grace := s.user("ada"), s.user("grace")
	path := ada.hook("/ok")
	var all []delivery.Delivery
	for i := range 130 {
		s.clock.Advance(time.Millisecond)
		change := []func(delivery.Delivery, time.Time) delivery.Delivery{succeeded, failed, nil}[i%13%3]
		all = append(all, s.deliver(path, change))
	}
	slices.Reverse(all)
	if first := ada.Get(path+"/deliveries").Want(t, http.StatusOK); len(first.List("deliveries")) != 50 || first.Text("nextCursor") == "" {
		t.Error(first.Raw)
	}
	pages := func(status, limit string) {
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
			page := ada.Get(list + cursor)
			if page.Status != http.StatusOK {
				t.Fatal(page.Raw)
			}
			got = append(got, page.Texts("deliveries", "id")...)
			if page.Text("nextCursor") == "" {
				break
			}
			cursor = "&cursor=" + page.Text("nextCursor")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	for _, status := range []string{"", "pending", "succeeded", "failed"} {
		for _, limit := range []string{"7", "50", "100"} {
			pages(status, limit)
		}
	}
	cursor := ada.Get(path + "/deliveries?limit=1").Text("nextCursor")
	for list, by := range map[string]*visitor{
		path + "/deliveries?status=failed&cursor=": ada, ada.hook("/ok") + "/deliveries?cursor=": ada, grace.hook("/ok") + "/deliveries?cursor=": grace,
	} {
		by.Get(list+cursor).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	for _, wrong := range []string{"limit=0", "limit=101", "status=lost", "cursor=x"} {
		ada.Get(path+"/deliveries?"+wrong).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
}

// The limits of one request, which package delivery defines.
const filterCalls, filterPage = 5, 100

// A page of a rare status ends after a limited number of reads. The next page continues there.
func TestFilteringByStatusIsLimited(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	rare := s.deliver(path, failed)
	for range filterCalls*filterPage + 1 {
		s.clock.Advance(time.Millisecond)
		s.deliver(path, succeeded)
	}
	first := ada.Get(path+"/deliveries?status=failed").Want(t, http.StatusOK)
	if len(first.List("deliveries")) != 0 || first.Text("nextCursor") == "" || first.Calls != 3+filterCalls {
		t.Errorf("%s, %d calls", first.Raw, first.Calls)
	}
	second := ada.Get(path+"/deliveries?status=failed&cursor="+first.Text("nextCursor")).Want(t, http.StatusOK)
	if diff := cmp.Diff([]string{rare.ID}, second.Texts("deliveries", "id")); diff != "" || second.Text("nextCursor") != "" {
		t.Error(diff, second.Raw)
	}
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok", object{"active": false}) // redeliveries are sent even if the webhook is not active
	for name, change := range map[string]func(delivery.Delivery, time.Time) delivery.Delivery{
		"new": nil, "succeeded": succeeded, "failed": failed, "waiting": waiting, "in progress": inProgress, "unsent": unsent,
	} {
		d := s.deliver(path, change)
		s.clock.Advance(time.Second)
		a := ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil).Want(t, http.StatusAccepted)
		if a.Text("status") != "pending" || a.Text("nextAttemptAt") != s.stamp() || a.Text("id") != d.ID || a.Body["reason"] != nil {
			t.Errorf("%s: %s", name, a.Raw)
		}
		if a.Calls != 6 { // session, place, role, delivery, limit, and the write
			t.Errorf("%s: %d calls", name, a.Calls)
		}
		now := s.delivery(d)
		if now.Manual != 1 || now.Tries != 0 || !now.NextAttemptAt.Time().Equal(s.clock.Now()) || !cmp.Equal(now.LeaseUntil, d.LeaseUntil) ||
			now.DueAt.Time().Sub(s.clock.Now()) != messageTimeout || len(now.Attempts) != len(d.Attempts) {
			t.Errorf("%s: %+v", name, now)
		}
		if diff := cmp.Diff([]string{d.ID}, s.messages()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The response to a redelivery during an attempt does not show that attempt.
func TestRedeliverDuringAttempt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	d := s.deliver(path, inProgress)
	a := ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil).Want(t, http.StatusAccepted)
	if strings.Contains(a.Raw, interruptedText) {
		t.Errorf("the attempt in progress is shown: %s", a.Raw)
	}
	if now := s.delivery(d); now.Status != delivery.Pending || now.Manual != 1 || len(now.Attempts) != 1 {
		t.Errorf("%+v", now)
	}
}

func TestConcurrentRedeliveries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	d := s.deliver(path, failed)
	const n = 6
	answers := slicetest.Concurrently(n, func(int) slicetest.Response { return ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil) })
	if diff := cmp.Diff(map[int]int{http.StatusAccepted: n}, slicetest.CountStatuses(answers)); diff != "" {
		t.Error(diff)
	}
	if now := s.delivery(d); now.Version != d.Version+n || now.Manual != n || len(s.messages()) != n {
		t.Errorf("%+v", now)
	}
}

// A message that cannot be sent is not an error, because the retry job finds the delivery in the table.
func TestQueueUnavailable(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	one, other := s.deliver(path, failed), s.deliver(path, unsent)
	wire := sqstest.NewWire(t, *s.sqs.Options().BaseEndpoint, nil)
	s.serve(s.sdk, wire.Client(sqstest.Once))
	wire.Break("SendMessageBatch", sqstest.MissingQueue)
	ada.Do("POST", path+"/deliveries/"+one.ID+"/redeliver", nil).Want(t, http.StatusAccepted)
	recovered := ada.Do("POST", path+"/recover", object{"since": noon}).Want(t, http.StatusAccepted)
	if recovered.Body["count"] != 1.0 || wire.Hits() != 2 {
		t.Errorf("%s, %d hits", recovered.Raw, wire.Hits())
	}
	log := s.log.String()
	for _, d := range []delivery.Delivery{one, other} {
		now := s.delivery(d)
		if now.Status != delivery.Pending || now.Due == "" || now.DueAt.Time().After(s.clock.Now().Add(messageTimeout)) {
			t.Errorf("%+v", now)
		}
		if !strings.Contains(log, d.ID) {
			t.Errorf("the log does not name %s", d.ID)
		}
	}
}

func TestDeliveryExpiresDuringRedelivery(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	d := s.deliver(path, failed)
	wire := s.interpose()
	wire.Before("UpdateItem", func() {
		if _, err := s.client.Do(t.Context(), s.webhooks.Delete(db.DeliveryKey(d.WebhookID, d.ID))); err != nil {
			t.Error(err)
		}
	})
	ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil).Want(t, http.StatusNotFound, fault.CodeDeliveryNotFound)
}
