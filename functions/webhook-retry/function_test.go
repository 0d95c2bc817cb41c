package main

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
)

// setEnv sets the environment variables of template.yaml, with a new table and new queues.
func setEnv(t *testing.T) (client *db.Client, queues *sqs.Client, fast, slow string) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	tables, endpoint := dynamotest.StartServer(t), sqstest.StartServer(t)
	sdk := dynamotest.Client(tables)
	functiontest.CreateWebhooksTable(t, sdk, "webhooks")
	queues = sqstest.Client(endpoint)
	fast, slow = sqstest.CreateQueue(t, queues, "fast", nil), sqstest.CreateQueue(t, queues, "slow", nil)
	functiontest.SetEnv(t, "", map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": tables, "AWS_ENDPOINT_URL_SQS": endpoint, "METRICS_NAMESPACE": "stack",
		"WEBHOOKS_TABLE": "webhooks", "DELIVERIES_QUEUE": fast, "SLOW_DELIVERIES_QUEUE": slow,
	})
	return db.Wrap(sdk, time.Now), queues, fast, slow
}

// A run sends messages for the deliveries and the endpoints that are due, each to the queue of its lane. It logs the
// number of these deliveries and the age of the oldest one.
func TestRun(t *testing.T) {
	client, queues, fast, slow := setEnv(t)
	const (
		workspaceID = "ws_01KGA4V5N2ABCDEFGHJKMNPQRS"
		webhookID   = "wh_01KGA5B1S0ABCDEFGHJKMNPQRS"
		deliveryID  = "dlv_01KGA52E40ABCDEFGHJKMNPQRS"
	)
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	due := clock.Stamp(time.Now().Add(-time.Hour)).String()
	for key, item := range map[db.Key]db.Item{
		db.DeliveryKey(webhookID, deliveryID): {
			"id": text(deliveryID), "webhookId": text(webhookID), "workspaceId": text(workspaceID),
			"status": text("pending"), "due": text(db.DuePartition(3)), "dueAt": text(due), "nextAttemptAt": text(due),
		},
		db.WebhookKey(workspaceID, webhookID): {
			"id": text(webhookID), "workspaceId": text(workspaceID), "due": text(db.DuePartition(3)), "dueAt": text(due),
		},
	} {
		if _, err := client.Do(t.Context(), client.Table("webhooks").Put(key, item)); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	handler := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.NewJSONHandler(&log, nil))))
	for range 2 { // in the second run, nothing is due
		if _, err := handler.Invoke(t.Context(), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	for queue, want := range map[string]string{fast: deliveryID, slow: webhookID} {
		input := &sqs.ReceiveMessageInput{QueueUrl: &queue, MaxNumberOfMessages: 10}
		out, err := queues.ReceiveMessage(t.Context(), input)
		if err != nil || len(out.Messages) != 1 || !strings.Contains(*out.Messages[0].Body, want) {
			t.Errorf("%s: got %+v, %v, want one message with the ID %s", queue, out, err, want)
		}
	}
	for _, want := range []string{
		`"DeliveriesDue":[1],"OldestUndelivered":[3600.`, `"SlowTurnsDue":[1]`,
		`"DeliveriesDue":[0],"OldestUndelivered":[0]`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not contain %s: %s", want, &log)
		}
	}
}

func TestRequiredVariables(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t, "WEBHOOKS_TABLE", "DELIVERIES_QUEUE", "SLOW_DELIVERIES_QUEUE")
}
