package projecttest

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/functiontest"
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
	"devplatform/shared/project"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// epoch is the time at which the clock of a fixture starts.
var epoch = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

// Fixture is the project service behind a real HTTP server, with its own DynamoDB.
type Fixture struct {
	T           *testing.T
	Clock       *slicetest.Clock
	Log         *slicetest.Log
	Endpoint    string
	SDK         *dynamodb.Client // direct access to DynamoDB
	S3          *s3.Client       // direct access to S3
	S3Calls     atomic.Int64     // number of calls of S3
	Bucket      string
	Client      *db.Client
	Projects    db.Table
	Contents    db.Table
	Events      db.Table
	Tables      struct{ Projects, Contents, Events string }
	IDs         *id.Generator
	Quotas      file.Quotas
	MaxProjects int
	Files       *file.Service
	Users       *slicetest.Users
	Service     *project.Service
	Server      *httptest.Server
}

// Option changes a fixture before its service is created.
type Option func(*Fixture)

// Quotas returns the quotas in production, with other limits of a project's files.
func Quotas(files, bytes int) file.Quotas {
	q := file.DefaultQuotas()
	q.Files, q.Bytes = files, bytes
	return q
}

// WithQuotas sets the quotas of files.
func WithQuotas(q file.Quotas) Option { return func(f *Fixture) { f.Quotas = q } }

// WithMaxProjects sets the maximum number of projects in a workspace.
func WithMaxProjects(n int) Option { return func(f *Fixture) { f.MaxProjects = n } }

// New returns a fixture without users.
func New(t *testing.T, options ...Option) *Fixture {
	t.Helper()
	f := &Fixture{
		T: t, Clock: slicetest.NewClock(epoch, 0), Log: slicetest.NewLog(), Endpoint: dynamotest.StartServer(t),
		Quotas: file.DefaultQuotas(), Users: &slicetest.Users{},
	}
	f.SDK = dynamotest.Client(f.Endpoint)
	f.S3 = s3test.Client(s3test.StartServer(t), func(o *s3.Options) {
		o.HTTPClient = slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
			f.S3Calls.Add(1)
			return slicetest.Transfers.Do(r) //nolint:gosec // the SDK made the request
		})
	})
	f.Bucket = s3test.CreateBucket(t, f.S3, "files")
	f.IDs = id.NewGenerator(f.Clock.Now, rand.Reader)
	f.Tables.Projects = "projects-" + strings.ToLower(rand.Text())
	functiontest.CreateProjectsTable(t, f.SDK, f.Tables.Projects)
	f.Tables.Contents = slicetest.Table(t, f.SDK, "contents")
	f.Tables.Events = slicetest.Table(t, f.SDK, "events")
	for _, apply := range options {
		apply(f)
	}
	f.Server = httptest.NewServer(nil)
	t.Cleanup(f.Server.Close)
	f.ReplaceService(f.SDK, f.S3)
	return f
}

// ReplaceService replaces the service with a new one that has no cached state and uses the given SDK clients.
func (f *Fixture) ReplaceService(sdk *dynamodb.Client, objects *s3.Client) {
	f.Client = db.Wrap(sdk, f.Clock.Now)
	f.Projects = f.Client.Table(f.Tables.Projects)
	f.Contents = f.Client.Table(f.Tables.Contents)
	f.Events = f.Client.Table(f.Tables.Events)
	f.Files, f.Service = f.NewServices(f.Client, objects)
	f.Serve(f.Service.Register, f.Files.Register)
}

// Serve makes the server serve these endpoints only.
func (f *Fixture) Serve(endpoints ...func(*httpapi.Routes)) {
	f.Users.ReadSessions(f.Client, f.Projects)
	f.Server.Config.Handler = httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: slog.New(f.Log), Auth: f.Users, Clock: f.Clock.Now,
	}, endpoints...)
}

// NewServices returns services that have no cached state. The options change the dependencies of the project service.
func (f *Fixture) NewServices(
	client *db.Client, objects *s3.Client, options ...func(*project.Deps),
) (*file.Service, *project.Service) {
	outbox := event.Outbox{Events: client.Table(f.Tables.Events), IDs: f.IDs}
	cursors, projects := db.NewCursors(slicetest.Keys(f.Clock.Now)), client.Table(f.Tables.Projects)
	files := file.New(file.Deps{
		DB: client, Projects: projects, Contents: client.Table(f.Tables.Contents),
		Bucket: objectstore.Wrap(s3test.Of(objects)).Bucket(f.Bucket),
		Outbox: outbox, Cursors: cursors, IDs: f.IDs, Clock: f.Clock.Now, Quotas: f.Quotas,
	})
	deps := project.Deps{
		DB: client, Projects: projects, Outbox: outbox, Cursors: cursors, Files: files,
		IDs: f.IDs, Clock: f.Clock.Now, Logger: slog.New(f.Log), MaxProjects: f.MaxProjects,
	}
	for _, change := range options {
		change(&deps)
	}
	return files, project.New(deps)
}

// Objects returns the keys of all objects in the bucket.
func (f *Fixture) Objects() []string {
	f.T.Helper()
	keys := []string{}
	pages := s3.NewListObjectsV2Paginator(f.S3, &s3.ListObjectsV2Input{Bucket: &f.Bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(f.T.Context())
		if err != nil {
			f.T.Fatal(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
	}
	return keys
}

// UseProxy replaces the service with one that calls DynamoDB through a proxy.
func (f *Fixture) UseProxy(pass dynamotest.Pass) *dynamotest.Wire {
	f.T.Helper()
	wire := dynamotest.NewWire(f.T, f.Endpoint, pass)
	f.ReplaceService(wire.Client(), f.S3)
	return wire
}

// Dump returns all items of a table, by key.
func (f *Fixture) Dump(table string) map[db.Key]db.Item {
	f.T.Helper()
	return slicetest.Dump(f.T, f.SDK, table)
}

// StoredEvents returns all stored events, in the order in which they were created.
func (f *Fixture) StoredEvents() []event.Record {
	f.T.Helper()
	var records []event.Record
	for _, item := range f.Dump(f.Tables.Events) {
		record, err := db.Decode[event.Record](item)
		if err != nil {
			f.T.Fatal(err)
		}
		records = append(records, record)
	}
	slices.SortFunc(records, func(a, b event.Record) int { return strings.Compare(a.ID, b.ID) })
	return records
}

// Transact executes writes in one transaction.
func (f *Fixture) Transact(writes ...db.Write) {
	f.T.Helper()
	if err := f.Client.Tx(writes...).Commit(f.T.Context()); err != nil {
		f.T.Fatal(err)
	}
}

// Workspace creates a workspace with u as its owner, and returns its ID.
func (u *User) Workspace(name string) (workspaceID string) {
	f := u.Fixture
	f.T.Helper()
	workspaceID = f.IDs.New(id.Workspace)
	record := Encode(f.T, workspace.Workspace{
		ID: workspaceID, Name: name, Owners: 1, CreatedAt: clock.Stamp(f.Clock.Now()),
	})
	f.Transact(f.Projects.Create(db.WorkspaceKey(workspaceID), record))
	f.SetRole(workspaceID, u, workspace.Owner)
	return workspaceID
}

// SetRole adds a user to a workspace, or changes the role of a member.
func (f *Fixture) SetRole(workspaceID string, u *User, role workspace.Role) {
	f.T.Helper()
	item, err := f.Projects.Get(f.T.Context(), db.WorkspaceKey(workspaceID))
	if err != nil {
		f.T.Fatal(err)
	}
	stored, err := db.Decode[workspace.Workspace](item)
	if err != nil {
		f.T.Fatal(err)
	}
	f.Clock.Advance(time.Millisecond)
	record := Encode(f.T, workspace.Membership{
		WorkspaceID: workspaceID, UserID: u.UserID, Username: u.Name, Role: role, AddedAt: clock.Stamp(f.Clock.Now()),
		Name: stored.Name, CreatedAt: stored.CreatedAt,
	})
	f.Transact(
		f.Projects.Put(db.MemberKey(workspaceID, u.UserID), record),
		f.Projects.Put(db.MembershipKey(u.UserID, workspaceID), record),
	)
}

// RemoveMember removes a user from a workspace.
func (f *Fixture) RemoveMember(workspaceID string, u *User) {
	f.T.Helper()
	f.Transact(
		f.Projects.Delete(db.MemberKey(workspaceID, u.UserID)),
		f.Projects.Delete(db.MembershipKey(u.UserID, workspaceID)),
	)
}

// Timestamp returns the current time in the format of the API.
func (f *Fixture) Timestamp() string { return clock.Stamp(f.Clock.Now()).String() }

// Unexported makes cmp compare unexported fields. The SDK's attribute value types have such a field.
var Unexported = cmp.Exporter(func(reflect.Type) bool { return true })

// Encode returns the item of a record, without its key.
func Encode(t *testing.T, record any) db.Item {
	t.Helper()
	item, err := db.Encode(record)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// DecodePayload returns the payload of a stored event.
func DecodePayload(t *testing.T, record event.Record) event.Payload {
	t.Helper()
	var payload event.Payload
	if err := json.Unmarshal([]byte(record.Payload), &payload); err != nil {
		t.Fatal(err)
	}
	return payload
}

// NewVersion returns a new ULID.
func (f *Fixture) NewVersion() string {
	_, version, _ := strings.Cut(f.IDs.New(id.Event), "_")
	return version
}

// Chunk is a stored chunk of a file's content.
type Chunk struct {
	Data []byte `dynamodbav:"data"`
}

// PutFile stores the record of an empty file directly in DynamoDB.
func (f *Fixture) PutFile(projectID, path string) {
	f.T.Helper()
	f.Transact(f.FileWrite(projectID, path))
}

// FileWrite returns the write that stores the record of an empty file.
func (f *Fixture) FileWrite(projectID, path string) db.Write {
	f.T.Helper()
	at := clock.Stamp(f.Clock.Now())
	record := Encode(f.T, file.File{
		Encoding: file.UTF8, SHA256: make([]byte, 32), Version: "01K9ZQ3V7M8T5XW2ABCDEFGHJK",
		CreatedAt: at, UpdatedAt: at,
	})
	return f.Projects.Put(db.FileKey(projectID, path), record)
}
