package webhook

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
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
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace"
)

// noon is the time at which the tests of the endpoints begin.
var noon = time.Date(2031, 5, 5, 12, 0, 0, 0, time.UTC)

// site is the service behind a real HTTP server, with its own DynamoDB, SQS and receiver.
type site struct {
	t        *testing.T
	clock    *slicetest.Clock
	log      *slicetest.Log
	endpoint string
	sdk      *dynamodb.Client // without faults
	client   *db.Client
	names    struct{ webhooks, projects string }
	webhooks db.Table
	projects db.Table
	sqs      *sqs.Client
	queueURL string
	receiver *hooktest.Receiver
	keys     *config.Keys
	ids      *id.Generator
	crowd    *slicetest.Users
	private  bool
	service  *Service
	server   *httptest.Server
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{
		t: t, clock: slicetest.NewClock(noon, 0), log: slicetest.NewLog(), endpoint: dynamotest.StartServer(t),
		sqs: sqstest.Start(t), receiver: hooktest.New(t), crowd: &slicetest.Users{}, private: true,
	}
	s.sdk = dynamotest.Client(s.endpoint)
	s.keys = slicetest.Keys(s.clock.Now)
	s.ids = id.NewGenerator(s.clock.Now, rand.Reader)
	s.names.webhooks, s.names.projects = slicetest.Table(t, s.sdk, "webhooks"), slicetest.Table(t, s.sdk, "projects")
	s.queueURL = sqstest.CreateQueue(t, s.sqs, "deliveries-"+strings.ToLower(rand.Text()), nil)
	s.server = httptest.NewServer(nil)
	t.Cleanup(s.server.Close)
	s.serve(s.sdk, s.sqs)
	return s
}

// serve replaces the service with a new one that uses the given SDK clients.
func (s *site) serve(sdk *dynamodb.Client, queues *sqs.Client) {
	s.client = db.Wrap(sdk, s.clock.Now)
	s.webhooks, s.projects = s.client.Table(s.names.webhooks), s.client.Table(s.names.projects)
	logger := slog.New(s.log)
	s.service = New(Deps{
		DB: s.client, Webhooks: s.webhooks, Projects: s.projects, Queue: queue.Wrap(queues).Queue(s.queueURL),
		Keys: s.keys, Cursors: db.NewCursors(s.keys), Sender: sender.New(sender.Options{AllowPrivate: s.private, Now: s.clock.Now}),
		IDs: s.ids, Clock: s.clock.Now, Logger: logger, AllowPrivate: s.private,
	})
	s.server.Config.Handler = httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: logger, Auth: s.crowd, Clock: s.clock.Now,
	}, s.service.Register)
}

// interpose puts a wire between the service and DynamoDB.
func (s *site) interpose() *dynamotest.Wire {
	s.t.Helper()
	wire := dynamotest.NewWire(s.t, s.endpoint, nil)
	s.serve(wire.Client(), s.sqs)
	return wire
}

// visitor is a user's client.
type visitor struct {
	*slicetest.Client
	s        *site
	name     string
	userID   string
	personal string // the id of the personal workspace
}

// user creates a user with a personal workspace.
func (s *site) user(name string) *visitor {
	s.t.Helper()
	s.clock.Advance(time.Millisecond)
	v := &visitor{Client: slicetest.NewClient(s.t, s.server.URL, s.log), s: s, name: name}
	v.SetCookie("session", name)
	v.SessionCalls = 1
	v.userID, v.personal = s.ids.New(id.User), s.ids.New(id.Workspace)
	writes, err := workspace.Personal(s.projects, v.personal, v.userID, name, s.clock.Now())
	s.must(err)
	s.must(s.client.Transact(s.t.Context(), writes...))
	s.crowd.Add(httpapi.Caller{UserID: v.userID, Username: name, Email: name + "@example.com", CreatedAt: s.clock.Now()})
	return v
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// workspace creates a workspace whose members have the given roles.
func (s *site) workspace(roles map[*visitor]workspace.Role) string {
	s.t.Helper()
	workspaceID := s.ids.New(id.Workspace)
	s.put(db.WorkspaceKey(workspaceID), workspace.Workspace{ID: workspaceID, Name: "Team", CreatedAt: clock.Stamp(noon)})
	for v, role := range roles {
		s.join(workspaceID, v, role)
	}
	return workspaceID
}

func (s *site) join(workspaceID string, v *visitor, role workspace.Role) {
	s.t.Helper()
	m := workspace.Membership{WorkspaceID: workspaceID, UserID: v.userID, Username: v.name, Role: role, AddedAt: clock.Stamp(noon), Name: "Team"}
	s.put(db.MemberKey(workspaceID, v.userID), m)
	s.put(db.MembershipKey(v.userID, workspaceID), m)
}

// project creates a project as package project stores it, as far as it matters here.
func (s *site) project(workspaceID, visibility string, by *visitor) string {
	s.t.Helper()
	projectID := s.ids.New(id.Project)
	record := workspace.ProjectAccess{
		WorkspaceID: workspaceID, Visibility: workspace.Visibility(visibility), CreatedBy: by.userID,
	}
	s.put(db.ProjectKey(workspaceID, projectID), record)
	s.put(db.TreeKey(projectID), record)
	return projectID
}

// deleteProject deletes a project as package project does, as far as it matters here.
func (s *site) deleteProject(workspaceID, projectID string) {
	s.t.Helper()
	s.must(s.client.Transact(s.t.Context(),
		s.projects.Delete(db.ProjectKey(workspaceID, projectID)), s.projects.Delete(db.TreeKey(projectID))))
}

func (s *site) put(key db.Key, record any) {
	s.t.Helper()
	item, err := db.Encode(record)
	s.must(err)
	_, err = s.client.Do(s.t.Context(), s.projects.Put(key, item))
	s.must(err)
}

type object map[string]any

// hook creates a webhook whose endpoint is a path of the receiver, and returns its path in the API.
func (v *visitor) hook(path string, more ...object) string {
	v.s.t.Helper()
	fields := object{"url": v.s.receiver.URL(path), "events": []string{"*"}}
	for _, m := range more {
		for name, value := range m {
			fields[name] = value
		}
	}
	v.s.clock.Advance(time.Millisecond)
	return "/api/webhooks/" + v.Do(http.MethodPost, "/api/webhooks", fields).Want(v.s.t, http.StatusCreated).Text("id")
}

// stored returns the stored webhook.
func (s *site) stored(path string) delivery.Webhook {
	s.t.Helper()
	webhookID := path[strings.LastIndex(path, "/")+1:]
	workspaceID, err := s.service.store.workspaceOf(s.t.Context(), webhookID)
	s.must(err)
	w, err := s.service.store.Webhook(s.t.Context(), workspaceID, webhookID)
	s.must(err)
	return w
}

// change stores changes of a webhook as package delivery makes them.
func (s *site) change(path string, change func(w *delivery.Webhook)) {
	s.t.Helper()
	w := s.stored(path)
	change(&w)
	s.putWebhooks(db.WebhookKey(w.WorkspaceID, w.ID), w)
}

// putWebhooks stores a record in the table of webhooks, without the service.
func (s *site) putWebhooks(key db.Key, record any) {
	s.t.Helper()
	item, err := db.Encode(record)
	s.must(err)
	client := db.Wrap(s.sdk, s.clock.Now)
	_, err = client.Do(s.t.Context(), client.Table(s.names.webhooks).Put(key, item))
	s.must(err)
}

// deliver stores a delivery of a new event to a webhook, as change makes it; nil leaves it as a new one.
func (s *site) deliver(path string, change func(d delivery.Delivery, now time.Time) delivery.Delivery) delivery.Delivery {
	s.t.Helper()
	now, w := s.clock.Now(), s.stored(path)
	deliveryID := s.ids.New(id.Delivery)
	d := pendingUntil(delivery.Delivery{
		ID: deliveryID, WebhookID: w.ID, WorkspaceID: w.WorkspaceID, EventID: s.ids.New(id.Event), Type: event.FileCreated,
		Payload: event.Text(`{"id":"evt","type":"file.created"}`), Attempts: []delivery.Attempt{}, Version: 1,
		ExpiresAt: now.Add(retention).Unix(),
	}, now, now.Add(2*time.Minute))
	if change != nil {
		d = change(d, now)
	}
	s.putWebhooks(db.DeliveryKey(d.WebhookID, d.ID), d)
	return s.delivery(d)
}

// delivery returns a delivery as it is stored now.
func (s *site) delivery(d delivery.Delivery) delivery.Delivery {
	s.t.Helper()
	d, err := s.service.log.Get(s.t.Context(), d.WebhookID, d.ID)
	s.must(err)
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

// The following functions return a delivery in a state.
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

func unsent(d delivery.Delivery, _ time.Time) delivery.Delivery {
	return finished(d, delivery.Failed, "the webhook is not active")
}

// messages removes all messages from the queue and returns the sorted IDs of their deliveries.
func (s *site) messages() []string {
	s.t.Helper()
	var ids []string
	for {
		out, err := s.sqs.ReceiveMessage(s.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &s.queueURL, MaxNumberOfMessages: 10})
		s.must(err)
		if len(out.Messages) == 0 {
			slices.Sort(ids)
			return ids
		}
		for _, m := range out.Messages {
			var named struct {
				DeliveryID string `json:"deliveryId"`
			}
			s.must(json.Unmarshal([]byte(aws.ToString(m.Body)), &named))
			ids = append(ids, named.DeliveryID)
			_, err = s.sqs.DeleteMessage(s.t.Context(), &sqs.DeleteMessageInput{QueueUrl: &s.queueURL, ReceiptHandle: m.ReceiptHandle})
			s.must(err)
		}
	}
}

// dump returns all items of the webhooks table as text.
func (s *site) dump() string {
	s.t.Helper()
	return fmt.Sprint(func() any {
		all := map[string]any{}
		for key, item := range slicetest.Dump(s.t, s.sdk, s.names.webhooks) {
			plain, err := db.Decode[map[string]any](item)
			s.must(err)
			text, err := json.Marshal(plain)
			s.must(err)
			all[key.PK+" "+key.SK] = string(text)
		}
		return all
	}())
}

func (s *site) stamp() string { return clock.Stamp(s.clock.Now()).String() }
