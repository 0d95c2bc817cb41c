package webhook

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/webhook/delivery"
)

// An update keeps the stored health, unless the endpoint is a new one. TestSettingsAreApplied checks more combinations
// of settings.
func TestUpdateResetsHealthForANewEndpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	for name, tc := range map[string]struct {
		settings    object
		newEndpoint bool
		newPath     bool
		unchanged   bool
	}{
		"no settings": {settings: object{}, unchanged: true},
		"same settings": {
			settings:  object{"events": []string{"*"}, "secret": "old", "description": "", "active": false},
			unchanged: true,
		},
		"description and secret": {settings: object{"description": "new", "secret": "new"}},
		"url":                    {settings: object{"url": "https://example.com/elsewhere"}, newEndpoint: true},
		"path of the url":        {settings: object{}, newPath: true},
		"active and description": {settings: object{"active": true, "description": "new"}, newEndpoint: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := ada.createWebhook("/ok", object{"secret": "old"})
			at := clock.Stamp(f.clock.Now())
			later := clock.Stamp(f.clock.Now().Add(time.Hour)) // the endpoint rests until then
			unhealthy := delivery.Health{
				Prompt: true, Failures: 4, FailingSince: &at, LastAt: &at, LastStatus: delivery.Failed,
			}
			f.changeWebhook(path, func(w *delivery.Webhook) {
				w.Health, w.Active, w.DisabledReason, w.Revision = unhealthy, false, "it is gone", w.Revision+1
				w.Window, w.NotBefore, w.DueAt = 8, &later, &later
			})
			before := f.storedWebhook(path)
			f.clock.Advance(time.Second)
			switch name {
			case "same settings":
				tc.settings["url"] = before.URL
			case "path of the url":
				tc.settings["url"] = before.URL + "/elsewhere"
			}
			response := ada.Do("PUT", path, tc.settings).Want(t, http.StatusOK)
			after := f.storedWebhook(path)
			if tc.unchanged {
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("the stored webhook was changed:\n%s", diff)
				}
				return
			}
			want, reason := unhealthy, "it is gone"
			if tc.newEndpoint {
				want = delivery.Health{LastAt: &at, LastStatus: delivery.Failed}
			}
			if tc.newPath { // has to respond promptly again, but is still failing
				want.Prompt = false
			}
			if after.Active { // with only a new URL, the webhook stays disabled by the service
				reason = ""
			}
			if diff := cmp.Diff(want, after.Health); diff != "" {
				t.Errorf("the stored health (-want +got):\n%s", diff)
			}
			if after.DisabledReason != reason || response.Text("disabledReason") != reason {
				t.Errorf("got the stored reason %q and the reason %q in the response, want %q",
					after.DisabledReason, response.Text("disabledReason"), reason)
			}
			if newGeneration := after.Generation != before.Generation; newGeneration != (tc.newEndpoint || tc.newPath) {
				t.Errorf("the webhook has a new generation: got %t, want %t", newGeneration, !newGeneration)
			}
			if newGeneration := after.Generation != before.Generation; newGeneration != (after.Window == 0) {
				t.Errorf("the next turn begins with %d attempts, with a new endpoint: %t", after.Window, newGeneration)
			}
			if resting := *after.DueAt == later || after.NotBefore != nil; resting == tc.newEndpoint {
				t.Errorf("the next turn is at %v, not before %v, with a new endpoint: %t",
					after.DueAt, after.NotBefore, tc.newEndpoint)
			}
			if after.Revision != before.Revision+1 || response.Text("updatedAt") != f.timestamp() {
				t.Errorf("got revision %d, updated at %s, want revision %d, updated at %s",
					after.Revision, response.Text("updatedAt"), before.Revision+1, f.timestamp())
			}
			last, _ := response.Body["lastDelivery"].(map[string]any)
			if last["status"] != "failed" || last["at"] != at.String() {
				t.Errorf("got lastDelivery %v, want failed at %s", last, at)
			}
			if response.Body["secret"] != nil {
				t.Errorf("the response contains a secret: %s", response.Raw)
			}
		})
	}
}

// The times of the latest deactivation by a user and of the activation after it are stored. A webhook that the service
// disabled receives the events of that time, so its times do not change.
func TestTimesOfDeactivationAreStored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok", object{"active": false})
	times := func() [2]string {
		w := f.storedWebhook(path)
		var all [2]string
		for i, at := range []*clock.Timestamp{w.DeactivatedAt, w.ActivatedAt} {
			if at != nil {
				all[i] = at.String()
			}
		}
		return all
	}
	created := f.timestamp()
	if got := times(); got != [2]string{created} {
		t.Errorf("created inactive: got %v, want %s", got, created)
	}
	f.clock.Advance(time.Second)
	ada.Do("PUT", path, object{"active": true}).Want(t, http.StatusOK)
	if got, want := times(), ([2]string{created, f.timestamp()}); got != want {
		t.Errorf("activated: got %v, want %v", got, want)
	}
	f.clock.Advance(time.Second)
	ada.Do("PUT", path, object{"active": false}).Want(t, http.StatusOK)
	if got, want := times(), ([2]string{f.timestamp()}); got != want {
		t.Errorf("deactivated again: got %v, want %v", got, want)
	}
	ada.Do("PUT", path, object{"active": true}).Want(t, http.StatusOK)
	before := times()
	f.changeWebhook(path, func(w *delivery.Webhook) { w.Active, w.DisabledReason = false, "it is gone" })
	f.clock.Advance(time.Second)
	ada.Do("PUT", path, object{"active": true}).Want(t, http.StatusOK)
	if got := times(); got != before {
		t.Errorf("activated after it was disabled: got %v, want %v", got, before)
	}
}

// If another writer changes the webhook between the read and the write, the update is applied to the new version.
func TestUpdateConflicts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	wire := f.newWire()
	w := f.storedWebhook(path)
	wire.Before("UpdateItem", func() { // the service disables the webhook
		f.changeWebhook(path, func(w *delivery.Webhook) {
			w.Active, w.DisabledReason, w.Revision = false, "it is gone", w.Revision+1
		})
	})
	response := ada.Do("PUT", path, object{"description": "new", "active": true}).Want(t, http.StatusOK)
	if response.Body["active"] != true || response.Body["disabledReason"] != nil {
		t.Errorf("got %s, want an active webhook", response.Raw)
	}
	if got := f.storedWebhook(path).Generation; got != w.Generation+1 {
		t.Errorf("got generation %d, want %d", got, w.Generation+1)
	}
	wire.Before("UpdateItem", func() { ada.Do("DELETE", path, nil).Want(t, http.StatusOK) })
	ada.Do("PUT", path, object{"description": "newer"}).Want(t, http.StatusNotFound, fault.CodeWebhookNotFound)
	if items := f.dump(); strings.Contains(items, "newer") {
		t.Errorf("the update of a deleted webhook was stored: %s", items)
	}
}

// Concurrent updates of different settings all take effect.
func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok", object{"secret": "s"})
	updates := []object{
		{"description": "new"}, {"events": []string{"file.*"}}, {"active": false}, {"url": "https://example.com/new"},
		{"secret": "t"},
	}
	responses := slicetest.Concurrently(len(updates), func(i int) slicetest.Response {
		return ada.Do("PUT", path, updates[i])
	})
	if diff := cmp.Diff(map[int]int{http.StatusOK: len(updates)}, slicetest.CountStatuses(responses)); diff != "" {
		t.Fatalf("the statuses (-want +got):\n%s", diff)
	}
	w := f.storedWebhook(path)
	if w.Description != "new" || w.Events[0] != "file.*" || w.Active || w.URL != "https://example.com/new" ||
		len(w.Previous) != 1 || w.Revision != 6 {
		t.Errorf("got %+v, want all of the updates %v and revision 6", w, updates)
	}
}

// If the response to a write is lost, or storage throttles the write, the operation succeeds and takes effect once.
func TestLostResponses(t *testing.T) {
	t.Parallel()
	for _, injected := range []dynamotest.Fault{dynamotest.LostReply, dynamotest.Throttled} {
		f := newFixture(t)
		ada := f.user("ada")
		wire := f.newWire()
		wire.Break("TransactWriteItems", injected.Times(1))
		path := ada.createWebhook("/ok", object{"secret": "old"})
		if n := wire.Hits(); n != 1 {
			t.Errorf("%s: got %d faults, want 1", injected.Name, n)
		}
		wire.Break("UpdateItem", injected.Times(1))
		ada.Do("PUT", path, object{"secret": "new", "description": "new"}).Want(t, http.StatusOK)
		if w := f.storedWebhook(path); w.Revision != 2 || len(w.Previous) != 1 {
			t.Errorf("%s: got %+v, want revision 2 and one previous secret", injected.Name, w)
		}
		wire.Break("UpdateItem", injected.Times(1))
		rotated := ada.Do("PUT", path, object{"secret": nil}).Want(t, http.StatusOK)
		if rotated.Text("secret") == "" {
			t.Errorf("%s: the response does not contain the generated secret: %s", injected.Name, rotated.Raw)
		}
		if got := f.storedWebhook(path).Revision; got != 3 {
			t.Errorf("%s: got revision %d, want 3", injected.Name, got)
		}
		wire.Break("TransactWriteItems", injected.Times(1))
		ada.Do("DELETE", path, nil).Want(t, http.StatusOK)
	}
}
