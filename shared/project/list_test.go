package project

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

func TestList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, bob := f.newUser("ada"), f.newUser("bob")
	team, other := ada.workspace("Team"), bob.workspace("Other")
	f.setRole(team, bob, workspace.Member)
	create := func(u *user, workspaceID, name, framework string, v Visibility) string {
		f.clock.Advance(time.Second)
		return u.Do(http.MethodPost, "/api/projects", object{
			"name": name, "framework": framework, "visibility": v, "workspaceId": workspaceID,
		}).Want(t, http.StatusCreated).Text("id")
	}
	mine := create(ada, ada.personal, "Grüße", "React", Private)
	shop := create(ada, team, "Shop", "react", Team)
	secret := create(ada, team, "Secret Shop", "vue", Private)
	bobs := create(bob, team, "Bob's", "react", Private)
	public := create(bob, other, "Elsewhere", "react", Public)

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
			t.Errorf("projects of %s with query %q: mismatch (-want +got):\n%s", tc.user.name, tc.query, diff)
		}
	}
	// Reading a project moves it to the front.
	f.clock.Advance(time.Hour)
	ada.Get(projectURL(mine)).Want(t, http.StatusOK)
	if diff := cmp.Diff([]any{mine, bobs, secret, shop}, ids(ada, "")); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	for query, code := range map[string]fault.Code{
		"?workspaceId=" + other:                   fault.CodeWorkspaceNotFound,
		"?workspaceId=" + f.ids.New(id.Workspace): fault.CodeWorkspaceNotFound,
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

// pages reads all pages of a list, and returns a field of all elements.
func (u *user) pages(path, query, list, field string, limit int) []any {
	u.f.t.Helper()
	var all []any
	next := ""
	for range 1000 {
		r := u.Get(fmt.Sprintf("%s?limit=%d%s%s", path, limit, query, next)).Want(u.f.t, http.StatusOK)
		if n := len(r.List(list)); n > limit {
			u.f.t.Fatalf("got a page of %d elements, want at most %d", n, limit)
		}
		all = append(all, r.Values(list, field)...)
		if r.Text("nextCursor") == "" {
			if _, hasCursor := r.Body["nextCursor"]; hasCursor {
				u.f.t.Errorf("the last page has a cursor: %s", r.Raw)
			}
			return all
		}
		next = "&cursor=" + url.QueryEscape(r.Text("nextCursor"))
	}
	u.f.t.Fatal("the list has more than 1000 pages")
	return nil
}

func TestListPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, bob := f.newUser("ada"), f.newUser("bob")
	for i := range 7 { // some projects are created at the same time
		f.clock.Advance(time.Duration(i%2) * time.Second)
		ada.project("", "App", Team)
		bob.project("", "App", Team)
	}
	all := ada.Get("/api/projects").Values("projects", "id")
	for _, limit := range []int{1, 2, 3, 7, 100} {
		if diff := cmp.Diff(all, ada.pages("/api/projects", "", "projects", "id", limit)); diff != "" {
			t.Errorf("limit %d: mismatch (-want +got):\n%s", limit, diff)
		}
	}
	cursor := ada.Get("/api/projects?limit=2").Text("nextCursor")
	for name, r := range map[string]response{
		"cursor of another user":   bob.Get("/api/projects?limit=2&cursor=" + cursor),
		"cursor of another filter": ada.Get("/api/projects?limit=2&q=app&cursor=" + cursor),
		"cursor of another list":   ada.Get(projectURL(all[0].(string)) + "/events?cursor=" + cursor),
		"changed cursor":           ada.Get("/api/projects?cursor=" + cursor[1:]),
	} {
		if r.Status != http.StatusBadRequest || !strings.Contains(r.Text("error"), "cursor: ") {
			t.Errorf("%s: got %d %s, want 400 for the field cursor", name, r.Status, r.Raw)
		}
	}
	// The last project of a page may be deleted before the next page is read.
	ada.Do(http.MethodDelete, projectURL(all[1].(string)), nil).Want(t, http.StatusOK)
	if diff := cmp.Diff(all[2:], ada.Get("/api/projects?cursor="+cursor).Values("projects", "id")); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}
