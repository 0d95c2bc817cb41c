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
	"devplatform/shared/id"
)

const (
	secret      = "a secret of the endpoint's owner"
	workspaceID = "ws_01KGA4V5N2ABCDEFGHJKMNPQRS"
	webhookID   = "wh_01KGA5B1S0ABCDEFGHJKMNPQRS"
)

// fixture is the environment of the function: its tables and its queues.
type fixture struct {
	t              *testing.T
	client         *db.Client
	queues         *sqs.Client
	slow, failures string // URLs of queues
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	tables, queues := dynamotest.StartServer(t), sqstest.StartServer(t)
	sdk := dynamotest.Client(tables)
	functiontest.CreateWebhooksTable(t, sdk, "webhooks")
	dynamotest.CreateTable(t, sdk, "events", "pk", "sk")
	f := &fixture{t: t, client: db.Wrap(sdk, time.Now), queues: sqstest.Client(queues)}
	f.slow = sqstest.CreateQueue(t, f.queues, "slow-deliveries", nil)
	f.failures = sqstest.CreateQueue(t, f.queues, "failures", nil)
	functiontest.SetEnv(t, functiontest.Endpoint(t, tables, queues), map[string]string{
		"WEBHOOKS_TABLE": "webhooks", "EVENTS_TABLE": "events", "METRICS_NAMESPACE": "stack",
		"DELIVERIES_QUEUE":      sqstest.CreateQueue(t, f.queues, "deliveries", nil),
		"CREATIONS_QUEUE":       sqstest.CreateQueue(t, f.queues, "creations", nil),
		"SLOW_DELIVERIES_QUEUE": f.slow, "FAILURES_QUEUE": f.failures, "WEBHOOK_ALLOW_PRIVATE": "false",
	})
	return f
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// put stores an item.
func (f *fixture) put(table string, key db.Key, item db.Item) {
	f.t.Helper()
	if _, err := f.client.Do(f.t.Context(), f.client.Table(table).Put(key, item)); err != nil {
		f.t.Fatal(err)
	}
}

// publish stores a webhook of the slow lane and an event. It creates the items without the service's code, so that the
// test fails if the stored format changes. It returns the payload of the event, and the message that asks the function
// to create the delivery.
func (f *fixture) publish(url string) (payload, message string) {
	f.t.Helper()
	before, now := clock.Stamp(time.Now().Add(-time.Minute)).String(), clock.Stamp(time.Now()).String()
	eventID := id.Event.From(time.Now(), [10]byte{})
	payload = `{"id":"` + eventID + `","timestamp":"` + now + `"}`
	f.put("events", db.WorkspaceEventKey(workspaceID, eventID), db.Item{
		"id": text(eventID), "type": text("file.created"), "workspaceId": text(workspaceID), "payload": text(payload),
	})
	f.put("webhooks", db.WebhookKey(workspaceID, webhookID), db.Item{
		"id": text(webhookID), "workspaceId": text(workspaceID), "url": text(url),
		"secret":    text(functiontest.SealWebhookSecret(f.t, webhookID, secret)),
		"events":    &types.AttributeValueMemberL{Value: []types.AttributeValue{text("file.*")}},
		"createdAt": text(before), "updatedAt": text(before), "active": &types.AttributeValueMemberBOOL{Value: true},
		"generation": &types.AttributeValueMemberN{Value: "1"},
	})
	return payload, `{"workspaceId":"` + workspaceID + `","webhooks":["` + webhookID + `"],` +
		`"events":[{"id":"` + eventID + `"}]}`
}

// invoke calls the function with a batch of messages. The ID of each message is its body. invoke returns the IDs of
// the messages that the function reports as failed, and the log.
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

// receive returns the only message in a queue.
func (f *fixture) receive(queueURL string) string {
	f.t.Helper()
	input := &sqs.ReceiveMessageInput{QueueUrl: &queueURL, MaxNumberOfMessages: 10}
	out, err := f.queues.ReceiveMessage(f.t.Context(), input)
	if err != nil || len(out.Messages) != 1 {
		f.t.Fatalf("got %+v, %v from %s, want one message", out, err, queueURL)
	}
	return *out.Messages[0].Body
}

// The function creates the delivery that a message asks for, and sends a message for a turn of the endpoint. In the
// turn, it sends a signed POST. An invalid message is moved to the failure queue.
func TestBatch(t *testing.T) {
	f := newFixture(t)
	t.Setenv("WEBHOOK_ALLOW_PRIVATE", "true")
	receiver := hooktest.New(t)
	payload, creation := f.publish(receiver.URL("/ok"))
	failed, log := f.invoke("not JSON", creation)
	if len(failed) != 0 || len(receiver.To("/ok")) != 0 {
		t.Fatalf("got failed messages %v and requests %v, want none: %s", failed, receiver.To("/ok"), log)
	}
	if body := f.receive(f.failures); !strings.Contains(body, "not JSON") {
		t.Errorf("got %s from the failure queue, want the invalid message", body)
	}
	_, turnLog := f.invoke(f.receive(f.slow))
	log += turnLog
	requests := receiver.To("/ok")
	if len(requests) != 1 {
		t.Fatalf("got %d requests, want 1: %s", len(requests), log)
	}
	if err := requests[0].Verify(secret); err != nil {
		t.Error(err)
	}
	if got := string(requests[0].Body); got != payload {
		t.Errorf("got body %s, want %s", got, payload)
	}
	for _, want := range []string{
		`"DeliveriesCreated":[1]`, `"SlowTurns":[1]`, `"DeliverySuccesses":[1]`, `"Namespace":"stack"`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not contain %s: %s", want, log)
		}
	}
}

// If WEBHOOK_ALLOW_PRIVATE is false, as in production, the function sends no request to a private address such as the
// loopback address of the test server. The attempt fails, and the reason is logged.
func TestPrivateAddresses(t *testing.T) {
	f := newFixture(t)
	called := false
	endpoint := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer endpoint.Close()
	_, creation := f.publish(endpoint.URL)
	f.invoke(creation)
	_, log := f.invoke(f.receive(f.slow))
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
		"WEBHOOKS_TABLE", "EVENTS_TABLE", "DELIVERIES_QUEUE", "SLOW_DELIVERIES_QUEUE", "CREATIONS_QUEUE", "FAILURES_QUEUE",
		"KEYS_SECRET")
}
