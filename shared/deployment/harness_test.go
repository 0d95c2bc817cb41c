package deployment_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/go-json-experiment/json"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/cleanup"
	"devplatform/shared/project/file"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

const origin = config.Origin("https://example.app")

// fixture is the services of projects and deployments behind an HTTP server, with their own DynamoDB and S3.
type fixture struct {
	t        *testing.T
	clock    *slicetest.Clock
	log      *slicetest.Log
	users    *slicetest.Users
	ids      *id.Generator
	endpoint string
	sdk      *dynamodb.Client
	s3       *s3.Client
	bucket   objectstore.Bucket
	names    struct{ projects, sites, events, contents string }
	origin   config.Origin
	limits   deployment.Limits
	builds   int       // the limit of builds in progress
	manifest site.Hash // of the manifest of each output
	mu       sync.Mutex
	sent     []string // the messages that were sent
	sendErr  error
	server   *httptest.Server
	*services
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, clock: slicetest.NewClock(time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC), 0), log: slicetest.NewLog(),
		users: &slicetest.Users{}, endpoint: dynamotest.StartServer(t), origin: origin, limits: deployment.DefaultLimits(),
		builds: 3,
	}
	f.sdk, f.s3 = dynamotest.Client(f.endpoint), s3test.Client(s3test.StartServer(t))
	f.bucket = objectstore.Wrap(s3test.Of(f.s3)).Bucket(s3test.CreateBucket(t, f.s3, "files"))
	f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
	f.names.projects = "projects-" + strings.ToLower(rand.Text())
	functiontest.CreateProjectsTable(t, f.sdk, f.names.projects)
	f.names.sites = slicetest.Table(t, f.sdk, "sites")
	f.names.events = slicetest.Table(t, f.sdk, "events")
	f.names.contents = slicetest.Table(t, f.sdk, "contents")
	f.server = httptest.NewServer(nil)
	t.Cleanup(f.server.Close)
	f.restart()
	return f
}

// services are the services of a process.
type services struct {
	client      *db.Client
	projects    db.Table
	sites       db.Table
	store       deployment.Store
	jobs        job.Store
	deployments *deployment.Service
	project     *project.Service
	cleanup     *cleanup.Cleanup
}

// process returns services that use an SDK client.
func (f *fixture) process(sdk *dynamodb.Client) *services {
	client, logger := db.Wrap(sdk, f.clock.Now), slog.New(f.log)
	p := &services{client: client, projects: client.Table(f.names.projects), sites: client.Table(f.names.sites)}
	outbox := event.Outbox{Events: client.Table(f.names.events), IDs: f.ids}
	cursors := db.NewCursors(slicetest.Keys(f.clock.Now))
	p.store = deployment.Store{
		DB: client, Projects: p.projects, Sites: p.sites, Outbox: outbox, Origin: f.origin, MaxBuilds: f.builds,
		MaxOutput: f.limits.AccountBytes,
	}
	p.jobs = job.Store{DB: client, Projects: p.projects}
	p.deployments = deployment.New(deployment.Deps{
		DB: client, Projects: p.projects, Sites: p.sites, Outbox: outbox, Cursors: cursors, Bucket: f.bucket,
		Send: f.send, IDs: f.ids, Clock: f.clock.Now, Logger: logger, Origin: f.origin, Limits: f.limits,
	})
	files := file.New(file.Deps{
		DB: client, Projects: p.projects, Contents: client.Table(f.names.contents), Bucket: f.bucket,
		Outbox: outbox, Cursors: cursors, IDs: f.ids, Clock: f.clock.Now, Quotas: file.DefaultQuotas(),
	})
	p.project = project.New(project.Deps{
		DB: client, Projects: p.projects, Outbox: outbox, Cursors: cursors, Files: files, IDs: f.ids,
		Clock: f.clock.Now, Logger: logger, RemoveSite: p.deployments.RemoveSite, Sites: f.origin,
	})
	p.cleanup = cleanup.New(cleanup.Deps{
		DB: client, Projects: p.projects, Contents: client.Table(f.names.contents),
		Conversations: client.Table(f.names.contents), Bucket: f.bucket, Clock: f.clock.Now, Logger: logger,
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
	f.services = f.process(f.sdk)
	f.users.ReadSessions(f.client, f.projects)
	f.server.Config.Handler = httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: slog.New(f.log), Auth: f.users, Clock: f.clock.Now,
	}, f.project.Register, f.deployments.Register)
}

// user is a user with a client that has a session.
type user struct {
	*slicetest.Client
	f        *fixture
	caller   httpapi.Caller
	personal string // ID of the personal workspace
}

func (f *fixture) newUser(name string) *user {
	f.t.Helper()
	f.clock.Advance(time.Millisecond)
	u := &user{Client: slicetest.NewClient(f.t, f.server.URL, f.log), f: f, personal: f.ids.New(id.Workspace)}
	u.SetCookie("session", name)
	u.caller = slicetest.NewCaller(f.ids.New(id.User), name)
	f.transact(workspace.Personal(f.projects, u.personal, u.caller.UserID, name, f.clock.Now())...)
	f.users.Add(u.caller)
	return u
}

func (f *fixture) transact(writes ...db.Write) {
	f.t.Helper()
	if err := f.client.Tx(writes...).Commit(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// addMember adds a user to a workspace.
func (f *fixture) addMember(workspaceID string, u *user, role workspace.Role) {
	f.t.Helper()
	f.clock.Advance(time.Millisecond)
	item, err := db.Encode(workspace.Membership{
		WorkspaceID: workspaceID, UserID: u.caller.UserID, Username: u.caller.Account().Username, Role: role,
		AddedAt: clock.Stamp(f.clock.Now()), CreatedAt: clock.Stamp(f.clock.Now()),
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.transact(f.projects.Put(db.MemberKey(workspaceID, u.caller.UserID), item),
		f.projects.Put(db.MembershipKey(u.caller.UserID, workspaceID), item))
}

type object map[string]any

// newProject creates a project in the personal workspace, and returns its ID.
func (u *user) newProject(name string, visibility workspace.Visibility) string {
	u.f.t.Helper()
	return u.Do(http.MethodPost, "/api/projects", object{"name": name, "visibility": visibility}).
		Want(u.f.t, http.StatusCreated).Text("id")
}

func deploymentsURL(projectID string) string { return "/api/projects/" + projectID + "/deployments" }

func deploymentURL(projectID, deploymentID string) string {
	return deploymentsURL(projectID) + "/" + deploymentID
}

func siteURL(projectID string) string { return "/api/projects/" + projectID + "/site" }

// deploy requests a deployment and returns its ID. The clock advances beyond the window of the limit.
func (u *user) deploy(projectID, target string) string {
	u.f.t.Helper()
	u.f.clock.Advance(7 * time.Second)
	return u.Do(http.MethodPost, deploymentsURL(projectID), object{"target": target}).
		Want(u.f.t, http.StatusAccepted).Text("id")
}

// building is a deployment that a worker builds, and the job with its lease.
type building struct {
	deployment.Deployment

	job job.Job
}

// claim claims the job of a deployment.
func (f *fixture) claim(projectID, deploymentID string) job.Job {
	f.t.Helper()
	j, err := f.jobs.Claim(f.t.Context(), projectID, deploymentID, f.clock.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	return j
}

// begin begins a build.
func (f *fixture) begin(projectID, deploymentID string) building {
	f.t.Helper()
	j := f.claim(projectID, deploymentID)
	d, err := f.store.Begin(f.t.Context(), j, f.clock.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	return building{d, j}
}

// build begins and finishes a build.
func (f *fixture) build(projectID, deploymentID string) building {
	f.t.Helper()
	d := f.begin(projectID, deploymentID)
	f.clock.Advance(900 * time.Millisecond)
	outcome := deployment.Outcome{Files: 2, Bytes: 100, Manifest: f.manifest[:]}
	if _, err := f.store.Finish(f.t.Context(), d.job, outcome, f.clock.Now()); err != nil {
		f.t.Fatal(err)
	}
	return d
}

// remove does the job that removes the objects of a deployment.
func (f *fixture) remove(projectID, deploymentID string) {
	f.t.Helper()
	j := f.claim(projectID, deploymentID)
	if j.Kind != deployment.RemovalJob {
		f.t.Fatalf("got a job of the kind %s, want %s", j.Kind, deployment.RemovalJob)
	}
	if err := f.store.FinishRemoval(f.t.Context(), j); err != nil {
		f.t.Fatal(err)
	}
}

// due returns the IDs of the deployments whose jobs are due, and the kinds of the jobs.
func (f *fixture) due() map[string]string {
	f.t.Helper()
	all, err := f.jobs.Due(f.t.Context(), f.clock.Now(), 100)
	if err != nil {
		f.t.Fatal(err)
	}
	kinds := map[string]string{}
	for _, j := range all {
		kinds[j.ID] = j.Kind
	}
	return kinds
}

// deployed deploys a project to production, and returns the deployment's ID.
func (u *user) deployed(projectID string) string {
	u.f.t.Helper()
	d := u.deploy(projectID, "production")
	u.f.build(projectID, d)
	return d
}

// status returns the status of a deployment, "" if it does not exist for clients.
func (u *user) status(projectID, deploymentID string) string {
	u.f.t.Helper()
	return u.Get(deploymentURL(projectID, deploymentID)).Text("status")
}

// live returns the live deployment as the address shows it, "" if the address shows none.
func (f *fixture) live(label string) string {
	f.t.Helper()
	return f.address(label).DeploymentID
}

// address returns the record of an address, zero if there is none.
func (f *fixture) address(label string) site.Address {
	f.t.Helper()
	item, err := f.sites.Get(f.t.Context(), db.AddressKey(label))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		f.t.Fatal(err)
	}
	a, err := db.Decode[site.Address](item)
	if err != nil {
		f.t.Fatal(err)
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
	f.t.Helper()
	var records []event.Record
	for _, item := range slicetest.Dump(f.t, f.sdk, f.names.events) {
		r, err := db.Decode[event.Record](item)
		if err != nil {
			f.t.Fatal(err)
		}
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b event.Record) int { return strings.Compare(a.ID, b.ID) })
	all := []string{}
	for _, r := range records {
		var p event.Payload
		if err := json.Unmarshal([]byte(r.Payload), &p); err != nil {
			f.t.Fatal(err)
		}
		if d := p.Data.Deployment; d != nil {
			all = append(all, strings.TrimSpace(strings.Join([]string{string(r.Type), d.ID, d.Status, p.Data.Reason}, " ")))
		}
	}
	return all
}
