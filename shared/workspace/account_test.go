package workspace_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/account"
	"devplatform/shared/api"
	"devplatform/shared/config"
	"devplatform/shared/workspace"
)

// join signs somebody up, and logs them in.
func join(t *testing.T, w *world, username string) *person {
	t.Helper()
	p := &person{w: w, username: username}
	body := map[string]string{"email": username + "@example.com", "username": username, "password": "correct horse battery"}
	p.id = p.do(http.MethodPost, "/api/auth/signup", body).want(t, http.StatusCreated).text("userId")
	p.token = p.do(http.MethodPost, "/api/auth/login", body).want(t, http.StatusOK).session
	p.home = p.workspaces().want(t, http.StatusOK).column("workspaces", "id")[0]
	return p
}

// With real accounts in front: what a request costs in all, the session included (DESIGN.md §3).
func TestWithAccounts(t *testing.T) {
	t.Parallel()
	tables := config.Tables{Accounts: "accounts-" + rand.Text()}
	var sessions *account.Sessions
	w := newWorld(t, func(d *workspace.Deps) { d.People = peopleFunc(func() workspace.People { return sessions }) })
	dynamotest.CreateTable(t, w.sdk, tables.Accounts, "pk", "sk")
	tables.Projects = w.projects
	logger := slog.New(w.calls)
	sessions = account.NewSessions(w.client, tables, w.keys, w.clock.Now, logger)
	accounts := account.New(account.Deps{
		DB: w.client, Tables: tables, Keys: w.keys, IDs: w.ids, Clock: w.clock.Now, Logger: logger, PlainHTTPCookies: true,
		Limits: account.Limits{LoginPair: 10, LoginEmail: 10, LoginIP: 10, SignupIP: 10, OAuthIP: 10},
		Hasher: account.NewHasher(account.HashParams{MemoryKiB: 8, Time: 1, Threads: 1, SaltBytes: 16, KeyBytes: 32}, 1),
	})
	w.server = httptest.NewServer(api.NewRouter(api.Config{
		Name: "test", Version: "1", Edge: config.Edge{CookiePlainHTTP: true}, Logger: logger, Auth: sessions, Clock: w.clock.Now,
	}, accounts.Register, w.service.Register))
	t.Cleanup(w.server.Close)

	ada, grace := join(t, w, "Ada"), join(t, w, "Grace")
	list := ada.workspaces().want(t, http.StatusOK)
	wantCalls(t, "listing workspaces", list, 2)
	if item := list.list("workspaces")[0]; item["personal"] != true || item["role"] != "owner" || item["name"] != "Ada's workspace" {
		t.Errorf("a sign-up makes %v", item)
	}
	made := ada.do(http.MethodPost, "/api/workspaces", `{"name":"Team"}`).want(t, http.StatusCreated)
	wantCalls(t, "making a workspace", made, 2)
	ws := made.text("id")
	added := ada.add(ws, &person{username: strings.ToUpper(grace.username)}, workspace.Member).want(t, http.StatusCreated)
	wantCalls(t, "adding a member", added, 5)
	if added.text("userId") != grace.id || added.text("username") != "Grace" {
		t.Errorf("added %s", added.raw)
	}
	ada.add(ws, &person{username: "nobody"}, workspace.Member).want(t, http.StatusNotFound, api.CodeUserNotFound)
	wantCalls(t, "listing members", grace.members(ws).want(t, http.StatusOK), 3)
	wantCalls(t, "changing a role", ada.setRole(ws, grace, workspace.Admin).want(t, http.StatusOK), 3)
	wantCalls(t, "leaving", grace.remove(ws, grace).want(t, http.StatusOK), 3)
}

// peopleFunc are People that come into being later.
type peopleFunc func() workspace.People

func (f peopleFunc) FindByUsername(ctx context.Context, username string) (string, string, error) {
	return f().FindByUsername(ctx, username)
}
