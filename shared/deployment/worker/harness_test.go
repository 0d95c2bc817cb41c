package worker_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/npm"
	"devplatform/shared/deployment/worker"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/cleanup"
	"devplatform/shared/project/file"
	"devplatform/shared/queue"
	"devplatform/shared/workspace"
)

const (
	origin = config.Origin("https://example.app")
	// maxBuilds is the limit of builds in progress for an account.
	maxBuilds = 3
)

// fixture is the services of projects and deployments behind an HTTP server, with their own DynamoDB, S3 and SQS.
type fixture struct {
	t      *testing.T
	clock  *slicetest.Clock
	log    *slicetest.Log
	users  *slicetest.Users
	ids    *id.Generator
	tables string // endpoint
	sdk    *dynamodb.Client
	s3     *s3.Client
	sqs    *sqs.Client
	queue  string // URL
	names  struct{ projects, sites, events, contents, bucket string }
	server *httptest.Server
	*clients
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, clock: slicetest.NewClock(time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC), 0), log: slicetest.NewLog(),
		users: &slicetest.Users{}, tables: dynamotest.StartServer(t),
	}
	f.sdk, f.s3 = dynamotest.Client(f.tables), s3test.Client(s3test.StartServer(t))
	f.sqs = sqstest.Start(t)
	f.queue = sqstest.CreateQueue(t, f.sqs, "builds-"+rand.Text(), map[string]string{"VisibilityTimeout": "540"})
	f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
	f.names.bucket = s3test.CreateBucket(t, f.s3, "files")
	f.names.projects = "projects-" + strings.ToLower(rand.Text())
	functiontest.CreateProjectsTable(t, f.sdk, f.names.projects)
	f.names.sites = slicetest.Table(t, f.sdk, "sites")
	f.names.events = slicetest.Table(t, f.sdk, "events")
	f.names.contents = slicetest.Table(t, f.sdk, "contents")
	f.clients = f.process(nil)
	f.server = httptest.NewServer(httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: slog.New(f.log), Auth: f.users, Clock: f.clock.Now,
	}, f.project.Register, f.files.Register, f.deployments.Register))
	t.Cleanup(f.server.Close)
	return f
}

// httpDoer is the HTTP client of the SDK's clients.
type httpDoer interface {
	Do(r *http.Request) (*http.Response, error)
}

// clients are the services of a process.
type clients struct {
	db          *db.Client
	projects    db.Table
	sites       db.Table
	bucket      objectstore.Bucket
	project     *project.Service
	files       *file.Service
	deployments *deployment.Service
	builder     *worker.Worker
	worker      *job.Worker
	cleanup     *cleanup.Cleanup
	store       deployment.Store
	jobs        job.Store
}

// process returns services that send their requests through a client. nil means the default client and retries.
func (f *fixture) process(through httpDoer) *clients {
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
	client, logger := db.Wrap(sdk, f.clock.Now), slog.New(f.log)
	c := &clients{
		db: client, projects: client.Table(f.names.projects), sites: client.Table(f.names.sites),
		bucket: objectstore.Wrap(s3test.Of(objects)).Bucket(f.names.bucket),
	}
	outbox := event.Outbox{Events: client.Table(f.names.events), IDs: f.ids}
	cursors, contents := db.NewCursors(slicetest.Keys(f.clock.Now)), client.Table(f.names.contents)
	builds := queue.Wrap(queues).Queue(f.queue)
	c.store = deployment.Store{
		DB: client, Projects: c.projects, Sites: c.sites, Outbox: outbox, Origin: origin,
		MaxBuilds: maxBuilds, MaxOutput: 1 << 30,
	}
	c.files = file.New(file.Deps{
		DB: client, Projects: c.projects, Contents: contents, Bucket: c.bucket, Outbox: outbox, Cursors: cursors,
		IDs: f.ids, Clock: f.clock.Now, Quotas: file.DefaultQuotas(),
	})
	c.deployments = deployment.New(deployment.Deps{
		DB: client, Projects: c.projects, Sites: c.sites, Outbox: outbox, Cursors: cursors, Bucket: c.bucket,
		Send: builds.SendOne, IDs: f.ids, Clock: f.clock.Now, Logger: logger, Origin: origin,
		Limits: deployment.DefaultLimits(),
	})
	c.project = project.New(project.Deps{
		DB: client, Projects: c.projects, Outbox: outbox, Cursors: cursors, Files: c.files, IDs: f.ids,
		Clock: f.clock.Now, Logger: logger, RemoveSite: c.deployments.RemoveSite,
	})
	c.cleanup = cleanup.New(cleanup.Deps{
		DB: client, Projects: c.projects, Contents: contents, Conversations: contents, Bucket: c.bucket,
		Clock: f.clock.Now, Logger: logger,
	})
	c.builder = worker.New(worker.Deps{
		Store: c.store, Files: c.files, Bucket: c.bucket, Clock: f.clock.Now, Logger: logger,
		Packages: npm.New(npm.Deps{Bucket: c.bucket, Clock: f.clock.Now, Logger: logger}),
	})
	c.jobs = job.Store{DB: client, Projects: c.projects}
	c.worker = job.NewWorker(job.Deps{
		Jobs: c.jobs, Kinds: c.builder.Kinds(), Clock: f.clock.Now, Logger: logger, Hide: builds.Hide, Send: builds.SendOne,
		Metrics: metric.New(logger, "stack", f.clock.Now),
	})
	return c
}

// user is a user with a session and a personal workspace.
type user struct {
	*slicetest.Client
	f      *fixture
	caller httpapi.Caller
}

func (f *fixture) newUser(name string) *user {
	f.t.Helper()
	u := &user{Client: slicetest.NewClient(f.t, f.server.URL, f.log), f: f}
	u.SetCookie("session", name)
	u.caller = slicetest.NewCaller(f.ids.New(id.User), name)
	writes := workspace.Personal(f.projects, f.ids.New(id.Workspace), u.caller.UserID, name, f.clock.Now())
	if err := f.db.Tx(writes...).Commit(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.users.Add(u.caller)
	return u
}

type object map[string]any

// published is a project of a user.
type published struct {
	*user
	id string
}

// newProject creates a project with files.
func (u *user) newProject(files map[string]string) *published {
	u.f.t.Helper()
	fields := object{"name": "P" + strings.ToLower(rand.Text()[:8]), "visibility": workspace.Public}
	p := &published{u, u.Do(http.MethodPost, "/api/projects", fields).Want(u.f.t, http.StatusCreated).Text("id")}
	p.save(files)
	return p
}

// save saves files.
func (p *published) save(files map[string]string) {
	p.f.t.Helper()
	for path, data := range files {
		text := base64.StdEncoding.EncodeToString([]byte(data))
		fields := object{"path": path, "content": text, "encoding": "base64"}
		if r := p.Do(http.MethodPost, "/api/projects/"+p.id+"/files", fields); r.Status >= 300 {
			p.f.t.Fatalf("%s: got %d %s", path, r.Status, r.Raw)
		}
	}
}

// url returns the path of a deployment, or of a part of it.
func (p *published) url(deploymentID string, parts ...string) string {
	return "/api/projects/" + p.id + "/deployments/" + deploymentID + strings.Join(parts, "")
}

// request requests a deployment and returns its ID.
func (p *published) request() string {
	p.f.t.Helper()
	p.f.clock.Advance(8 * time.Minute) // for the limits
	return p.Do(http.MethodPost, "/api/projects/"+p.id+"/deployments", object{}).
		Want(p.f.t, http.StatusAccepted).Text("id")
}

// deploy deploys the project, and returns the deployment after the build.
func (p *published) deploy() slicetest.Response {
	p.f.t.Helper()
	deploymentID := p.request()
	for _, err := range p.f.work(p.f.clients) {
		if err != nil {
			p.f.t.Errorf("the message was not handled: %v", err)
		}
	}
	return p.Get(p.url(deploymentID)).Want(p.f.t, http.StatusOK)
}

// failure returns the error of a deployment as "code path:line:column message", "" if there is none.
func failure(d slicetest.Response) string {
	e, _ := d.Body["error"].(map[string]any)
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%v %v:%v:%v %v", e["code"], e["path"], e["line"], e["column"], e["message"])
}

// logOf returns the lines of a deployment's log as "level text".
func (p *published) logOf(deploymentID string) (lines []string) {
	p.f.t.Helper()
	for _, line := range p.Get(p.url(deploymentID, "/log")).Want(p.f.t, http.StatusOK).List("lines") {
		lines = append(lines, fmt.Sprint(line["level"], " ", line["text"]))
	}
	return lines
}

// messages receives all messages of the queue that are visible. They do not become visible again.
func (f *fixture) messages() (received []lambdafn.QueueMessage) {
	f.t.Helper()
	for {
		out, err := f.sqs.ReceiveMessage(f.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &f.queue, MaxNumberOfMessages: 10})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, m := range out.Messages {
			received = append(received, lambdafn.QueueMessage{ID: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body})
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

// sweep advances the clock, sends the messages that are due, and makes a worker handle them.
func (f *fixture) sweep(after time.Duration) {
	f.t.Helper()
	f.clock.Advance(after)
	if err := f.worker.Sweep(f.t.Context()); err != nil {
		f.t.Error(err)
	}
	for _, err := range f.work(f.clients) {
		if err != nil {
			f.t.Errorf("the message was not handled: %v", err)
		}
	}
}

// cleanUp handles the event of a project that was deleted, as project-cleanup does. The event can be repeated.
func (p *published) cleanUp() {
	p.f.t.Helper()
	for _, item := range slicetest.Dump(p.f.t, p.f.sdk, p.f.names.events) {
		r, err := event.FromItem(item)
		if err == nil && r.Type == event.ProjectDeleted && r.ProjectID == p.id {
			err = p.f.cleanup.Handle(p.f.t.Context(), lambdafn.StreamRecord{EventName: "INSERT", NewImage: item})
		}
		if err != nil {
			p.f.t.Fatal(err)
		}
	}
}
