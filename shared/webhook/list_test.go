package webhook

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// A webhook that is read has the fields of the list, and no secret.
func TestReadWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	used, other := ada.createWebhook("/ok/1"), ada.createWebhook("/ok/2", object{"secret": "a secret of their own"})
	ada.Do(http.MethodPost, used+"/test", nil).Want(t, http.StatusOK)
	ada.Do(http.MethodPut, other, object{"secret": nil, "active": false}).Want(t, http.StatusOK)
	list := ada.Get("/api/webhooks").Want(t, http.StatusOK).List("webhooks")
	for i, path := range []string{used, other} {
		r := ada.Get(path).Want(t, http.StatusOK)
		if diff := cmp.Diff(list[i], r.Body); diff != "" {
			t.Errorf("mismatch (-in the list +read):\n%s", diff)
		}
		if _, has := r.Body["secret"]; has || r.Calls != 3 {
			t.Errorf("got %s with %d calls to DynamoDB, want no secret, and 3 calls", r.Raw, r.Calls)
		}
	}
	ada.Do(http.MethodDelete, used, nil).Want(t, http.StatusOK)
	noWebhook.check(t, "read after the deletion", ada.Get(used))
}

// A stored webhook that cannot be decoded does not hide the others, and can be deleted.
func TestListSkipsUndecodableWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	broken, valid := ada.createWebhook("/ok/1"), ada.createWebhook("/ok/2")
	update := expression.Set(expression.Name("events"), expression.Value(7))
	_, err := f.client.Do(t.Context(), f.webhooks.Update(db.WebhookKey(ada.personal, f.storedWebhook(broken).ID), update))
	f.must(err)
	list := ada.Get("/api/webhooks").Want(t, http.StatusOK)
	if ids := list.Texts("webhooks", "id"); len(ids) != 1 || "/api/webhooks/"+ids[0] != valid {
		t.Errorf("got %s, want only the webhook %s", list.Raw, valid)
	}
	ada.Do(http.MethodDelete, broken, nil).Want(t, http.StatusOK)
	noWebhook.check(t, "second deletion", ada.Do(http.MethodDelete, broken, nil))
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
	if all.Calls != 5 { // session, memberships, workspaces, and the webhooks of two workspaces
		t.Errorf("got %d calls to DynamoDB, want 5", all.Calls)
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

// The webhooks of a workspace that has ended are not listed, and none is created after its end.
func TestWebhooksOfEndedWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	team := f.workspace(map[*user]workspace.Role{ada: workspace.Owner})
	ended := ada.createWebhook("/ok", object{"workspaceId": team})
	kept := strings.TrimPrefix(ada.createWebhook("/ok", object{"workspaceId": ada.personal}), "/api/webhooks/")
	f.newWire().Before("TransactWriteItems", func() {
		f.must(f.client.Tx(f.projects.Delete(db.WorkspaceKey(team))).Commit(t.Context()))
	})
	ada.newWebhook(team).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	listed := ada.Get("/api/webhooks").Want(t, http.StatusOK)
	if diff := cmp.Diff([]string{kept}, listed.Texts("webhooks", "id")); diff != "" {
		t.Errorf("the webhooks of all workspaces (-want +got):\n%s", diff)
	}
	ada.Get("/api/webhooks?workspaceId="+team).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	for _, path := range []string{ended, ended + "/deliveries"} {
		ada.Get(path).Want(t, http.StatusNotFound, fault.CodeWebhookNotFound)
	}
}
