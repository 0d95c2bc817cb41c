package workspace_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

func wantFields(t *testing.T, object map[string]any, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(object))); diff != "" {
		t.Errorf("fields mismatch (-want +got):\n%s", diff)
	}
}

// wantTexts compares a text field of all objects of a list.
func wantTexts(t *testing.T, r response, list, field string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.Texts(list, field)); diff != "" {
		t.Errorf("%s.%s mismatch (-want +got):\n%s", list, field, diff)
	}
}

// wantCalls checks the number of calls to DynamoDB for a request. infra/e2e has a table of the calls of all operations.
func wantCalls(t *testing.T, request string, r response, want int64) {
	t.Helper()
	if r.Calls != want {
		t.Errorf("%s made %d calls, want %d", request, r.Calls, want)
	}
}

func TestCreateAndListWorkspaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	const name = "  Café & Söhne "
	body := map[string]any{"name": name}
	created := ada.Do(http.MethodPost, "/api/workspaces", body).Want(t, http.StatusCreated)
	if created.Text("name") != name || created.Text("role") != "owner" || created.Body["personal"] != false {
		t.Errorf("created %s, want the name %q, the role owner and personal false", created.Raw, name)
	}
	if !id.Workspace.Valid(created.Text("id")) {
		t.Errorf("created a workspace with the invalid ID %q", created.Text("id"))
	}
	if _, err := clock.ParseTimestamp(created.Text("createdAt")); err != nil {
		t.Error(err)
	}
	other := ada.create("Another")
	list := ada.workspaces().Want(t, http.StatusOK)
	wantTexts(t, list, "workspaces", "id", ada.personal, created.Text("id"), other)
	if diff := cmp.Diff(created.Body, list.List("workspaces")[1]); diff != "" {
		t.Errorf("the created workspace and its list entry differ (-created +listed):\n%s", diff)
	}
	personal := list.List("workspaces")[0]
	wantFields(t, personal, "createdAt", "id", "name", "personal", "role")
	if personal["personal"] != true || personal["role"] != "owner" || personal["name"] != "ada's workspace" {
		t.Errorf("got %v, want ada's personal workspace first", personal)
	}
	if _, hasCursor := list.Body["nextCursor"]; hasCursor {
		t.Error("a complete list has a cursor")
	}
	if len(f.events()) != 0 {
		t.Error("creating a workspace emitted an event")
	}
}

// The personal workspace is listed first, even if it is not the oldest workspace of the user.
func TestPersonalWorkspaceIsListedFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	ws := ada.create("Old")
	grace := f.newUser("grace")
	ada.add(ws, grace, workspace.Member)
	ada.add(ada.personal, grace, workspace.Viewer)
	list := grace.workspaces().Want(t, http.StatusOK)
	wantTexts(t, list, "workspaces", "id", grace.personal, ada.personal, ws)
	if diff := cmp.Diff([]any{true, false, false}, list.Values("workspaces", "personal")); diff != "" {
		t.Errorf("workspaces.personal mismatch (-want +got):\n%s", diff)
	}
	wantTexts(t, list, "workspaces", "role", "owner", "viewer", "member")
}

func TestMembers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("Ada"), f.newUser("Grace")
	ws := ada.create("Team")
	body := map[string]string{"username": "gRACE", "role": "admin"}
	invited := ada.Do(http.MethodPost, "/api/workspaces/"+ws+"/invitations", body).Want(t, http.StatusCreated)
	added := grace.accept(invited.Text("id")).Want(t, http.StatusOK)
	wantFields(t, added.Body, "addedAt", "role", "userId", "username")
	if added.Text("userId") != grace.id || added.Text("username") != "Grace" || added.Text("role") != "admin" {
		t.Errorf("added %s, want Grace as admin", added.Raw)
	}
	list := grace.members(ws).Want(t, http.StatusOK)
	wantTexts(t, list, "members", "userId", ada.id, grace.id)
	if diff := cmp.Diff(added.Body, list.List("members")[1]); diff != "" {
		t.Errorf("the added member and its list entry differ (-added +listed):\n%s", diff)
	}
	changed := ada.setRole(ws, grace, workspace.Viewer).Want(t, http.StatusOK)
	wantCalls(t, "taking away the role of an admin", changed, 4) // two calls read the webhooks to disable
	added.Body["role"] = "viewer"
	if diff := cmp.Diff(added.Body, changed.Body); diff != "" {
		t.Errorf("changed member mismatch (-want +got):\n%s", diff)
	}
	wantTexts(t, ada.members(ws), "members", "role", "owner", "viewer")
	removed := ada.remove(ws, grace).Want(t, http.StatusOK)
	wantFields(t, removed.Body, "message", "success")
	if removed.Body["success"] != true {
		t.Errorf("removing a member: got %s, want success", removed.Raw)
	}
	wantMemberEvents(t, f.events(), added, ada, grace, func(by *user, role string) event.Data {
		return event.Data{
			Actor: event.Actor{ID: by.id, Username: by.username}, Workspace: &event.Workspace{ID: ws, Name: "Team"},
			Member: &event.Member{UserID: grace.id, Username: "Grace", Role: role},
		}
	})
}

// wantMemberEvents checks the events of a member who was added as admin, became a viewer and was removed. A role change
// emits no event. added is the response to the acceptance.
func wantMemberEvents(
	t *testing.T, events []event.Payload, added response, ada, grace *user, data func(by *user, role string) event.Data,
) {
	t.Helper()
	if len(events) != 2 || events[0].Type != event.MemberAdded || events[1].Type != event.MemberRemoved {
		t.Fatalf("got events %+v, want member.added and member.removed", events)
	}
	got := []event.Data{events[0].Data, events[1].Data}
	if diff := cmp.Diff([]event.Data{data(grace, "admin"), data(ada, "viewer")}, got); diff != "" {
		t.Errorf("data of the events mismatch (-want +got):\n%s", diff)
	}
	if at := events[0].Timestamp.String(); at != added.Text("addedAt") {
		t.Errorf("addedAt is %s, the event has the timestamp %s", added.Text("addedAt"), at)
	}
}

// A request that does not change the role writes nothing.
func TestUnchangedRoleWritesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Member})
	before := f.snapshot()
	wantCalls(t, "a request with the current role", ada.setRole(ws, grace, workspace.Member).Want(t, http.StatusOK), 1)
	path := "/api/workspaces/" + ws + "/members/" + grace.id
	withoutRole := ada.Do(http.MethodPut, path, `{}`).Want(t, http.StatusOK)
	wantCalls(t, "a request without a role", withoutRole, 1)
	if withoutRole.Text("role") != "member" {
		t.Errorf("a request without a role returned %s, want the current role", withoutRole.Raw)
	}
	ada.setRole(ws, ada, workspace.Owner).Want(t, http.StatusOK) // not a change, so the last owner may send it
	if diff := cmp.Diff(before, f.snapshot(), cmp.AllowUnexported(snapshot{})); diff != "" {
		t.Errorf("the requests changed stored items (-before +after):\n%s", diff)
	}
}

func TestRemovalIsEffectiveImmediately(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace, eve := f.newUser("ada"), f.newUser("grace"), f.newUser("eve")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Admin, eve: workspace.Viewer})
	ada.remove(ws, grace).Want(t, http.StatusOK)
	grace.members(ws).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	grace.remove(ws, eve).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	wantTexts(t, grace.workspaces(), "workspaces", "id", grace.personal)
	ada.remove(ws, grace).Want(t, http.StatusNotFound, fault.CodeMemberNotFound)
	ada.add(ws, grace, workspace.Owner) // a removed member can be added again
	grace.remove(ws, ada).Want(t, http.StatusOK)
	ada.members(ws).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
}

// A user who is not a member gets the same response for a workspace of others, an unknown ID and an invalid ID.
func TestWorkspacesOfOthersAreNotFound(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace, eve := f.newUser("ada"), f.newUser("grace"), f.newUser("eve")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Member})
	invited := ada.invite(ws, f.newUser("linus"), workspace.Viewer).Want(t, http.StatusCreated).Text("id")
	addBody, roleBody := map[string]string{"username": "grace", "role": "viewer"}, map[string]string{"role": "viewer"}
	var bodies []string
	for _, workspaceID := range []string{
		ws, f.ids.New(id.Workspace), grace.personal, strings.ToLower(ws), ada.id,
		"x", "WS%23x", strings.Repeat("y", 3000),
	} {
		members := "/api/workspaces/" + workspaceID + "/members"
		invitations := "/api/workspaces/" + workspaceID + "/invitations"
		for _, r := range []response{
			eve.Do(http.MethodGet, members, nil),
			eve.Do(http.MethodPost, invitations, addBody),
			eve.Do(http.MethodGet, invitations, nil),
			eve.Do(http.MethodDelete, invitations+"/"+invited, nil),
			eve.Do(http.MethodGet, "/api/workspaces/"+workspaceID, nil),
			eve.Do(http.MethodPut, "/api/workspaces/"+workspaceID, map[string]string{"name": "Mine"}),
			eve.Do(http.MethodPut, members+"/"+grace.id, roleBody),
			eve.Do(http.MethodDelete, members+"/"+grace.id, nil),
			eve.Do(http.MethodDelete, members+"/"+eve.id, nil),
		} {
			r.Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
			bodies = append(bodies, r.Raw)
		}
	}
	if bodies = slices.Compact(bodies); len(bodies) != 1 {
		t.Errorf("the responses differ: %q", bodies)
	}
	if n := len(f.events()); n != 1 {
		t.Errorf("got %d events, want only the event of the member that the test added", n)
	}
}

// The endpoints enforce the permissions. member_internal_test.go tests all combinations of roles.
func TestRolesAreEnforced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	users := f.newUsers("owner", "admin", "member", "viewer", "owner2", "outsider")
	owner, admin, member, viewer, owner2, outsider := users[0], users[1], users[2], users[3], users[4], users[5]
	ws := owner.createTeam(map[*user]workspace.Role{
		admin: workspace.Admin, member: workspace.Member, viewer: workspace.Viewer, owner2: workspace.Owner,
	})
	for _, u := range users[:5] {
		u.members(ws).Want(t, http.StatusOK)
	}
	wantDenied := func(request string, r response) {
		t.Helper()
		if r.Status != http.StatusForbidden || r.Text("code") != string(fault.CodeAccessDenied) {
			t.Errorf("%s: got %d %s, want 403 ACCESS_DENIED", request, r.Status, r.Raw)
		}
	}
	unknown := &user{id: f.ids.New(id.User), username: "unknown"}
	for _, pair := range [][2]*user{{member, viewer}, {viewer, member}} {
		caller, other := pair[0], pair[1]
		name := caller.username
		wantDenied(name+" invites a user", caller.invite(ws, outsider, workspace.Viewer))
		// The response must not depend on whether the user exists.
		wantDenied(name+" invites an unknown user", caller.invite(ws, unknown, workspace.Viewer))
		wantDenied(name+" demotes an admin", caller.setRole(ws, admin, workspace.Viewer))
		wantDenied(name+" changes its own role to owner", caller.setRole(ws, caller, workspace.Owner))
		wantDenied(name+" changes its own role to viewer", caller.setRole(ws, caller, workspace.Viewer))
		wantDenied(name+" removes a member", caller.remove(ws, other))
		wantDenied(name+" removes an unknown user", caller.remove(ws, unknown))
	}
	wantDenied("admin changes its own role to owner", admin.setRole(ws, admin, workspace.Owner))
	wantDenied("admin changes a member to owner", admin.setRole(ws, member, workspace.Owner))
	wantDenied("admin demotes an owner", admin.setRole(ws, owner, workspace.Viewer))
	wantDenied("admin sends the current role of an owner", admin.setRole(ws, owner, workspace.Owner))
	wantDenied("admin removes an owner", admin.remove(ws, owner2))
	before := f.snapshot()

	admin.add(ws, outsider, workspace.Admin)
	outsider.setRole(ws, admin, workspace.Member).Want(t, http.StatusOK)
	wantDenied("a demoted admin restores its role", admin.setRole(ws, admin, workspace.Admin))
	owner.setRole(ws, admin, workspace.Admin).Want(t, http.StatusOK)
	admin.remove(ws, outsider).Want(t, http.StatusOK)
	if diff := cmp.Diff(before.members, f.snapshot().members); diff != "" {
		t.Errorf("members mismatch (-before +after):\n%s", diff)
	}
	owner.setRole(ws, owner2, workspace.Member).Want(t, http.StatusOK)
	owner.promote(ws, owner2)
	for _, u := range []*user{viewer, member, admin, owner2} {
		u.remove(ws, u).Want(t, http.StatusOK)
	}
	for _, e := range f.events()[len(f.events())-4:] {
		if e.Type != event.MemberRemoved || e.Data.Actor.ID != e.Data.Member.UserID {
			t.Errorf("got event %+v of a member who left, want member.removed with the member as actor", e)
		}
	}
}

func TestLastOwnerCannotLeave(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Admin})
	for _, r := range []response{ada.remove(ws, ada), ada.setRole(ws, ada, workspace.Admin)} {
		if r.Want(t, http.StatusConflict, fault.CodeConflict); !strings.Contains(r.Text("error"), "must have an owner") {
			t.Errorf("got %s, want an error about the last owner", r.Raw)
		}
	}
	ada.promote(ws, grace)
	ada.remove(ws, ada).Want(t, http.StatusOK)
	grace.remove(ws, grace).Want(t, http.StatusConflict, fault.CodeConflict)
}

// The user of a personal workspace cannot be removed or demoted, even if another owner exists.
func TestPersonalWorkspaceKeepsItsOwner(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ada.remove(ada.personal, ada).Want(t, http.StatusConflict, fault.CodeConflict)
	ada.add(ada.personal, grace, workspace.Owner)
	ada.remove(ada.personal, ada).Want(t, http.StatusConflict, fault.CodeConflict)
	ada.setRole(ada.personal, ada, workspace.Viewer).Want(t, http.StatusConflict, fault.CodeConflict)
	grace.remove(ada.personal, ada).Want(t, http.StatusConflict, fault.CodeConflict)
	grace.setRole(ada.personal, ada, workspace.Admin).Want(t, http.StatusConflict, fault.CodeConflict)
	grace.remove(ada.personal, grace).Want(t, http.StatusOK)
}

func TestInvitationErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Member})
	ada.invite(ws, grace, workspace.Admin).Want(t, http.StatusConflict, fault.CodeConflict)
	ada.invite(ws, ada, workspace.Admin).Want(t, http.StatusConflict, fault.CodeConflict)
	for _, username := range []string{"unknown", "ada ", "grace@example.com", strings.Repeat("x", 5000), "a#b"} {
		ada.invite(ws, &user{username: username}, workspace.Member).Want(t, http.StatusNotFound, fault.CodeUserNotFound)
	}
	wantTexts(t, ada.members(ws), "members", "role", "owner", "member")
}

func TestInvalidInput(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Member})
	members := "/api/workspaces/" + ws + "/members"
	invitations := "/api/workspaces/" + ws + "/invitations"
	const oneOf, invitable = "must be one of owner, admin, member, viewer", "must be one of admin, member, viewer"
	for _, tc := range []struct{ method, path, body, want string }{
		{"POST", "/api/workspaces", ``, "body: is required"},
		{"POST", "/api/workspaces", `{}`, "name: is required"},
		{"POST", "/api/workspaces", `{"name":""}`, "name: must not be empty"},
		{"POST", "/api/workspaces", `{"name":" \t "}`, "name: must not contain control characters"},
		{"POST", invitations, `{}`, "role: is required; username: is required, or an email"},
		{"POST", invitations, `{"username":"","role":"boss"}`, "role: " + invitable + "; username: is required, or an email"},
		{
			"POST", invitations, `{"username":"grace","email":"a@b.c","role":"admin"}`,
			"email: must be absent if there is a username",
		},
		{"POST", invitations, `{"email":"grace","role":"admin"}`, "email: must be a valid e-mail address"},
		{"POST", "/api/invitations/accept", `{}`, "token: is required"},
		{"POST", "/api/invitations/preview", `{"token":""}`, "token: must not be empty"},
		{"POST", invitations, `{"username":"grace","role":"owner"}`, "role: " + invitable},
		{"PUT", "/api/workspaces/" + ws, `{"name":""}`, "name: must not be empty"},
		{"PUT", "/api/workspaces/" + ws, `{"name":"\u200b"}`, "name: must not be blank"},
		{"GET", invitations + "?cursor=made-up", "", "cursor: must be the nextCursor of a page of this list"},
		{"GET", "/api/invitations?cursor=made-up", "", "cursor: must be the nextCursor of a page of this list"},
		{"PUT", members + "/" + grace.id, ``, "body: is required"},
		{"PUT", members + "/" + grace.id, `{"role":""}`, "role: " + oneOf},
		{"GET", "/api/workspaces?cursor=made-up", "", "cursor: must be the nextCursor of a page of this list"},
		{"GET", members + "?cursor=made-up", "", "cursor: must be the nextCursor of a page of this list"},
	} {
		var body any = tc.body
		if tc.method == "GET" {
			body = nil
		}
		r := ada.Do(tc.method, tc.path, body)
		if r.Status != http.StatusBadRequest || r.Text("code") != string(fault.CodeValidationFailed) ||
			r.Text("error") != tc.want {
			t.Errorf("%s %s %s: got %d %s, want 400 %q", tc.method, tc.path, tc.body, r.Status, r.Raw, tc.want)
		}
	}
	for _, r := range []response{
		ada.Do(http.MethodPut, members+"/"+ws, `{"role":"viewer"}`),
		ada.Do(http.MethodDelete, members+"/x", nil),
		ada.Do(http.MethodPut, members+"/"+f.ids.New(id.User), `{}`),
	} {
		r.Want(t, http.StatusNotFound, fault.CodeMemberNotFound)
	}
	signedOut := &user{Client: f.newClient("invalid-token"), f: f}
	signedOut.workspaces().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	signedOut.createWorkspace("x").Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}
