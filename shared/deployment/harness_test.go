package deployment_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/event"
	"devplatform/shared/job"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/file"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

const origin = config.Origin("https://example.app")

// fixture is the services of projects and deployments behind an HTTP server, with their own DynamoDB and S3.
type fixture struct {
	*projecttest.Fixture

	cleaner   *projecttest.Cleaner
	bucket    objectstore.Bucket
	sites     string // the name of the table
	origin    config.Origin
	limits    deployment.Limits
	builds    int // the limit of builds in progress
	maxOutput int
	manifest  site.Hash // of the manifest of each output
	mu        sync.Mutex
	sent      []string // the messages that were sent
	sendErr   error
	*services
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		Fixture: projecttest.New(t), origin: origin, limits: config.Defaults[deployment.Limits](), builds: 3,
		maxOutput: 1 << 30,
	}
	f.cleaner = projecttest.NewCleaner(t, f.Fixture)
	f.bucket = objectstore.Wrap(s3test.Of(f.S3)).Bucket(f.Bucket)
	f.sites = slicetest.Table(t, f.SDK, "sites")
	f.restart()
	return f
}

// services are the services of a process.
type services struct {
	store       deployment.Store
	jobs        job.Store
	deployments *deployment.Service
	project     *project.Service
}

// process returns services that use an SDK client.
func (f *fixture) process(sdk *dynamodb.Client) *services {
	client := db.Wrap(sdk, f.Clock.Now)
	projects, sites := client.Table(f.Tables.Projects), client.Table(f.sites)
	outbox := event.Outbox{Events: client.Table(f.Tables.Events), IDs: f.IDs}
	p := &services{jobs: job.Store{DB: client, Projects: projects}}
	p.store = deployment.Store{
		DB: client, Projects: projects, Sites: sites, Outbox: outbox, Origin: f.origin, MaxBuilds: f.builds,
		MaxOutput: f.maxOutput,
	}
	p.deployments = deployment.New(deployment.Deps{
		Store: p.store, Bucket: f.bucket, Send: f.send, IDs: f.IDs, Cursors: db.NewCursors(slicetest.Keys(f.Clock.Now)),
		Clock: f.Clock.Now, Logger: slog.New(f.Log), Limits: f.limits,
	})
	_, p.project = f.NewServices(client, f.S3, func(d *project.Deps) {
		d.RemoveSite, d.Sites = p.deployments.RemoveSite, f.origin
	})
	return p
}

func (f *fixture) send(_ context.Context, body, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sendErr == nil {
		f.sent = append(f.sent, body)
	}
	return f.sendErr
}

// restart replaces the services of the server, after a change of settings.
func (f *fixture) restart() {
	f.services = f.process(f.SDK)
	f.Serve(f.project.Register, f.deployments.Register)
}

// user is a user with a client that has a session.
type user struct {
	*projecttest.User
	f *fixture
}

func (f *fixture) newUser(name string) *user { return &user{f.NewUser(name), f} }

type object = projecttest.Object

// newProject creates a project in the personal workspace, and returns its ID.
func (u *user) newProject(name string, visibility workspace.Visibility) string {
	u.f.T.Helper()
	return u.Project("", name, visibility)
}

func deploymentsURL(projectID string) string { return projecttest.URL(projectID) + "/deployments" }

func deploymentURL(projectID, deploymentID string) string {
	return deploymentsURL(projectID) + "/" + deploymentID
}

func siteURL(projectID string) string { return projecttest.URL(projectID) + "/site" }

// deployInput, ref and siteInput return the inputs of operations.
func deployInput(projectID string, target deployment.Target) *deployment.DeployInput {
	body := &deployment.DeployRequest{Target: target}
	return &deployment.DeployInput{InProject: file.InProject{ProjectID: projectID}, Body: body}
}

func ref(projectID, deploymentID string) *deployment.Ref {
	return &deployment.Ref{InProject: file.InProject{ProjectID: projectID}, DeploymentID: deploymentID}
}

func siteInput(projectID string, label *string, spa *bool) *deployment.SiteInput {
	in := &deployment.SiteInput{InProject: file.InProject{ProjectID: projectID}}
	in.Body.Label, in.Body.SPA = label, spa
	return in
}

// deploy requests a deployment and returns its ID. The clock advances, so that repeated calls stay below the limit of
// ten a minute.
func (u *user) deploy(projectID, target string) string {
	u.f.T.Helper()
	u.f.Clock.Advance(7 * time.Second)
	return u.Do(http.MethodPost, deploymentsURL(projectID), object{"target": target}).
		Want(u.f.T, http.StatusAccepted).Text("id")
}

// building is a deployment that a worker builds, and the job with its lease.
type building struct {
	deployment.Deployment

	job job.Job
}

// claim claims the job of a deployment.
func (f *fixture) claim(projectID, deploymentID string) job.Job {
	f.T.Helper()
	j, err := f.jobs.Claim(f.T.Context(), projectID, deploymentID, f.Clock.Now())
	if err != nil {
		f.T.Fatal(err)
	}
	return j
}

// begin begins a build.
func (f *fixture) begin(projectID, deploymentID string) building {
	f.T.Helper()
	j := f.claim(projectID, deploymentID)
	d, err := f.store.Begin(f.T.Context(), j, f.Clock.Now())
	if err != nil {
		f.T.Fatal(err)
	}
	return building{d, j}
}

// build begins and finishes a build.
func (f *fixture) build(projectID, deploymentID string) building {
	f.T.Helper()
	d := f.begin(projectID, deploymentID)
	f.Clock.Advance(900 * time.Millisecond)
	outcome := deployment.Outcome{Files: 2, Bytes: 100, Manifest: f.manifest[:]}
	if _, err := f.store.Finish(f.T.Context(), d.job, outcome, f.Clock.Now()); err != nil {
		f.T.Fatal(err)
	}
	return d
}

// remove does the job that removes the objects of a deployment.
func (f *fixture) remove(projectID, deploymentID string) {
	f.T.Helper()
	j := f.claim(projectID, deploymentID)
	if j.Kind != deployment.RemovalJob {
		f.T.Fatalf("got a job of the kind %s, want %s", j.Kind, deployment.RemovalJob)
	}
	if err := f.store.FinishRemoval(f.T.Context(), j); err != nil {
		f.T.Fatal(err)
	}
}

// due returns the kinds of the jobs that are due, by deployment ID.
func (f *fixture) due() map[string]string {
	f.T.Helper()
	all, err := f.jobs.Due(f.T.Context(), f.Clock.Now(), 100)
	if err != nil {
		f.T.Fatal(err)
	}
	kinds := map[string]string{}
	for _, j := range all {
		kinds[j.ID] = j.Kind
	}
	return kinds
}

// deployAndBuild deploys a project to production, and returns the deployment's ID.
func (u *user) deployAndBuild(projectID string) string {
	u.f.T.Helper()
	d := u.deploy(projectID, "production")
	u.f.build(projectID, d)
	return d
}

// status returns the status of a deployment, "" if it does not exist for clients.
func (u *user) status(projectID, deploymentID string) string {
	u.f.T.Helper()
	return u.Get(deploymentURL(projectID, deploymentID)).Text("status")
}

// live returns the live deployment as the address shows it, "" if the address shows none.
func (f *fixture) live(label string) string {
	f.T.Helper()
	return f.address(label).DeploymentID
}

// address returns the record of an address, zero if there is none.
func (f *fixture) address(label string) site.Address {
	f.T.Helper()
	item, err := f.Client.Table(f.sites).Get(f.T.Context(), db.AddressKey(label))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		f.T.Fatal(err)
	}
	a, err := db.Decode[site.Address](item)
	if err != nil {
		f.T.Fatal(err)
	}
	return a
}

// ownLabel returns the label of the own address in a deployment's url.
func ownLabel(url string) string {
	label, _, _ := strings.Cut(strings.TrimPrefix(url, "https://"), ".")
	return label
}

// events returns the events of deployments in the order in which they were stored, as "type id status reason".
func (f *fixture) events() []string {
	f.T.Helper()
	all := []string{}
	for _, r := range f.StoredEvents() {
		p := projecttest.DecodePayload(f.T, r)
		if d := p.Data.Deployment; d != nil {
			all = append(all, strings.TrimSpace(strings.Join([]string{string(r.Type), d.ID, d.Status, p.Data.Reason}, " ")))
		}
	}
	return all
}
