package delivery

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/hooktest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/sender"
)

// pipeline contains the fan-out, the worker and the retry job, with their own table and queues. Its clock stands still
// until the test advances it.
type pipeline struct {
	t                    *testing.T
	millis               atomic.Int64
	sdk                  *dynamodb.Client
	table                string
	queues               *sqs.Client
	deliveries, failures string // queue URLs
	store                Store
	secrets              Secrets
	ids                  *id.Generator
	fanout               *Fanout
	worker               *Worker
	job                  *RetryJob
	log                  *slicetest.Log
	receiver             *hooktest.Receiver
	lastRun              time.Time
}

const pipelineSecret = "whsec_c2l4dGVlbiBieXRlcyBvZiBzZWNyZXQgYW5kIG1vcmU="

// midnight is the initial time of pipelines.
var midnight = time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)

// aroundCalls changes how calls to DynamoDB and SQS are made.
type aroundCalls func(http.RoundTripper) http.RoundTripper

func newPipeline(t *testing.T, countingTransport ...aroundCalls) *pipeline {
	t.Helper()
	p := &pipeline{t: t, table: "webhooks-" + rand.Text(), log: slicetest.NewLog(), receiver: hooktest.New(t)}
	p.millis.Store(midnight.UnixMilli())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	for _, change := range countingTransport {
		client.Transport = change(client.Transport)
	}
	dynamo, sqsEndpoint := dynamotest.StartServer(t), sqstest.StartServer(t, sqstest.Clock(p.now))
	p.sdk, p.queues = dynamotest.Client(dynamo), sqstest.Client(sqsEndpoint)
	p.createTable()
	p.failures = sqstest.CreateQueue(t, p.queues, "failures-"+rand.Text(), nil)
	p.deliveries = sqstest.CreateQueue(t, p.queues, "deliveries-"+rand.Text(), map[string]string{"VisibilityTimeout": "180"})
	impatient := retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
	database := db.Wrap(dynamotest.Client(dynamo, func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = client, impatient }), p.now)
	sends := queue.Wrap(sqstest.Client(sqsEndpoint, func(o *sqs.Options) { o.HTTPClient, o.Retryer = client, impatient }))
	logger := slog.New(slog.NewJSONHandler(p.log, nil))
	metrics := metric.New(logger, "test", p.now)
	table := database.Table(p.table)
	p.store = Store{Client: db.Wrap(p.sdk, p.now), Table: db.Wrap(p.sdk, p.now).Table(p.table)}
	p.secrets = Secrets{slicetest.Keys(p.now)}
	p.ids = id.NewGenerator(p.now, rand.Reader)
	deps := Deps{DB: database, Webhooks: table, Queue: sends.Queue(p.deliveries), Clock: p.now, Logger: logger, Metrics: metrics}
	p.fanout, p.job = NewFanout(deps), NewRetryJob(deps)
	p.worker = NewWorker(WorkerDeps{
		Deps: deps, Failures: sends.Queue(p.failures), Keys: p.secrets.Keys,
		Sender: sender.New(sender.Options{AllowPrivate: true, Now: p.now, Timeout: 300 * time.Millisecond}),
	})
	return p
}

// createTable creates the table with the schema of template.yaml.
func (p *pipeline) createTable() {
	p.t.Helper()
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	key := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
	}
	_, err := p.sdk.CreateTable(p.t.Context(), &dynamodb.CreateTableInput{
		TableName: &p.table, BillingMode: types.BillingModePayPerRequest, KeySchema: key("pk", "sk"),
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk"), attribute("due"), attribute("dueAt")},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("due"), KeySchema: key("due", "dueAt"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"wakes", "expiresAt"}},
		}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pipeline) now() time.Time { return time.UnixMilli(p.millis.Load()).UTC() }

func (p *pipeline) advance(d time.Duration) { p.millis.Add(d.Milliseconds()) }

// subscribe stores a webhook to everything of a workspace, changed as the test wants it.
func (p *pipeline) subscribe(workspaceID, url string, change ...func(*Webhook)) Webhook {
	p.t.Helper()
	now := clock.Stamp(p.now())
	w := Webhook{
		ID: p.ids.New(id.Webhook), WorkspaceID: workspaceID, URL: url, Events: []string{"*"}, Active: true,
		CreatedAt: now, UpdatedAt: now, Revision: 1, Generation: 1,
	}
	var err error
	if w.Secret, err = p.secrets.Seal(p.t.Context(), w.ID, pipelineSecret); err != nil {
		p.t.Fatal(err)
	}
	for _, do := range change {
		do(&w)
	}
	p.put(w)
	return w
}

func (p *pipeline) put(w Webhook) {
	p.t.Helper()
	item, err := db.Encode(w)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.store.Client.Do(p.t.Context(), p.store.Table.Put(db.WebhookKey(w.WorkspaceID, w.ID), item)); err != nil {
		p.t.Fatal(err)
	}
}

// storedWebhook returns the stored version of a webhook.
func (p *pipeline) storedWebhook(w Webhook) Webhook {
	p.t.Helper()
	w, err := p.store.Webhook(p.t.Context(), w.WorkspaceID, w.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	return w
}

// newEvent returns an event of a workspace that occurs now.
func (p *pipeline) newEvent(workspaceID string, change ...func(*event.Record)) event.Record {
	eventID := p.ids.New(id.Event)
	e := event.Record{
		ID: eventID, Type: event.FileCreated, WorkspaceID: workspaceID, ProjectID: "prj_01KGA4ZK70ABCDEFGHJKMNPQRS",
		Payload: event.Text(`{"id":"` + eventID + `","type":"file.created","timestamp":"` + clock.Stamp(p.now()).String() + `"}`), ExpiresAt: p.now().Add(event.Retention).Unix(),
	}
	for _, do := range change {
		do(&e)
	}
	return e
}

// stream returns the stream records of events.
func stream(t *testing.T, happened ...event.Record) []lambdafn.StreamRecord {
	t.Helper()
	records := make([]lambdafn.StreamRecord, len(happened))
	for i, e := range happened {
		item, err := db.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		records[i] = lambdafn.StreamRecord{SequenceNumber: fmt.Sprint(i + 1), EventName: "INSERT", NewImage: item}
	}
	return records
}

// publish runs the fan-out of events, which must succeed.
func (p *pipeline) publish(events ...event.Record) {
	p.t.Helper()
	for _, err := range p.fanout.Handle(p.t.Context(), stream(p.t, events...)) {
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// receive receives up to ten visible messages.
func (p *pipeline) receive() []lambdafn.QueueMessage {
	p.t.Helper()
	out, err := p.queues.ReceiveMessage(p.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &p.deliveries, MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{sqstypes.MessageSystemAttributeNameAll},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	messages := make([]lambdafn.QueueMessage, len(out.Messages))
	for i, m := range out.Messages {
		messages[i] = lambdafn.QueueMessage{ID: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, Group: m.Attributes["MessageGroupId"]}
	}
	return messages
}

func (p *pipeline) remove(m lambdafn.QueueMessage) {
	p.t.Helper()
	if _, err := p.queues.DeleteMessage(p.t.Context(), &sqs.DeleteMessageInput{QueueUrl: &p.deliveries, ReceiptHandle: &m.ReceiptHandle}); err != nil {
		p.t.Fatal(err)
	}
}

// handleMessages handles all visible messages. It returns their number and the errors of those that were not completed.
func (p *pipeline) handleMessages() (n int, errs []error) {
	p.t.Helper()
	for {
		messages := p.receive()
		if len(messages) == 0 {
			return n, errs
		}
		n += len(messages)
		for i, err := range p.worker.Handle(p.t.Context(), messages) {
			if err == nil {
				p.remove(messages[i])
				continue
			}
			errs = append(errs, err)
		}
	}
}

func (p *pipeline) retry() {
	p.t.Helper()
	p.lastRun = p.now()
	if err := p.job.Run(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// next returns the time of the next event of the pipeline: an attempt for which a message waits, or the run of the
// retry job that finds the next due delivery. It is zero if nothing is pending.
func (p *pipeline) next() time.Time {
	p.t.Helper()
	var next time.Time
	sooner := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for _, d := range p.allDeliveries() {
		if d.Status != Pending {
			continue
		}
		if at := d.NextAttemptAt.Time().Add(time.Second); at.After(p.now()) { // messages wait for whole seconds
			sooner(at)
		}
		if at := d.DueAt.Time().Add(-lookAhead); at.After(p.now()) {
			sooner(at)
		}
		sooner(p.lastRun.Add(time.Minute))
		if d.DueAt.Time().Add(-lookAhead).After(p.lastRun.Add(time.Minute)) && d.NextAttemptAt.Time().Sub(p.now()) > time.Minute {
			next = d.DueAt.Time().Add(-lookAhead)
		}
	}
	return next
}

// run advances the clock, handles messages and runs the retry job until no delivery is pending.
func (p *pipeline) run() {
	p.t.Helper()
	for steps := 0; ; steps++ {
		if steps == 10_000 {
			p.t.Fatal("deliveries are still pending")
		}
		p.handleMessages()
		next := p.next()
		if next.IsZero() {
			return
		}
		if next.After(p.now()) {
			p.advance(next.Sub(p.now()) + time.Millisecond)
		}
		if p.now().Sub(p.lastRun) >= time.Minute {
			p.retry()
		}
	}
}

// allDeliveries returns the stored deliveries.
func (p *pipeline) allDeliveries() []Delivery {
	p.t.Helper()
	var all []Delivery
	for _, item := range dynamotest.Dump(p.t, p.sdk, p.table) {
		if !strings.HasPrefix(db.KeyOf(item).SK, "DELIVERY#") {
			continue
		}
		d, err := db.Decode[Delivery](item)
		if err != nil {
			p.t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// onlyDelivery returns the only stored delivery.
func (p *pipeline) onlyDelivery() Delivery {
	p.t.Helper()
	all := p.allDeliveries()
	if len(all) != 1 {
		p.t.Fatalf("there are %d deliveries, want 1", len(all))
	}
	return all[0]
}

// change stores the next version of the only delivery, as another writer does.
func (p *pipeline) change(next func(Delivery) Delivery) {
	p.t.Helper()
	d := p.onlyDelivery()
	if _, err := p.store.save(p.t.Context(), d, next(d)); err != nil {
		p.t.Error(err)
	}
}

// redeliver requests a redelivery of the only delivery, without a message.
func (p *pipeline) redeliver() {
	p.t.Helper()
	p.change(func(d Delivery) Delivery { return d.restarted(p.now(), true) })
}

// failedMessages returns the bodies of the messages in the failure queue.
func (p *pipeline) failedMessages() (bodies []string) {
	p.t.Helper()
	out, err := p.queues.ReceiveMessage(p.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &p.failures, MaxNumberOfMessages: 10})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range out.Messages {
		bodies = append(bodies, *m.Body)
	}
	return bodies
}

func newWorkspace(p *pipeline) string { return p.ids.New(id.Workspace) }

// callCounter counts calls by operation.
type callCounter struct {
	next http.RoundTripper
	mu   sync.Mutex
	n    map[string]int
}

// countCalls counts the calls that a pipeline makes.
func countCalls() (*callCounter, aroundCalls) {
	c := &callCounter{n: map[string]int{}}
	return c, func(next http.RoundTripper) http.RoundTripper {
		c.next = next
		return c
	}
}

func (c *callCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.n[dynamotest.Operation(r)]++
	c.mu.Unlock()
	return c.next.RoundTrip(r)
}

// take returns the calls since its last call.
func (c *callCounter) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.n
	c.n = map[string]int{}
	return n
}
