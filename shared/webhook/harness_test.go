package webhook

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/hooktest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	accountuser "devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/notice"
	"devplatform/shared/webhook/revocation"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace"
)

// noon is the time at which the tests of the endpoints begin.
var noon = time.Date(2031, 5, 5, 12, 0, 0, 0, time.UTC)

// fixture is the service behind an HTTP server, with its own DynamoDB, SQS and endpoint for webhooks.
type fixture struct {
	t            *testing.T
	clock        *slicetest.Clock
	log          *slicetest.Log
	endpoint     string
	sdk          *dynamodb.Client // without faults
	client       *db.Client
	tables       struct{ webhooks, projects, events, accounts, mail string }
	webhooks     db.Table
	projects     db.Table
	events       db.Table
	sqs          *sqs.Client
	queueURL     string
	receiver     *hooktest.Receiver
	keys         *config.Keys
	ids          *id.Generator
	users        *slicetest.Users
	limits       Limits // like allowPrivate, used by the next call of startService
	allowPrivate bool
	service      *Service
	server       *httptest.Server
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, clock: slicetest.NewClock(noon, 0), log: slicetest.NewLog(), endpoint: dynamotest.StartServer(t),
		sqs: sqstest.Start(t), receiver: hooktest.New(t), users: &slicetest.Users{}, limits: DefaultLimits(),
		allowPrivate: true,
	}
	f.sdk = dynamotest.Client(f.endpoint)
	f.keys = slicetest.Keys(f.clock.Now)
	f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
	f.tables.webhooks, f.tables.projects = slicetest.Table(t, f.sdk, "webhooks"), slicetest.Table(t, f.sdk, "projects")
	f.tables.events = slicetest.Table(t, f.sdk, "events")
	f.tables.accounts, f.tables.mail = slicetest.Table(t, f.sdk, "accounts"), slicetest.Table(t, f.sdk, "mail")
	f.queueURL = sqstest.CreateQueue(t, f.sqs, "deliveries-"+strings.ToLower(rand.Text()), nil)
	f.server = httptest.NewServer(nil)
	t.Cleanup(f.server.Close)
	f.startService(f.sdk, f.sqs)
	return f
}

// startService replaces the service with a new one that uses the given SDK clients.
func (f *fixture) startService(sdk *dynamodb.Client, queues *sqs.Client) {
	f.client = db.Wrap(sdk, f.clock.Now)
	f.webhooks, f.projects = f.client.Table(f.tables.webhooks), f.client.Table(f.tables.projects)
	f.events = f.client.Table(f.tables.events)
	f.users.ReadSessions(f.client, f.projects)
	logger := slog.New(f.log)
	f.service = New(Deps{
		DB: f.client, Webhooks: f.webhooks, Projects: f.projects, Events: f.events,
		Queue: queue.Wrap(queues).Queue(f.queueURL),
		Keys:  f.keys, Cursors: db.NewCursors(f.keys), IDs: f.ids, Clock: f.clock.Now, Logger: logger,
		Sender: sender.New(sender.Options{AllowPrivate: f.allowPrivate, Now: f.clock.Now}),
		Limits: f.limits, AllowPrivate: f.allowPrivate,
	})
	f.server.Config.Handler = f.router(f.service.Register, f.service.RegisterTest, f.members(f.client).Register)
}

func (f *fixture) router(register ...func(*httpapi.Routes)) http.Handler {
	return httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: slog.New(f.log), Auth: f.users, Clock: f.clock.Now,
	}, register...)
}

// memberServer starts a server with the endpoints of workspaces and their members, and returns its URL.
func (f *fixture) memberServer(sdk *dynamodb.Client) string {
	server := httptest.NewServer(f.router(f.members(db.Wrap(sdk, f.clock.Now)).Register))
	f.t.Cleanup(server.Close)
	return server.URL
}

// members returns the service of workspaces and their members.
func (f *fixture) members(client *db.Client) *workspace.Service {
	tables := config.Tables{Accounts: f.tables.accounts, Projects: f.tables.projects, Mail: f.tables.mail}
	outbox := mail.NewOutbox(client, tables, f.keys, f.ids, f.clock.Now, mail.Settings{From: "no-reply@example.com"})
	return workspace.New(workspace.Deps{
		DB: client, Projects: client.Table(f.tables.projects), People: f.users, IDs: f.ids, Clock: f.clock.Now,
		Outbox: event.Outbox{Events: client.Table(f.tables.events), IDs: f.ids}, Cursors: db.NewCursors(f.keys),
		DisableWebhooks: revocation.Store{
			Webhooks: client.Table(f.tables.webhooks), Notices: notice.New(client, tables, outbox),
		}.Disable,
	})
}

// newWire restarts the service with a connection to DynamoDB that can inject faults.
func (f *fixture) newWire() *dynamotest.Wire {
	f.t.Helper()
	wire := dynamotest.NewWire(f.t, f.endpoint, nil)
	f.startService(wire.Client(), f.sqs)
	return wire
}

// user is the HTTP client of a user.
type user struct {
	*slicetest.Client
	f        *fixture
	name     string
	userID   string
	personal string // the ID of the personal workspace
}

// user creates a user with a personal workspace.
func (f *fixture) user(name string) *user {
	f.t.Helper()
	f.clock.Advance(time.Millisecond)
	u := &user{Client: slicetest.NewClient(f.t, f.server.URL, f.log), f: f, name: name}
	u.SetCookie("session", name)
	u.userID, u.personal = f.ids.New(id.User), f.ids.New(id.Workspace)
	writes := workspace.Personal(f.projects, u.personal, u.userID, name, f.clock.Now())
	record := accountuser.User{ID: u.userID, Username: name, Email: name + "@example.com"}
	writes = append(writes, f.client.Table(f.tables.accounts).Put(db.UserKey(u.userID), record))
	f.must(f.client.Tx(writes...).Commit(f.t.Context()))
	f.users.Add(slicetest.NewCaller(u.userID, name))
	return u
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// workspace creates a workspace whose members have the given roles.
func (f *fixture) workspace(roles map[*user]workspace.Role) string {
	f.t.Helper()
	workspaceID := f.ids.New(id.Workspace)
	record := workspace.Workspace{ID: workspaceID, Name: "Team", CreatedAt: clock.Stamp(noon)}
	f.putProjectItem(db.WorkspaceKey(workspaceID), record)
	for u, role := range roles {
		f.addMember(workspaceID, u, role)
	}
	return workspaceID
}

func (f *fixture) addMember(workspaceID string, u *user, role workspace.Role) {
	f.t.Helper()
	m := workspace.Membership{
		WorkspaceID: workspaceID, UserID: u.userID, Username: u.name, Role: role, AddedAt: clock.Stamp(noon), Name: "Team",
	}
	f.putProjectItem(db.MemberKey(workspaceID, u.userID), m)
	f.putProjectItem(db.MembershipKey(u.userID, workspaceID), m)
}

// usersOfTeam creates a workspace with one member of each role, and a user who is not a member.
func (f *fixture) usersOfTeam() (owner, admin, member, viewer, outsider *user, workspaceID string) {
	f.t.Helper()
	owner, admin, member = f.user("owner"), f.user("admin"), f.user("member")
	viewer, outsider = f.user("viewer"), f.user("outsider")
	workspaceID = f.workspace(map[*user]workspace.Role{
		owner: workspace.Owner, admin: workspace.Admin, member: workspace.Member, viewer: workspace.Viewer,
	})
	return owner, admin, member, viewer, outsider, workspaceID
}

// project stores the parts of a project that package webhook reads.
func (f *fixture) project(workspaceID string, visibility workspace.Visibility, by *user) string {
	f.t.Helper()
	projectID := f.ids.New(id.Project)
	record := workspace.ProjectAccess{
		WorkspaceID: workspaceID, Visibility: visibility, CreatedBy: by.userID,
	}
	f.putProjectItem(db.ProjectKey(workspaceID, projectID), record)
	f.putProjectItem(db.TreeKey(projectID), record)
	return projectID
}

// deleteProject deletes the items that f.project stores.
func (f *fixture) deleteProject(workspaceID, projectID string) {
	f.t.Helper()
	f.must(f.client.Tx(
		f.projects.Delete(db.ProjectKey(workspaceID, projectID)), f.projects.Delete(db.TreeKey(projectID)),
	).Commit(f.t.Context()))
}

func (f *fixture) putProjectItem(key db.Key, record any) {
	f.t.Helper()
	item, err := db.Encode(record)
	f.must(err)
	_, err = f.client.Do(f.t.Context(), f.projects.Put(key, item))
	f.must(err)
}

type object map[string]any

// createWebhook creates a webhook whose endpoint is a path of the receiver. It returns the API path of the webhook.
// settings replace the defaults.
func (u *user) createWebhook(path string, settings ...object) string {
	u.f.t.Helper()
	fields := object{"url": u.f.receiver.URL(path), "events": []string{"*"}}
	for _, s := range settings {
		maps.Copy(fields, s)
	}
	u.f.clock.Advance(time.Millisecond)
	return "/api/webhooks/" + u.Do(http.MethodPost, "/api/webhooks", fields).Want(u.f.t, http.StatusCreated).Text("id")
}

// storedWebhook returns the stored webhook.
func (f *fixture) storedWebhook(path string) delivery.Webhook {
	f.t.Helper()
	webhookID := path[strings.LastIndex(path, "/")+1:]
	workspaceID, err := f.service.store.workspaceOf(f.t.Context(), webhookID)
	f.must(err)
	w, err := f.service.store.Webhook(f.t.Context(), workspaceID, webhookID)
	f.must(err)
	return w
}

// changeWebhook changes a stored webhook without the service.
func (f *fixture) changeWebhook(path string, change func(w *delivery.Webhook)) {
	f.t.Helper()
	w := f.storedWebhook(path)
	change(&w)
	f.putItem(db.WebhookKey(w.WorkspaceID, w.ID), w)
}

// putItem stores a record in the table of webhooks without the service.
func (f *fixture) putItem(key db.Key, record any) {
	f.t.Helper()
	item, err := db.Encode(record)
	f.must(err)
	client := db.Wrap(f.sdk, f.clock.Now)
	_, err = client.Do(f.t.Context(), client.Table(f.tables.webhooks).Put(key, item))
	f.must(err)
}

// stateFunc returns a copy of d in another state. d is a delivery that was not attempted yet.
type stateFunc func(d delivery.Delivery, now time.Time) delivery.Delivery

// putDelivery stores a delivery of a new event to a webhook. If state is nil, the delivery is pending and has
// no attempts. Otherwise state sets its state.
func (f *fixture) putDelivery(path string, state stateFunc) delivery.Delivery {
	f.t.Helper()
	now, w := f.clock.Now(), f.storedWebhook(path)
	deliveryID := f.ids.New(id.Delivery)
	d := pendingUntil(delivery.Delivery{
		ID: deliveryID, WebhookID: w.ID, WorkspaceID: w.WorkspaceID, AccountID: w.AccountID, EventID: f.ids.New(id.Event),
		Type: event.FileCreated, Payload: event.Text(`{"id":"evt","type":"file.created"}`), Attempts: []delivery.Attempt{},
		Version: 1, ExpiresAt: now.Add(retention).Unix(),
	}, now, now.Add(2*time.Minute))
	if state != nil {
		d = state(d, now)
	}
	f.putItem(db.DeliveryKey(d.WebhookID, d.ID), d)
	return f.storedDelivery(d)
}

// storedDelivery reads a delivery again.
func (f *fixture) storedDelivery(d delivery.Delivery) delivery.Delivery {
	f.t.Helper()
	d, err := f.service.log.Get(f.t.Context(), d.WebhookID, d.ID)
	f.must(err)
	return d
}

// Values of package delivery that clients can observe.
const (
	leaseTime       = 45 * time.Second
	messageTimeout  = 2 * time.Minute
	retention       = 30 * 24 * time.Hour
	interruptedText = "the attempt was interrupted; whether the endpoint was reached is not known"
)

// pendingUntil returns a delivery that waits for its next attempt.
func pendingUntil(d delivery.Delivery, next, due time.Time) delivery.Delivery {
	nextAt, dueAt := clock.Stamp(next), clock.Stamp(due)
	d.Status, d.NextAttemptAt, d.DueAt, d.Due = delivery.Pending, &nextAt, &dueAt, db.DuePartition(0)
	return d
}

// finished returns a delivery with its final status.
func finished(d delivery.Delivery, status delivery.Status, reason string) delivery.Delivery {
	d.Status, d.Reason, d.NextAttemptAt, d.DueAt, d.Due = status, reason, nil, nil, ""
	return d
}

func succeeded(d delivery.Delivery, now time.Time) delivery.Delivery {
	d.Attempts = []delivery.Attempt{{At: clock.Stamp(now), StatusCode: 200, DurationMs: 5, Response: "ok"}}
	return finished(d, delivery.Succeeded, "")
}

func failed(d delivery.Delivery, now time.Time) delivery.Delivery {
	d.Tries = 1
	d.Attempts = []delivery.Attempt{{At: clock.Stamp(now), DurationMs: 5, Error: "the connection was refused"}}
	return finished(d, delivery.Failed, "")
}

func waiting(d delivery.Delivery, now time.Time) delivery.Delivery {
	return pendingUntil(failed(d, now), now.Add(time.Hour), now.Add(time.Hour))
}

func inProgress(d delivery.Delivery, now time.Time) delivery.Delivery {
	lease := clock.Stamp(now.Add(leaseTime))
	d.Tries, d.LeaseUntil = 1, &lease
	d.Attempts = []delivery.Attempt{{At: clock.Stamp(now), Error: interruptedText}}
	return pendingUntil(d, now.Add(5*time.Second), now.Add(5*time.Second+messageTimeout))
}

func notAttempted(d delivery.Delivery, _ time.Time) delivery.Delivery {
	return finished(d, delivery.Failed, "the webhook is not active")
}

// receiveMessages deletes all messages of the queue and returns the sorted IDs of their deliveries.
func (f *fixture) receiveMessages() []string {
	f.t.Helper()
	var ids []string
	for {
		out, err := f.sqs.ReceiveMessage(f.t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &f.queueURL, MaxNumberOfMessages: 10,
		})
		f.must(err)
		if len(out.Messages) == 0 {
			slices.Sort(ids)
			return ids
		}
		for _, m := range out.Messages {
			var message struct {
				DeliveryID string `json:"deliveryId"`
			}
			f.must(json.Unmarshal([]byte(aws.ToString(m.Body)), &message))
			ids = append(ids, message.DeliveryID)
			_, err = f.sqs.DeleteMessage(f.t.Context(), &sqs.DeleteMessageInput{
				QueueUrl: &f.queueURL, ReceiptHandle: m.ReceiptHandle,
			})
			f.must(err)
		}
	}
}

// dump returns all items of the webhooks table as text.
func (f *fixture) dump() string {
	f.t.Helper()
	items := map[string]string{}
	for key, item := range slicetest.Dump(f.t, f.sdk, f.tables.webhooks) {
		decoded, err := db.Decode[map[string]any](item)
		f.must(err)
		text, err := json.Marshal(decoded)
		f.must(err)
		items[key.PK+" "+key.SK] = string(text)
	}
	return fmt.Sprint(items)
}

// timestamp returns the current time in the format of the responses.
func (f *fixture) timestamp() string { return clock.Stamp(f.clock.Now()).String() }
