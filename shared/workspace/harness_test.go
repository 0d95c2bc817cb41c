package workspace_test

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
	"devplatform/shared/webhook/revocation"
	"devplatform/shared/workspace"
)

type (
	response = slicetest.Response
	// fixture is the workspace service behind a real HTTP server, with its own DynamoDB.
	fixture struct {
		t             *testing.T
		clock         *slicetest.Clock // advances by a second on every call, so that all timestamps differ
		log           *slicetest.Log
		accounts      *slicetest.Users
		wire          *dynamotest.Wire
		sdk           *dynamodb.Client // direct access to DynamoDB
		projectsTable string
		eventsTable   string
		webhooksTable string
		mailTable     string
		client        *db.Client
		ids           *id.Generator
		keys          *config.Keys
		service       *workspace.Service
		server        *httptest.Server
		// skipConsistencyCheck is set by tests that store inconsistent items directly.
		skipConsistencyCheck bool
	}
)

// newFixture starts a server. At the end of the test, it checks that the stored items are consistent.
func newFixture(t *testing.T, options ...func(*workspace.Deps)) *fixture {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	f := &fixture{
		t: t, clock: slicetest.NewClock(noon, time.Second), log: slicetest.NewLog(), accounts: &slicetest.Users{},
		wire: dynamotest.NewWire(t, endpoint, nil), sdk: dynamotest.Client(endpoint),
	}
	f.webhooksTable, f.mailTable = slicetest.Table(t, f.sdk, "webhooks"), slicetest.Table(t, f.sdk, "mail")
	f.projectsTable, f.eventsTable = slicetest.Table(t, f.sdk, "projects"), slicetest.Table(t, f.sdk, "events")
	f.client = db.Wrap(f.wire.Client(), f.clock.Now)
	f.keys = slicetest.Keys(f.clock.Now)
	f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
	deps := workspace.Deps{
		DB: f.client, Projects: f.client.Table(f.projectsTable),
		Outbox:  event.Outbox{Events: f.client.Table(f.eventsTable), IDs: f.ids},
		Cursors: db.NewCursors(f.keys), People: f.accounts, IDs: f.ids, Clock: f.clock.Now,
		Mail: mail.NewOutbox(f.client, config.Tables{Mail: f.mailTable}, f.keys, f.ids, f.clock.Now,
			mail.Settings{From: "no-reply@example.com"}),
		Links:             workspace.Links{Origin: "https://app.example.com"},
		DisableWebhooks:   revocation.Store{Webhooks: f.client.Table(f.webhooksTable)}.Disable,
		InvitationsPerDay: 1000, // tests of the limit set a lower one
	}
	for _, apply := range options {
		apply(&deps)
	}
	f.service = workspace.New(deps)
	f.accounts.ReadSessions(f.client, deps.Projects)
	f.startServer(f.accounts, f.service.Register)
	t.Cleanup(func() {
		if !f.skipConsistencyCheck {
			f.checkConsistency()
		}
	})
	return f
}

// startServer starts a new server with the routes that the register functions add.
func (f *fixture) startServer(auth httpapi.Authenticator, register ...func(*httpapi.Routes)) {
	f.server = httptest.NewServer(httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: slog.New(f.log), Auth: auth, Clock: f.clock.Now,
	}, register...))
	f.t.Cleanup(f.server.Close)
}

func withQuota(n int) func(*workspace.Deps) { return func(d *workspace.Deps) { d.MaxMemberships = n } }

// newClient returns a client with a session token, or without a session if token is "".
func (f *fixture) newClient(token string) *slicetest.Client {
	f.t.Helper()
	c := slicetest.NewClient(f.t, f.server.URL, f.log)
	if token != "" {
		c.SetCookie("session", token)
	}
	return c
}

// user is a client with a session of a user who has a personal workspace.
type user struct {
	*slicetest.Client
	f            *fixture
	id, username string
	personal     string // ID of the personal workspace
}

func (f *fixture) newUser(username string) *user {
	f.t.Helper()
	u := &user{
		Client: f.newClient(strings.ToLower(username)), f: f,
		id: f.ids.New(id.User), username: username, personal: f.ids.New(id.Workspace),
	}
	writes := workspace.Personal(f.client.Table(f.projectsTable), u.personal, u.id, username, f.clock.Now())
	if err := f.client.Tx(writes...).Commit(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.accounts.Add(slicetest.NewCaller(u.id, username))
	return u
}

func (f *fixture) newUsers(usernames ...string) []*user {
	f.t.Helper()
	list := make([]*user, len(usernames))
	for i, name := range usernames {
		list[i] = f.newUser(name)
	}
	return list
}

// createWorkspace sends the request to create a workspace.
func (u *user) createWorkspace(name string) response {
	u.f.t.Helper()
	return u.Do(http.MethodPost, "/api/workspaces", map[string]string{"name": name})
}

// create creates a workspace and returns its ID.
func (u *user) create(name string) string {
	u.f.t.Helper()
	return u.createWorkspace(name).Want(u.f.t, http.StatusCreated).Text("id")
}

// invite sends the request to invite another user.
func (u *user) invite(ws string, other *user, role workspace.Role) response {
	u.f.t.Helper()
	body := map[string]any{"username": other.username, "role": role}
	return u.Do(http.MethodPost, "/api/workspaces/"+ws+"/invitations", body)
}

// accept sends the request to accept an invitation.
func (u *user) accept(invitationID string) response {
	u.f.t.Helper()
	return u.Do(http.MethodPost, "/api/invitations/"+invitationID+"/accept", nil)
}

// invitations sends the request to list the user's invitations.
func (u *user) invitations() response {
	u.f.t.Helper()
	return u.Do(http.MethodGet, "/api/invitations", nil)
}

// add makes another user a member of a workspace: the user is invited, and accepts. An owner is first an admin.
func (u *user) add(ws string, other *user, role workspace.Role) {
	u.f.t.Helper()
	first := role
	if role == workspace.Owner {
		first = workspace.Admin
	}
	invited := u.invite(ws, other, first).Want(u.f.t, http.StatusCreated)
	other.accept(invited.Text("id")).Want(u.f.t, http.StatusOK)
	if role == workspace.Owner {
		u.promote(ws, other)
	}
}

// promote makes a member an owner: the member is offered ownership, and accepts.
func (u *user) promote(ws string, member *user) {
	u.f.t.Helper()
	member.accept(u.offer(ws, member)).Want(u.f.t, http.StatusOK)
}

// offer offers ownership to a member, and returns the ID of the invitation.
func (u *user) offer(ws string, member *user) (invitationID string) {
	u.f.t.Helper()
	offered := u.setRole(ws, member, workspace.Owner).Want(u.f.t, http.StatusAccepted)
	return offered.Body["invitation"].(map[string]any)["id"].(string)
}

func (u *user) setRole(ws string, other *user, role workspace.Role) response {
	u.f.t.Helper()
	return u.Do(http.MethodPut, "/api/workspaces/"+ws+"/members/"+other.id, map[string]any{"role": role})
}

func (u *user) remove(ws string, other *user) response {
	u.f.t.Helper()
	return u.Do(http.MethodDelete, "/api/workspaces/"+ws+"/members/"+other.id, nil)
}

// login begins a new session.
func (u *user) login() {
	u.f.accounts.Add(httpapi.NewCaller(u.id, "").Complete(httpapi.Account{
		Username: u.username, Email: u.username + "@example.com", LoggedInAt: u.f.clock.Now(),
	}, nil))
}

// delete logs in, and sends the request to delete a workspace.
func (u *user) delete(ws, confirm string) response {
	u.f.t.Helper()
	u.login()
	return u.Do(http.MethodDelete, "/api/workspaces/"+ws, map[string]string{"confirm": confirm})
}

func (u *user) members(ws string) response {
	u.f.t.Helper()
	return u.Do(http.MethodGet, "/api/workspaces/"+ws+"/members", nil)
}

func (u *user) workspaces() response {
	u.f.t.Helper()
	return u.Do(http.MethodGet, "/api/workspaces", nil)
}

// createTeam creates a workspace with the other users as members, and returns its ID.
func (u *user) createTeam(others map[*user]workspace.Role) string {
	u.f.t.Helper()
	ws := u.create("Team")
	for other, role := range others {
		u.add(ws, other, role)
	}
	return ws
}
