package project

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

var epoch = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

// fixture is the project service behind a real HTTP server, with its own DynamoDB.
type fixture struct {
	t           *testing.T
	clock       *slicetest.Clock
	log         *slicetest.Log
	endpoint    string
	sdk         *dynamodb.Client // direct access to DynamoDB
	s3          *s3.Client       // direct access to S3
	s3Calls     atomic.Int64     // number of calls of s3
	bucket      string
	client      *db.Client
	projects    db.Table
	contents    db.Table
	events      db.Table
	tableNames  struct{ projects, contents, events string }
	ids         *id.Generator
	quotas      file.Quotas
	maxProjects int
	files       *file.Service
	users       *slicetest.Users
	service     *Service
	server      *httptest.Server
}

// option changes a fixture before its service is created.
type option func(*fixture)

// quotas returns the quotas in production, with other limits of a project's files.
func quotas(files, bytes int) file.Quotas {
	q := file.DefaultQuotas()
	q.Files, q.Bytes = files, bytes
	return q
}

func withQuotas(q file.Quotas) option { return func(f *fixture) { f.quotas = q } }

func withMaxProjects(n int) option { return func(f *fixture) { f.maxProjects = n } }

func newFixture(t *testing.T, options ...option) *fixture {
	t.Helper()
	f := &fixture{
		t: t, clock: slicetest.NewClock(epoch, 0), log: slicetest.NewLog(), endpoint: dynamotest.StartServer(t),
		quotas: file.DefaultQuotas(), users: &slicetest.Users{},
	}
	f.sdk = dynamotest.Client(f.endpoint)
	f.s3 = s3test.Client(s3test.StartServer(t), func(o *s3.Options) { o.HTTPClient = countingClient{&f.s3Calls} })
	f.bucket = s3test.CreateBucket(t, f.s3, "files")
	f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
	f.tableNames.projects = slicetest.Table(t, f.sdk, "projects")
	f.tableNames.contents = slicetest.Table(t, f.sdk, "contents")
	f.tableNames.events = slicetest.Table(t, f.sdk, "events")
	for _, apply := range options {
		apply(f)
	}
	f.server = httptest.NewServer(nil)
	t.Cleanup(f.server.Close)
	f.replaceService(f.sdk, f.s3)
	return f
}

// replaceService replaces the service with a new one that has no cached state and uses the given SDK clients.
func (f *fixture) replaceService(sdk *dynamodb.Client, objects *s3.Client) {
	f.client = db.Wrap(sdk, f.clock.Now)
	f.projects = f.client.Table(f.tableNames.projects)
	f.contents = f.client.Table(f.tableNames.contents)
	f.events = f.client.Table(f.tableNames.events)
	f.files, f.service = f.newServices(f.client, objects)
	f.users.ReadSessions(f.client, f.projects)
	f.server.Config.Handler = httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: slog.New(f.log), Auth: f.users, Clock: f.clock.Now,
	}, f.service.Register, f.files.Register)
}

// newServices returns services that have no cached state.
func (f *fixture) newServices(client *db.Client, objects *s3.Client) (*file.Service, *Service) {
	outbox := event.Outbox{Events: client.Table(f.tableNames.events), IDs: f.ids}
	cursors, projects := db.NewCursors(slicetest.Keys(f.clock.Now)), client.Table(f.tableNames.projects)
	files := file.New(file.Deps{
		DB: client, Projects: projects, Contents: client.Table(f.tableNames.contents),
		Bucket: objectstore.Wrap(s3test.Of(objects)).Bucket(f.bucket),
		Outbox: outbox, Cursors: cursors, IDs: f.ids, Clock: f.clock.Now, Quotas: f.quotas,
	})
	return files, New(Deps{
		DB: client, Projects: projects, Outbox: outbox, Cursors: cursors, Files: files,
		IDs: f.ids, Clock: f.clock.Now, Logger: slog.New(f.log), MaxProjects: f.maxProjects,
	})
}

// countingClient counts the calls of an SDK client.
type countingClient struct{ calls *atomic.Int64 }

func (c countingClient) Do(r *http.Request) (*http.Response, error) {
	c.calls.Add(1)
	return http.DefaultClient.Do(r)
}

// objects returns the keys of all objects in the bucket.
func (f *fixture) objects() []string {
	f.t.Helper()
	keys := []string{}
	pages := s3.NewListObjectsV2Paginator(f.s3, &s3.ListObjectsV2Input{Bucket: &f.bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(f.t.Context())
		if err != nil {
			f.t.Fatal(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
	}
	return keys
}

// useProxy replaces the service with one that calls DynamoDB through a proxy.
func (f *fixture) useProxy(pass dynamotest.Pass) *dynamotest.Wire {
	f.t.Helper()
	wire := dynamotest.NewWire(f.t, f.endpoint, pass)
	f.replaceService(wire.Client(), f.s3)
	return wire
}

// dump returns all items of a table, by key.
func (f *fixture) dump(table string) map[db.Key]db.Item {
	f.t.Helper()
	return slicetest.Dump(f.t, f.sdk, table)
}

// storedEvents returns all stored events, in the order in which they were created.
func (f *fixture) storedEvents() []event.Record {
	f.t.Helper()
	var records []event.Record
	for _, item := range f.dump(f.tableNames.events) {
		record, err := db.Decode[event.Record](item)
		if err != nil {
			f.t.Fatal(err)
		}
		records = append(records, record)
	}
	slices.SortFunc(records, func(a, b event.Record) int { return strings.Compare(a.ID, b.ID) })
	return records
}

func (f *fixture) transact(writes ...db.Write) {
	f.t.Helper()
	if err := f.client.Tx(writes...).Commit(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// workspace creates a workspace with u as its owner, and returns its ID.
func (u *user) workspace(name string) (workspaceID string) {
	f := u.f
	f.t.Helper()
	workspaceID = f.ids.New(id.Workspace)
	record := encode(f.t, workspace.Workspace{
		ID: workspaceID, Name: name, Owners: 1, CreatedAt: clock.Stamp(f.clock.Now()),
	})
	f.transact(f.projects.Create(db.WorkspaceKey(workspaceID), record))
	f.setRole(workspaceID, u, workspace.Owner)
	return workspaceID
}

// setRole adds a user to a workspace, or changes the role of a member.
func (f *fixture) setRole(workspaceID string, u *user, role workspace.Role) {
	f.t.Helper()
	item, err := f.projects.Get(f.t.Context(), db.WorkspaceKey(workspaceID))
	if err != nil {
		f.t.Fatal(err)
	}
	stored, err := db.Decode[workspace.Workspace](item)
	if err != nil {
		f.t.Fatal(err)
	}
	f.clock.Advance(time.Millisecond)
	record := encode(f.t, workspace.Membership{
		WorkspaceID: workspaceID, UserID: u.userID, Username: u.name, Role: role, AddedAt: clock.Stamp(f.clock.Now()),
		Name: stored.Name, CreatedAt: stored.CreatedAt,
	})
	f.transact(
		f.projects.Put(db.MemberKey(workspaceID, u.userID), record),
		f.projects.Put(db.MembershipKey(u.userID, workspaceID), record),
	)
}

// removeMember removes a user from a workspace.
func (f *fixture) removeMember(workspaceID string, u *user) {
	f.t.Helper()
	f.transact(
		f.projects.Delete(db.MemberKey(workspaceID, u.userID)),
		f.projects.Delete(db.MembershipKey(u.userID, workspaceID)),
	)
}

// timestamp returns the current time in the format of the API.
func (f *fixture) timestamp() string { return clock.Stamp(f.clock.Now()).String() }

// unexported makes cmp compare unexported fields. The SDK's attribute value types have such a field.
var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

// encode returns the item of a record, without its key.
func encode(t *testing.T, record any) db.Item {
	t.Helper()
	item, err := db.Encode(record)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// decodePayload returns the payload of a stored event.
func decodePayload(t *testing.T, record event.Record) event.Payload {
	t.Helper()
	var payload event.Payload
	if err := json.Unmarshal([]byte(record.Payload), &payload); err != nil {
		t.Fatal(err)
	}
	return payload
}

// newVersion returns a new ULID.
func (f *fixture) newVersion() string {
	_, version, _ := strings.Cut(f.ids.New(id.Event), "_")
	return version
}

// chunk is a stored chunk of a file's content.
type chunk struct {
	Data []byte `dynamodbav:"data"`
}

// putFile stores the record of an empty file directly in DynamoDB.
func (f *fixture) putFile(projectID, path string) {
	f.t.Helper()
	f.transact(f.fileWrite(projectID, path))
}

func (f *fixture) fileWrite(projectID, path string) db.Write {
	f.t.Helper()
	at := clock.Stamp(f.clock.Now())
	record := encode(f.t, file.File{
		Encoding: file.UTF8, SHA256: make([]byte, 32), Version: "01K9ZQ3V7M8T5XW2ABCDEFGHJK",
		CreatedAt: at, UpdatedAt: at,
	})
	return f.projects.Put(db.FileKey(projectID, path), record)
}
