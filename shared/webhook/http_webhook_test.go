package webhook

import (
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace"
)

func TestCreateUpdateDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	created := ada.Do("POST", "/api/webhooks", object{
		"url": "https://example.com/hooks", "description": "Builds.",
		"events": []string{"project.*", "file.created", "project.*"},
	}).Want(t, http.StatusCreated)
	secret := created.Text("secret")
	if !strings.HasPrefix(secret, "whsec_") || len(secret) != len("whsec_")+44 {
		t.Errorf("got secret %q, want whsec_ and 44 characters", secret)
	}
	want := map[string]any{
		"id": created.Text("id"), "url": "https://example.com/hooks", "events": []any{"project.*", "file.created"},
		"active": true, "description": "Builds.", "workspaceId": ada.personal, "projectId": nil,
		"createdAt": f.timestamp(), "updatedAt": f.timestamp(), "lastDelivery": nil, "disabledReason": nil,
		"createdBy": map[string]any{"id": ada.userID, "username": "ada"},
	}
	delete(created.Body, "secret")
	if diff := cmp.Diff(want, created.Body); diff != "" {
		t.Errorf("the created webhook (-want +got):\n%s", diff)
	}
	listed := ada.Get("/api/webhooks").Want(t, http.StatusOK)
	if diff := cmp.Diff(map[string]any{"webhooks": []any{want}}, listed.Body); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	path := "/api/webhooks/" + created.Text("id")
	f.clock.Advance(time.Minute)
	changed := ada.Do("PUT", path, object{"active": false, "events": []string{"*"}}).Want(t, http.StatusOK)
	want["active"], want["events"], want["updatedAt"] = false, []any{"*"}, f.timestamp()
	if diff := cmp.Diff(want, changed.Body); diff != "" {
		t.Errorf("the changed webhook (-want +got):\n%s", diff)
	}
	deleted := ada.Do("DELETE", path, nil).Want(t, http.StatusOK)
	if deleted.Body["success"] != true {
		t.Errorf("got %s, want success", deleted.Raw)
	}
	for _, response := range []slicetest.Response{
		ada.Do("DELETE", path, nil), ada.Do("PUT", path, object{}), ada.Get(path + "/deliveries"),
	} {
		response.Want(t, http.StatusNotFound, fault.CodeWebhookNotFound)
	}
	if items := f.dump(); strings.Contains(items, "WEBHOOK#") || !strings.Contains(items, `"n":0`) {
		t.Errorf("got items %s, want only a count of 0", items)
	}
}

func TestCreateValidation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	team := f.workspace(map[*user]workspace.Role{f.user("grace"): workspace.Owner}) // older than the personal workspace
	ada := f.user("ada")
	f.addMember(team, ada, workspace.Admin)
	teamProject := f.project(team, workspace.Team, ada)
	for name, fields := range map[string]object{
		"all fields": {
			"url": "https://example.com:8443/a?b=c", "events": []string{"*"}, "secret": "s", "description": "", "active": false,
		},
		"every event type": {"events": event.Subscribable()},
		"secret null":      {"secret": nil},
		"longest values": {
			"url": longestURL, "secret": strings.Repeat("☃", 256), "description": strings.Repeat("☃", 2000),
		},
		"workspace":             {"workspaceId": team},
		"project":               {"projectId": teamProject},
		"project and workspace": {"projectId": teamProject, "workspaceId": team},
		"project null":          {"projectId": nil}, // as in responses
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := object{"url": "https://example.com/", "events": []string{"*"}}
			maps.Copy(sent, fields)
			response := ada.Do("POST", "/api/webhooks", sent).Want(t, http.StatusCreated)
			workspaceID := ada.personal
			if sent["workspaceId"] == team || sent["projectId"] == teamProject {
				workspaceID = team
			}
			if response.Text("workspaceId") != workspaceID || response.Body["projectId"] != sent["projectId"] ||
				response.Body["active"] != (sent["active"] == nil) {
				t.Errorf("got %s, want workspace %s and the fields %v", response.Raw, workspaceID, sent)
			}
			if got, want := response.Text("secret") != "", sent["secret"] == nil; got != want {
				t.Errorf("the response contains a secret: got %t, want %t", got, want)
			}
		})
	}
}

// longestURL has the maximum number of characters.
var longestURL = "https://é.example/" + strings.Repeat("é", 2048-utf8.RuneCountInString("https://é.example/"))

func TestCreateRejectsInvalidFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	team := f.workspace(nil)
	f.addMember(team, ada, workspace.Admin)
	personalProject := f.project(ada.personal, workspace.Private, ada)
	for name, tc := range map[string]struct {
		body   object
		fields []string // the beginnings of the problems that the error names
	}{
		"project of another workspace": {
			object{"url": "https://example.com/", "events": []string{"*"}, "projectId": personalProject, "workspaceId": team},
			[]string{"workspaceId"},
		},
		"no fields":     {object{}, []string{"url", "events"}},
		"required null": {object{"url": nil, "events": nil}, []string{"url", "events"}},
		"optional null": {
			object{"active": nil, "description": nil, "workspaceId": nil},
			[]string{"active", "description", "workspaceId"},
		},
		"too long": {
			object{"url": longestURL + "x", "secret": strings.Repeat("☃", 257), "description": strings.Repeat("☃", 2001)},
			[]string{"url", "secret", "description"},
		},
		"empty":           {object{"url": "", "events": []string{}, "secret": ""}, []string{"url", "events", "secret"}},
		"too many events": {object{"events": strings.Split(strings.Repeat("*,", 20)+"*", ",")}, []string{"events"}},
		"unknown events": {
			object{"events": []string{"*", "project.eaten", "project*", "*.created", "webhook.test", ""}},
			[]string{"events[1]", "events[2]", "events[3]", "events[4]", "events[5]"},
		},
		"wrong types": {
			object{"url": 1, "events": "*", "secret": 1, "active": "yes", "description": 1},
			[]string{"url", "events", "secret", "active", "description"},
		},
		"another scheme":  {object{"url": "ftp://example.com/", "events": []string{"x"}}, []string{"url", "events[0]"}},
		"relative URL":    {object{"url": "/hooks"}, []string{"url"}},
		"URL credentials": {object{"url": "https://me:secret@example.com/"}, []string{"url: must not contain a user name"}},
		"http URL with credentials": {
			object{"url": "http://me:secret@127.0.0.1/"}, []string{"url: must not contain a user name"},
		},
		"short secret": {object{"secret": "whsec_c2VjcmV0"}, []string{"secret: must have 24 to 64 bytes"}},
		"secret that is not base64": {
			object{"secret": "whsec_!!!"}, []string{"secret: must have base64 with padding"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := object{"url": "https://example.com/", "events": []string{"*"}}
			maps.Copy(sent, tc.body)
			if len(tc.body) == 0 {
				sent = tc.body
			}
			response := ada.Do("POST", "/api/webhooks", sent).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
			for _, field := range tc.fields {
				if !strings.Contains("; "+response.Text("error"), "; "+field) {
					t.Errorf("the error does not name %s: %s", field, response.Text("error"))
				}
			}
			if strings.Contains(response.Raw, "secret@") {
				t.Errorf("the response quotes the credentials: %s", response.Raw)
			}
		})
	}
}

// Only the local platform accepts http URLs and sends to private addresses.
func TestPrivateEndpointsAreRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	f.allowPrivate = false
	f.startService(f.sdk, f.sqs)
	for _, response := range []slicetest.Response{
		ada.Do("POST", "/api/webhooks", object{"url": f.receiver.URL("/ok"), "events": []string{"*"}}),
		ada.Do("PUT", path, object{"url": "http://example.com/"}),
	} {
		response.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		if !strings.Contains(response.Text("error"), "url: must begin with https, not http") {
			t.Errorf("got %s, want an error about http", response.Raw)
		}
	}
	for _, host := range []string{
		"127.0.0.1", "2130706433", "0177.1", "[::ffff:10.0.0.1]", "localhost", "LOCALHOST.", "169.254.169.254",
	} {
		for _, response := range []slicetest.Response{
			ada.Do("POST", "/api/webhooks", object{"url": "https://" + host + "/", "events": []string{"*"}}),
			ada.Do("PUT", path, object{"url": "https://" + host + ":8443/"}),
		} {
			response.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
			if !strings.Contains(response.Text("error"), "url: must not have localhost or an IP address that is not public") {
				t.Errorf("%s: got %s, want an error about the address", host, response.Raw)
			}
		}
	}
	// A webhook that was created before this rule existed.
	f.changeWebhook(path, func(w *delivery.Webhook) { w.URL = "https://127.0.0.1/" })
	ada.Do("PUT", path, object{"description": "old"}).Want(t, http.StatusOK)
	tested := ada.Do("POST", path+"/test", object{}).Want(t, http.StatusOK)
	if tested.Text("error") != "the address is not public" ||
		tested.Body["statusCode"] != nil || tested.Body["response"] != nil {
		t.Errorf("got %s, want the error that the address is not public", tested.Raw)
	}
}

// An update keeps the stored health, unless the endpoint is a new one.
func TestUpdateResetsHealthForANewEndpoint(t *testing.T) {
	t.Parallel()
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
		"description":            {settings: object{"description": "new"}},
		"events":                 {settings: object{"events": []string{"file.*"}}},
		"secret":                 {settings: object{"secret": "new"}},
		"url":                    {settings: object{"url": "https://example.com/elsewhere"}, newEndpoint: true},
		"path of the url":        {settings: object{}, newPath: true},
		"active":                 {settings: object{"active": true}, newEndpoint: true},
		"active and description": {settings: object{"active": true, "description": "new"}, newEndpoint: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.user("ada")
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

// The times of the latest deactivation and of the activation after it are stored.
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

// If the response to a write is lost, or storage throttles the write, the operation succeeds and takes effect once.
func TestLostResponses(t *testing.T) {
	t.Parallel()
	for _, fault := range []dynamotest.Fault{dynamotest.LostReply, dynamotest.Throttled} {
		f := newFixture(t)
		ada := f.user("ada")
		wire := f.newWire()
		wire.Break("TransactWriteItems", fault.Times(1))
		path := ada.createWebhook("/ok", object{"secret": "old"})
		if n := wire.Hits(); n != 1 {
			t.Errorf("%s: got %d faults, want 1", fault.Name, n)
		}
		wire.Break("UpdateItem", fault.Times(1))
		ada.Do("PUT", path, object{"secret": "new", "description": "new"}).Want(t, http.StatusOK)
		if w := f.storedWebhook(path); w.Revision != 2 || len(w.Previous) != 1 {
			t.Errorf("%s: got %+v, want revision 2 and one previous secret", fault.Name, w)
		}
		wire.Break("UpdateItem", fault.Times(1))
		rotated := ada.Do("PUT", path, object{"secret": nil}).Want(t, http.StatusOK)
		if rotated.Text("secret") == "" {
			t.Errorf("%s: the response does not contain the generated secret: %s", fault.Name, rotated.Raw)
		}
		if got := f.storedWebhook(path).Revision; got != 3 {
			t.Errorf("%s: got revision %d, want 3", fault.Name, got)
		}
		wire.Break("TransactWriteItems", fault.Times(1))
		ada.Do("DELETE", path, nil).Want(t, http.StatusOK)
	}
}

// A workspace has at most twenty webhooks, even if they are created concurrently. Concurrent deletions of one webhook
// decrement the count once.
func TestQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	create := func(int) slicetest.Response {
		for {
			response := ada.Do("POST", "/api/webhooks", object{"url": "https://example.com/", "events": []string{"*"}})
			if response.Status != http.StatusConflict { // a conflict with a concurrent request
				return response
			}
		}
	}
	responses := slicetest.Concurrently(maxWebhooks+5, create)
	want := map[int]int{http.StatusCreated: maxWebhooks, http.StatusPaymentRequired: 5}
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Fatalf("concurrent requests to an empty workspace (-want +got):\n%s", diff)
	}
	full := create(0).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if !strings.Contains(full.Text("error"), "20 webhooks") {
		t.Errorf("got %s, want an error with the limit", full.Raw)
	}
	webhookIDs := ada.Get("/api/webhooks").Texts("webhooks", "id")
	responses = slicetest.Concurrently(4, func(int) slicetest.Response {
		return ada.Do("DELETE", "/api/webhooks/"+webhookIDs[3], nil)
	})
	want = map[int]int{http.StatusOK: 1, http.StatusNotFound: 3}
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("concurrent deletions (-want +got):\n%s", diff)
	}
	responses = slicetest.Concurrently(3, create)
	want = map[int]int{http.StatusCreated: 1, http.StatusPaymentRequired: 2}
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("concurrent requests after one deletion (-want +got):\n%s", diff)
	}
	f.user("grace").createWebhook("/ok") // other workspaces have their own limit
}

// The webhooks of deleted projects do not count against the limit of the workspace. They are deleted when it is
// reached.
func TestQuotaIgnoresDeletedProjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	deleted, existing := f.project(ada.personal, workspace.Team, ada), f.project(ada.personal, workspace.Team, ada)
	var want []string
	for i := range maxWebhooks {
		switch {
		case i < 3:
			ada.createWebhook("/ok", object{"projectId": deleted})
		case i < 6:
			want = append(want, ada.createWebhook("/ok", object{"projectId": existing}))
		default:
			want = append(want, ada.createWebhook("/ok"))
		}
	}
	create := func(settings object) slicetest.Response {
		fields := object{"url": "https://example.com/", "events": []string{"*"}}
		maps.Copy(fields, settings)
		return ada.Do("POST", "/api/webhooks", fields)
	}
	create(nil).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	f.deleteProject(ada.personal, deleted)
	for range 3 {
		want = append(want, "/api/webhooks/"+create(nil).Want(t, http.StatusCreated).Text("id"))
	}
	create(nil).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	create(object{"projectId": deleted}).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	var got []string
	for _, id := range ada.Get("/api/webhooks").Texts("webhooks", "id") {
		got = append(got, "/api/webhooks/"+id)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the listed webhooks (-want +got):\n%s", diff)
	}
	if items := f.dump(); strings.Count(items, " WEBHOOK:{") != maxWebhooks || !strings.Contains(items, `"n":20`) {
		t.Errorf("got items %s, want a count of 20 and 20 pointers", items)
	}
}

// After a webhook is deleted, nothing more is sent, and its deliveries cannot be read. They expire 30 days after their
// events.
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
	logger := slog.New(f.log)
	worker := delivery.NewFastWorker(delivery.WorkerDeps{
		Deps: delivery.Deps{
			DB: f.client, Webhooks: f.webhooks, Events: f.events, Fast: queue.Wrap(f.sqs).Queue(f.queueURL),
			Clock: f.clock.Now, Logger: logger, Metrics: metric.New(logger, "test", f.clock.Now),
		},
		Keys: f.keys, Sender: sender.New(sender.Options{AllowPrivate: true, Now: f.clock.Now}),
	})
	for _, d := range []delivery.Delivery{pending, redelivered} {
		body := `{"workspaceId":"` + d.WorkspaceID + `","webhookId":"` + d.WebhookID + `","deliveryId":"` + d.ID + `"}`
		messages := []lambdafn.QueueMessage{{ID: "m", ReceiptHandle: "r", Body: body}}
		if errs := worker.Handle(t.Context(), messages); errs[0] != nil {
			t.Error(errs[0])
		}
		after := f.storedDelivery(d)
		if after.Status != delivery.Failed || after.Reason != "the webhook was deleted" {
			t.Errorf("got %+v, want a failed delivery because the webhook was deleted", after)
		}
		if want := eventTime(d).Add(retention).Unix(); after.ExpiresAt != want {
			t.Errorf("the delivery expires at %d, want %d", after.ExpiresAt, want)
		}
	}
	if n := f.receiver.Total(); n != 0 {
		t.Errorf("got %d requests after the deletion, want none", n)
	}
	for _, want := range []string{"can no longer be read", "deleted 30 days after their events"} {
		if !strings.Contains(deleteDescription, want) {
			t.Errorf("got description %q, want one that contains %q", deleteDescription, want)
		}
	}
}

// eventTime returns the time of the event of a delivery.
func eventTime(d delivery.Delivery) time.Time {
	at, _ := id.Delivery.Time(d.ID)
	return at
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

func TestCreateForDeletedProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	project := f.project(ada.personal, workspace.Private, ada)
	wire := f.newWire()
	wire.Before("TransactWriteItems", func() {
		if _, err := f.client.Do(t.Context(), f.projects.Delete(db.TreeKey(project))); err != nil {
			t.Error(err)
		}
	})
	fields := object{"url": "https://example.com/", "events": []string{"*"}, "projectId": project}
	ada.Do("POST", "/api/webhooks", fields).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	if items := f.dump(); items != "map[]" {
		t.Errorf("got items %s, want none", items)
	}
}

func TestListWebhooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.user("ada"), f.user("grace")
	asAdmin := f.workspace(map[*user]workspace.Role{ada: workspace.Admin, grace: workspace.Owner})
	asViewer := f.workspace(map[*user]workspace.Role{ada: workspace.Viewer, grace: workspace.Owner})
	notMember := f.workspace(map[*user]workspace.Role{grace: workspace.Owner})
	var want, wantAsAdmin []string
	for _, workspaceID := range []string{
		asAdmin, ada.personal, asViewer, asAdmin, notMember, ada.personal, asAdmin,
	} {
		creator := grace
		if workspaceID == ada.personal {
			creator = ada
		}
		webhookID := strings.TrimPrefix(creator.createWebhook("/ok", object{"workspaceId": workspaceID}), "/api/webhooks/")
		if workspaceID == asAdmin {
			wantAsAdmin = append(wantAsAdmin, webhookID)
		}
		if workspaceID == asAdmin || workspaceID == ada.personal {
			want = append(want, webhookID)
		}
	}
	all := ada.Get("/api/webhooks").Want(t, http.StatusOK)
	if diff := cmp.Diff(want, all.Texts("webhooks", "id")); diff != "" {
		t.Errorf("the webhooks of all workspaces (-want +got):\n%s", diff)
	}
	if all.Calls != 4 { // session, memberships, and the webhooks of two workspaces
		t.Errorf("got %d calls to DynamoDB, want 4", all.Calls)
	}
	if strings.Contains(all.Raw, "secret") {
		t.Errorf("the list contains a secret: %s", all.Raw)
	}
	one := ada.Get("/api/webhooks?workspaceId="+asAdmin).Want(t, http.StatusOK)
	if diff := cmp.Diff(wantAsAdmin, one.Texts("webhooks", "id")); diff != "" {
		t.Errorf("the webhooks of one workspace (-want +got):\n%s", diff)
	}
	if one.Calls != 2 {
		t.Errorf("got %d calls to DynamoDB, want 2", one.Calls)
	}
	ada.Get("/api/webhooks?workspaceId="+asViewer).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	for _, unknown := range []string{notMember, "ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "team"} {
		ada.Get("/api/webhooks?workspaceId="+unknown).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	}
	var paged []string
	cursor := ""
	for {
		page := ada.Get("/api/webhooks?limit=2"+cursor).Want(t, http.StatusOK)
		paged = append(paged, page.Texts("webhooks", "id")...)
		if page.Text("nextCursor") == "" {
			break
		}
		cursor = "&cursor=" + page.Text("nextCursor")
		grace.Get("/api/webhooks?limit=2"+cursor).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		ada.Get("/api/webhooks?workspaceId="+asAdmin+cursor).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	if diff := cmp.Diff(want, paged); diff != "" {
		t.Errorf("the webhooks of all pages (-want +got):\n%s", diff)
	}
}
