package worker_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/npm"
	"devplatform/shared/deployment/worker"
	"devplatform/shared/event"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
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
	*projecttest.Fixture

	cleaner *projecttest.Cleaner
	sqs     *sqs.Client
	queue   string // URL
	sites   string // the name of the table
	*clients
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: projecttest.New(t), sqs: sqstest.Start(t)}
	f.cleaner = projecttest.NewCleaner(t, f.Fixture)
	f.queue = sqstest.CreateQueue(t, f.sqs, "builds-"+rand.Text(), map[string]string{"VisibilityTimeout": "540"})
	f.sites = slicetest.Table(t, f.SDK, "sites")
	f.clients = f.process(nil)
	f.Serve(f.project.Register, f.Files.Register, f.deployments.Register)
	return f
}

// httpDoer is the HTTP client of the SDK's clients.
type httpDoer interface {
	Do(r *http.Request) (*http.Response, error)
}

// clients are the services of a process.
type clients struct {
	bucket      objectstore.Bucket
	project     *project.Service
	deployments *deployment.Service
	builder     *worker.Worker
	worker      *job.Worker
	jobs        job.Store
}

// process returns services that send their requests through a client. nil means the default client and retries.
func (f *fixture) process(through httpDoer) *clients {
	sdk, objects, queues := f.SDK, f.S3, f.sqs
	if through != nil {
		sdk = dynamotest.Client(f.Endpoint, func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = through, aws.NopRetryer{} })
		objects = s3test.Client(*f.S3.Options().BaseEndpoint, func(o *s3.Options) {
			o.HTTPClient, o.Retryer = through, aws.NopRetryer{}
		})
		queues = sqstest.Client(*f.sqs.Options().BaseEndpoint, func(o *sqs.Options) {
			o.HTTPClient, o.Retryer = through, aws.NopRetryer{}
		})
	}
	client, logger, builds := db.Wrap(sdk, f.Clock.Now), slog.New(f.Log), queue.Wrap(queues).Queue(f.queue)
	projects, sites := client.Table(f.Tables.Projects), client.Table(f.sites)
	outbox := event.Outbox{Events: client.Table(f.Tables.Events), IDs: f.IDs}
	store := deployment.Store{
		DB: client, Projects: projects, Sites: sites, Outbox: outbox, Origin: origin, MaxBuilds: maxBuilds,
		MaxOutput: 1 << 30,
	}
	c := &clients{bucket: objectstore.Wrap(s3test.Of(objects)).Bucket(f.Bucket)}
	c.deployments = deployment.New(deployment.Deps{
		Store: store, Cursors: db.NewCursors(slicetest.Keys(f.Clock.Now)), Bucket: c.bucket, Send: builds.SendOne,
		IDs: f.IDs, Clock: f.Clock.Now, Logger: logger, Limits: config.Defaults[deployment.Limits](),
	})
	var files *file.Service
	files, c.project = f.NewServices(client, objects, func(d *project.Deps) {
		d.RemoveSite = c.deployments.RemoveSite
	})
	c.builder = worker.New(worker.Deps{
		Store: store, Files: files, Bucket: c.bucket, Clock: f.Clock.Now, Logger: logger,
		Packages: npm.New(npm.Deps{Bucket: c.bucket, Clock: f.Clock.Now, Logger: logger}),
	})
	c.jobs = job.Store{DB: client, Projects: projects}
	c.worker = job.NewWorker(job.Deps{
		Jobs: c.jobs, Kinds: c.builder.Kinds(), Clock: f.Clock.Now, Logger: logger,
		ReturnAfter: builds.ReturnAfter, Send: builds.SendOne,
		Metrics: metric.New(logger, "stack", f.Clock.Now),
	})
	return c
}

// user is a user with a session and a personal workspace.
type user struct {
	*projecttest.User
	f *fixture
}

func (f *fixture) newUser(name string) *user { return &user{f.NewUser(name), f} }

type object = projecttest.Object

// published is a project of a user.
type published struct {
	*user
	id string
}

// newProject creates a project with files.
func (u *user) newProject(files map[string]string) *published {
	u.f.T.Helper()
	p := &published{u, u.Project("", "P"+strings.ToLower(rand.Text()[:8]), workspace.Public)}
	p.save(files)
	return p
}

// save saves files.
func (p *published) save(files map[string]string) {
	p.f.T.Helper()
	for path, data := range files {
		if r := p.FilesOf(p.id).SaveBytes(path, []byte(data)); r.Status >= 300 {
			p.f.T.Fatalf("%s: got %d %s", path, r.Status, r.Raw)
		}
	}
}

// url returns the path of a deployment, or of a part of it.
func (p *published) url(deploymentID string, parts ...string) string {
	return "/api/projects/" + p.id + "/deployments/" + deploymentID + strings.Join(parts, "")
}

// request requests a deployment to production and returns its ID.
func (p *published) request() string {
	p.f.T.Helper()
	return p.requestTo(deployment.Production)
}

// requestTo requests a deployment and returns its ID. The clock advances, so that repeated calls stay below the limit
// of 200 a day.
func (p *published) requestTo(target deployment.Target) string {
	p.f.T.Helper()
	p.f.Clock.Advance(8 * time.Minute)
	return p.Do(http.MethodPost, "/api/projects/"+p.id+"/deployments", object{"target": target}).
		Want(p.f.T, http.StatusAccepted).Text("id")
}

// deploy deploys the project, and returns the deployment after the build.
func (p *published) deploy() slicetest.Response {
	p.f.T.Helper()
	deploymentID := p.request()
	p.f.handleAll()
	return p.Get(p.url(deploymentID)).Want(p.f.T, http.StatusOK)
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
	p.f.T.Helper()
	for _, line := range p.Get(p.url(deploymentID, "/log")).Want(p.f.T, http.StatusOK).List("lines") {
		lines = append(lines, fmt.Sprint(line["level"], " ", line["text"]))
	}
	return lines
}

// messages receives all messages of the queue that are visible. They do not become visible again.
func (f *fixture) messages() (received []lambdafn.QueueMessage) {
	f.T.Helper()
	for {
		out, err := f.sqs.ReceiveMessage(f.T.Context(), &sqs.ReceiveMessageInput{QueueUrl: &f.queue, MaxNumberOfMessages: 10})
		if err != nil {
			f.T.Fatal(err)
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
	f.T.Helper()
	return c.worker.Handle(f.T.Context(), f.messages())
}

// sweep advances the clock, sends the messages that are due, and makes a worker handle them.
func (f *fixture) sweep(after time.Duration) {
	f.T.Helper()
	f.Clock.Advance(after)
	if err := f.worker.Sweep(f.T.Context()); err != nil {
		f.T.Error(err)
	}
	f.handleAll()
}

// handleAll makes a worker handle all messages of the queue that are visible, and checks that it succeeds.
func (f *fixture) handleAll() {
	f.T.Helper()
	for _, err := range f.work(f.clients) {
		if err != nil {
			f.T.Errorf("the message was not handled: %v", err)
		}
	}
}
