package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/cleanup"
	"devplatform/shared/removal"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// world is the services of workspaces, projects and deployments, with tables and a bucket of their own.
type world struct {
	*projecttest.Fixture

	cfg         settings
	wire        *dynamotest.Wire // between the services and DynamoDB
	tables      []string
	deployments deployment.Store
	jobs        job.Store
	building    map[string]job.Job // the job of the latest deployment, by project
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Fixture: projecttest.New(t), building: map[string]job.Job{}}
	w.cfg = settings{
		Conversations: config.ConversationsTable{Conversations: slicetest.Table(t, w.SDK, "conversations")},
		Webhooks:      config.WebhooksTable{Webhooks: slicetest.Table(t, w.SDK, "webhooks")},
		Projects:      w.Tables.Projects, Contents: w.Tables.Contents, Sites: slicetest.Table(t, w.SDK, "sites"),
	}
	w.tables = []string{
		w.cfg.Projects, w.cfg.Contents, w.cfg.Sites, w.cfg.Conversations.Conversations, w.cfg.Webhooks.Webhooks,
	}
	w.wire = dynamotest.NewWire(t, w.Endpoint, nil)
	client := db.Wrap(w.wire.Client(), w.Clock.Now)
	table, sites := client.Table(w.cfg.Projects), client.Table(w.cfg.Sites)
	outbox := event.Outbox{Events: client.Table(w.Tables.Events), IDs: w.IDs}
	cursors := db.NewCursors(slicetest.Keys(w.Clock.Now))
	w.jobs = job.Store{DB: w.Client, Projects: w.Projects}
	w.deployments = deployment.Store{
		DB: client, Projects: table, Sites: sites, Outbox: outbox, Origin: "https://example.app", MaxBuilds: 100,
		MaxOutput: 1 << 30,
	}
	service := deployment.New(deployment.Deps{
		Store: w.deployments, Cursors: cursors, IDs: w.IDs, Clock: w.Clock.Now, Logger: slog.New(w.Log),
		Send:   func(context.Context, string, string) error { return nil },
		Limits: config.Defaults[deployment.Limits](),
	})
	files, projects := w.NewServices(client, w.S3, func(d *project.Deps) { d.RemoveSite = service.RemoveSite })
	workspaces := workspace.New(workspace.Deps{
		DB: client, Projects: table, Outbox: outbox, Cursors: cursors, People: w.Users, IDs: w.IDs,
		Clock: w.Clock.Now, InvitationsPerDay: 1000,
		DisableWebhooks: func(context.Context, string, string, time.Time) ([]db.Write, error) { return nil, nil },
	})
	w.Serve(workspaces.Register, projects.Register, files.Register, service.Register)
	return w
}

// remove makes one run of the worker of removals, with the SDK's calls through an HTTP client, which may be nil.
func (w *world) remove(calls aws.HTTPClient) error {
	w.T.Helper()
	sdk, objects := w.SDK, w.S3
	if calls != nil {
		sdk = dynamotest.Client(w.Endpoint, func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = calls, aws.NopRetryer{} })
		objects = s3test.Client(*w.S3.Options().BaseEndpoint, func(o *s3.Options) {
			o.HTTPClient, o.Retryer = calls, aws.NopRetryer{}
		})
	}
	client, logger := db.Wrap(sdk, w.Clock.Now), slog.New(w.Log)
	c := w.cleanup(client, objects, w.Clock.Now)
	worker := removal.NewWorker(removal.Deps{
		DB: client, Projects: client.Table(w.cfg.Projects), Clock: w.Clock.Now, Logger: logger,
		Metrics: metric.New(logger, "test", w.Clock.Now),
		Removers: map[removal.Kind]removal.Remover{
			removal.Workspace: workspaceRemover(w.cfg, client, c, deleter, w.Clock.Now),
		},
	})
	return worker.Run(w.T.Context())
}

// deleter does not wait between attempts.
var deleter = removal.Deleter{Sleep: func(ctx context.Context, _ time.Duration) bool { return ctx.Err() == nil }}

func (w *world) cleanup(client *db.Client, objects *s3.Client, now clock.Clock) *cleanup.Cleanup {
	return cleanup.New(cleanup.Deps{
		DB: client, Projects: client.Table(w.cfg.Projects), Contents: client.Table(w.cfg.Contents),
		Conversations: client.Table(w.cfg.Conversations.Conversations),
		Bucket:        objectstore.Wrap(s3test.Of(objects)).Bucket(w.Bucket), Clock: now, Logger: slog.New(w.Log),
		Sleep: deleter.Sleep,
	})
}

// login begins a new session of a user.
func (w *world) login(u *projecttest.User) {
	w.Users.Add(httpapi.NewCaller(u.UserID, "").Complete(httpapi.Account{
		Username: u.Name, Email: u.Name + "@example.com", LoggedInAt: w.Clock.Now(),
	}, nil))
}

// team creates a workspace through the API with an owner and a member, and with an invitation for a third user.
func (w *world) team(name string, owner, member, invited *projecttest.User) (workspaceID string) {
	w.T.Helper()
	workspaceID = owner.Do(http.MethodPost, "/api/workspaces", projecttest.Object{"name": name}).
		Want(w.T, http.StatusCreated).Text("id")
	invite := func(u *projecttest.User) string {
		return owner.Do(http.MethodPost, "/api/workspaces/"+workspaceID+"/invitations", projecttest.Object{
			"username": u.Name, "role": "admin",
		}).Want(w.T, http.StatusCreated).Text("id")
	}
	member.Do(http.MethodPost, "/api/invitations/"+invite(member)+"/accept", nil).Want(w.T, http.StatusOK)
	invite(invited)
	return workspaceID
}

// fill creates projects with everything that a workspace can have: files, an old version, an object, a comment,
// variables, a live site, a deployment that is building, a label that was given up, a conversation, an archive, a
// webhook and its deliveries. It returns the IDs of the projects and webhooks.
func (w *world) fill(workspaceID string, owner *projecttest.User, projects, files, deliveries int) (ids []string) {
	w.T.Helper()
	for i := range projects {
		p := owner.Project(workspaceID, fmt.Sprintf("%s %d", strings.ToLower(workspaceID[len(workspaceID)-6:]), i), "team")
		ids = append(ids, p)
		client := owner.FilesOf(p)
		for n := range files {
			client.Save(fmt.Sprintf("/%d.txt", n), strings.Repeat("x", n)).Want(w.T, http.StatusCreated)
		}
		client.Save("/0.txt", "changed").Want(w.T, http.StatusOK)
		client.SaveBytes("/large.bin", projecttest.RandomBytes(500_000)).Want(w.T, http.StatusCreated)
		owner.Comment(p)
		variable := projecttest.Object{"name": "VITE_A", "value": "b", "target": "all"}
		owner.SetVariables(p, []projecttest.Object{variable}).Want(w.T, http.StatusOK)
		w.deploy(owner, p, true)
		label := "moved-" + strings.ToLower(p[len(p)-8:])
		owner.Do(http.MethodPut, projecttest.URL(p)+"/site", projecttest.Object{"label": label}).Want(w.T, http.StatusOK)
		w.deploy(owner, p, false)
		w.put(w.cfg.Conversations.Conversations, db.MessageKey(p, w.IDs.New(id.Message), 0), db.SummaryKey(p))
		w.PutObject("exports/"+p+"/exp/lease", []byte("archive"))
	}
	w.put(w.cfg.Webhooks.Webhooks, db.WebhookCountKey(workspaceID))
	return append(ids, w.addWebhook(workspaceID, deliveries), w.addWebhook(workspaceID, 3))
}

// removeObjects does the work of the daily sweep, as if all objects were older than a day.
func (w *world) removeObjects() {
	w.T.Helper()
	if err := w.cleanup(w.Client, w.S3, func() time.Time { return clock.System().Add(25 * time.Hour) }).
		Sweep(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
}

// finishBuild ends the build that fill began last, and makes it live.
func (w *world) finishBuild(projectID string) error {
	_, err := w.deployments.Finish(w.T.Context(), w.building[projectID], readyOutcome, w.Clock.Now())
	return err
}

// readyOutcome is the outcome of a build that succeeds.
var readyOutcome = deployment.Outcome{Files: 1, Bytes: 100, Manifest: bytes.Repeat([]byte{1}, 32)}

// deploy deploys a project. If finish is set, the deployment goes live, otherwise a worker is building it.
func (w *world) deploy(owner *projecttest.User, projectID string, finish bool) {
	w.T.Helper()
	w.Clock.Advance(7 * time.Second)
	d := owner.Do(http.MethodPost, projecttest.URL(projectID)+"/deployments", projecttest.Object{"target": "production"}).
		Want(w.T, http.StatusAccepted).Text("id")
	j, err := w.jobs.Claim(w.T.Context(), projectID, d, w.Clock.Now())
	if err == nil {
		_, err = w.deployments.Begin(w.T.Context(), j, w.Clock.Now())
	}
	w.PutObject(site.ObjectsOf(d)+"manifest", []byte("output"))
	w.building[projectID] = j
	if err == nil && finish {
		err = w.finishBuild(projectID)
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

// addWebhook stores a webhook with deliveries, and returns its ID.
func (w *world) addWebhook(workspaceID string, deliveries int) (webhookID string) {
	webhookID = w.IDs.New(id.Webhook)
	keys := []db.Key{db.WebhookKey(workspaceID, webhookID), db.WebhookWorkspaceKey(webhookID)}
	for range deliveries {
		keys = append(keys, db.DeliveryKey(webhookID, w.IDs.New(id.Delivery)))
	}
	w.put(w.cfg.Webhooks.Webhooks, keys...)
	return webhookID
}

// put stores items without attributes.
func (w *world) put(table string, keys ...db.Key) {
	w.T.Helper()
	items := map[db.Key]db.Item{}
	for _, key := range keys {
		items[key] = db.Item{}
	}
	if err := w.Client.Table(table).PutAll(w.T.Context(), items); err != nil {
		w.T.Fatal(err)
	}
}

// finishJobs does the jobs that remove the output of canceled builds, as package deployment/worker does.
func (w *world) finishJobs() {
	w.T.Helper()
	w.Clock.Advance(job.LeaseTime)
	due, err := w.jobs.Due(w.T.Context(), w.Clock.Now(), 500)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, j := range due {
		if j.Kind != deployment.RemovalJob {
			continue
		}
		claimed, err := w.jobs.Claim(w.T.Context(), j.OwnerID, j.ID, w.Clock.Now())
		if err == nil {
			err = w.deployments.FinishRemoval(w.T.Context(), claimed)
		}
		if err != nil {
			w.T.Fatal(err)
		}
	}
}

// stored is the contents of all tables and the keys of all objects.
type stored struct {
	items   map[string]map[db.Key]db.Item // by table
	objects []string
}

func (w *world) dump() stored {
	s := stored{items: map[string]map[db.Key]db.Item{}, objects: w.Objects()}
	for _, table := range w.tables {
		s.items[table] = w.Dump(table)
	}
	return s
}

// restore brings back the items and objects of an earlier state.
func (w *world) restore(s stored) {
	w.T.Helper()
	for _, table := range w.tables {
		var gone []db.Key
		for key := range w.Dump(table) {
			if s.items[table][key] == nil {
				gone = append(gone, key)
			}
		}
		t := w.Client.Table(table)
		err := t.DeleteAll(w.T.Context(), gone...)
		if err == nil {
			err = t.PutAll(w.T.Context(), s.items[table])
		}
		if err != nil {
			w.T.Fatal(err)
		}
	}
	for _, key := range s.objects {
		w.PutObject(key, []byte("object"))
	}
}
