package export_test

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/content"
	"devplatform/shared/project/export"
	"devplatform/shared/queue"
)

// fixture is the fixture of projects and files with the service of exports and its queue.
type fixture struct {
	*projecttest.Fixture

	sqs   *sqs.Client
	queue string // URL
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: projecttest.New(t), sqs: sqstest.Start(t)}
	f.queue = sqstest.CreateQueue(t, f.sqs, "exports-"+rand.Text(), map[string]string{"MessageRetentionPeriod": "900"})
	f.serve(f.clients(nil))
	return f
}

// clients are services that use the same clients of the SDK.
type clients struct {
	exports *export.Service
	worker  *job.Worker
}

// clients returns services that send their requests through a client. nil means the default client and retries.
func (f *fixture) clients(through aws.HTTPClient) *clients {
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
	client, logger := db.Wrap(sdk, f.Clock.Now), slog.New(f.Log)
	projects, bucket := client.Table(f.Tables.Projects), objectstore.Wrap(s3test.Of(objects)).Bucket(f.Bucket)
	files, _ := f.NewServices(client, objects)
	q := queue.Wrap(queues).Queue(f.queue)
	kind := export.NewKind(export.WorkerDeps{
		DB: client, Projects: projects, Files: files, Bucket: bucket, Clock: f.Clock.Now, Logger: logger,
	})
	return &clients{
		exports: export.New(export.Deps{
			DB: client, Projects: projects, Bucket: bucket, Send: q.SendOne, Clock: f.Clock.Now, Logger: logger,
			HourlyLimit: export.DefaultHourlyLimit,
		}),
		worker: job.NewWorker(job.Deps{
			Jobs: job.Store{DB: client, Projects: projects}, Kinds: []job.Kind{kind}, Send: q.SendOne,
			ReturnAfter: q.ReturnAfter,
			Clock:       f.Clock.Now, Logger: logger, Metrics: metric.New(logger, "stack", f.Clock.Now),
		}),
	}
}

// serve makes the server use another service of exports.
func (f *fixture) serve(c *clients) {
	f.Serve(f.Service.Register, f.Files.Register, c.exports.Register)
}

// user is a user who exports projects.
type user struct{ *projecttest.User }

func (f *fixture) newUser(name string) user {
	f.T.Helper()
	return user{f.NewUser(name)}
}

// save saves files. Files that are too large for a request are uploaded.
func (u user) save(projectID string, files map[string][]byte) {
	u.Fixture.T.Helper()
	client := u.FilesOf(projectID)
	for path, data := range files {
		send := client.SaveBytes
		if len(data) > content.MaxBytes {
			send = func(path string, data []byte) slicetest.Response { return client.Upload(path, data, nil) }
		}
		if r := send(path, data); r.Status >= http.StatusBadRequest {
			u.Fixture.T.Fatalf("%s: got %d %s", path, r.Status, r.Raw)
		}
	}
}

// start starts an export, or returns the existing one.
func (u user) start(projectID string) (exportID, status string) {
	u.Fixture.T.Helper()
	r := u.Do(http.MethodPost, projecttest.URL(projectID)+"/exports", nil).Want(u.Fixture.T, http.StatusAccepted)
	return r.Text("id"), r.Text("status")
}

// read returns an export.
func (u user) read(projectID, exportID string) slicetest.Response {
	u.Fixture.T.Helper()
	return u.Get(projecttest.URL(projectID)+"/exports/"+exportID).Want(u.Fixture.T, http.StatusOK)
}

// messages receives all messages of the queue that are visible.
func (f *fixture) messages() (received []lambdafn.QueueMessage) {
	f.T.Helper()
	for {
		out, err := f.sqs.ReceiveMessage(f.T.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &f.queue, MaxNumberOfMessages: 10,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil {
			f.T.Fatal(err)
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
	f.T.Helper()
	return c.worker.Handle(f.T.Context(), f.messages())
}

// sweep sends the messages that are due, and makes a worker handle them.
func (f *fixture) sweep() {
	f.T.Helper()
	if err := f.clients(nil).worker.Sweep(f.T.Context()); err != nil {
		f.T.Error(err)
	}
	f.work(f.clients(nil))
}

// export exports a project, and returns the archive.
func (f *fixture) export(u user, projectID string) []byte {
	f.T.Helper()
	exportID, _ := u.start(projectID)
	f.work(f.clients(nil))
	return u.download(u.read(projectID, exportID))
}

// download downloads the archive of an export with its URL.
func (u user) download(r slicetest.Response) []byte {
	t := u.Fixture.T
	t.Helper()
	if r.Text("status") != "ready" {
		t.Fatalf("got %s, want an export that is ready", r.Raw)
	}
	got := u.FilesOf("").Download(r.Body)
	if float64(len(got.Raw)) != r.Body["size"] {
		t.Fatalf("got %d bytes, want the %v bytes of the archive", len(got.Raw), r.Body["size"])
	}
	disposition, mediaType := got.Header.Get("Content-Disposition"), got.Header.Get("Content-Type")
	if !strings.HasPrefix(disposition, "attachment; filename=") || mediaType != "application/zip" {
		t.Errorf("got the disposition %q and the type %q, want an attachment and application/zip", disposition, mediaType)
	}
	return []byte(got.Raw)
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
