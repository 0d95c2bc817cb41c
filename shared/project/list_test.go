package project

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/api"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

func TestList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.user("ada"), w.user("bob")
	team, other := ada.workspace("Team"), bob.workspace("Other")
	w.join(team, bob, workspace.Member)
	make := func(b *browser, workspaceID, name, framework string, v Visibility) string {
		w.clock.Advance(time.Second)
		return b.do(http.MethodPost, "/api/projects", object{
			"name": name, "framework": framework, "visibility": v, "workspaceId": workspaceID,
		}).want(t, http.StatusCreated).text("id")
	}
	mine := make(ada, ada.personal, "Grüße", "React", Private)
	shop := make(ada, team, "Shop", "react", Team)
	secret := make(ada, team, "Secret Shop", "vue", Private)
	bobs := make(bob, team, "Bob's", "react", Private)
	public := make(bob, other, "Elsewhere", "react", Public)

	ids := func(b *browser, query string) []any {
		t.Helper()
		return b.get("/api/projects"+query).want(t, http.StatusOK).values("projects", "id")
	}
	for _, tc := range []struct {
		who   *browser
		query string
		want  []any
	}{
		{ada, "", []any{bobs, secret, shop, mine}}, // an owner sees what is private, too
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
		{ada, "?q=nothing", []any{}},
		{ada, "?q=shop&framework=vue&visibility=private&workspaceId=" + team, []any{secret}},
	} {
		if diff := cmp.Diff(tc.want, ids(tc.who, tc.query)); diff != "" {
			t.Errorf("%s %s: %s", tc.who.name, tc.query, diff)
		}
	}
	// Reading one brings it to the front.
	w.clock.Advance(time.Hour)
	ada.get(projectURL(mine)).want(t, http.StatusOK)
	if diff := cmp.Diff([]any{mine, bobs, secret, shop}, ids(ada, "")); diff != "" {
		t.Error(diff)
	}
	for query, code := range map[string]api.Code{
		"?workspaceId=" + other:                   api.CodeWorkspaceNotFound,
		"?workspaceId=" + w.ids.New(id.Workspace): api.CodeWorkspaceNotFound,
		"?workspaceId=x":                          api.CodeWorkspaceNotFound,
		"?visibility=secret":                      api.CodeValidationFailed,
		"?limit=0":                                api.CodeValidationFailed,
		"?limit=101":                              api.CodeValidationFailed,
		"?limit=x":                                api.CodeValidationFailed,
		"?cursor=x":                               api.CodeValidationFailed,
		"?q=" + strings.Repeat("x", 101):          api.CodeValidationFailed,
		"?framework=" + strings.Repeat("x", 65):   api.CodeValidationFailed,
	} {
		ada.get("/api/projects"+query).want(t, code.Status(), code)
	}
}

// pages follows a list's cursors and answers with a field of all that they lead to.
func (b *browser) pages(path, query, list, field string, limit int) []any {
	b.w.t.Helper()
	var all []any
	next := ""
	for range 1000 {
		a := b.get(fmt.Sprintf("%s?limit=%d%s%s", path, limit, query, next)).want(b.w.t, http.StatusOK)
		if n := len(a.list(list)); n > limit {
			b.w.t.Fatalf("a page of %d has %d", limit, n)
		}
		all = append(all, a.values(list, field)...)
		if a.text("nextCursor") == "" {
			if _, has := a.body["nextCursor"]; has {
				b.w.t.Errorf("the last page has a cursor: %s", a.raw)
			}
			return all
		}
		next = "&cursor=" + url.QueryEscape(a.text("nextCursor"))
	}
	b.w.t.Fatal("pages without end")
	return nil
}

func TestListPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.user("ada"), w.user("bob")
	for i := range 7 { // some of one moment
		w.clock.Advance(time.Duration(i%2) * time.Second)
		ada.project("", "App", Team)
		bob.project("", "App", Team)
	}
	whole := ada.get("/api/projects").values("projects", "id")
	for _, limit := range []int{1, 2, 3, 7, 100} {
		if diff := cmp.Diff(whole, ada.pages("/api/projects", "", "projects", "id", limit)); diff != "" {
			t.Errorf("by %d: %s", limit, diff)
		}
	}
	cursor := ada.get("/api/projects?limit=2").text("nextCursor")
	for name, a := range map[string]answer{
		"another user's":   bob.get("/api/projects?limit=2&cursor=" + cursor),
		"another filter's": ada.get("/api/projects?limit=2&q=app&cursor=" + cursor),
		"another list's":   ada.get(projectURL(whole[0].(string)) + "/events?cursor=" + cursor),
		"changed":          ada.get("/api/projects?cursor=" + cursor[1:]),
	} {
		if a.status != http.StatusBadRequest || !strings.Contains(a.text("error"), "cursor: ") {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	// The one at which a page ended may go meanwhile.
	ada.do(http.MethodDelete, projectURL(whole[1].(string)), nil).want(t, http.StatusOK)
	if diff := cmp.Diff(whole[2:], ada.get("/api/projects?cursor="+cursor).values("projects", "id")); diff != "" {
		t.Error(diff)
	}
}
