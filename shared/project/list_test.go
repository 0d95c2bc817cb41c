package project_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

func TestList(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada, bob := f.NewUser("ada"), f.NewUser("bob")
	team, other := ada.Workspace("Team"), bob.Workspace("Other")
	f.SetRole(team, bob, workspace.Member)
	create := func(u *user, workspaceID, name, framework string, v workspace.Visibility) string {
		f.Clock.Advance(time.Second)
		return u.Do(http.MethodPost, "/api/projects", object{
			"name": name, "framework": framework, "visibility": v, "workspaceId": workspaceID,
		}).Want(t, http.StatusCreated).Text("id")
	}
	mine := create(ada, ada.Personal, "Grüße", "React", workspace.Private)
	shop := create(ada, team, "Shop", "react", workspace.Team)
	secret := create(ada, team, "Secret Shop", "vue", workspace.Private)
	bobs := create(bob, team, "Bob's", "react", workspace.Private)
	public := create(bob, other, "Elsewhere", "react", workspace.Public)

	ids := func(u *user, query string) []any {
		t.Helper()
		return u.Get("/api/projects"+query).Want(t, http.StatusOK).Values("projects", "id")
	}
	for _, tc := range []struct {
		user  *user
		query string
		want  []any
	}{
		{ada, "", []any{bobs, secret, shop, mine}}, // an owner can see private projects
		{bob, "", []any{public, bobs, shop}},
		{ada, "?workspaceId=" + team, []any{bobs, secret, shop}},
		{ada, "?workspaceId=&framework=&q=&limit=100", []any{bobs, secret, shop, mine}},
		{ada, "?framework=REACT", []any{bobs, shop, mine}},
		{ada, "?visibility=private", []any{bobs, secret, mine}},
		{ada, "?visibility=public", []any{}},
		{ada, "?q=SHOP", []any{secret, shop}},
		{ada, "?q=" + url.QueryEscape("gRÜ"), []any{mine}},
		{ada, "?q=" + url.QueryEscape("u\u0308ß"), []any{mine}},
		{ada, "?q=grusse", []any{mine}},
		{ada, "?q=unknown", []any{}},
		{ada, "?q=shop&framework=vue&visibility=private&workspaceId=" + team, []any{secret}},
	} {
		if diff := cmp.Diff(tc.want, ids(tc.user, tc.query)); diff != "" {
			t.Errorf("projects of %s with query %q: mismatch (-want +got):\n%s", tc.user.Name, tc.query, diff)
		}
	}
	// Reading a project moves it to the front.
	f.Clock.Advance(time.Hour)
	ada.Get(projecttest.URL(mine)).Want(t, http.StatusOK)
	if diff := cmp.Diff([]any{mine, bobs, secret, shop}, ids(ada, "")); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	for query, code := range map[string]fault.Code{
		"?workspaceId=" + other:                   fault.CodeWorkspaceNotFound,
		"?workspaceId=" + f.IDs.New(id.Workspace): fault.CodeWorkspaceNotFound,
		"?workspaceId=x":                          fault.CodeWorkspaceNotFound,
		"?visibility=secret":                      fault.CodeValidationFailed,
		"?limit=0":                                fault.CodeValidationFailed,
		"?limit=101":                              fault.CodeValidationFailed,
		"?limit=x":                                fault.CodeValidationFailed,
		"?cursor=x":                               fault.CodeValidationFailed,
		"?q=" + strings.Repeat("x", 101):          fault.CodeValidationFailed,
		"?framework=" + strings.Repeat("x", 65):   fault.CodeValidationFailed,
	} {
		ada.Get("/api/projects"+query).Want(t, code.Status(), code)
	}
}

func TestListPages(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada, bob := f.NewUser("ada"), f.NewUser("bob")
	for i := range 7 { // some projects are created at the same time
		f.Clock.Advance(time.Duration(i%2) * time.Second)
		ada.Project("", "App", workspace.Team)
		bob.Project("", "App", workspace.Team)
	}
	all := ada.Get("/api/projects").Values("projects", "id")
	for _, limit := range []int{1, 2, 3, 7, 100} {
		if diff := cmp.Diff(all, ada.Pages("/api/projects", "", "projects", "id", limit)); diff != "" {
			t.Errorf("limit %d: mismatch (-want +got):\n%s", limit, diff)
		}
	}
	cursor := ada.Get("/api/projects?limit=2").Text("nextCursor")
	for name, r := range map[string]response{
		"cursor of another user":   bob.Get("/api/projects?limit=2&cursor=" + cursor),
		"cursor of another filter": ada.Get("/api/projects?limit=2&q=app&cursor=" + cursor),
		"cursor of another list":   ada.Get(projecttest.URL(all[0].(string)) + "/events?cursor=" + cursor),
		"changed cursor":           ada.Get("/api/projects?cursor=" + cursor[1:]),
	} {
		if r.Status != http.StatusBadRequest || !strings.Contains(r.Text("error"), "cursor: ") {
			t.Errorf("%s: got %d %s, want 400 for the field cursor", name, r.Status, r.Raw)
		}
	}
	// The last project of a page may be deleted before the next page is read.
	ada.Do(http.MethodDelete, projecttest.URL(all[1].(string)), nil).Want(t, http.StatusOK)
	if diff := cmp.Diff(all[2:], ada.Get("/api/projects?cursor="+cursor).Values("projects", "id")); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}
