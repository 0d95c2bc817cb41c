package main

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/webhook"
	"devplatform/shared/webhook/delivery"
)

// setEnv sets the environment variables of template.yaml, with a new DynamoDB, Secrets Manager and SQS behind one
// endpoint.
func setEnv(t *testing.T) (queues *sqs.Client, queue string) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	sdk := dynamotest.Start(t)
	for _, table := range []string{"accounts", "projects", "webhooks", "events"} {
		dynamotest.CreateTable(t, sdk, table, "pk", "sk")
	}
	queues = sqstest.Start(t)
	queue = sqstest.CreateQueue(t, queues, "deliveries", nil)
	tablesURL, queuesURL := aws.ToString(sdk.Options().BaseEndpoint), aws.ToString(queues.Options().BaseEndpoint)
	functiontest.SetEnv(t, functiontest.Endpoint(t, tablesURL, queuesURL), map[string]string{
		"ACCOUNTS_TABLE": "accounts", "PROJECTS_TABLE": "projects", "WEBHOOKS_TABLE": "webhooks",
		"EVENTS_TABLE": "events", "DELIVERIES_QUEUE": queue, "WEBHOOK_ALLOW_PRIVATE": "true",
		"APP_URL": "", "ALLOWED_ORIGINS": "", "COOKIE_PLAIN_HTTP": "",
	})
	return queues, queue
}

// The handler that newHandler builds from the environment serves all endpoints, and accepts the sessions that the auth
// function created.
func TestEndpoints(t *testing.T) {
	queues, queue := setEnv(t)
	logger := slog.New(slog.DiscardHandler)
	auth := functiontest.Accounts(t)
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Limits != webhook.DefaultLimits() {
		t.Errorf("got the limits %+v, want the defaults %+v", cfg.Limits, webhook.DefaultLimits())
	}
	webhooks := functiontest.Must(newHandler(cfg, clock.System, logger))
	ada := functiontest.NewClient(t)
	response := ada.Do(webhooks, http.MethodGet, "/api/webhooks", "")
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a session: got %d %s, want 401", response.StatusCode, response.Body)
	}
	ada.Do(auth, http.MethodPost, "/api/auth/signup",
		`{"email":"ada@example.com","username":"ada","password":"correct horse battery"}`)
	ada.Do(auth, http.MethodPost, "/api/auth/login", `{"email":"ada@example.com","password":"correct horse battery"}`)
	created := ada.Do(webhooks, http.MethodPost, "/api/webhooks", `{"url":"http://192.0.2.1/ok","events":["*"]}`)
	if created.StatusCode != http.StatusCreated {
		t.Fatalf("got %d %s, want 201", created.StatusCode, created.Body)
	}
	if functiontest.Field(t, created.Body, "secret") == "" {
		t.Fatalf("got %s, want a generated secret", created.Body)
	}
	webhookID := functiontest.Field(t, created.Body, "id")
	deliveryID := putDelivery(t, cfg, webhookID)
	path := "/api/webhooks/" + webhookID
	deliveryPath := path + "/deliveries/" + deliveryID
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string // a part of the response body
	}{
		{"GET", "/api/webhooks", "", 200, `"url":"http://192.0.2.1/ok"`},
		{"GET", path, "", 200, `"url":"http://192.0.2.1/ok"`},
		{"PUT", path, `{"description":"For tests."}`, 200, `"description":"For tests."`},
		{"GET", path + "/deliveries?status=succeeded", "", 200, `"statusCode":200`},
		{"GET", deliveryPath, "", 200, `"type":"webhook.test"`},
		{"POST", deliveryPath + "/redeliver", "", 202, `"status":"pending"`},
		{"POST", path + "/recover", `{"since":"2026-01-31T08:00:00Z"}`, 202, `"count":0`},
		{"DELETE", path, "", 200, `"success":true`},
		{"GET", path + "/deliveries", "", 404, `"WEBHOOK_NOT_FOUND"`},
		{"POST", path + "/test", "", 404, `"ROUTE_NOT_FOUND"`}, // another function serves it
		{"GET", "/api/elsewhere", "", 404, `"ROUTE_NOT_FOUND"`},
	} {
		response := ada.Do(webhooks, tc.method, tc.path, tc.body)
		if response.StatusCode != tc.status || !strings.Contains(response.Body, tc.want) {
			t.Errorf("%s %s: got %d %s, want %d and a body with %s",
				tc.method, tc.path, response.StatusCode, response.Body, tc.status, tc.want)
		}
	}
	out, err := queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue})
	if err != nil || len(out.Messages) != 1 ||
		functiontest.Field(t, aws.ToString(out.Messages[0].Body), "deliveryId") != deliveryID {
		t.Errorf("got %+v, %v from the queue, want one message with the ID %s", out, err, deliveryID)
	}
}

// putDelivery stores a successful delivery of a test event, and returns its ID.
func putDelivery(t *testing.T, cfg settings, webhookID string) string {
	t.Helper()
	now := time.Now()
	at, deliveryID := clock.Stamp(now), id.NewGenerator(clock.System, rand.Reader).New(id.Delivery)
	item := functiontest.Must(db.Encode(delivery.Delivery{
		ID: deliveryID, WebhookID: webhookID, Type: event.WebhookTest, Payload: `{"type":"webhook.test"}`, Version: 1,
		Status: delivery.Succeeded, ExpiresAt: now.Add(time.Hour).Unix(),
		Attempts: []delivery.Attempt{{At: at, StatusCode: http.StatusOK}},
	}))
	client := db.New(cfg.AWS, clock.System)
	write := client.Table(cfg.Webhooks.Webhooks).Put(db.DeliveryKey(webhookID, deliveryID), item)
	if _, err := client.Do(t.Context(), write); err != nil {
		t.Fatal(err)
	}
	return deliveryID
}

func TestInvalidLimits(t *testing.T) {
	setEnv(t)
	t.Setenv("LIMIT_WEBHOOKS_ACCOUNT", "0")
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	_, err = newHandler(cfg, clock.System, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "LIMIT_WEBHOOKS_ACCOUNT") {
		t.Errorf("got the error %v, want one that names the variable", err)
	}
}

func TestRequiredVariables(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t,
		"ACCOUNTS_TABLE", "PROJECTS_TABLE", "WEBHOOKS_TABLE", "EVENTS_TABLE", "DELIVERIES_QUEUE", "KEYS_SECRET")
}
