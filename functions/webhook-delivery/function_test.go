package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
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
)

// world is the environment of the function: its table and its queues.
type world struct {
	t        *testing.T
	client   *db.Client
	queues   *sqs.Client
	failures string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	functiontest.SkipWithEndpoint(t)
	tables, queues := dynamotest.StartServer(t), sqstest.StartServer(t)
	sdk := dynamotest.Client(tables)
	dynamotest.CreateTable(t, sdk, "webhooks", "pk", "sk")
	w := &world{t: t, client: db.Wrap(sdk, time.Now), queues: sqstest.Client(queues)}
	w.failures = sqstest.CreateQueue(t, w.queues, "failures", nil)
	functiontest.SetEnv(t, functiontest.Endpoint(t, tables, queues), map[string]string{
		"WEBHOOKS_TABLE": "webhooks", "DELIVERIES_QUEUE": sqstest.CreateQueue(t, w.queues, "deliveries", nil), "FAILURES_QUEUE": w.failures,
		"METRICS_NAMESPACE": "stack", "WEBHOOK_ALLOW_PRIVATE": "false",
	})
	return w
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// stored puts down a webhook with its sealed secret, and a delivery that is due.
func (w *world) stored(url string) {
	w.t.Helper()
	keys := config.NewKeys(func(context.Context) (string, error) { return functiontest.KeyRing, nil }, time.Now)
	kid, key, err := keys.Current(w.t.Context(), "webhook-secret")
	if err != nil {
		w.t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		w.t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		w.t.Fatal(err)
	}
	sealed := kid + "." + base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, []byte(secret), []byte(webhookID)))
	now := clock.Stamp(time.Now()).String()
	for key, item := range map[db.Key]db.Item{
		db.WebhookKey(workspaceID, webhookID): {
			"id": text(webhookID), "workspaceId": text(workspaceID), "url": text(url), "secret": text(sealed), "createdAt": text(now),
			"updatedAt": text(now), "active": &types.AttributeValueMemberBOOL{Value: true}, "generation": &types.AttributeValueMemberN{Value: "1"},
		},
		db.DeliveryKey(webhookID, deliveryID): {
			"id": text(deliveryID), "webhookId": text(webhookID), "workspaceId": text(workspaceID), "type": text("file.created"),
			"eventId": text("evt_01KGA52E40ABCDEFGHJKMNPQRS"), "payload": text(`{"a":1}`), "status": text("pending"), "due": text(db.DuePartition(0)),
			"dueAt": text(now), "nextAttemptAt": text(now), "version": &types.AttributeValueMemberN{Value: "1"},
		},
	} {
		if _, err := w.client.Do(w.t.Context(), w.client.Table("webhooks").Put(key, item)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// invoke sends messages to the function. It returns the IDs of those that the queue delivers again, and the log.
func (w *world) invoke(bodies ...string) (again []string, log string) {
	w.t.Helper()
	cfg, err := config.Load[settings]()
	if err != nil {
		w.t.Fatal(err)
	}
	var event events.SQSEvent
	for _, body := range bodies {
		event.Records = append(event.Records, events.SQSMessage{MessageId: body, ReceiptHandle: "x", Body: body})
	}
	payload, err := json.Marshal(event)
	if err != nil {
		w.t.Fatal(err)
	}
	var lines strings.Builder
	out, err := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.NewJSONHandler(&lines, nil)))).Invoke(w.t.Context(), payload)
	if err != nil {
		w.t.Fatal(err)
	}
	var answer events.SQSEventResponse
	if err := json.Unmarshal(out, &answer); err != nil {
		w.t.Fatal(err)
	}
	for _, f := range answer.BatchItemFailures {
		again = append(again, f.ItemIdentifier)
	}
	return again, lines.String()
}

const message = `{"workspaceId":"` + workspaceID + `","webhookId":"` + webhookID + `","deliveryId":"` + deliveryID + `"}`

// A valid message leads to a signed POST. An invalid one goes to the failure queue.
func TestBatch(t *testing.T) {
	w := newWorld(t)
	t.Setenv("WEBHOOK_ALLOW_PRIVATE", "true")
	receiver := hooktest.New(t)
	w.stored(receiver.URL("/ok"))
	again, log := w.invoke("nonsense", message)
	requests := receiver.To("/ok")
	if len(again) != 0 || len(requests) != 1 {
		t.Fatalf("again %v, %d requests: %s", again, len(requests), log)
	}
	if err := requests[0].Verify(secret); err != nil || string(requests[0].Body) != `{"a":1}` {
		t.Errorf("sent %s: %v", requests[0].Body, err)
	}
	if !strings.Contains(log, `"DeliverySuccesses":[1]`) || !strings.Contains(log, `"Namespace":"stack"`) {
		t.Errorf("log: %s", log)
	}
	out, err := w.queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &w.failures, MaxNumberOfMessages: 10})
	if err != nil || len(out.Messages) != 1 || !strings.Contains(*out.Messages[0].Body, "nonsense") {
		t.Errorf("failures: %+v, %v", out, err)
	}
}

// The deployed function sends no request to a private address. The attempt fails, and the reason is logged.
func TestPrivateAddresses(t *testing.T) {
	w := newWorld(t)
	called := false
	endpoint := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer endpoint.Close()
	w.stored(endpoint.URL)
	again, log := w.invoke(message)
	if len(again) != 1 || called || !strings.Contains(log, "the address is not public") {
		t.Errorf("again %v, called %v: %s", again, called, log)
	}
}

func TestRequiredVariables(t *testing.T) {
	newWorld(t)
	functiontest.CheckRequiredVariables[settings](t, "WEBHOOKS_TABLE", "DELIVERIES_QUEUE", "FAILURES_QUEUE", "KEYS_SECRET")
}
