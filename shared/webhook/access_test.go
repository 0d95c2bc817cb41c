package webhook

import (
	"net/http"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// outcome is the status of a response and, if it is an error, its code.
type outcome struct {
	status int
	code   fault.Code
}

var (
	denied    = outcome{http.StatusForbidden, fault.CodeAccessDenied}
	noProject = outcome{http.StatusNotFound, fault.CodeProjectNotFound}
	noWebhook = outcome{http.StatusNotFound, fault.CodeWebhookNotFound}
	created   = outcome{status: http.StatusCreated}
)

// check checks that a response has the outcome. request names the request in the failure message.
func (o outcome) check(t *testing.T, request string, response slicetest.Response) {
	t.Helper()
	if response.Status != o.status || response.Status >= 400 && response.Text("code") != string(o.code) {
		t.Errorf("%s: got %d %s, want %v", request, response.Status, response.Raw, o)
	}
}

// Admins and owners may create webhooks. The error for other users depends on whether they can see the workspace or the
// project.
func TestCreatePermissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner, admin, member, viewer, outsider, team := f.usersOfTeam()
	private := f.project(team, workspace.Private, owner)
	visible := f.project(team, workspace.Team, owner)
	public := f.project(team, workspace.Public, owner)
	memberOwned := f.project(team, workspace.Private, member)
	noWorkspace := outcome{http.StatusNotFound, fault.CodeWorkspaceNotFound}
	for _, tc := range []struct {
		user      *user
		workspace outcome
		projects  map[string]outcome // by project ID
	}{
		{owner, created, map[string]outcome{private: created, visible: created, public: created, memberOwned: created}},
		{admin, created, map[string]outcome{private: created, visible: created, public: created, memberOwned: created}},
		{member, denied, map[string]outcome{private: noProject, visible: denied, public: denied, memberOwned: denied}},
		{viewer, denied, map[string]outcome{private: noProject, visible: denied, public: denied, memberOwned: noProject}},
		{
			outsider, noWorkspace,
			map[string]outcome{private: noProject, visible: noProject, public: denied, memberOwned: noProject},
		},
	} {
		fields := object{"url": "https://example.com/", "events": []string{"*"}, "workspaceId": team}
		tc.workspace.check(t, tc.user.name+" creates in the workspace", tc.user.Do("POST", "/api/webhooks", fields))
		delete(fields, "workspaceId")
		for projectID, want := range tc.projects {
			fields["projectId"] = projectID
			request := tc.user.name + " creates in project " + projectID
			want.check(t, request, tc.user.Do("POST", "/api/webhooks", fields))
		}
		for _, unknown := range []string{"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "todo", ""} {
			fields["projectId"] = unknown
			request := tc.user.name + " creates in an unknown project"
			noProject.check(t, request, tc.user.Do("POST", "/api/webhooks", fields))
		}
	}
}

// Users who are not members receive the same error for an existing webhook as for one that does not exist.
func TestAccessToWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner, admin, member, viewer, outsider, team := f.usersOfTeam()
	path := owner.createWebhook("/ok", object{"workspaceId": team})
	d := f.putDelivery(path, succeeded)
	foreign := f.putDelivery(outsider.createWebhook("/ok"), succeeded)
	const unknownWebhook = "/api/webhooks/wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	calls := []struct {
		method, path string
		body         any
		status       int
	}{
		{"GET", "", nil, http.StatusOK},
		{"PUT", "", object{"description": "new"}, http.StatusOK},
		{"POST", "/test", nil, http.StatusOK},
		{"GET", "/deliveries", nil, http.StatusOK},
		{"GET", "/deliveries/" + d.ID, nil, http.StatusOK},
		{"POST", "/deliveries/" + d.ID + "/redeliver", nil, http.StatusAccepted},
		{"POST", "/recover", object{"since": "2026-01-31T08:00:00Z"}, http.StatusAccepted},
		{"DELETE", "", nil, http.StatusOK},
	}
	for _, u := range []*user{outsider, viewer, member, admin, owner} {
		for _, call := range calls {
			want := outcome{status: call.status}
			switch u {
			case outsider:
				want = noWebhook
			case member, viewer:
				want = denied
			case admin:
				if call.method == "DELETE" {
					continue // the owner, who is last, deletes the webhook
				}
			}
			want.check(t, u.name+": "+call.method+" "+call.path, u.Do(call.method, path+call.path, call.body))
			for _, unknown := range []string{unknownWebhook, "/api/webhooks/hook", "/api/webhooks/" + d.ID} {
				request := u.name + ": " + call.method + " " + unknown + call.path
				noWebhook.check(t, request, u.Do(call.method, unknown+call.path, call.body))
			}
		}
	}
	path = owner.createWebhook("/ok", object{"workspaceId": team})
	ofDeletedWebhook := d.ID
	for _, unknown := range []string{foreign.ID, ofDeletedWebhook, "dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "x"} {
		deliveryPath := path + "/deliveries/" + unknown
		owner.Get(deliveryPath).Want(t, http.StatusNotFound, fault.CodeDeliveryNotFound)
		owner.Do("POST", deliveryPath+"/redeliver", nil).Want(t, http.StatusNotFound, fault.CodeDeliveryNotFound)
	}
}

// A user who is no longer an admin loses access to the webhooks immediately.
func TestRolesAreNotCached(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.user("ada"), f.user("grace")
	team := f.workspace(map[*user]workspace.Role{ada: workspace.Admin, grace: workspace.Owner})
	path := ada.createWebhook("/ok", object{"workspaceId": team})
	f.addMember(team, ada, workspace.Member)
	ada.Get(path).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	ada.Do("PUT", path, object{"active": false}).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	if listed := ada.Get("/api/webhooks").Want(t, http.StatusOK); len(listed.List("webhooks")) != 0 {
		t.Errorf("a member who is no longer an admin lists %s, want no webhooks", listed.Raw)
	}
	grace.Do("PUT", path, object{"active": false}).Want(t, http.StatusOK)
}
