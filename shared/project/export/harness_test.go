package export_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/content"
	"devplatform/shared/project/export"
	"devplatform/shared/project/file"
	"devplatform/shared/queue"
	"devplatform/shared/workspace"
)

// fixture is the services of projects, files and exports behind an HTTP server, with their own DynamoDB, S3 and SQS.
type fixture struct {
	t        *testing.T
	clock    *slicetest.Clock
	log      *slicetest.Log
	users    *slicetest.Users
	ids      *id.Generator
	tables   string // endpoint
	sdk      *dynamodb.Client
	s3       *s3.Client
	bucket   string
	sqs      *sqs.Client
	queue    string // URL
	names    struct{ projects, contents, events string }
	projects db.Table
	files    *file.Service
	server   *httptest.Server
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, clock: slicetest.NewClock(time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC), 0), log: slicetest.NewLog(),
		users: &slicetest.Users{}, tables: dynamotest.StartServer(t),
	}
	f.sdk, f.s3 = dynamotest.Client(f.tables), s3test.Client(s3test.StartServer(t))
	f.bucket = s3test.CreateBucket(t, f.s3, "files")
	f.sqs = sqstest.Start(t)
	f.queue = sqstest.CreateQueue(t, f.sqs, "exports-"+rand.Text(), map[string]string{"MessageRetentionPeriod": "900"})
	f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
	f.names.projects = "projects-" + strings.ToLower(rand.Text())
	functiontest.CreateProjectsTable(t, f.sdk, f.names.projects)
	f.names.contents = slicetest.Table(t, f.sdk, "contents")
	f.names.events = slicetest.Table(t, f.sdk, "events")
	f.projects = db.Wrap(f.sdk, f.clock.Now).Table(f.names.projects)
	f.files = f.clients(nil).files
	f.server = httptest.NewServer(nil)
	t.Cleanup(f.server.Close)
	f.serve(f.clients(nil))
	return f
}

// clients are the SDK's clients of a function, and the services that use them.
type clients struct {
	projects *project.Service
	files    *file.Service
	exports  *export.Service
	worker   *job.Worker
	jobs     job.Store
}

// clients returns services that send their requests through a client. nil means the default client and retries.
func (f *fixture) clients(through httpDoer) *clients {
	sdk, objects, queues := f.sdk, f.s3, f.sqs
	if through != nil {
		sdk = dynamotest.Client(f.tables, func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = through, aws.NopRetryer{} })
		objects = s3test.Client(*f.s3.Options().BaseEndpoint, func(o *s3.Options) {
			o.HTTPClient, o.Retryer = through, aws.NopRetryer{}
		})
		queues = sqstest.Client(*f.sqs.Options().BaseEndpoint, func(o *sqs.Options) {
			o.HTTPClient, o.Retryer = through, aws.NopRetryer{}
		})
	}
	client := db.Wrap(sdk, f.clock.Now)
	projects, bucket := client.Table(f.names.projects), objectstore.Wrap(s3test.Of(objects)).Bucket(f.bucket)
	outbox := event.Outbox{Events: client.Table(f.names.events), IDs: f.ids}
	cursors, logger := db.NewCursors(slicetest.Keys(f.clock.Now)), slog.New(f.log)
	c := &clients{}
	c.files = file.New(file.Deps{
		DB: client, Projects: projects, Contents: client.Table(f.names.contents), Bucket: bucket, Outbox: outbox,
		Cursors: cursors, IDs: f.ids, Clock: f.clock.Now, Quotas: file.DefaultQuotas(),
	})
	c.projects = project.New(project.Deps{
		DB: client, Projects: projects, Outbox: outbox, Cursors: cursors, Files: c.files, IDs: f.ids, Clock: f.clock.Now,
		Logger: logger,
	})
	q := queue.Wrap(queues).Queue(f.queue)
	c.exports = export.New(export.Deps{
		DB: client, Projects: projects, Bucket: bucket, Send: q.SendOne, Clock: f.clock.Now, Logger: logger,
		HourlyLimit: export.DefaultHourlyLimit,
	})
	worker := export.NewWorker(export.WorkerDeps{
		DB: client, Projects: projects, Files: c.files, Bucket: bucket, Clock: f.clock.Now, Logger: logger,
	})
	c.jobs = job.Store{DB: client, Projects: projects}
	c.worker = job.NewWorker(job.Deps{
		Jobs: c.jobs, Kinds: worker.Kinds(), Send: q.SendOne, ReturnAfter: q.ReturnAfter, Clock: f.clock.Now, Logger: logger,
		Metrics: metric.New(logger, "stack", f.clock.Now),
	})
	return c
}

// httpDoer is the HTTP client of the SDK's clients.
type httpDoer interface {
	Do(r *http.Request) (*http.Response, error)
}

// serve makes the server use other services.
func (f *fixture) serve(c *clients) {
	f.server.Config.Handler = httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: slog.New(f.log), Auth: f.users, Clock: f.clock.Now,
	}, c.projects.Register, c.files.Register, c.exports.Register)
}

// user is a user with a session and a personal workspace.
type user struct {
	*slicetest.Client
	f         *fixture
	caller    httpapi.Caller
	workspace string
}

func (f *fixture) newUser(name string) *user {
	f.t.Helper()
	u := &user{Client: slicetest.NewClient(f.t, f.server.URL, f.log), f: f, workspace: f.ids.New(id.Workspace)}
	u.SetCookie("session", name)
	u.caller = slicetest.NewCaller(f.ids.New(id.User), name)
	writes := workspace.Personal(f.projects, u.workspace, u.caller.UserID, name, f.clock.Now())
	if err := db.Wrap(f.sdk, f.clock.Now).Tx(writes...).Commit(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.users.Add(u.caller)
	return u
}

// join adds the user to the workspace of another user.
func (u *user) join(owner *user, role workspace.Role) {
	u.f.t.Helper()
	item, err := db.Encode(workspace.Membership{
		WorkspaceID: owner.workspace, UserID: u.caller.UserID, Username: u.caller.Account().Username, Role: role,
	})
	if err == nil {
		key := db.MemberKey(owner.workspace, u.caller.UserID)
		_, err = db.Wrap(u.f.sdk, u.f.clock.Now).Do(u.f.t.Context(), u.f.projects.Put(key, item))
	}
	if err != nil {
		u.f.t.Fatal(err)
	}
}

// project creates a project and returns its ID.
func (u *user) project(name string, visibility project.Visibility) string {
	u.f.t.Helper()
	fields := map[string]any{"name": name, "visibility": visibility}
	return u.Do(http.MethodPost, "/api/projects", fields).Want(u.f.t, http.StatusCreated).Text("id")
}

// save saves files.
func (u *user) save(projectID string, files map[string][]byte) {
	u.f.t.Helper()
	for path, data := range files {
		fields := map[string]any{"path": path, "content": base64.StdEncoding.EncodeToString(data), "encoding": "base64"}
		if r := u.Do(http.MethodPost, "/api/projects/"+projectID+"/files", fields); r.Status >= 300 {
			u.f.t.Fatalf("%s: got %d %s", path, r.Status, r.Raw)
		}
	}
}

// start starts an export, or returns the existing one.
func (u *user) start(projectID string) (exportID, status string) {
	u.f.t.Helper()
	r := u.Do(http.MethodPost, "/api/projects/"+projectID+"/exports", nil).Want(u.f.t, http.StatusAccepted)
	return r.Text("id"), r.Text("status")
}

// read returns an export.
func (u *user) read(projectID, exportID string) slicetest.Response {
	u.f.t.Helper()
	return u.Get("/api/projects/"+projectID+"/exports/"+exportID).Want(u.f.t, http.StatusOK)
}

// messages receives all messages of the queue that are visible.
func (f *fixture) messages() (received []lambdafn.QueueMessage) {
	f.t.Helper()
	for {
		out, err := f.sqs.ReceiveMessage(f.t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &f.queue, MaxNumberOfMessages: 10,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, m := range out.Messages {
			received = append(received, lambdafn.QueueMessage{
				ID: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, Group: m.Attributes["MessageGroupId"],
			})
		}
		if len(out.Messages) == 0 {
			return received
		}
	}
}

// work makes a worker handle all messages of the queue that are visible. It returns the error of each.
func (f *fixture) work(c *clients) []error {
	f.t.Helper()
	return c.worker.Handle(f.t.Context(), f.messages())
}

// sweep sends the messages that are due, and makes a worker handle them. It returns the error of each.
func (f *fixture) sweep() []error {
	f.t.Helper()
	if err := f.clients(nil).worker.Sweep(f.t.Context()); err != nil {
		f.t.Error(err)
	}
	return f.work(f.clients(nil))
}

// export exports a project, and returns the archive.
func (f *fixture) export(u *user, projectID string) []byte {
	f.t.Helper()
	exportID, _ := u.start(projectID)
	f.work(f.clients(nil))
	return f.download(u.read(projectID, exportID))
}

// download downloads the archive of an export with its URL.
func (f *fixture) download(r slicetest.Response) []byte {
	f.t.Helper()
	if r.Text("status") != "ready" {
		f.t.Fatalf("got %s, want an export that is ready", r.Raw)
	}
	get, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, r.Text("url"), http.NoBody)
	if err != nil {
		f.t.Fatal(err)
	}
	response, err := slicetest.Transfers.Do(get)
	if err != nil {
		f.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || float64(len(data)) != r.Body["size"] {
		f.t.Fatalf("got status %d and %d bytes, error %v, want the %v bytes of the archive",
			response.StatusCode, len(data), err, r.Body["size"])
	}
	disposition, mediaType := response.Header.Get("Content-Disposition"), response.Header.Get("Content-Type")
	if !strings.HasPrefix(disposition, "attachment; filename=") || mediaType != "application/zip" {
		f.t.Errorf("got the disposition %q and the type %q, want an attachment and application/zip", disposition, mediaType)
	}
	return data
}

// unzip returns the files of an archive, by path.
func unzip(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range archive.File {
		r, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files["/"+entry.Name], err = io.ReadAll(r); err != nil { // checks the CRC
			t.Fatalf("%s: %v", entry.Name, err)
		}
	}
	return files
}

// putLarge stores a file of more than 1 MiB as an upload does: its object and its record.
func (f *fixture) putLarge(projectID, path string, data []byte) {
	f.t.Helper()
	ref := content.Ref{ContentID: f.ids.New(id.Event)[4:], Object: content.Raw}
	_, err := f.s3.PutObject(f.t.Context(), &s3.PutObjectInput{
		Bucket: &f.bucket, Key: aws.String(ref.ObjectKey(projectID)), Body: bytes.NewReader(data),
	})
	if err != nil {
		f.t.Fatal(err)
	}
	sum, at := sha256.Sum256(data), clock.Stamp(f.clock.Now())
	item, err := db.Encode(file.File{
		Size: len(data), SHA256: sum[:], Encoding: file.Base64, Version: ref.ContentID, Ref: ref,
		CreatedAt: at, UpdatedAt: at,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	tree := f.projects.Update(db.TreeKey(projectID), expression.Add(expression.Name("changes"), expression.Value(1)))
	err = db.Wrap(f.sdk, f.clock.Now).Tx(
		f.projects.Put(db.FileKey(projectID, path), item), tree).Commit(context.WithoutCancel(f.t.Context()))
	if err != nil {
		f.t.Fatal(err)
	}
}

// randomBytes returns n bytes that cannot be compressed.
func randomBytes(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return data
}
