package assistant

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/project"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// epoch is the time at which the tests begin: in the middle of a month, of a minute, and of a second.
var epoch = time.Date(2031, 5, 15, 10, 5, 20, 500e6, time.UTC)

// world has the assistant and the project service behind a real HTTP server, with its own DynamoDB.
type world struct {
	t        *testing.T
	clock    *slicetest.Clock
	log      *slicetest.Log
	endpoint string
	sdk      *dynamodb.Client // direct access
	client   *db.Client
	names    struct{ projects, contents, events, conversations string }
	ids      *id.Generator
	limits   Limits
	crowd    *slicetest.Users
	model    *script
	service  *Service
	server   *httptest.Server
}

type option func(*world)

func withLimits(change func(*Limits)) option { return func(w *world) { change(&w.limits) } }

func newWorld(t *testing.T, options ...option) *world {
	t.Helper()
	w := &world{
		t: t, clock: slicetest.NewClock(epoch, 0), log: slicetest.NewLog(), endpoint: dynamotest.StartServer(t),
		limits: DefaultLimits(), crowd: &slicetest.Users{}, model: &script{},
	}
	w.sdk = dynamotest.Client(w.endpoint)
	w.ids = id.NewGenerator(w.clock.Now, rand.Reader)
	for name, place := range map[string]*string{
		"projects": &w.names.projects, "contents": &w.names.contents, "events": &w.names.events, "conversations": &w.names.conversations,
	} {
		*place = slicetest.Table(t, w.sdk, name)
	}
	for _, o := range options {
		o(w)
	}
	w.server = httptest.NewServer(nil)
	t.Cleanup(w.server.Close)
	w.serve(w.sdk)
	return w
}

// serve replaces the services with new ones, which call DynamoDB through the given SDK client.
func (w *world) serve(sdk *dynamodb.Client) {
	w.client = db.Wrap(sdk, w.clock.Now)
	logger := slog.New(w.log)
	cursors := db.NewCursors(slicetest.Keys(w.clock.Now))
	outbox := event.Outbox{Events: w.client.Table(w.names.events), IDs: w.ids}
	files := file.New(file.Deps{
		DB: w.client, Projects: w.client.Table(w.names.projects), Contents: w.client.Table(w.names.contents),
		Outbox: outbox, Cursors: cursors, IDs: w.ids, Clock: w.clock.Now, Quotas: file.DefaultQuotas(),
	})
	projects := project.New(project.Deps{
		DB: w.client, Projects: w.client.Table(w.names.projects), Outbox: outbox,
		Cursors: cursors, Files: files, IDs: w.ids, Clock: w.clock.Now, Logger: logger,
	})
	w.service = New(Deps{
		DB: w.client, Conversations: w.client.Table(w.names.conversations), Files: files,
		Cursors: cursors, IDs: w.ids, Clock: w.clock.Now, Logger: logger, Model: w.model, Limits: w.limits,
	})
	w.server.Config.Handler = httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: logger, Auth: w.crowd, Clock: w.clock.Now,
	}, projects.Register, files.Register, w.service.Register)
}

// interpose puts a wire between the services and DynamoDB.
func (w *world) interpose(pass dynamotest.Pass) *dynamotest.Wire {
	w.t.Helper()
	wire := dynamotest.NewWire(w.t, w.endpoint, pass)
	w.serve(wire.Client())
	return wire
}

// dump returns the items of a table by key.
func (w *world) dump(table string) map[db.Key]db.Item {
	w.t.Helper()
	return slicetest.Dump(w.t, w.sdk, table)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// put stores a record directly.
func (w *world) put(table string, key db.Key, record any) {
	w.t.Helper()
	item, err := db.Encode(record)
	w.must(err)
	client := db.Wrap(w.sdk, w.clock.Now)
	_, err = client.Do(w.t.Context(), client.Table(table).Put(key, item))
	w.must(err)
}

// remove deletes an item directly.
func (w *world) remove(table string, key db.Key) {
	w.t.Helper()
	client := db.Wrap(w.sdk, w.clock.Now)
	_, err := client.Do(w.t.Context(), client.Table(table).Delete(key))
	w.must(err)
}

// browser is a user's client.
type browser struct {
	*slicetest.Client
	w        *world
	name     string // also the session's token
	userID   string
	personal string // the ID of the personal workspace
}

// user creates a user with a personal workspace. The clock advances, as it does between two sign-ups.
func (w *world) user(name string) *browser {
	w.t.Helper()
	w.clock.Advance(time.Millisecond)
	b := &browser{
		Client: slicetest.NewClient(w.t, w.server.URL, w.log), w: w, name: name,
		userID: w.ids.New(id.User), personal: w.ids.New(id.Workspace),
	}
	b.SetCookie("session", name)
	b.SessionCalls = 1
	client := db.Wrap(w.sdk, w.clock.Now)
	writes, err := workspace.Personal(client.Table(w.names.projects), b.personal, b.userID, name, w.clock.Now())
	w.must(err)
	w.must(client.Transact(w.t.Context(), writes...))
	w.crowd.Add(httpapi.Caller{UserID: b.userID, Username: name, Email: name + "@example.com", CreatedAt: w.clock.Now()})
	return b
}

// workspace creates a workspace in which users have roles.
func (w *world) workspace(roles map[*browser]workspace.Role) (workspaceID string) {
	w.t.Helper()
	workspaceID = w.ids.New(id.Workspace)
	at := clock.Stamp(w.clock.Now())
	w.put(w.names.projects, db.WorkspaceKey(workspaceID), workspace.Workspace{ID: workspaceID, Name: "Team", Owners: 1, CreatedAt: at})
	for b, role := range roles {
		record := workspace.Membership{
			WorkspaceID: workspaceID, UserID: b.userID, Username: b.name, Role: role, AddedAt: at, Name: "Team", CreatedAt: at,
		}
		w.put(w.names.projects, db.MemberKey(workspaceID, b.userID), record)
		w.put(w.names.projects, db.MembershipKey(b.userID, workspaceID), record)
	}
	return workspaceID
}

type answered = slicetest.Response

// object is a JSON object to send.
type object map[string]any

// project creates a project through the API and returns its ID. The workspace "" is the personal one.
func (b *browser) project(workspaceID string, visibility project.Visibility) string {
	b.w.t.Helper()
	fields := object{"name": "App", "visibility": visibility}
	if workspaceID != "" {
		fields["workspaceId"] = workspaceID
	}
	return b.Do(http.MethodPost, "/api/projects", fields).Want(b.w.t, http.StatusCreated).Text("id")
}

// file writes a file through the API.
func (b *browser) file(projectID, path, content string) {
	b.w.t.Helper()
	b.Do(http.MethodPost, "/api/projects/"+projectID+"/files", object{"path": path, "content": content}).
		Want(b.w.t, http.StatusCreated)
}

// content returns the content of a file through the API.
func (b *browser) content(projectID, path string) string {
	b.w.t.Helper()
	return b.Get("/api/projects/"+projectID+"/files?path="+path).Want(b.w.t, http.StatusOK).Text("content")
}
