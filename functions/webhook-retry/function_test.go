package main

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
)

// setEnv sets the environment variables of template.yaml, with a new table and a new queue.
func setEnv(t *testing.T) (client *db.Client, queues *sqs.Client, deliveries string) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	tables, endpoint := dynamotest.StartServer(t), sqstest.StartServer(t)
	sdk := dynamotest.Client(tables)
	var attributes []types.AttributeDefinition
	for _, name := range []string{"pk", "sk", "due", "dueAt"} {
		attributes = append(attributes, types.AttributeDefinition{
			AttributeName: &name, AttributeType: types.ScalarAttributeTypeS,
		})
	}
	key := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	table, index := "webhooks", "due"
	if _, err := sdk.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: attributes, KeySchema: key("pk", "sk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: &index, KeySchema: key("due", "dueAt"),
			Projection: &types.Projection{
				ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"wakes", "expiresAt"},
			},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	queues = sqstest.Client(endpoint)
	deliveries = sqstest.CreateQueue(t, queues, "deliveries", nil)
	functiontest.SetEnv(t, "", map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": tables, "AWS_ENDPOINT_URL_SQS": endpoint,
		"WEBHOOKS_TABLE": table, "DELIVERIES_QUEUE": deliveries, "METRICS_NAMESPACE": "stack",
	})
	return db.Wrap(sdk, time.Now), queues, deliveries
}

// A run sends messages for the deliveries that are due. It logs the number of these deliveries and the age of the
// oldest one.
func TestRun(t *testing.T) {
	client, queues, deliveries := setEnv(t)
	const webhookID, deliveryID = "wh_01KGA5B1S0ABCDEFGHJKMNPQRS", "dlv_01KGA52E40ABCDEFGHJKMNPQRS"
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	due := clock.Stamp(time.Now().Add(-time.Hour)).String()
	if _, err := client.Do(t.Context(), client.Table("webhooks").Put(db.DeliveryKey(webhookID, deliveryID), db.Item{
		"id": text(deliveryID), "webhookId": text(webhookID), "workspaceId": text("ws_01KGA4V5N2ABCDEFGHJKMNPQRS"),
		"status": text("pending"), "due": text(db.DuePartition(3)), "dueAt": text(due), "nextAttemptAt": text(due),
	})); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	handler := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.NewJSONHandler(&log, nil))))
	for range 2 { // the second run has no due deliveries
		if _, err := handler.Invoke(t.Context(), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	input := &sqs.ReceiveMessageInput{QueueUrl: &deliveries, MaxNumberOfMessages: 10}
	out, err := queues.ReceiveMessage(t.Context(), input)
	if err != nil || len(out.Messages) != 1 || !strings.Contains(*out.Messages[0].Body, deliveryID) {
		t.Errorf("got %+v, %v, want one message with the ID %s", out, err, deliveryID)
	}
	for _, want := range []string{
		`"DeliveriesDue":[1],"OldestUndelivered":[3600.`, `"DeliveriesDue":[0],"OldestUndelivered":[0]`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not contain %s: %s", want, &log)
		}
	}
}

func TestRequiredVariables(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t, "WEBHOOKS_TABLE", "DELIVERIES_QUEUE")
}
