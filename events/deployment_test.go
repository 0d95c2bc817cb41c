package events_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/oklog/ulid/v2"

	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/npm"
	"devplatform/shared/deployment/worker"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
	"devplatform/shared/queue"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// origin is the origin of the sites of the samples.
const origin = "https://example.app"

// sampleDeployment is the ID of the deployment in the samples.
const sampleDeployment = "dpl_01KGA52T10ABCDEFGHJKMNPQRS"

// deployments returns the dependencies of the service of deployments, without a queue.
func (f *fixture) deployments() deployment.Deps {
	ids := id.NewGenerator(time.Now, rand.Reader)
	return deployment.Deps{
		Store: deployment.Store{
			DB: f.client, Projects: f.tables["projects"], Sites: f.tables["sites"], Origin: origin,
			Outbox: event.Outbox{Events: f.tables["events"], IDs: ids}, MaxBuilds: 3, MaxOutput: 1 << 30,
		},
		Bucket: f.bucket, Cursors: db.NewCursors(newKeys()), IDs: ids, Clock: time.Now,
		Send:   func(context.Context, string, string) error { return nil },
		Logger: slog.New(slog.DiscardHandler), Limits: config.Defaults[deployment.Limits](),
	}
}

// site returns the handler of sites.
func (f *fixture) site() http.Handler {
	return site.New(site.Deps{
		DB: f.client, Sites: f.tables["sites"], Projects: f.tables["projects"], Bucket: f.bucket, Origin: origin,
		TrafficLimit: 1 << 30, Clock: time.Now,
		Logger: slog.New(slog.DiscardHandler), RequestID: func(context.Context) string { return "" },
	})
}

// storePage stores a project with a page.
func (f *fixture) storePage(t *testing.T, userID, workspaceID, projectID, page string) {
	t.Helper()
	table := f.tables["projects"]
	writes := workspace.Personal(table, workspaceID, userID, "ada", time.Now())
	chunks, err := content.Pack([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	sum, now := sha256.Sum256([]byte(page)), clock.Stamp(time.Now()).String()
	put := func(table db.Table, key db.Key, record any) {
		item, err := db.Encode(record)
		if err != nil {
			t.Fatal(err)
		}
		writes = append(writes, table.Put(key, item))
	}
	put(table, db.TreeKey(projectID), file.Tree{WorkspaceID: workspaceID, Revision: 3})
	put(table, db.ProjectKey(workspaceID, projectID), map[string]any{
		"workspaceId": workspaceID, "name": "Todo list", "slug": "todo-list", "visibility": "private", "createdBy": userID,
		"framework": "static",
	})
	put(table, db.FileKey(projectID, "/index.html"), map[string]any{
		"content": "C", "chunks": 1, "size": len(page), "updatedAt": now, "createdAt": now, "encoding": "utf-8",
		"sha256": sum[:],
	})
	put(f.tables["contents"], db.ChunkKey(projectID, "C"), map[string]any{"data": chunks[0]})
	if err := f.client.Tx(writes...).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// generator returns a generator whose next ID is the given one.
func generator(t *testing.T, kind id.Kind, next string) *id.Generator {
	t.Helper()
	at, ok := kind.Time(next)
	parsed, err := ulid.Parse(strings.TrimPrefix(next, string(kind)+"_"))
	if err != nil || !ok {
		t.Fatalf("the ID %s is not valid: %v", next, err)
	}
	return id.NewGenerator(func() time.Time { return at }, bytes.NewReader(parsed.Entropy()))
}

// TestDeploymentSamples checks that a deployment sends the message of the sample. The worker must accept the samples of
// its message and its schedule. The sample of a page must then show the page.
func TestDeploymentSamples(t *testing.T) {
	t.Parallel()
	const userID, workspaceID = "usr_01KGA4V5N0ABCDEFGHJKMNPQRS", "ws_01KGA4V5N2ABCDEFGHJKMNPQRS"
	const projectID, page = "prj_01KGA4ZK70ABCDEFGHJKMNPQRS", "<!doctype html><h1>Todo</h1>"
	f := newFixture(t)
	f.storePage(t, userID, workspaceID, projectID, page)
	sqs := sqstest.Start(t)
	url := sqstest.CreateQueue(t, sqs, "jobs", nil)
	jobs := queue.Wrap(sqs).Queue(url)
	deps := f.deployments()
	deps.IDs = generator(t, id.Deployment, sampleDeployment)
	deps.Send = jobs.SendOne
	caller := slicetest.NewCaller(userID, "ada")
	service := deployment.New(deps)
	in := file.InProject{ProjectID: projectID}
	if _, err := service.CreateDeployment(t.Context(), caller, &deployment.DeployInput{InProject: in}); err != nil {
		t.Fatal(err)
	}
	checkMessage(t, sqs, url, "jobs-message")
	function := newJobs(f, deps, jobs)
	for sample, want := range map[string]string{
		"jobs-message": `{"batchItemFailures":[]}`, "jobs-schedule": `null`,
	} {
		if response, err := function.Invoke(t.Context(), read(t, sample+".json")); err != nil || string(response) != want {
			t.Errorf("%s: got %s, error %v, want %s", sample, response, err, want)
		}
	}
	out, err := service.ReadDeployment(t.Context(), caller, &deployment.Ref{
		InProject: in, DeploymentID: sampleDeployment,
	})
	if err != nil || out.Body.Status != deployment.Ready {
		t.Errorf("got the deployment %+v, error %v, want it to be ready", out, err)
	}
	payload, err := f.functions["SitesFunction"].Invoke(t.Context(), read(t, "sites-page.json"))
	if err != nil {
		t.Fatal(err)
	}
	var response events.APIGatewayProxyResponse
	err = json.Unmarshal(payload, &response)
	if err != nil || response.StatusCode != http.StatusOK || response.Body != page {
		t.Errorf("sites-page: got %s, error %v, want the page", payload, err)
	}
}

// newJobs returns the handler of JobsFunction, without exports.
func newJobs(f *fixture, deps deployment.Deps, jobs queue.Queue) *lambdafn.QueueHandler {
	builder := worker.New(worker.Deps{
		Store: deps.Store,
		Files: file.New(file.Deps{
			DB: f.client, Projects: deps.Store.Projects, Contents: f.tables["contents"], Bucket: f.bucket, Clock: time.Now,
		}),
		Packages: npm.New(npm.Deps{Bucket: f.bucket, Clock: time.Now, Logger: deps.Logger}),
		Bucket:   f.bucket, Clock: time.Now, Logger: deps.Logger,
	})
	w := job.NewWorker(job.Deps{
		Jobs: job.Store{DB: f.client, Projects: deps.Store.Projects}, Kinds: builder.Kinds(), Send: deps.Send,
		ReturnAfter: jobs.ReturnAfter,
		Clock:       time.Now, Logger: deps.Logger, Metrics: metric.New(deps.Logger, "", time.Now),
	})
	return lambdafn.Queue(deps.Logger, w.Handle).WithSchedule(w.Sweep)
}
