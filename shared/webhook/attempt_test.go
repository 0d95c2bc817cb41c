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
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok", object{"active": false, "secret": "s"})
	before := s.stored(path)
	for i, tc := range []struct {
		body any
		kind event.Type
	}{
		{nil, event.WebhookTest}, {object{}, event.WebhookTest}, {object{"type": "webhook.test"}, event.WebhookTest},
		{object{"type": "file.created"}, event.FileCreated}, {object{"type": "deployment.completed"}, event.DeploymentCompleted},
	} {
		a := ada.Do("POST", path+"/test", tc.body).Want(t, http.StatusOK)
		want := map[string]any{
			"at": s.stamp(), "statusCode": 200.0, "durationMs": 0.0, "error": nil, "response": a.Body["response"], "deliveryId": a.Text("deliveryId"),
		}
		if diff := cmp.Diff(want, a.Body); diff != "" {
			t.Error(diff)
		}
		got := s.receiver.Requests()[i]
		if err := got.Verify("s"); err != nil || got.Header.Get("X-Service-Event") != string(tc.kind) || got.Header.Get("X-Service-Delivery") != a.Text("deliveryId") {
			t.Errorf("%v, %v", err, got.Header)
		}
		one := ada.Get(path+"/deliveries/"+a.Text("deliveryId")).Want(t, http.StatusOK)
		if one.Text("status") != "succeeded" || one.Text("type") != string(tc.kind) || !strings.Contains(one.Raw, `"payload":`+string(got.Body)) ||
			one.Text("eventId") != got.ID() || len(one.List("attempts")) != 1 {
			t.Errorf("%s, want the payload %s", one.Raw, got.Body)
		}
		if !strings.Contains(string(got.Body), ada.userID) {
			t.Errorf("the actor is missing: %s", got.Body)
		}
	}
	if diff := cmp.Diff(before, s.stored(path)); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []any{object{"type": "file.*"}, object{"type": "*"}, object{"type": "lunch"}, object{"type": nil}, object{"type": 1}, "[]", "null", "{"} {
		ada.Do("POST", path+"/test", wrong).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	if len(s.messages()) != 0 || s.receiver.Total() != 5 {
		t.Errorf("%d requests", s.receiver.Total())
	}
	failing := ada.hook("/status/500")
	a := ada.Do("POST", failing+"/test", nil).Want(t, http.StatusOK)
	if a.Body["statusCode"] != 500.0 || a.Text("error") == "" {
		t.Error(a.Raw)
	}
	one := s.delivery(delivery.Delivery{WebhookID: s.stored(failing).ID, ID: a.Text("deliveryId")})
	if one.Status != delivery.Failed || one.Due != "" || one.NextAttemptAt != nil {
		t.Errorf("%+v", one)
	}
	if a := ada.Do("POST", failing+"/recover", object{"since": noon}).Want(t, http.StatusAccepted); a.Body["count"] != 0.0 {
		t.Errorf("a test was recovered: %s", a.Raw)
	}
}

// Each operation is limited to ten requests a minute for each webhook. Requests that are denied are not counted.
func TestOperationLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada, eve := s.user("ada"), s.user("eve")
	path, other := ada.hook("/ok"), ada.hook("/ok")
	d := s.deliver(path, succeeded)
	s.clock.Advance(20 * time.Second)
	calls := map[string]func(v *visitor) slicetest.Response{
		"test":      func(v *visitor) slicetest.Response { return v.Do("POST", path+"/test", nil) },
		"redeliver": func(v *visitor) slicetest.Response { return v.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil) },
		"recover":   func(v *visitor) slicetest.Response { return v.Do("POST", path+"/recover", object{"since": noon}) },
	}
	for name, call := range calls {
		call(eve).Want(t, http.StatusNotFound)
		for range 10 {
			if a := call(ada); a.Status >= 300 {
				t.Fatalf("%s: %s", name, a.Raw)
			}
		}
		a := call(ada).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
		if got := a.Header.Get("Retry-After"); got != "40" {
			t.Errorf("%s: Retry-After %s", name, got)
		}
	}
	ada.Do("POST", other+"/test", nil).Want(t, http.StatusOK)
	s.clock.Advance(40 * time.Second)
	for _, call := range calls {
		if a := call(ada); a.Status >= 300 {
			t.Error(a.Raw)
		}
	}
}
