package webhook

import (
	"net/http"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// outcome is a status and, of an error, its code.
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

func (o outcome) of(t *testing.T, what string, a slicetest.Response) {
	t.Helper()
	if a.Status != o.status || a.Status >= 400 && a.Text("code") != string(o.code) {
		t.Errorf("%s: %d %s, want %v", what, a.Status, a.Raw, o)
	}
}

// Checks which roles may create webhooks, and which errors other users receive.
func TestWhoMayCreateWebhooks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, admin, member, viewer, outsider := s.user("owner"), s.user("admin"), s.user("member"), s.user("viewer"), s.user("outsider")
	team := s.workspace(map[*visitor]workspace.Role{
		owner: workspace.Owner, admin: workspace.Admin, member: workspace.Member, viewer: workspace.Viewer,
	})
	visibilities := map[string]workspace.Visibility{
		"private": workspace.Private, "team": workspace.Team, "public": workspace.Public,
	}
	projects := map[string]string{"the member's own": s.project(team, string(workspace.Private), member)}
	for name, visibility := range visibilities {
		projects[name] = s.project(team, string(visibility), owner)
	}
	noWorkspace := outcome{http.StatusNotFound, fault.CodeWorkspaceNotFound}
	for _, tc := range []struct {
		by        *visitor
		workspace outcome
		projects  map[string]outcome
	}{
		{owner, created, map[string]outcome{"private": created, "team": created, "public": created, "the member's own": created}},
		{admin, created, map[string]outcome{"private": created, "team": created, "public": created, "the member's own": created}},
		{member, denied, map[string]outcome{"private": noProject, "team": denied, "public": denied, "the member's own": denied}},
		{viewer, denied, map[string]outcome{"private": noProject, "team": denied, "public": denied, "the member's own": noProject}},
		{outsider, noWorkspace, map[string]outcome{"private": noProject, "team": noProject, "public": denied, "the member's own": noProject}},
	} {
		fields := object{"url": "https://example.com/", "events": []string{"*"}, "workspaceId": team}
		tc.workspace.of(t, tc.by.name+" in the workspace", tc.by.Do("POST", "/api/webhooks", fields))
		delete(fields, "workspaceId")
		for name, want := range tc.projects {
			fields["projectId"] = projects[name]
			want.of(t, tc.by.name+" in "+name, tc.by.Do("POST", "/api/webhooks", fields))
		}
		for _, unknown := range []string{"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "todo", ""} {
			fields["projectId"] = unknown
			noProject.of(t, tc.by.name+" in an unknown project", tc.by.Do("POST", "/api/webhooks", fields))
		}
	}
}

// Users who are not members receive the same error for an existing webhook as for one that does not exist.
func TestWhoMayUseAWebhook(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, admin, member, viewer, outsider := s.user("owner"), s.user("admin"), s.user("member"), s.user("viewer"), s.user("outsider")
	team := s.workspace(map[*visitor]workspace.Role{
		owner: workspace.Owner, admin: workspace.Admin, member: workspace.Member, viewer: workspace.Viewer,
	})
	path := owner.hook("/ok", object{"workspaceId": team})
	d := s.deliver(path, succeeded)
	foreign := s.deliver(outsider.hook("/ok"), succeeded)
	const nothing = "/api/webhooks/wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	calls := []struct {
		method, path string
		body         any
		status       int
	}{
		{"PUT", "", object{"description": "new"}, http.StatusOK},
		{"POST", "/test", nil, http.StatusOK},
		{"GET", "/deliveries", nil, http.StatusOK},
		{"GET", "/deliveries/" + d.ID, nil, http.StatusOK},
		{"POST", "/deliveries/" + d.ID + "/redeliver", nil, http.StatusAccepted},
		{"POST", "/recover", object{"since": "2026-01-31T08:00:00Z"}, http.StatusAccepted},
		{"DELETE", "", nil, http.StatusOK},
	}
	for _, v := range []*visitor{outsider, viewer, member, admin, owner} {
		for _, call := range calls {
			want := outcome{status: call.status}
			switch v {
			case outsider:
				want = noWebhook
			case member, viewer:
				want = denied
			case admin:
				if call.method == "DELETE" {
					continue // the owner deletes the webhook in the last round
				}
			}
			want.of(t, v.name+" "+call.method+call.path, v.Do(call.method, path+call.path, call.body))
			for _, unknown := range []string{nothing, "/api/webhooks/hook", "/api/webhooks/" + d.ID} {
				noWebhook.of(t, v.name+" "+call.method+unknown+call.path, v.Do(call.method, unknown+call.path, call.body))
			}
		}
	}
	path = owner.hook("/ok", object{"workspaceId": team})
	for _, unknown := range []string{foreign.ID, d.ID, "dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "x"} { // the webhook of d was deleted
		for _, a := range []slicetest.Response{owner.Get(path + "/deliveries/" + unknown), owner.Do("POST", path+"/deliveries/"+unknown+"/redeliver", nil)} {
			a.Want(t, http.StatusNotFound, fault.CodeDeliveryNotFound)
		}
	}
}

// A user who is no longer an admin loses access to the webhooks immediately.
func TestRolesAreNotCached(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada, grace := s.user("ada"), s.user("grace")
	team := s.workspace(map[*visitor]workspace.Role{ada: workspace.Admin, grace: workspace.Owner})
	path := ada.hook("/ok", object{"workspaceId": team})
	s.join(team, ada, workspace.Member)
	ada.Do("PUT", path, object{"active": false}).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	if listed := ada.Get("/api/webhooks").Want(t, http.StatusOK); len(listed.List("webhooks")) != 0 {
		t.Error(listed.Raw)
	}
	grace.Do("PUT", path, object{"active": false}).Want(t, http.StatusOK)
}
