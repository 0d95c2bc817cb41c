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
	"devplatform/shared/workspace"
)

type (
	answer = slicetest.Response
	// world is the workspaces slice behind a real HTTP server, with its own DynamoDB.
	world struct {
		t                *testing.T
		clock            *slicetest.Clock // advances by a second on every call, so that all timestamps differ
		log              *slicetest.Log
		users            *slicetest.Users
		wire             *dynamotest.Wire
		sdk              *dynamodb.Client // direct access to DynamoDB
		projects, events string           // names of the tables
		client           *db.Client
		ids              *id.Generator
		keys             *config.Keys
		service          *workspace.Service
		server           *httptest.Server
		unaudited        bool // the test stores inconsistent items itself
	}
)

func newWorld(t *testing.T, change ...func(*workspace.Deps)) *world {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	w := &world{
		t: t, clock: slicetest.NewClock(noon, time.Second), log: slicetest.NewLog(), users: &slicetest.Users{},
		wire: dynamotest.NewWire(t, endpoint, nil), sdk: dynamotest.Client(endpoint),
	}
	w.projects, w.events = slicetest.Table(t, w.sdk, "projects"), slicetest.Table(t, w.sdk, "events")
	w.client = db.Wrap(w.wire.Client(), w.clock.Now)
	w.keys = slicetest.Keys(w.clock.Now)
	w.ids = id.NewGenerator(w.clock.Now, rand.Reader)
	deps := workspace.Deps{
		DB: w.client, Projects: w.client.Table(w.projects), Outbox: event.Outbox{Events: w.client.Table(w.events), IDs: w.ids},
		Cursors: db.NewCursors(w.keys), People: w.users, IDs: w.ids, Clock: w.clock.Now,
	}
	for _, f := range change {
		f(&deps)
	}
	w.service = workspace.New(deps)
	w.serve(w.users, w.service.Register)
	t.Cleanup(func() {
		if !w.unaudited {
			w.audit()
		}
	})
	return w
}

// serve starts a new server for the registered slices.
func (w *world) serve(auth httpapi.Authenticator, register ...func(*httpapi.Routes)) {
	w.server = httptest.NewServer(httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: slog.New(w.log), Auth: auth, Clock: w.clock.Now,
	}, register...))
	w.t.Cleanup(w.server.Close)
}

func quota(n int) func(*workspace.Deps) { return func(d *workspace.Deps) { d.MaxMemberships = n } }

// agent returns a client with a session token, or without a session if token is "".
func (w *world) agent(token string) *slicetest.Client {
	w.t.Helper()
	c := slicetest.NewClient(w.t, w.server.URL, w.log)
	if token != "" {
		c.SetCookie("session", token)
	}
	return c
}

// person is a client of a signed-up user with a personal workspace.
type person struct {
	*slicetest.Client
	w            *world
	id, username string
	home         string // the personal workspace
}

func (w *world) person(username string) *person {
	w.t.Helper()
	p := &person{Client: w.agent(strings.ToLower(username)), w: w, id: w.ids.New(id.User), username: username, home: w.ids.New(id.Workspace)}
	writes, err := workspace.Personal(w.client.Table(w.projects), p.home, p.id, username, w.clock.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.client.Transact(w.t.Context(), writes...); err != nil {
		w.t.Fatal(err)
	}
	w.users.Add(httpapi.Caller{UserID: p.id, Username: username})
	return p
}

// people creates users.
func (w *world) people(usernames ...string) []*person {
	w.t.Helper()
	list := make([]*person, len(usernames))
	for i, name := range usernames {
		list[i] = w.person(name)
	}
	return list
}

func (p *person) create(name string) string {
	p.w.t.Helper()
	return p.Do(http.MethodPost, "/api/workspaces", map[string]string{"name": name}).Want(p.w.t, http.StatusCreated).Text("id")
}

func (p *person) add(ws string, other *person, role workspace.Role) answer {
	p.w.t.Helper()
	return p.Do(http.MethodPost, "/api/workspaces/"+ws+"/members", map[string]any{"username": other.username, "role": role})
}

func (p *person) setRole(ws string, other *person, role workspace.Role) answer {
	p.w.t.Helper()
	return p.Do(http.MethodPut, "/api/workspaces/"+ws+"/members/"+other.id, map[string]any{"role": role})
}

func (p *person) remove(ws string, other *person) answer {
	p.w.t.Helper()
	return p.Do(http.MethodDelete, "/api/workspaces/"+ws+"/members/"+other.id, nil)
}

func (p *person) members(ws string) answer {
	p.w.t.Helper()
	return p.Do(http.MethodGet, "/api/workspaces/"+ws+"/members", nil)
}

func (p *person) workspaces() answer {
	p.w.t.Helper()
	return p.Do(http.MethodGet, "/api/workspaces", nil)
}

// team creates a workspace of p, and adds the others with their roles.
func (p *person) team(others map[*person]workspace.Role) string {
	p.w.t.Helper()
	ws := p.create("Team")
	for other, role := range others {
		p.add(ws, other, role).Want(p.w.t, http.StatusCreated)
	}
	return ws
}
