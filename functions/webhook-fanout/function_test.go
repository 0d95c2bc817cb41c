package main

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

const (
	workspaceID = "ws_01KGA4V5N2ABCDEFGHJKMNPQRS"
	webhookID   = "wh_01KGA5B1S0ABCDEFGHJKMNPQRS"
)

// world is the environment of the function: its table and its queues.
type world struct {
	t                    *testing.T
	table                db.Table
	client               *db.Client
	queues               *sqs.Client
	deliveries, failures string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	functiontest.SkipWithEndpoint(t)
	tables, queues := dynamotest.StartServer(t), sqstest.StartServer(t)
	sdk := dynamotest.Client(tables)
	dynamotest.CreateTable(t, sdk, "webhooks", "pk", "sk")
	w := &world{t: t, client: db.Wrap(sdk, time.Now), queues: sqstest.Client(queues)}
	w.table = w.client.Table("webhooks")
	w.deliveries, w.failures = sqstest.CreateQueue(t, w.queues, "deliveries", nil), sqstest.CreateQueue(t, w.queues, "failures", nil)
	for name, value := range map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "",
		"AWS_ENDPOINT_URL_DYNAMODB": tables, "AWS_ENDPOINT_URL_SQS": queues,
		"WEBHOOKS_TABLE": "webhooks", "DELIVERIES_QUEUE": w.deliveries, "FAILURES_QUEUE": w.failures, "METRICS_NAMESPACE": "stack",
	} {
		t.Setenv(name, value)
	}
	return w
}

func (w *world) bodies(url string) (bodies []string) {
	w.t.Helper()
	out, err := w.queues.ReceiveMessage(w.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range out.Messages {
		bodies = append(bodies, *m.Body)
	}
	return bodies
}

// An event in the stream leads to a delivery and its message. An invalid record goes to the failure queue and does not
// block the stream.
func TestBatch(t *testing.T) {
	w := newWorld(t)
	if _, err := w.client.Do(t.Context(), w.table.Put(db.WebhookKey(workspaceID, webhookID), db.Item{
		"id": text(webhookID), "workspaceId": text(workspaceID), "url": text("https://example.com"), "active": &types.AttributeValueMemberBOOL{Value: true},
		"events":    &types.AttributeValueMemberL{Value: []types.AttributeValue{text("file.*")}},
		"createdAt": text("2026-01-01T00:00:00.000Z"), "updatedAt": text("2026-01-01T00:00:00.000Z"),
	})); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	eventID := id.Event.From(time.Now(), [10]byte{})
	record := func(number string, image map[string]events.DynamoDBAttributeValue) events.DynamoDBEventRecord {
		return events.DynamoDBEventRecord{EventName: "INSERT", Change: events.DynamoDBStreamRecord{SequenceNumber: number, NewImage: image}}
	}
	payload, err := json.Marshal(events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{
		record("1", map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute("nonsense")}),
		record("2", map[string]events.DynamoDBAttributeValue{
			"id": events.NewStringAttribute(eventID), "type": events.NewStringAttribute("file.created"),
			"workspaceId": events.NewStringAttribute(workspaceID), "payload": events.NewStringAttribute(`{"id":"` + eventID + `","timestamp":"` + clock.Stamp(time.Now()).String() + `"}`),
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.NewJSONHandler(&log, nil)))).Invoke(t.Context(), payload)
	if err != nil || string(out) != `{"batchItemFailures":[]}` {
		t.Fatalf("%s, %v", out, err)
	}
	if bodies := w.bodies(w.deliveries); len(bodies) != 1 || !strings.Contains(bodies[0], webhookID) {
		t.Errorf("messages: %v", bodies)
	}
	if bodies := w.bodies(w.failures); len(bodies) != 1 || !strings.Contains(bodies[0], "nonsense") || !strings.Contains(bodies[0], `"reason"`) {
		t.Errorf("failures: %v", bodies)
	}
	items, err := w.table.QueryAll(t.Context(), db.DeliveriesOf(webhookID))
	if err != nil || len(items) != 1 {
		t.Errorf("deliveries: %v, %v", items, err)
	}
	if !strings.Contains(log.String(), `"DeliveriesMade":[1]`) || !strings.Contains(log.String(), `"Namespace":"stack"`) {
		t.Errorf("log: %s", &log)
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func TestRequiredVariables(t *testing.T) {
	newWorld(t)
	functiontest.CheckRequiredVariables[settings](t, "WEBHOOKS_TABLE", "DELIVERIES_QUEUE", "FAILURES_QUEUE")
}
