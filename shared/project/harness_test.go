package project

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

var epoch = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

// world is a test environment: the projects slice behind a real HTTP server, with its own DynamoDB.
type world struct {
	t           *testing.T
	clock       *slicetest.Clock
	log         *slicetest.Log
	endpoint    string
	sdk         *dynamodb.Client // direct access to DynamoDB
	client      *db.Client
	projects    db.Table
	contents    db.Table
	events      db.Table
	names       struct{ projects, contents, events string }
	ids         *id.Generator
	quotas      file.Quotas
	maxProjects int
	files       *file.Service
	users       *slicetest.Users
	service     *Service
	server      *httptest.Server
}

type option func(*world)

func withQuotas(q file.Quotas) option { return func(w *world) { w.quotas = q } }

func withMaxProjects(n int) option { return func(w *world) { w.maxProjects = n } }

func newWorld(t *testing.T, options ...option) *world {
	t.Helper()
	w := &world{
		t: t, clock: slicetest.NewClock(epoch, 0), log: slicetest.NewLog(), endpoint: dynamotest.StartServer(t),
		quotas: file.DefaultQuotas(), users: &slicetest.Users{},
	}
	w.sdk = dynamotest.Client(w.endpoint)
	w.ids = id.NewGenerator(w.clock.Now, rand.Reader)
	w.names.projects = slicetest.Table(t, w.sdk, "projects")
	w.names.contents, w.names.events = slicetest.Table(t, w.sdk, "contents"), slicetest.Table(t, w.sdk, "events")
	for _, o := range options {
		o(w)
	}
	w.server = httptest.NewServer(nil)
	t.Cleanup(w.server.Close)
	w.serve(w.sdk)
	return w
}

// serve replaces the service by a new one without cached state, which uses an SDK client.
func (w *world) serve(sdk *dynamodb.Client) {
	w.client = db.Wrap(sdk, w.clock.Now)
	w.projects, w.contents, w.events =
		w.client.Table(w.names.projects), w.client.Table(w.names.contents), w.client.Table(w.names.events)
	logger := slog.New(w.log)
	outbox, cursors := event.Outbox{Events: w.events, IDs: w.ids}, db.NewCursors(slicetest.Keys(w.clock.Now))
	w.files = file.New(file.Deps{
		DB: w.client, Projects: w.projects, Contents: w.contents, Outbox: outbox, Cursors: cursors,
		IDs: w.ids, Clock: w.clock.Now, Quotas: w.quotas,
	})
	w.service = New(Deps{
		DB: w.client, Projects: w.projects, Outbox: outbox, Cursors: cursors, Files: w.files,
		IDs: w.ids, Clock: w.clock.Now, Logger: logger, MaxProjects: w.maxProjects,
	})
	w.server.Config.Handler = httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: logger, Auth: w.users, Clock: w.clock.Now,
	}, w.service.Register, w.files.Register)
}

// interpose puts a proxy between the service and DynamoDB.
func (w *world) interpose(pass dynamotest.Pass) *dynamotest.Wire {
	w.t.Helper()
	wire := dynamotest.NewWire(w.t, w.endpoint, pass)
	w.serve(wire.Client())
	return wire
}

// dump returns all items of a table, by key.
func (w *world) dump(table string) map[db.Key]db.Item {
	w.t.Helper()
	return slicetest.Dump(w.t, w.sdk, table)
}

// storedEvents returns all stored events, in the order in which they were created.
func (w *world) storedEvents() []event.Record {
	w.t.Helper()
	var records []event.Record
	for _, item := range w.dump(w.names.events) {
		record, err := db.Decode[event.Record](item)
		if err != nil {
			w.t.Fatal(err)
		}
		records = append(records, record)
	}
	slices.SortFunc(records, func(a, b event.Record) int { return strings.Compare(a.ID, b.ID) })
	return records
}

func (w *world) transact(writes ...db.Write) {
	w.t.Helper()
	if err := w.client.Transact(w.t.Context(), writes...); err != nil {
		w.t.Fatal(err)
	}
}

// workspace creates a workspace with b as its owner.
func (b *browser) workspace(name string) (workspaceID string) {
	w := b.w
	w.t.Helper()
	workspaceID = w.ids.New(id.Workspace)
	record := encoded(w.t, workspace.Workspace{ID: workspaceID, Name: name, Owners: 1, CreatedAt: clock.Stamp(w.clock.Now())})
	w.transact(w.projects.Create(db.WorkspaceKey(workspaceID), record))
	w.join(workspaceID, b, workspace.Owner)
	return workspaceID
}

// join sets the role of a user in a workspace.
func (w *world) join(workspaceID string, b *browser, role workspace.Role) {
	w.t.Helper()
	item, err := w.projects.Get(w.t.Context(), db.WorkspaceKey(workspaceID))
	if err != nil {
		w.t.Fatal(err)
	}
	place, err := db.Decode[workspace.Workspace](item)
	if err != nil {
		w.t.Fatal(err)
	}
	w.clock.Advance(time.Millisecond)
	record := encoded(w.t, workspace.Membership{
		WorkspaceID: workspaceID, UserID: b.userID, Username: b.name, Role: role, AddedAt: clock.Stamp(w.clock.Now()),
		Name: place.Name, CreatedAt: place.CreatedAt,
	})
	w.transact(w.projects.Put(db.MemberKey(workspaceID, b.userID), record), w.projects.Put(db.MembershipKey(b.userID, workspaceID), record))
}

// leave removes a user from a workspace.
func (w *world) leave(workspaceID string, b *browser) {
	w.t.Helper()
	w.transact(w.projects.Delete(db.MemberKey(workspaceID, b.userID)), w.projects.Delete(db.MembershipKey(b.userID, workspaceID)))
}

// stamp returns the current time in the format of the API.
func (w *world) stamp() string { return clock.Stamp(w.clock.Now()).String() }

// unexported is needed to compare items: the SDK's types have an unexported field.
var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

// encoded returns the item of a record, without its key.
func encoded(t *testing.T, record any) db.Item {
	t.Helper()
	item, err := db.Encode(record)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// decoded returns the payload of a stored event.
func decoded(t *testing.T, record event.Record) event.Payload {
	t.Helper()
	var payload event.Payload
	if err := json.Unmarshal([]byte(record.Payload), &payload); err != nil {
		t.Fatal(err)
	}
	return payload
}

// version returns a new ULID.
func (w *world) version() string {
	_, version, _ := strings.Cut(w.ids.New(id.Event), "_")
	return version
}

// chunk is a stored chunk.
type chunk struct {
	Data []byte `dynamodbav:"data"`
}

// file stores the record of a file without content, directly in DynamoDB.
func (w *world) file(projectID, path string) {
	w.t.Helper()
	w.transact(w.fileWrite(projectID, path))
}

func (w *world) fileWrite(projectID, path string) db.Write {
	w.t.Helper()
	at := clock.Stamp(w.clock.Now())
	record := encoded(w.t, file.File{Encoding: file.UTF8, SHA256: make([]byte, 32), Version: "01K9ZQ3V7M8T5XW2ABCDEFGHJK", CreatedAt: at, UpdatedAt: at})
	return w.projects.Put(db.FileKey(projectID, path), record)
}
