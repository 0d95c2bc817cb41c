package workspace_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/account"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// join signs a user up and logs the user in.
func join(t *testing.T, w *world, username string) *person {
	t.Helper()
	p := &person{Client: w.agent(""), w: w, username: username}
	body := map[string]string{"email": username + "@example.com", "username": username, "password": "correct horse battery"}
	p.id = p.Do(http.MethodPost, "/api/auth/signup", body).Want(t, http.StatusCreated).Text("userId")
	p.Do(http.MethodPost, "/api/auth/login", body).Want(t, http.StatusOK)
	p.home = p.workspaces().Want(t, http.StatusOK).Texts("workspaces", "id")[0]
	return p
}

// With the real account service: the number of calls of a request, including the calls for the session.
func TestCallCountsWithAccounts(t *testing.T) {
	t.Parallel()
	var sessions *account.Sessions
	w := newWorld(t, func(d *workspace.Deps) { d.People = peopleFunc(func() workspace.People { return sessions }) })
	tables := config.Tables{Accounts: slicetest.Table(t, w.sdk, "accounts"), Projects: w.projects}
	logger := slog.New(w.log)
	sessions = account.NewSessions(w.client, tables, w.keys, w.clock.Now, logger)
	accounts := account.New(account.Deps{
		DB: w.client, Tables: tables, Keys: w.keys, IDs: w.ids, Clock: w.clock.Now, Logger: logger, PlainHTTPCookies: true,
		Limits: account.Limits{LoginPair: 10, LoginEmail: 10, LoginIP: 10, SignupIP: 10, OAuthIP: 10},
		Hasher: account.NewHasher(account.HashParams{MemoryKiB: 8, Time: 1, Threads: 1, SaltBytes: 16, KeyBytes: 32}, 1),
	})
	w.serve(sessions, accounts.Register, w.service.Register)

	ada, grace := join(t, w, "Ada"), join(t, w, "Grace")
	list := ada.workspaces().Want(t, http.StatusOK)
	wantCalls(t, "listing workspaces", list, 2)
	if item := list.List("workspaces")[0]; item["personal"] != true || item["role"] != "owner" || item["name"] != "Ada's workspace" {
		t.Errorf("workspace after sign-up: %v", item)
	}
	made := ada.Do(http.MethodPost, "/api/workspaces", `{"name":"Team"}`).Want(t, http.StatusCreated)
	wantCalls(t, "creating a workspace", made, 2)
	ws := made.Text("id")
	added := ada.add(ws, &person{username: strings.ToUpper(grace.username)}, workspace.Member).Want(t, http.StatusCreated)
	wantCalls(t, "adding a member", added, 5)
	if added.Text("userId") != grace.id || added.Text("username") != "Grace" {
		t.Errorf("added %s", added.Raw)
	}
	ada.add(ws, &person{username: "nobody"}, workspace.Member).Want(t, http.StatusNotFound, fault.CodeUserNotFound)
	wantCalls(t, "listing members", grace.members(ws).Want(t, http.StatusOK), 3)
	wantCalls(t, "changing a role", ada.setRole(ws, grace, workspace.Admin).Want(t, http.StatusOK), 3)
	wantCalls(t, "leaving", grace.remove(ws, grace).Want(t, http.StatusOK), 3)
}

// peopleFunc implements People with a value that is set later.
type peopleFunc func() workspace.People

func (f peopleFunc) FindByUsername(ctx context.Context, username string) (string, string, error) {
	return f().FindByUsername(ctx, username)
}
