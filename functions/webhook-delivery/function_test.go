package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/functiontest"
	"devplatform/infra/hooktest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
)

const (
	secret      = "a secret of the endpoint's owner"
	workspaceID = "ws_01KGA4V5N2ABCDEFGHJKMNPQRS"
	webhookID   = "wh_01KGA5B1S0ABCDEFGHJKMNPQRS"
	deliveryID  = "dlv_01KGA52E40ABCDEFGHJKMNPQRS"
	eventID     = "evt_01KGA52E40ABCDEFGHJKMNPQRS"
)

// fixture is the environment of the function: its tables and its queues.
type fixture struct {
	t        *testing.T
	client   *db.Client
	queues   *sqs.Client
	failures string // the URL of the failure queue
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	tables, queues := dynamotest.StartServer(t), sqstest.StartServer(t)
	sdk := dynamotest.Client(tables)
	dynamotest.CreateTable(t, sdk, "webhooks", "pk", "sk")
	dynamotest.CreateTable(t, sdk, "events", "pk", "sk")
	f := &fixture{t: t, client: db.Wrap(sdk, time.Now), queues: sqstest.Client(queues)}
	f.failures = sqstest.CreateQueue(t, f.queues, "failures", nil)
	functiontest.SetEnv(t, functiontest.Endpoint(t, tables, queues), map[string]string{
		"WEBHOOKS_TABLE": "webhooks", "EVENTS_TABLE": "events", "METRICS_NAMESPACE": "stack",
		"DELIVERIES_QUEUE":      sqstest.CreateQueue(t, f.queues, "deliveries", nil),
		"SLOW_DELIVERIES_QUEUE": sqstest.CreateQueue(t, f.queues, "slow-deliveries", nil),
		"FAILURES_QUEUE":        f.failures, "WEBHOOK_ALLOW_PRIVATE": "false",
	})
	return f
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// putDelivery stores an event, a webhook of the fast lane, and a delivery that is due. It creates the items without the
// service's code, so that the test fails if the stored format changes.
func (f *fixture) putDelivery(url string) {
	f.t.Helper()
	now := clock.Stamp(time.Now()).String()
	f.put("events", db.WorkspaceEventKey(workspaceID, eventID), db.Item{
		"id": text(eventID), "type": text("file.created"), "workspaceId": text(workspaceID), "payload": text(`{"a":1}`),
	})
	f.put("webhooks", db.WebhookKey(workspaceID, webhookID), db.Item{
		"id": text(webhookID), "workspaceId": text(workspaceID), "url": text(url), "createdAt": text(now),
		"secret":    text(functiontest.SealWebhookSecret(f.t, webhookID, secret)),
		"updatedAt": text(now), "active": &types.AttributeValueMemberBOOL{Value: true},
		"prompt": &types.AttributeValueMemberBOOL{Value: true}, "generation": &types.AttributeValueMemberN{Value: "1"},
	})
	f.put("webhooks", db.DeliveryKey(webhookID, deliveryID), db.Item{
		"id": text(deliveryID), "webhookId": text(webhookID), "workspaceId": text(workspaceID),
		"type": text("file.created"), "eventId": text(eventID), "status": text("pending"),
		"due": text(db.DuePartition(0)), "dueAt": text(now), "nextAttemptAt": text(now),
		"deadline": text(clock.Stamp(time.Now().Add(time.Hour)).String()),
		"version":  &types.AttributeValueMemberN{Value: "1"},
	})
}

// put stores an item.
func (f *fixture) put(table string, key db.Key, item db.Item) {
	f.t.Helper()
	if _, err := f.client.Do(f.t.Context(), f.client.Table(table).Put(key, item)); err != nil {
		f.t.Fatal(err)
	}
}

// invoke calls the function with a batch of messages. The ID of each message is its body. invoke returns the IDs of
// the messages that the function reports as failed, and the log. SQS returns failed messages to the queue.
func (f *fixture) invoke(bodies ...string) (failed []string, log string) {
	f.t.Helper()
	cfg, err := config.Load[settings]()
	if err != nil {
		f.t.Fatal(err)
	}
	var lines strings.Builder
	handler := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.NewJSONHandler(&lines, nil))))
	failed = functiontest.InvokeQueue(f.t, handler, bodies...)
	return failed, lines.String()
}

// message is the body of the message for the stored delivery.
const message = `{"workspaceId":"` + workspaceID + `","webhookId":"` + webhookID + `",` +
	`"deliveryId":"` + deliveryID + `","event":{"id":"` + eventID + `"}}`

// The function sends a signed POST for a valid message, and moves an invalid message to the failure queue. It reports
// neither as failed.
func TestBatch(t *testing.T) {
	f := newFixture(t)
	t.Setenv("WEBHOOK_ALLOW_PRIVATE", "true")
	receiver := hooktest.New(t)
	f.putDelivery(receiver.URL("/ok"))
	failed, log := f.invoke("not JSON", message)
	requests := receiver.To("/ok")
	if len(failed) != 0 || len(requests) != 1 {
		t.Fatalf("got failed messages %v and %d requests, want none and 1: %s", failed, len(requests), log)
	}
	if err := requests[0].Verify(secret); err != nil {
		t.Error(err)
	}
	if got, want := string(requests[0].Body), `{"a":1}`; got != want {
		t.Errorf("got body %s, want %s", got, want)
	}
	for _, want := range []string{`"DeliverySuccesses":[1]`, `"Namespace":"stack"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not contain %s: %s", want, log)
		}
	}
	input := &sqs.ReceiveMessageInput{QueueUrl: &f.failures, MaxNumberOfMessages: 10}
	out, err := f.queues.ReceiveMessage(t.Context(), input)
	if err != nil || len(out.Messages) != 1 || !strings.Contains(*out.Messages[0].Body, "not JSON") {
		t.Errorf("got %+v, %v from the failure queue, want the invalid message", out, err)
	}
}

// If WEBHOOK_ALLOW_PRIVATE is false, as in production, the function sends no request to a private address such as the
// loopback address of the test server. The attempt fails, and the reason is logged.
func TestPrivateAddresses(t *testing.T) {
	f := newFixture(t)
	called := false
	endpoint := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer endpoint.Close()
	f.putDelivery(endpoint.URL)
	failed, log := f.invoke(message)
	if len(failed) != 1 {
		t.Errorf("got failed messages %v, want 1", failed)
	}
	if called {
		t.Error("the private endpoint received a request")
	}
	if want := "the address is not public"; !strings.Contains(log, want) {
		t.Errorf("the log does not contain %q: %s", want, log)
	}
}

func TestRequiredVariables(t *testing.T) {
	newFixture(t)
	functiontest.CheckRequiredVariables[settings](t,
		"WEBHOOKS_TABLE", "EVENTS_TABLE", "DELIVERIES_QUEUE", "SLOW_DELIVERIES_QUEUE", "FAILURES_QUEUE", "KEYS_SECRET")
}
