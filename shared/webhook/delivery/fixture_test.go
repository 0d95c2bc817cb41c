package delivery

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/functiontest"
	"devplatform/infra/hooktest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/sender"
)

// fixture contains the fan-out, the workers of both lanes and the retry job, with their own tables and queues. Its
// clock changes only when the test advances it.
type fixture struct {
	t                                               *testing.T
	millis                                          atomic.Int64
	sdk                                             *dynamodb.Client
	table, events                                   string
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
}

const webhookSecret = "whsec_c2l4dGVlbiBieXRlcyBvZiBzZWNyZXQgYW5kIG1vcmU="

// midnight is the initial time of fixtures.
var midnight = time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)

// middleware wraps the transport of the calls to DynamoDB and SQS.
type middleware func(http.RoundTripper) http.RoundTripper

const (
	// attemptLimit is the time limit of an attempt. Endpoints respond at once, also on a slow machine.
	attemptLimit = 20 * time.Second
	// hangLimit is the time limit of an attempt in tests of endpoints that do not respond.
	hangLimit = 300 * time.Millisecond
)

func newFixture(t *testing.T, transports ...middleware) *fixture {
	t.Helper()
	return newFixtureWithLimit(t, attemptLimit, transports...)
}

// newFixtureWithLimit is like newFixture. limit is the time limit of an attempt.
func newFixtureWithLimit(t *testing.T, limit time.Duration, transports ...middleware) *fixture {
	t.Helper()
	f := &fixture{
		t: t, table: "webhooks-" + rand.Text(), events: "events-" + rand.Text(), log: slicetest.NewLog(),
		receiver: hooktest.New(t),
	}
	f.millis.Store(midnight.UnixMilli())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	for _, wrap := range transports {
		client.Transport = wrap(client.Transport)
	}
	dynamo, sqsEndpoint := dynamotest.StartServer(t), sqstest.StartServer(t, sqstest.Clock(f.now))
	f.sdk, f.queues = dynamotest.Client(dynamo), sqstest.Client(sqsEndpoint)
	functiontest.CreateWebhooksTable(t, f.sdk, f.table)
	dynamotest.CreateTable(t, f.sdk, f.events, "pk", "sk")
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
	f.store = Store{Client: own, Table: own.Table(f.table), Events: own.Table(f.events)}
	f.secrets = Secrets{slicetest.Keys(f.now)}
	f.ids = id.NewGenerator(f.now, rand.Reader)
	deps := Deps{
		DB: database, Webhooks: database.Table(f.table), Events: database.Table(f.events),
		Fast: queues.Queue(f.deliveries), Slow: queues.Queue(f.slowDeliveries), Creations: queues.Queue(f.creations),
		Clock: f.now, Logger: logger, Metrics: metrics,
	}
	f.fanout, f.job = NewFanout(deps), NewRetryJob(deps)
	workers := WorkerDeps{
		Deps: deps, Failures: queues.Queue(f.failures), Keys: f.secrets.Keys,
		Sender: sender.New(sender.Options{AllowPrivate: true, Now: f.now, Timeout: limit}),
	}
	f.fast, f.slow = NewFastWorker(workers), NewSlowWorker(workers)
	f.slow.sleep = func(context.Context, time.Duration) bool { return true }
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
		ID: f.ids.New(id.Webhook), WorkspaceID: workspaceID, URL: url, Events: []string{"*"}, Active: true,
		CreatedAt: now, UpdatedAt: now, Revision: 1, Generation: 1, Health: Health{Prompt: true},
	}
	var err error
	if w.Secret, err = f.secrets.Seal(f.t.Context(), w.ID, webhookSecret); err != nil {
		f.t.Fatal(err)
	}
	for _, c := range change {
		c(&w)
	}
	f.putWebhook(w)
	return w
}

// inSlowLane is a change of a webhook: its endpoint is in the slow lane.
func inSlowLane(w *Webhook) { w.Prompt = false }

// putWebhook stores a webhook. It replaces an existing one.
func (f *fixture) putWebhook(w Webhook) {
	f.t.Helper()
	item, err := db.Encode(w)
	if err != nil {
		f.t.Fatal(err)
	}
	f.putItem(db.WebhookKey(w.WorkspaceID, w.ID), item)
}

func (f *fixture) putItem(key db.Key, item db.Item) {
	f.t.Helper()
	if _, err := f.store.Client.Do(f.t.Context(), f.store.Table.Put(key, item)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) deleteWebhook(w Webhook) {
	f.t.Helper()
	write := f.store.Table.Delete(db.WebhookKey(w.WorkspaceID, w.ID))
	if _, err := f.store.Client.Do(f.t.Context(), write); err != nil {
		f.t.Fatal(err)
	}
}

// storedWebhook returns the stored version of a webhook.
func (f *fixture) storedWebhook(w Webhook) Webhook {
	f.t.Helper()
	w, err := f.store.Webhook(f.t.Context(), w.WorkspaceID, w.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return w
}

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

// streamRecords returns the stream records of events.
func streamRecords(t *testing.T, events ...event.Record) []lambdafn.StreamRecord {
	t.Helper()
	records := make([]lambdafn.StreamRecord, len(events))
	for i, e := range events {
		item, err := db.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		records[i] = lambdafn.StreamRecord{SequenceNumber: fmt.Sprint(i + 1), EventName: "INSERT", NewImage: item}
	}
	return records
}

// putEvents stores events.
func (f *fixture) putEvents(events ...event.Record) {
	f.t.Helper()
	for _, e := range events {
		item, err := db.Encode(e)
		if err != nil {
			f.t.Fatal(err)
		}
		write := f.store.Events.Put(event.KeyOf(e.WorkspaceID, e.ProjectID, e.ID), item)
		if _, err := f.store.Client.Do(f.t.Context(), write); err != nil {
			f.t.Fatal(err)
		}
	}
}

// publish stores events and runs the fan-out. The test fails if the fan-out fails.
func (f *fixture) publish(events ...event.Record) {
	f.t.Helper()
	f.putEvents(events...)
	for _, err := range f.fanout.Handle(f.t.Context(), streamRecords(f.t, events...)) {
		if err != nil {
			f.t.Fatal(err)
		}
	}
}

// receiveMessages receives up to ten visible messages of the fast lane.
func (f *fixture) receiveMessages() []lambdafn.QueueMessage { return f.receiveFrom(f.deliveries) }

// receiveFrom receives up to ten visible messages of a queue.
func (f *fixture) receiveFrom(url string) []lambdafn.QueueMessage {
	f.t.Helper()
	out, err := f.queues.ReceiveMessage(f.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{sqstypes.MessageSystemAttributeNameAll},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	messages := make([]lambdafn.QueueMessage, len(out.Messages))
	for i, m := range out.Messages {
		receives, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
		if err != nil {
			f.t.Fatal(err)
		}
		messages[i] = lambdafn.QueueMessage{
			ID: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, Group: m.Attributes["MessageGroupId"],
			Receives: receives,
		}
	}
	return messages
}

// deleteMessage deletes a message of the fast lane.
func (f *fixture) deleteMessage(m lambdafn.QueueMessage) { f.deleteFrom(f.deliveries, m) }

func (f *fixture) deleteFrom(url string, m lambdafn.QueueMessage) {
	f.t.Helper()
	input := &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: &m.ReceiptHandle}
	if _, err := f.queues.DeleteMessage(f.t.Context(), input); err != nil {
		f.t.Fatal(err)
	}
}

// handlers returns the functions that handle the messages of the queues, by the URL of the queue.
func (f *fixture) handlers() map[string]func(context.Context, []lambdafn.QueueMessage) []error {
	return map[string]func(context.Context, []lambdafn.QueueMessage) []error{
		f.deliveries: f.fast.Handle, f.slowDeliveries: f.slow.Handle, f.creations: f.slow.Handle,
	}
}

// handleMessages handles all visible messages of all queues. It returns their number and the errors of those that were
// not completed.
func (f *fixture) handleMessages() (n int, errs []error) {
	f.t.Helper()
	for {
		handled := 0
		for url, handle := range f.handlers() {
			messages := f.receiveFrom(url)
			handled += len(messages)
			if len(messages) == 0 {
				continue
			}
			for i, err := range handle(f.t.Context(), messages) {
				if err == nil {
					f.deleteFrom(url, messages[i])
					continue
				}
				errs = append(errs, err)
			}
		}
		if n += handled; handled == 0 {
			return n, errs
		}
	}
}

// sendMessage sends a message that names a delivery of the fast lane.
func (f *fixture) sendMessage(d Delivery) {
	f.t.Helper()
	if err := f.fast.fast.Send(f.t.Context(), d.message().queued(d.account(), 0)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) runRetryJob() {
	f.t.Helper()
	f.lastRun = f.now()
	if err := f.job.Run(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// nextStep returns the time at which runUntilFinished continues: when a waiting message becomes visible, or when a run
// of the retry job finds the next due delivery or webhook. It is zero if no delivery is pending.
func (f *fixture) nextStep() time.Time {
	f.t.Helper()
	var next time.Time
	useIfEarlier := func(at time.Time) {
		if at = later(at, f.now().Add(time.Millisecond)); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	visible := func(at *clock.Timestamp) { // a message waits for whole seconds, at most for a minute
		if at != nil && at.Time().After(f.now()) && at.Time().Sub(f.now()) <= maxMessageDelay {
			useIfEarlier(at.Time().Add(time.Second))
		}
	}
	due := func(at time.Time) { useIfEarlier(later(at.Add(-lookAhead), f.lastRun.Add(time.Minute))) }
	pending := false
	for _, d := range f.allDeliveries() {
		if d.Status != Pending {
			continue
		}
		pending = true
		visible(d.NextAttemptAt)
		visible(d.LeaseUntil)
		if !d.waitsInSlowLane() {
			due(d.DueAt.Time())
		}
	}
	for _, w := range f.allWebhooks() {
		visible(w.NotBefore)
		if pending && w.DueAt != nil {
			due(w.DueAt.Time())
		}
	}
	if !pending {
		return time.Time{}
	}
	return next
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// runUntilFinished advances the clock, handles messages and runs the retry job until no delivery is pending.
func (f *fixture) runUntilFinished() {
	f.t.Helper()
	f.runSteps(10_000)
}

// runSteps is runUntilFinished with another maximum number of steps.
func (f *fixture) runSteps(maxSteps int) {
	f.t.Helper()
	for range maxSteps {
		f.handleMessages()
		next := f.nextStep()
		if next.IsZero() {
			return
		}
		if next.After(f.now()) {
			f.advance(next.Sub(f.now()) + time.Millisecond)
		}
		if f.now().Sub(f.lastRun) >= time.Minute {
			f.runRetryJob()
		}
	}
	f.t.Fatalf("deliveries are still pending after %d steps", maxSteps)
}

// allDeliveries returns the stored deliveries.
func (f *fixture) allDeliveries() (all []Delivery) {
	f.t.Helper()
	for _, item := range dynamotest.Dump(f.t, f.sdk, f.table) {
		if !strings.HasPrefix(db.KeyOf(item).SK, "DELIVERY#") {
			continue
		}
		d, err := db.Decode[Delivery](item)
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// allWebhooks returns the stored webhooks that can be decoded.
func (f *fixture) allWebhooks() (all []Webhook) {
	f.t.Helper()
	for _, item := range dynamotest.Dump(f.t, f.sdk, f.table) {
		if w, err := db.Decode[Webhook](item); err == nil && strings.HasPrefix(db.KeyOf(item).SK, "WEBHOOK#") {
			all = append(all, w)
		}
	}
	return all
}

// onlyDelivery returns the only stored delivery.
func (f *fixture) onlyDelivery() Delivery {
	f.t.Helper()
	all := f.allDeliveries()
	if len(all) != 1 {
		f.t.Fatalf("got %d deliveries, want 1", len(all))
	}
	return all[0]
}

// wantDelivery checks the status and the number of attempts of the only delivery, and returns it.
func (f *fixture) wantDelivery(status Status, attempts int) Delivery {
	f.t.Helper()
	d := f.onlyDelivery()
	if d.Status != status || len(d.Attempts) != attempts {
		f.t.Fatalf("got delivery %+v, want %s with %d attempts", d, status, attempts)
	}
	return d
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

// changeDelivery stores the next version of the only delivery, like another writer.
func (f *fixture) changeDelivery(next func(Delivery) Delivery) {
	f.t.Helper()
	d := f.onlyDelivery()
	if _, err := f.store.save(f.t.Context(), d, next(d)); err != nil {
		f.t.Error(err)
	}
}

// redeliver requests a redelivery of the only delivery, without a message.
func (f *fixture) redeliver() {
	f.t.Helper()
	f.changeDelivery(func(d Delivery) Delivery { return d.restarted(f.now(), true) })
}

// failedMessages returns the bodies of the messages in the failure queue.
func (f *fixture) failedMessages() (bodies []string) {
	f.t.Helper()
	input := &sqs.ReceiveMessageInput{QueueUrl: &f.failures, MaxNumberOfMessages: 10}
	out, err := f.queues.ReceiveMessage(f.t.Context(), input)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, m := range out.Messages {
		bodies = append(bodies, *m.Body)
	}
	return bodies
}

func (f *fixture) newWorkspace() string { return f.ids.New(id.Workspace) }

// callCounter is a transport that counts calls by operation.
type callCounter struct {
	next   http.RoundTripper
	mu     sync.Mutex
	counts map[string]int
}

// countCalls returns a counter and the middleware that counts the calls of a fixture.
func countCalls() (*callCounter, middleware) {
	c := &callCounter{counts: map[string]int{}}
	return c, func(next http.RoundTripper) http.RoundTripper {
		c.next = next
		return c
	}
}

func (c *callCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.counts[dynamotest.Operation(r)]++
	c.mu.Unlock()
	return c.next.RoundTrip(r)
}

// take returns the counts since the previous take.
func (c *callCounter) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts
	c.counts = map[string]int{}
	return counts
}

// noJitter is a jitter of zero.
func noJitter() float64 { return 0 }

func stampPtr(at time.Time) *clock.Timestamp {
	s := clock.Stamp(at)
	return &s
}
