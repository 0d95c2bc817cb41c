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
	fastID      = "wh_01KGA5B1S0ABCDEFGHJKMNPQRS"
	slowID      = "wh_01KGA5B1S0ABCDEFGHJKMNPQRT"
)

// fixture is the environment of the function: its table and its queues.
type fixture struct {
	t      *testing.T
	table  db.Table
	client *db.Client
	queues *sqs.Client

	deliveries, creations, failures string // queue URLs
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	tables, queues := dynamotest.StartServer(t), sqstest.StartServer(t)
	sdk := dynamotest.Client(tables)
	dynamotest.CreateTable(t, sdk, "webhooks", "pk", "sk")
	f := &fixture{t: t, client: db.Wrap(sdk, time.Now), queues: sqstest.Client(queues)}
	f.table = f.client.Table("webhooks")
	f.deliveries = sqstest.CreateQueue(t, f.queues, "deliveries", nil)
	f.creations = sqstest.CreateQueue(t, f.queues, "creations", nil)
	f.failures = sqstest.CreateQueue(t, f.queues, "failures", nil)
	functiontest.SetEnv(t, "", map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": tables, "AWS_ENDPOINT_URL_SQS": queues,
		"WEBHOOKS_TABLE": "webhooks", "METRICS_NAMESPACE": "stack",
		"DELIVERIES_QUEUE": f.deliveries, "CREATIONS_QUEUE": f.creations, "FAILURES_QUEUE": f.failures,
	})
	return f
}

// receive returns the bodies of the messages in a queue.
func (f *fixture) receive(queueURL string) (bodies []string) {
	f.t.Helper()
	input := &sqs.ReceiveMessageInput{QueueUrl: &queueURL, MaxNumberOfMessages: 10}
	out, err := f.queues.ReceiveMessage(f.t.Context(), input)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, m := range out.Messages {
		bodies = append(bodies, *m.Body)
	}
	return bodies
}

// subscribe stores a webhook for all events of files. prompt reports whether its endpoint is in the fast lane.
func (f *fixture) subscribe(webhookID string, prompt bool) {
	f.t.Helper()
	if _, err := f.client.Do(f.t.Context(), f.table.Put(db.WebhookKey(workspaceID, webhookID), db.Item{
		"id": text(webhookID), "workspaceId": text(workspaceID), "url": text("https://example.com"),
		"active":    &types.AttributeValueMemberBOOL{Value: true},
		"prompt":    &types.AttributeValueMemberBOOL{Value: prompt},
		"events":    &types.AttributeValueMemberL{Value: []types.AttributeValue{text("file.*")}},
		"createdAt": text("2026-01-01T00:00:00.000Z"), "updatedAt": text("2026-01-01T00:00:00.000Z"),
	})); err != nil {
		f.t.Fatal(err)
	}
}

// An event in the stream leads to a delivery and its message for an endpoint of the fast lane, and only to a message
// for endpoints of the slow lane. An invalid record goes to the failure queue and does not block the stream.
func TestBatch(t *testing.T) {
	f := newFixture(t)
	f.subscribe(fastID, true)
	f.subscribe(slowID, false)
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	eventID := id.Event.From(time.Now(), [10]byte{})
	record := func(number string, image map[string]events.DynamoDBAttributeValue) events.DynamoDBEventRecord {
		return events.DynamoDBEventRecord{
			EventName: "INSERT", Change: events.DynamoDBStreamRecord{SequenceNumber: number, NewImage: image},
		}
	}
	eventPayload := `{"id":"` + eventID + `","timestamp":"` + clock.Stamp(time.Now()).String() + `"}`
	payload, err := json.Marshal(events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{
		record("1", map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute("invalid ID")}),
		record("2", map[string]events.DynamoDBAttributeValue{
			"id": events.NewStringAttribute(eventID), "type": events.NewStringAttribute("file.created"),
			"workspaceId": events.NewStringAttribute(workspaceID), "payload": events.NewStringAttribute(eventPayload),
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	handler := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.NewJSONHandler(&log, nil))))
	out, err := handler.Invoke(t.Context(), payload)
	if err != nil || string(out) != `{"batchItemFailures":[]}` {
		t.Fatalf("got %s, %v, want no failures", out, err)
	}
	for queue, want := range map[string]string{f.deliveries: fastID, f.creations: slowID} {
		if bodies := f.receive(queue); len(bodies) != 1 || !strings.Contains(bodies[0], want) {
			t.Errorf("%s: got messages %v, want one with the ID %s", queue, bodies, want)
		}
	}
	if bodies := f.receive(f.failures); len(bodies) != 1 || !strings.Contains(bodies[0], "invalid ID") ||
		!strings.Contains(bodies[0], `"reason"`) {
		t.Errorf("got messages %v in the failure queue, want the invalid record with a reason", bodies)
	}
	for webhookID, want := range map[string]int{fastID: 1, slowID: 0} {
		items, err := f.table.QueryAll(t.Context(), db.DeliveriesOf(webhookID))
		if err != nil || len(items) != want {
			t.Errorf("%s: got deliveries %v, %v, want %d", webhookID, items, err, want)
		}
	}
	for _, want := range []string{`"DeliveriesCreated":[1]`, `"Namespace":"stack"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not contain %s: %s", want, &log)
		}
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func TestRequiredVariables(t *testing.T) {
	newFixture(t)
	functiontest.CheckRequiredVariables[settings](t,
		"WEBHOOKS_TABLE", "DELIVERIES_QUEUE", "CREATIONS_QUEUE", "FAILURES_QUEUE")
}
