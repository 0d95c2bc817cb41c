package workspace_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/account"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/password"
	"devplatform/shared/account/session"
	directory "devplatform/shared/account/user"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// signUpAndLogIn signs a user up and logs the user in.
func signUpAndLogIn(t *testing.T, f *fixture, username string) *user {
	t.Helper()
	u := &user{Client: f.newClient(""), f: f, username: username}
	body := map[string]string{
		"email": username + "@example.com", "username": username, "password": "correct horse battery",
	}
	u.id = u.Do(http.MethodPost, "/api/auth/signup", body).Want(t, http.StatusCreated).Text("userId")
	delete(body, "username")
	u.Do(http.MethodPost, "/api/auth/login", body).Want(t, http.StatusOK)
	u.personal = u.workspaces().Want(t, http.StatusOK).Texts("workspaces", "id")[0]
	return u
}

// The test uses the real account service, so the number of calls includes the call that reads the session.
func TestCallCountsWithAccounts(t *testing.T) {
	t.Parallel()
	var people directory.Store
	f := newFixture(t, func(d *workspace.Deps) {
		d.People = latePeople(func() workspace.People { return people })
	})
	tables := config.Tables{Accounts: slicetest.Table(t, f.sdk, "accounts"), Projects: f.projectsTable}
	logger := slog.New(f.log)
	hashParams := password.HashParams{MemoryKiB: 8, Time: 1, Threads: 1, SaltBytes: 16, KeyBytes: 32}
	people = directory.NewStore(f.client, tables)
	sessions := session.New(f.client, tables, f.keys, f.clock.Now, logger)
	accounts := account.New(account.Deps{
		DB: f.client, Tables: tables, Keys: f.keys, IDs: f.ids, Clock: f.clock.Now, Logger: logger,
		Edge:   config.Edge{CookiePlainHTTP: true},
		Limits: attempt.Limits{LoginPair: 10, LoginEmail: 10, LoginIP: 10, SignupIP: 10, OAuthIP: 10},
		Hasher: password.NewHasher(hashParams, 1),
	})
	f.startServer(sessions, accounts.Register, f.service.Register)

	ada, grace := signUpAndLogIn(t, f, "Ada"), signUpAndLogIn(t, f, "Grace")
	list := ada.workspaces().Want(t, http.StatusOK)
	personal := list.List("workspaces")[0]
	if personal["personal"] != true || personal["role"] != "owner" || personal["name"] != "Ada's workspace" {
		t.Errorf("got %v, want the personal workspace with the name %q and the role owner", personal, "Ada's workspace")
	}
	created := ada.createWorkspace("Team").Want(t, http.StatusCreated)
	ws := created.Text("id")
	invited := ada.invite(ws, &user{username: strings.ToUpper(grace.username)}, workspace.Member)
	wantCalls(t, "inviting a user", invited.Want(t, http.StatusCreated), 4)
	added := grace.accept(invited.Text("id")).Want(t, http.StatusOK)
	if added.Text("userId") != grace.id || added.Text("username") != "Grace" {
		t.Errorf("got member %s, want Grace with ID %s", added.Raw, grace.id)
	}
	ada.invite(ws, &user{username: "unknown"}, workspace.Member).Want(t, http.StatusNotFound, fault.CodeUserNotFound)
	grace.members(ws).Want(t, http.StatusOK)
	ada.setRole(ws, grace, workspace.Admin).Want(t, http.StatusOK)
	wantCalls(t, "leaving as an admin", grace.remove(ws, grace).Want(t, http.StatusOK), 4)
}

// latePeople implements People with a value that the test sets after it has created the service.
type latePeople func() workspace.People

func (p latePeople) NormalizeEmail(email string) (normalized, rule string) {
	return p().NormalizeEmail(email)
}

func (p latePeople) FindByUsername(ctx context.Context, username string) (string, string, error) {
	return p().FindByUsername(ctx, username)
}
