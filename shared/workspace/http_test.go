package workspace_test

import (
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

func keysOf(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func wantCalls(t *testing.T, what string, a answer, want int64) {
	t.Helper()
	if a.Calls != want {
		t.Errorf("%s made %d calls, want %d", what, a.Calls, want)
	}
}

func TestCreateAndListWorkspaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person("ada")
	made := ada.Do(http.MethodPost, "/api/workspaces", map[string]any{"name": "  Café & Söhne ", "unknown": 1}).Want(t, http.StatusCreated)
	if !id.Workspace.Valid(made.Text("id")) || made.Text("name") != "  Café & Söhne " || made.Text("role") != "owner" || made.Body["personal"] != false {
		t.Errorf("made %s", made.Raw)
	}
	if _, err := clock.ParseTimestamp(made.Text("createdAt")); err != nil {
		t.Error(err)
	}
	wantCalls(t, "creating a workspace", made, 1) // and the session's
	other := ada.create("Another")
	list := ada.workspaces().Want(t, http.StatusOK)
	wantCalls(t, "listing workspaces", list, 1)
	if diff := cmp.Diff([]string{ada.home, made.Text("id"), other}, list.Texts("workspaces", "id")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(made.Body, list.List("workspaces")[1]); diff != "" {
		t.Errorf("the list and the response differ: %s", diff)
	}
	personal := list.List("workspaces")[0]
	if diff := cmp.Diff([]string{"createdAt", "id", "name", "personal", "role"}, keysOf(personal)); diff != "" {
		t.Error(diff)
	}
	if personal["personal"] != true || personal["role"] != "owner" || personal["name"] != "ada's workspace" {
		t.Errorf("personal: %v", personal)
	}
	if _, more := list.Body["nextCursor"]; more {
		t.Error("a complete list has a cursor")
	}
	if len(w.history()) != 0 {
		t.Error("creating a workspace emitted an event")
	}
}

// The personal workspace is listed first, even if it is not the oldest workspace of the user.
func TestPersonalWorkspaceIsListedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person("ada")
	ws := ada.create("Old")
	grace := w.person("grace")
	ada.add(ws, grace, workspace.Member).Want(t, http.StatusCreated)
	ada.add(ada.home, grace, workspace.Viewer).Want(t, http.StatusCreated)
	list := grace.workspaces().Want(t, http.StatusOK)
	if diff := cmp.Diff([]string{grace.home, ada.home, ws}, list.Texts("workspaces", "id")); diff != "" {
		t.Error(diff)
	}
	var personal []any
	for _, item := range list.List("workspaces") {
		personal = append(personal, item["personal"])
	}
	if diff := cmp.Diff([]any{true, false, false}, personal); diff != "" {
		t.Errorf("personal: %s", diff)
	}
	if diff := cmp.Diff([]string{"owner", "viewer", "member"}, list.Texts("workspaces", "role")); diff != "" {
		t.Error(diff)
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace := w.person("Ada"), w.person("Grace")
	ws := ada.create("Team")
	added := ada.Do(http.MethodPost, "/api/workspaces/"+ws+"/members", map[string]string{"username": "gRACE", "role": "admin"}).Want(t, http.StatusCreated)
	wantCalls(t, "adding a member", added, 2) // and the session's, and two to find the user
	if diff := cmp.Diff([]string{"addedAt", "role", "userId", "username"}, keysOf(added.Body)); diff != "" {
		t.Error(diff)
	}
	if added.Text("userId") != grace.id || added.Text("username") != "Grace" || added.Text("role") != "admin" {
		t.Errorf("added %s", added.Raw)
	}
	list := grace.members(ws).Want(t, http.StatusOK)
	wantCalls(t, "listing members", list, 2)
	if diff := cmp.Diff([]string{ada.id, grace.id}, list.Texts("members", "userId")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(added.Body, list.List("members")[1]); diff != "" {
		t.Errorf("the list and the response differ: %s", diff)
	}
	changed := ada.setRole(ws, grace, workspace.Viewer).Want(t, http.StatusOK)
	wantCalls(t, "changing a role", changed, 2)
	added.Body["role"] = "viewer"
	if diff := cmp.Diff(added.Body, changed.Body); diff != "" {
		t.Errorf("more than the role has changed: %s", diff)
	}
	if diff := cmp.Diff([]string{"owner", "viewer"}, ada.members(ws).Texts("members", "role")); diff != "" {
		t.Error(diff)
	}
	removed := ada.remove(ws, grace).Want(t, http.StatusOK)
	wantCalls(t, "removing a member", removed, 2)
	if diff := cmp.Diff([]string{"message", "success"}, keysOf(removed.Body)); diff != "" || removed.Body["success"] != true {
		t.Errorf("%s %s", diff, removed.Raw)
	}
	var eventData []event.Data
	var types []event.Type
	for _, p := range w.history() {
		eventData, types = append(eventData, p.Data), append(types, p.Type)
	}
	if diff := cmp.Diff([]event.Type{event.MemberAdded, event.MemberRemoved}, types); diff != "" {
		t.Fatal(diff) // a role change emits no event
	}
	data := func(role string) event.Data {
		return event.Data{
			Actor: event.Actor{ID: ada.id, Username: "Ada"}, Workspace: &event.Workspace{ID: ws, Name: "Team"},
			Member: &event.Member{UserID: grace.id, Username: "Grace", Role: role},
		}
	}
	if diff := cmp.Diff([]event.Data{data("admin"), data("viewer")}, eventData); diff != "" {
		t.Error(diff)
	}
	if at := w.history()[0].Timestamp.String(); at != added.Text("addedAt") {
		t.Errorf("addedAt is %s, the event has the timestamp %s", added.Text("addedAt"), at)
	}
}

// A request that does not change the role writes nothing.
func TestUnchangedRoleWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace := w.person("ada"), w.person("grace")
	ws := ada.team(map[*person]workspace.Role{grace: workspace.Member})
	before := w.snapshot()
	wantCalls(t, "the same role", ada.setRole(ws, grace, workspace.Member).Want(t, http.StatusOK), 1)
	path := "/api/workspaces/" + ws + "/members/" + grace.id
	if a := ada.Do(http.MethodPut, path, `{}`).Want(t, http.StatusOK); a.Calls != 1 || a.Text("role") != "member" {
		t.Errorf("no role: %d calls, %s", a.Calls, a.Raw)
	}
	ada.setRole(ws, ada, workspace.Owner).Want(t, http.StatusOK) // not a change, so the last owner may do it
	if diff := cmp.Diff(before, w.snapshot(), cmp.AllowUnexported(snapshot{})); diff != "" {
		t.Error(diff)
	}
}

func TestRemovalIsEffectiveImmediately(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace, eve := w.person("ada"), w.person("grace"), w.person("eve")
	ws := ada.team(map[*person]workspace.Role{grace: workspace.Admin, eve: workspace.Viewer})
	ada.remove(ws, grace).Want(t, http.StatusOK)
	grace.members(ws).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	grace.remove(ws, eve).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	if diff := cmp.Diff([]string{grace.home}, grace.workspaces().Texts("workspaces", "id")); diff != "" {
		t.Error(diff)
	}
	ada.remove(ws, grace).Want(t, http.StatusNotFound, fault.CodeMemberNotFound)
	ada.add(ws, grace, workspace.Owner).Want(t, http.StatusCreated) // a removed member can be added again
	grace.remove(ws, ada).Want(t, http.StatusOK)
	ada.members(ws).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
}

// For users who are not members, a workspace of others, an unknown ID and an invalid ID have the same response.
func TestWorkspacesOfOthersAreNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace, eve := w.person("ada"), w.person("grace"), w.person("eve")
	ws := ada.team(map[*person]workspace.Role{grace: workspace.Member})
	add, role := map[string]string{"username": "grace", "role": "viewer"}, map[string]string{"role": "viewer"}
	var seen []string
	for _, foreign := range []string{ws, w.ids.New(id.Workspace), grace.home, strings.ToLower(ws), ada.id, "x", "WS%23x", strings.Repeat("y", 3000)} {
		base := "/api/workspaces/" + foreign + "/members"
		for _, a := range []answer{
			eve.Do(http.MethodGet, base, nil), eve.Do(http.MethodPost, base, add),
			eve.Do(http.MethodPut, base+"/"+grace.id, role), eve.Do(http.MethodDelete, base+"/"+grace.id, nil),
			eve.Do(http.MethodDelete, base+"/"+eve.id, nil),
		} {
			a.Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
			seen = append(seen, a.Raw)
		}
	}
	if seen = slices.Compact(seen); len(seen) != 1 {
		t.Errorf("the responses differ: %q", seen)
	}
	if len(w.history()) != 1 {
		t.Error("unexpected events")
	}
}

// The permissions over HTTP. rules_test.go tests all combinations of roles.
func TestRolesAreEnforced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.people("owner", "admin", "member", "viewer", "second", "new")
	owner, admin, member, viewer, second, fresh := p[0], p[1], p[2], p[3], p[4], p[5]
	ws := owner.team(map[*person]workspace.Role{
		admin: workspace.Admin, member: workspace.Member, viewer: workspace.Viewer, second: workspace.Owner,
	})
	for _, reader := range p[:5] {
		reader.members(ws).Want(t, http.StatusOK)
	}
	denied := func(what string, a answer) {
		t.Helper()
		if a.Status != http.StatusForbidden || a.Text("code") != string(fault.CodeAccessDenied) {
			t.Errorf("%s: %d %s", what, a.Status, a.Raw)
		}
	}
	nobody := &person{id: w.ids.New(id.User), username: "nobody"}
	for _, low := range []*person{member, viewer} {
		denied("adds", low.add(ws, fresh, workspace.Viewer))
		denied("adds an unknown user", low.add(ws, nobody, workspace.Viewer)) // the response must not depend on whether the user exists
		denied("changes", low.setRole(ws, admin, workspace.Viewer))
		denied("promotes itself", low.setRole(ws, low, workspace.Owner))
		denied("keeps its role", low.setRole(ws, low, workspace.Viewer))
		denied("removes", low.remove(ws, viewerOr(low, viewer, member)))
		denied("removes an unknown user", low.remove(ws, nobody))
	}
	denied("grants more than it has", admin.add(ws, fresh, workspace.Owner))
	denied("promotes itself", admin.setRole(ws, admin, workspace.Owner))
	denied("promotes a member", admin.setRole(ws, member, workspace.Owner))
	denied("lowers an owner", admin.setRole(ws, owner, workspace.Viewer))
	denied("confirms an owner", admin.setRole(ws, owner, workspace.Owner))
	denied("removes an owner", admin.remove(ws, second))
	before := w.snapshot()

	admin.add(ws, fresh, workspace.Admin).Want(t, http.StatusCreated)
	fresh.setRole(ws, admin, workspace.Member).Want(t, http.StatusOK)
	denied("was an admin", admin.setRole(ws, admin, workspace.Admin))
	owner.setRole(ws, admin, workspace.Admin).Want(t, http.StatusOK)
	admin.remove(ws, fresh).Want(t, http.StatusOK)
	if diff := cmp.Diff(before.members, w.snapshot().members); diff != "" {
		t.Error(diff)
	}
	owner.setRole(ws, second, workspace.Member).Want(t, http.StatusOK)
	owner.setRole(ws, second, workspace.Owner).Want(t, http.StatusOK)
	for _, leaver := range []*person{viewer, member, admin, second} {
		leaver.remove(ws, leaver).Want(t, http.StatusOK)
	}
	for _, p := range w.history()[len(w.history())-4:] {
		if p.Type != event.MemberRemoved || p.Data.Actor.ID != p.Data.Member.UserID {
			t.Errorf("event of a member who left: %+v", p)
		}
	}
}

func viewerOr(self, a, b *person) *person {
	if self == a {
		return b
	}
	return a
}

func TestLastOwnerCannotLeave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace := w.person("ada"), w.person("grace")
	ws := ada.team(map[*person]workspace.Role{grace: workspace.Admin})
	ada.remove(ws, ada).Want(t, http.StatusConflict, fault.CodeConflict)
	ada.setRole(ws, ada, workspace.Admin).Want(t, http.StatusConflict, fault.CodeConflict)
	ada.setRole(ws, grace, workspace.Owner).Want(t, http.StatusOK)
	ada.remove(ws, ada).Want(t, http.StatusOK)
	grace.remove(ws, grace).Want(t, http.StatusConflict, fault.CodeConflict)
}

// The user to whom a personal workspace belongs cannot be removed or demoted, even if it has another owner.
func TestPersonalWorkspaceKeepsItsOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace := w.person("ada"), w.person("grace")
	ada.remove(ada.home, ada).Want(t, http.StatusConflict, fault.CodeConflict)
	ada.add(ada.home, grace, workspace.Owner).Want(t, http.StatusCreated)
	ada.remove(ada.home, ada).Want(t, http.StatusConflict, fault.CodeConflict)
	ada.setRole(ada.home, ada, workspace.Viewer).Want(t, http.StatusConflict, fault.CodeConflict)
	grace.remove(ada.home, ada).Want(t, http.StatusConflict, fault.CodeConflict)
	grace.setRole(ada.home, ada, workspace.Admin).Want(t, http.StatusConflict, fault.CodeConflict)
	grace.remove(ada.home, grace).Want(t, http.StatusOK)
}

func TestAddMemberErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace := w.person("ada"), w.person("grace")
	ws := ada.team(map[*person]workspace.Role{grace: workspace.Member})
	ada.add(ws, grace, workspace.Admin).Want(t, http.StatusConflict, fault.CodeConflict)
	ada.add(ws, ada, workspace.Owner).Want(t, http.StatusConflict, fault.CodeConflict)
	for _, nobody := range []string{"nobody", "ada ", "grace@example.com", strings.Repeat("x", 5000), "a#b"} {
		ada.add(ws, &person{username: nobody}, workspace.Member).Want(t, http.StatusNotFound, fault.CodeUserNotFound)
	}
	if got := ada.members(ws).Texts("members", "role"); !slices.Equal(got, []string{"owner", "member"}) {
		t.Errorf("roles %v", got)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace := w.person("ada"), w.person("grace")
	ws := ada.team(map[*person]workspace.Role{grace: workspace.Member})
	members := "/api/workspaces/" + ws + "/members"
	const oneOf = "must be one of owner, admin, member, viewer"
	for _, tc := range []struct{ method, path, body, want string }{
		{"POST", "/api/workspaces", ``, "body: is required"},
		{"POST", "/api/workspaces", `{}`, "name: is required"},
		{"POST", "/api/workspaces", `{"NAME":"x"}`, "name: is required"},
		{"POST", "/api/workspaces", `{"name":5}`, "name: must be a string"},
		{"POST", "/api/workspaces", `{"name":null}`, "name: must be a string"},
		{"POST", "/api/workspaces", `{"name":""}`, "name: must not be empty"},
		{"POST", "/api/workspaces", `{"name":" \t "}`, "name: must not contain control characters"},
		{"POST", "/api/workspaces", `{"name":"a\u0000"}`, "name: must not contain NUL"},
		{"POST", "/api/workspaces", `{"name":"a","name":"b"}`, "name: must not be given more than once"},
		{"POST", "/api/workspaces", `{"name":"a"`, "body: is not valid JSON"},
		{"POST", "/api/workspaces", `[]`, "body: must be an object"},
		{"POST", members, `{}`, "role: is required; username: is required"},
		{"POST", members, `{"username":"","role":"boss"}`, "role: " + oneOf + "; username: must not be empty"},
		{"POST", members, `{"username":1,"role":2}`, "role: must be a string; username: must be a string"},
		{"POST", members, `{"username":"grace","role":"Owner"}`, "role: " + oneOf},
		{"PUT", members + "/" + grace.id, ``, "body: is required"},
		{"PUT", members + "/" + grace.id, `{"role":""}`, "role: " + oneOf},
		{"PUT", members + "/" + grace.id, `{"role":["viewer"]}`, "role: must be a string"},
		{"GET", "/api/workspaces?limit=0", "", "limit: must be at least 1"},
		{"GET", "/api/workspaces?limit=101", "", "limit: must be at most 100"},
		{"GET", "/api/workspaces?cursor=made-up", "", "cursor: must be the nextCursor of a page of this list"},
		{"GET", members + "?limit=many", "", "limit: must be a whole number"},
		{"GET", members + "?cursor=made-up", "", "cursor: must be the nextCursor of a page of this list"},
	} {
		var body any = tc.body
		if tc.method == "GET" {
			body = nil
		}
		a := ada.Do(tc.method, tc.path, body)
		if a.Status != http.StatusBadRequest || a.Text("code") != string(fault.CodeValidationFailed) || a.Text("error") != tc.want {
			t.Errorf("%s %s %s: %d %s, want %q", tc.method, strings.ReplaceAll(tc.path, ws, "…"), tc.body, a.Status, a.Raw, tc.want)
		}
	}
	for _, a := range []answer{
		ada.Do(http.MethodPut, members+"/"+ws, `{"role":"viewer"}`), ada.Do(http.MethodDelete, members+"/x", nil),
		ada.Do(http.MethodPut, members+"/"+w.ids.New(id.User), `{}`),
	} {
		a.Want(t, http.StatusNotFound, fault.CodeMemberNotFound)
	}
	stranger := &person{Client: w.agent("stranger"), w: w}
	stranger.workspaces().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	stranger.Do(http.MethodPost, "/api/workspaces", `{"name":"x"}`).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}
