package delivery

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/functiontest"
	"devplatform/infra/hooktest"
	"devplatform/infra/inprocess"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/mail"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/notice"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace/record"
)

// fixture contains the fan-out, the workers of both lanes and the retry job, with their own tables and queues. Its
// clock changes only when the test advances it.
type fixture struct {
	t                                               *testing.T
	millis                                          atomic.Int64
	sdk                                             *dynamodb.Client
	table, events                                   string
	records                                         config.Tables
	queues                                          *sqs.Client
	deliveries, slowDeliveries, creations, failures string // queue URLs
	store                                           Store
	secrets                                         Secrets
	ids                                             *id.Generator
	fanout                                          *Fanout
	fast                                            FastWorker
	slow                                            SlowWorker
	job                                             *RetryJob
	log                                             *slicetest.Log
	receiver                                        *hooktest.Receiver
	lastRun                                         time.Time
	stored                                          []event.Record
	wire                                            *wire
}

const webhookSecret = "whsec_c2l4dGVlbiBieXRlcyBvZiBzZWNyZXQgYW5kIG1vcmU="

// midnight is the initial time of fixtures.
var midnight = time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)

// middleware wraps the transport of the calls to DynamoDB and SQS.
type middleware func(http.RoundTripper) http.RoundTripper

// attemptLimit is the time limit of an attempt. It is long, because endpoints must respond in time even on a slow
// machine.
const attemptLimit = 20 * time.Second

func newFixture(t *testing.T, transports ...middleware) *fixture {
	t.Helper()
	f := &fixture{
		t: t, table: "webhooks-" + rand.Text(), events: "events-" + rand.Text(),
		log:      slicetest.NewLog(),
		receiver: hooktest.New(t),
	}
	f.millis.Store(midnight.UnixMilli())
	client := &http.Client{Transport: inprocess.Transport}
	for _, wrap := range transports {
		client.Transport = wrap(client.Transport)
	}
	f.wire = &wire{next: client.Transport, counts: map[string]int{}}
	client.Transport = f.wire
	dynamo, sqsEndpoint := dynamotest.StartServer(t), sqstest.StartServer(t, sqstest.Clock(f.now))
	f.sdk, f.queues = dynamotest.Client(dynamo), sqstest.Client(sqsEndpoint)
	functiontest.CreateWebhooksTable(t, f.sdk, f.table)
	dynamotest.CreateTable(t, f.sdk, f.events, "pk", "sk")
	f.records = config.Tables{
		Accounts: slicetest.Table(t, f.sdk, "accounts"), Projects: slicetest.Table(t, f.sdk, "projects"),
		Mail: slicetest.Table(t, f.sdk, "mail"),
	}
	f.failures = sqstest.CreateQueue(t, f.queues, "failures-"+rand.Text(), nil)
	attributes := map[string]string{"VisibilityTimeout": "180"}
	f.deliveries = sqstest.CreateQueue(t, f.queues, "deliveries-"+rand.Text(), attributes)
	f.slowDeliveries = sqstest.CreateQueue(t, f.queues, "slow-"+rand.Text(), attributes)
	f.creations = sqstest.CreateQueue(t, f.queues, "creations-"+rand.Text(), attributes)
	withoutBackoff := retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
	database := db.Wrap(dynamotest.Client(dynamo, func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = client, awsclient.Retryer()
	}), f.now)
	queues := queue.Wrap(sqstest.Client(sqsEndpoint, func(o *sqs.Options) {
		o.HTTPClient, o.Retryer = client, withoutBackoff
	}))
	logger := slog.New(slog.NewJSONHandler(f.log, nil))
	metrics := metric.New(logger, "test", f.now)
	own := db.Wrap(f.sdk, f.now)
	f.store = Store{
		Client: own, Table: own.Table(f.table), Events: own.Table(f.events), Projects: own.Table(f.records.Projects),
	}
	f.secrets = Secrets{slicetest.Keys(f.now)}
	f.ids = id.NewGenerator(f.now, rand.Reader)
	deps := Deps{
		Store: Store{
			Client: database, Table: database.Table(f.table), Events: database.Table(f.events),
			Projects: database.Table(f.records.Projects),
		},
		Fast: queues.Queue(f.deliveries), Slow: queues.Queue(f.slowDeliveries), Creations: queues.Queue(f.creations),
		Clock: f.now, Logger: logger, Metrics: metrics,
	}
	f.fanout, f.job = NewFanout(deps), NewRetryJob(deps)
	outbox := mail.NewOutbox(database, f.records, f.secrets.Keys, f.ids, f.now, mail.Settings{From: "a@example.com"})
	workers := WorkerDeps{
		Deps: deps, Failures: queues.Queue(f.failures), Keys: f.secrets.Keys,
		Sender:  sender.New(sender.Options{AllowPrivate: true, Now: f.now, Timeout: attemptLimit}),
		Notices: notice.New(database, f.records, outbox),
	}
	f.fast, f.slow = NewFastWorker(workers), NewSlowWorker(workers)
	return f
}

func (f *fixture) now() time.Time { return time.UnixMilli(f.millis.Load()).UTC() }

func (f *fixture) advance(d time.Duration) { f.millis.Add(d.Milliseconds()) }

// subscribe stores a webhook that subscribes to all events of a workspace. Its endpoint is in the fast lane. The
// changes are applied before the webhook is stored.
func (f *fixture) subscribe(workspaceID, url string, change ...func(*Webhook)) Webhook {
	f.t.Helper()
	now := clock.Stamp(f.now())
	w := Webhook{
		ID: f.ids.New(id.Webhook), WorkspaceID: workspaceID, AccountID: accountOf(workspaceID), URL: url,
		Events: []string{"*"}, CreatedBy: accountOf(workspaceID),
		Active: true, CreatedAt: now, UpdatedAt: now, Revision: 1, Generation: 1, Health: Health{Prompt: true},
	}
	var err error
	if w.Secret, err = f.secrets.Seal(f.t.Context(), w.ID, webhookSecret); err != nil {
		f.t.Fatal(err)
	}
	for _, c := range change {
		c(&w)
	}
	f.putWebhook(w)
	f.putWorkspace(w.WorkspaceID)
	return w
}

// putWorkspace stores the record of a workspace.
func (f *fixture) putWorkspace(workspaceID string) {
	f.t.Helper()
	f.must(f.store.Client.Do(f.t.Context(), f.store.Projects.Put(
		db.WorkspaceKey(workspaceID), record.Workspace{ID: workspaceID, Name: "Team", Owners: 1})))
}

// endWorkspace deletes the record of a workspace.
func (f *fixture) endWorkspace(workspaceID string) {
	f.t.Helper()
	f.must(f.store.Client.Do(f.t.Context(), f.store.Projects.Delete(db.WorkspaceKey(workspaceID))))
}

// suspendOwners makes a workspace read-only.
func (f *fixture) suspendOwners(workspaceID string) {
	f.t.Helper()
	f.must(f.store.Client.Do(f.t.Context(), f.store.Projects.Put(
		db.WorkspaceKey(workspaceID), record.Workspace{ID: workspaceID, Owners: 2, SuspendedOwners: 2})))
}

func (f *fixture) must(_ db.Item, err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// inSlowLane is a change of a webhook: its endpoint is in the slow lane.
func inSlowLane(w *Webhook) { w.Prompt = false }

// newEvent returns an event of a workspace that occurs now.
func (f *fixture) newEvent(workspaceID string, change ...func(*event.Record)) event.Record {
	eventID := f.ids.New(id.Event)
	e := event.Record{
		ID: eventID, Type: event.FileCreated, WorkspaceID: workspaceID, ProjectID: "prj_01KGA4ZK70ABCDEFGHJKMNPQRS",
		ExpiresAt: f.now().Add(event.Retention).Unix(),
	}
	timestamp := clock.Stamp(f.now()).String()
	e.Payload = event.Text(`{"id":"` + eventID + `","type":"file.created","timestamp":"` + timestamp + `"}`)
	for _, c := range change {
		c(&e)
	}
	return e
}

// wantRequests checks the number of requests that the receiver received.
func (f *fixture) wantRequests(n int) {
	f.t.Helper()
	if got := f.receiver.Total(); got != n {
		f.t.Errorf("got %d requests, want %d", got, n)
	}
}

// wantLog checks that the log contains texts.
func (f *fixture) wantLog(texts ...string) {
	f.t.Helper()
	for _, text := range texts {
		if !strings.Contains(f.log.String(), text) {
			f.t.Errorf("the log does not contain %s:\n%s", text, f.log)
		}
	}
}

func (f *fixture) newWorkspace() string { return f.ids.New(id.Workspace) }

// accountOf returns the ID of the user who owns a workspace.
func accountOf(workspaceID string) string { return strings.Replace(workspaceID, "ws_", "usr_", 1) }

// noJitter is a jitter of zero.
func noJitter() float64 { return 0 }
