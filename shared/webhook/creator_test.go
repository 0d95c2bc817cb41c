package webhook

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/infra/mailtest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/webhook/revocation"
	"devplatform/shared/workspace"
)

// team creates a workspace with the requests of its owner, and returns its ID.
func (u *user) team(members map[*user]workspace.Role) string {
	u.f.t.Helper()
	id := u.Do("POST", "/api/workspaces", object{"name": "Team"}).Want(u.f.t, http.StatusCreated).Text("id")
	for member, role := range members {
		u.join(id, member, role)
	}
	return id
}

func (u *user) join(workspaceID string, member *user, role workspace.Role) {
	u.f.t.Helper()
	fields := object{"username": member.name, "role": role}
	invited := u.Do("POST", "/api/workspaces/"+workspaceID+"/invitations", fields).Want(u.f.t, http.StatusCreated)
	member.Do("POST", "/api/invitations/"+invited.Text("id")+"/accept", nil).Want(u.f.t, http.StatusOK)
}

// webhookOf returns a webhook of the user's list.
func (u *user) webhookOf(workspaceID, path string) map[string]any {
	u.f.t.Helper()
	list := u.Get("/api/webhooks?workspaceId="+workspaceID).Want(u.f.t, http.StatusOK).List("webhooks")
	i := slices.IndexFunc(list, func(w map[string]any) bool { return "/api/webhooks/"+w["id"].(string) == path })
	if i < 0 {
		u.f.t.Fatalf("the list does not contain %s", path)
	}
	return list[i]
}

// wantCreator checks the creator of a webhook, and whether it is active. A webhook that is not active must have
// revocation.Reason.
func wantCreator(t *testing.T, w map[string]any, creator *user, active bool) {
	t.Helper()
	var reason any
	if !active {
		reason = revocation.Reason
	}
	by, _ := w["createdBy"].(map[string]any)
	isCreator := by["id"] == creator.userID && by["username"] == creator.name
	if !isCreator || w["active"] != active || w["disabledReason"] != reason {
		t.Errorf("got %v, want the creator %s and active: %t", w, creator.name, active)
	}
}

// If a user may no longer manage webhooks, the webhooks that the user created are disabled, and no others. The user
// gets one mail. An admin who activates one of the webhooks becomes its creator.
func TestWebhooksOfFormerAdmins(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method   string
		fields   any
		byMember bool // the member makes the request, not the owner
	}{
		"removed": {"DELETE", nil, false},
		"left":    {"DELETE", nil, true},
		"member":  {"PUT", object{"role": workspace.Member}, false},
		"viewer":  {"PUT", object{"role": workspace.Viewer}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada, grace := f.user("ada"), f.user("grace")
			team := ada.team(map[*user]workspace.Role{grace: workspace.Admin})
			private := f.project(team, workspace.Private, ada)
			inTeam := object{"workspaceId": team}
			ofTeam, ofProject := grace.createWebhook("/ok", inTeam), grace.createWebhook("/ok", object{"projectId": private})
			paused := grace.createWebhook("/ok", inTeam, object{"active": false})
			others, elsewhere := ada.createWebhook("/ok", inTeam), grace.createWebhook("/ok")
			damaged := f.storedWebhook(grace.createWebhook("/ok", inTeam)) // it must not prevent the change
			update := expression.Set(expression.Name("id"), expression.Value("damaged"))
			_, err := f.client.Do(t.Context(), f.webhooks.Update(db.WebhookKey(team, damaged.ID), update))
			f.must(err)

			caller := ada
			if tc.byMember {
				caller = grace
			}
			caller.Do(tc.method, "/api/workspaces/"+team+"/members/"+grace.userID, tc.fields).Want(t, http.StatusOK)
			for _, path := range []string{ofTeam, ofProject} {
				wantCreator(t, ada.webhookOf(team, path), grace, false)
			}
			host := strings.TrimPrefix(f.receiver.URL(""), "http://")
			want := map[string]string{
				"name": host + " (and 2 more)", "workspace": "Team",
				"reason": "you are no longer an admin or owner of the workspace",
			}
			mails := mailtest.Stored(t, f.sdk, f.tables.mail, f.keys)
			if len(mails) != 1 || mails[0].To != "grace@example.com" || !maps.Equal(mails[0].Values, want) {
				t.Errorf("got the mails %+v, want one to grace with the values %v", mails, want)
			}
			wantCreator(t, ada.webhookOf(team, others), ada, true)
			wantCreator(t, grace.webhookOf(grace.personal, elsewhere), grace, true)
			if w := ada.webhookOf(team, paused); w["active"] != false || w["disabledReason"] != nil {
				t.Errorf("the webhook that its creator paused: got %v, want no change", w)
			}
			for _, path := range []string{ofTeam, paused} {
				ada.Do("PUT", path, object{"active": true}).Want(t, http.StatusOK)
				wantCreator(t, ada.webhookOf(team, path), ada, true)
			}
		})
	}
}

// A user whose role changes between admin and owner keeps the webhooks.
func TestWebhooksOfPromotedAdmins(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.user("ada"), f.user("grace")
	team := ada.team(map[*user]workspace.Role{grace: workspace.Admin})
	path := grace.createWebhook("/ok", object{"workspaceId": team})
	for _, role := range []workspace.Role{workspace.Owner, workspace.Admin} {
		member := "/api/workspaces/" + team + "/members/" + grace.userID
		changed := ada.Do("PUT", member, object{"role": role})
		if role == workspace.Owner {
			offer := changed.Want(t, http.StatusAccepted).Body["invitation"].(map[string]any)
			grace.Do("POST", fmt.Sprint("/api/invitations/", offer["id"], "/accept"), nil).Want(t, http.StatusOK)
		} else {
			changed.Want(t, http.StatusOK)
		}
		wantCreator(t, ada.webhookOf(team, path), grace, true)
	}
}

// remove removes a member with a request to another server.
func (u *user) remove(server, workspaceID string, member *user) slicetest.Response {
	client := slicetest.NewClient(u.f.t, server, u.f.log)
	client.SetCookie("session", u.name)
	return client.Do("DELETE", "/api/workspaces/"+workspaceID+"/members/"+member.userID, nil)
}

// activations are the requests after which a webhook of a user is active.
var activations = map[string]func(u *user, team, paused string) (path string, response slicetest.Response){
	"creation": func(u *user, team, _ string) (string, slicetest.Response) {
		response := u.Do("POST", "/api/webhooks", object{
			"workspaceId": team, "url": u.f.receiver.URL("/ok"), "events": []string{"*"},
		})
		return "/api/webhooks/" + response.Text("id"), response
	},
	"activation": func(u *user, _, paused string) (string, slicetest.Response) {
		return paused, u.Do("PUT", paused, object{"active": true})
	},
}

// A member is removed while the member creates or activates a webhook, just before the write of the webhook.
func TestRemovalDuringActivation(t *testing.T) {
	t.Parallel()
	for name, activate := range activations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			wire := f.newWire()
			ada, grace := f.user("ada"), f.user("grace")
			team := ada.team(map[*user]workspace.Role{grace: workspace.Admin})
			paused := grace.createWebhook("/ok", object{"workspaceId": team, "active": false})
			server := f.memberServer(f.sdk)
			wire.Before("TransactWriteItems", func() {
				if response := ada.remove(server, team, grace); response.Status != http.StatusOK {
					t.Errorf("got %d %s", response.Status, response.Raw)
				}
			})
			_, response := activate(grace, team, paused)
			response.Want(t, http.StatusForbidden, fault.CodeAccessDenied)
			list := ada.Get("/api/webhooks?workspaceId="+team).Want(t, http.StatusOK).List("webhooks")
			if len(list) != 1 || list[0]["active"] != false {
				t.Errorf("got the webhooks %v, want only the one that is not active", list)
			}
		})
	}
}

// A member creates or activates a webhook while the member is removed, just before the write of the removal.
func TestActivationDuringRemoval(t *testing.T) {
	t.Parallel()
	for name, activate := range activations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada, grace := f.user("ada"), f.user("grace")
			team := ada.team(map[*user]workspace.Role{grace: workspace.Admin})
			paused := grace.createWebhook("/ok", object{"workspaceId": team, "active": false})
			wire := f.newWire()
			server := f.memberServer(wire.Client())
			f.startService(f.sdk, f.sqs)
			var path string
			wire.Before("TransactWriteItems", func() {
				var response slicetest.Response
				path, response = activate(grace, team, paused)
				if response.Status >= 300 {
					t.Errorf("got %d %s", response.Status, response.Raw)
				}
			})
			ada.remove(server, team, grace).Want(t, http.StatusOK)
			wantCreator(t, ada.webhookOf(team, path), grace, false)
		})
	}
}
