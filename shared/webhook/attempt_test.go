package webhook

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/webhook/delivery"
)

func TestTestDeliveries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok", object{"active": false, "secret": "s"})
	before := f.storedWebhook(path)
	for i, tc := range []struct {
		body any
		want event.Type
	}{
		{nil, event.WebhookTest},
		{object{}, event.WebhookTest},
		{object{"type": "webhook.test"}, event.WebhookTest},
		{object{"type": "file.created"}, event.FileCreated},
		{object{"type": "deployment.completed"}, event.DeploymentCompleted},
	} {
		response := ada.Do("POST", path+"/test", tc.body).Want(t, http.StatusOK)
		want := map[string]any{
			"at": f.timestamp(), "statusCode": 200.0, "durationMs": 0.0, "error": nil,
			"response": response.Body["response"], "deliveryId": response.Text("deliveryId"),
		}
		if diff := cmp.Diff(want, response.Body); diff != "" {
			t.Errorf("the result of the test (-want +got):\n%s", diff)
		}
		request := f.receiver.Requests()[i]
		if err := request.Verify("s"); err != nil {
			t.Error(err)
		}
		if got := request.Header.Get("X-Service-Event"); got != string(tc.want) {
			t.Errorf("X-Service-Event: got %s, want %s", got, tc.want)
		}
		if got := request.Header.Get("X-Service-Delivery"); got != response.Text("deliveryId") {
			t.Errorf("X-Service-Delivery: got %s, want %s", got, response.Text("deliveryId"))
		}
		logged := ada.Get(path+"/deliveries/"+response.Text("deliveryId")).Want(t, http.StatusOK)
		if logged.Text("status") != "succeeded" || logged.Text("type") != string(tc.want) ||
			logged.Text("eventId") != request.ID() || len(logged.List("attempts")) != 1 {
			t.Errorf("got delivery %s, want one successful attempt of event %s with type %s", logged.Raw, request.ID(), tc.want)
		}
		if !strings.Contains(logged.Raw, `"payload":`+string(request.Body)) {
			t.Errorf("got delivery %s, want the payload %s", logged.Raw, request.Body)
		}
		if !strings.Contains(string(request.Body), ada.userID) {
			t.Errorf("the event does not contain the user ID of the actor: %s", request.Body)
		}
	}
	if diff := cmp.Diff(before, f.storedWebhook(path)); diff != "" {
		t.Errorf("the tests changed the webhook:\n%s", diff)
	}
	for _, invalid := range []any{
		object{"type": "file.*"}, object{"type": "*"}, object{"type": "lunch"}, object{"type": nil}, object{"type": 1},
		"[]", "null", "{",
	} {
		ada.Do("POST", path+"/test", invalid).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	if messages, requests := f.receiveMessages(), f.receiver.Total(); len(messages) != 0 || requests != 5 {
		t.Errorf("got %d messages and %d requests, want 0 and 5", len(messages), requests)
	}
}

// A failed test is not retried, and is not recovered.
func TestFailedTestDelivery(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/status/500")
	response := ada.Do("POST", path+"/test", nil).Want(t, http.StatusOK)
	if response.Body["statusCode"] != 500.0 || response.Text("error") == "" {
		t.Errorf("got %s, want status 500 and an error", response.Raw)
	}
	d := f.storedDelivery(delivery.Delivery{WebhookID: f.storedWebhook(path).ID, ID: response.Text("deliveryId")})
	if d.Status != delivery.Failed || d.Due != "" || d.NextAttemptAt != nil {
		t.Errorf("got %+v, want a failed delivery without a next attempt", d)
	}
	recovered := ada.Do("POST", path+"/recover", object{"since": noon}).Want(t, http.StatusAccepted)
	if recovered.Body["count"] != 0.0 {
		t.Errorf("a test was recovered: %s", recovered.Raw)
	}
}

// Each operation is limited to ten requests a minute for each webhook. Requests that are denied are not counted.
func TestOperationLimits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, eve := f.user("ada"), f.user("eve")
	path, other := ada.createWebhook("/ok"), ada.createWebhook("/ok")
	d := f.putDelivery(path, succeeded)
	f.clock.Advance(20 * time.Second)
	calls := map[string]func(u *user) slicetest.Response{
		"test":      func(u *user) slicetest.Response { return u.Do("POST", path+"/test", nil) },
		"redeliver": func(u *user) slicetest.Response { return u.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil) },
		"recover":   func(u *user) slicetest.Response { return u.Do("POST", path+"/recover", object{"since": noon}) },
	}
	for name, call := range calls {
		call(eve).Want(t, http.StatusNotFound)
		for range 10 {
			if response := call(ada); response.Status >= 300 {
				t.Fatalf("%s: got %d %s, want a success", name, response.Status, response.Raw)
			}
		}
		response := call(ada).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
		if got := response.Header.Get("Retry-After"); got != "40" {
			t.Errorf("%s: got Retry-After %s, want 40", name, got)
		}
	}
	ada.Do("POST", other+"/test", nil).Want(t, http.StatusOK)
	f.clock.Advance(40 * time.Second)
	for name, call := range calls {
		if response := call(ada); response.Status >= 300 {
			t.Errorf("%s after a minute: got %d %s, want a success", name, response.Status, response.Raw)
		}
	}
}
