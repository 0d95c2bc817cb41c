package webhook

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/webhook/delivery"
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
		"another scheme": {object{"url": "ftp://example.com/", "events": []string{"x"}}, []string{"url", "events[0]"}},
		"http URL with credentials": {
			object{"url": "http://me:secret@127.0.0.1/"}, []string{"url: must not contain a user name"},
		},
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
	for _, response := range []slicetest.Response{
		ada.Do("POST", "/api/webhooks", object{"url": "https://169.254.169.254/", "events": []string{"*"}}),
		ada.Do("PUT", path, object{"url": "https://localhost:8443/"}),
	} {
		response.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		if !strings.Contains(response.Text("error"), "url: must have a public host") {
			t.Errorf("got %s, want an error about the address", response.Raw)
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
