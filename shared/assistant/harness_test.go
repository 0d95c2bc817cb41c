package assistant

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// epoch is the time at which the tests begin: in the middle of a month, of a minute, and of a second.
var epoch = time.Date(2031, 5, 15, 10, 5, 20, 500e6, time.UTC)

// fixture is the assistant and the project service behind a real HTTP server, with an embedded DynamoDB.
type fixture struct {
	t        *testing.T
	clock    *slicetest.Clock
	log      *slicetest.Log
	endpoint string           // of DynamoDB
	sdk      *dynamodb.Client // connected directly to DynamoDB
	client   *db.Client       // the client of the services
	tables   struct{ projects, contents, events, conversations string }
	ids      *id.Generator
	limits   Limits
	s3       *s3.Client
	bucket   string
	users    *slicetest.Users
	model    *fakeModel
	provider model.Provider // model, unless an option replaces it
	service  *Service
	server   *httptest.Server
}

type option func(*fixture)

func withLimits(change func(*Limits)) option { return func(f *fixture) { change(&f.limits) } }

func withProvider(p model.Provider) option { return func(f *fixture) { f.provider = p } }

func newFixture(t *testing.T, options ...option) *fixture {
	t.Helper()
	f := &fixture{
		t: t, clock: slicetest.NewClock(epoch, 0), log: slicetest.NewLog(), endpoint: dynamotest.StartServer(t),
		limits: DefaultLimits(), users: &slicetest.Users{}, model: &fakeModel{},
	}
	f.limits.InProgress = 1 // an answer that does not end makes the next one fail
	f.sdk = dynamotest.Client(f.endpoint)
	f.s3 = s3test.Client(s3test.StartServer(t))
	f.bucket = s3test.CreateBucket(t, f.s3, "files")
	f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
	f.tables.projects = slicetest.Table(t, f.sdk, "projects")
	f.tables.contents = slicetest.Table(t, f.sdk, "contents")
	f.tables.events = slicetest.Table(t, f.sdk, "events")
	f.tables.conversations = slicetest.Table(t, f.sdk, "conversations")
	f.provider = f.model
	for _, apply := range options {
		apply(f)
	}
	f.server = httptest.NewServer(nil)
	t.Cleanup(f.server.Close)
	f.startServices(f.sdk)
	return f
}

// startServices replaces the services with new ones that call DynamoDB through sdk.
func (f *fixture) startServices(sdk *dynamodb.Client) {
	f.client = db.Wrap(sdk, f.clock.Now)
	f.users.ReadSessions(f.client, f.client.Table(f.tables.projects))
	logger := slog.New(f.log)
	cursors := db.NewCursors(slicetest.Keys(f.clock.Now))
	outbox := event.Outbox{Events: f.client.Table(f.tables.events), IDs: f.ids}
	files := file.New(file.Deps{
		DB: f.client, Projects: f.client.Table(f.tables.projects), Contents: f.client.Table(f.tables.contents),
		Bucket: objectstore.Wrap(s3test.Of(f.s3)).Bucket(f.bucket),
		Outbox: outbox, Cursors: cursors, IDs: f.ids, Clock: f.clock.Now, Quotas: file.DefaultQuotas(),
	})
	projects := project.New(project.Deps{
		DB: f.client, Projects: f.client.Table(f.tables.projects), Outbox: outbox,
		Cursors: cursors, Files: files, IDs: f.ids, Clock: f.clock.Now, Logger: logger,
	})
	f.service = New(Deps{
		DB: f.client, Conversations: f.client.Table(f.tables.conversations),
		Projects: f.client.Table(f.tables.projects), Files: files,
		Cursors: cursors, IDs: f.ids, Clock: f.clock.Now, Logger: logger, Model: f.provider, Limits: f.limits,
	})
	f.server.Config.Handler = httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: logger, Auth: f.users, Clock: f.clock.Now,
	}, projects.Register, files.Register, f.service.Register)
}

// startWire starts a wire and replaces the services with new ones that call DynamoDB through it.
func (f *fixture) startWire() *dynamotest.Wire {
	f.t.Helper()
	wire := dynamotest.NewWire(f.t, f.endpoint, nil)
	f.startServices(wire.Client())
	return wire
}

// items returns the items of a table by key.
func (f *fixture) items(table string) map[db.Key]db.Item {
	f.t.Helper()
	return slicetest.Dump(f.t, f.sdk, table)
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// put stores an item directly in DynamoDB.
func (f *fixture) put(table string, key db.Key, record any) {
	f.t.Helper()
	item, err := db.Encode(record)
	f.must(err)
	client := db.Wrap(f.sdk, f.clock.Now)
	_, err = client.Do(f.t.Context(), client.Table(table).Put(key, item))
	f.must(err)
}

// deleteProject deletes the record of a project directly in DynamoDB.
func (f *fixture) deleteProject(projectID string) {
	f.t.Helper()
	client := db.Wrap(f.sdk, f.clock.Now)
	_, err := client.Do(f.t.Context(), client.Table(f.tables.projects).Delete(db.TreeKey(projectID)))
	f.must(err)
}

// user is an HTTP client with the session of a user.
type user struct {
	*slicetest.Client
	f    *fixture
	name string // also the session's token
	id   string
}

// newUser creates a user with a personal workspace. It advances the clock, so that users have different creation times.
func (f *fixture) newUser(name string) *user {
	f.t.Helper()
	f.clock.Advance(time.Millisecond)
	u := &user{Client: slicetest.NewClient(f.t, f.server.URL, f.log), f: f, name: name, id: f.ids.New(id.User)}
	u.SetCookie("session", name)
	client := db.Wrap(f.sdk, f.clock.Now)
	workspaceID := f.ids.New(id.Workspace)
	writes := workspace.Personal(client.Table(f.tables.projects), workspaceID, u.id, name, f.clock.Now())
	f.must(client.Tx(writes...).Commit(f.t.Context()))
	f.users.Add(slicetest.NewCaller(u.id, name))
	return u
}

// newWorkspace creates a workspace whose members have the given roles.
func (f *fixture) newWorkspace(roles map[*user]workspace.Role) (workspaceID string) {
	f.t.Helper()
	workspaceID = f.ids.New(id.Workspace)
	now := clock.Stamp(f.clock.Now())
	f.put(f.tables.projects, db.WorkspaceKey(workspaceID), workspace.Workspace{
		ID: workspaceID, Name: "Team", Owners: 1, CreatedAt: now,
	})
	for u, role := range roles {
		membership := workspace.Membership{
			WorkspaceID: workspaceID, UserID: u.id, Username: u.name, Role: role,
			AddedAt: now, Name: "Team", CreatedAt: now,
		}
		f.put(f.tables.projects, db.MemberKey(workspaceID, u.id), membership)
		f.put(f.tables.projects, db.MembershipKey(u.id, workspaceID), membership)
	}
	return workspaceID
}

// object is a JSON object in a request.
type object map[string]any

// newProject creates a private project in the user's personal workspace and returns its ID.
func (u *user) newProject() (projectID string) {
	u.f.t.Helper()
	return u.newProjectIn("", workspace.Private)
}

// newProjectIn creates a project in a workspace, or in the user's personal workspace if workspaceID is "".
func (u *user) newProjectIn(workspaceID string, visibility workspace.Visibility) (projectID string) {
	u.f.t.Helper()
	fields := object{"name": "App", "visibility": visibility}
	if workspaceID != "" {
		fields["workspaceId"] = workspaceID
	}
	return u.Do(http.MethodPost, "/api/projects", fields).Want(u.f.t, http.StatusCreated).Text("id")
}

// createFile creates a file.
func (u *user) createFile(projectID, path, content string) {
	u.f.t.Helper()
	u.Do(http.MethodPost, "/api/projects/"+projectID+"/files", object{"path": path, "content": content}).
		Want(u.f.t, http.StatusCreated)
}

// checkFile checks the content of a file.
func (u *user) checkFile(projectID, path, want string) {
	u.f.t.Helper()
	response := u.Get("/api/projects/"+projectID+"/files?path="+path).Want(u.f.t, http.StatusOK)
	if got := response.Text("content"); got != want {
		u.f.t.Errorf("file %s: got %q, want %q", path, got, want)
	}
}

// checkNoFiles checks that a project has no files.
func (u *user) checkNoFiles(projectID string) {
	u.f.t.Helper()
	response := u.Get("/api/projects/"+projectID+"/files").Want(u.f.t, http.StatusOK)
	if n := len(response.List("files")); n != 0 {
		u.f.t.Errorf("got %d files, want none: the actions were applied", n)
	}
}
