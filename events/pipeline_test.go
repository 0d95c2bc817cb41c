package events_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/provision"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/local/stack"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
)

// pipeline contains the tables and queues of the template, in new embedded AWS services.
type pipeline struct {
	client   *db.Client
	webhooks db.Table
	sqs      *awssqs.Client
	queues   map[string]string // URLs by logical ID

	deliveries, failures queue.Queue
}

func newPipeline(t *testing.T) *pipeline {
	t.Helper()
	tables, err := dynamodb.Open(dynamodb.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	queues, err := sqs.Open(sqs.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	secretsServer, err := secrets.Open(secrets.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch service, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); service {
		case "AmazonSQS":
			queues.ServeHTTP(w, r)
		case "secretsmanager":
			secretsServer.ServeHTTP(w, r)
		default:
			tables.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		server.Close()
		_, _ = tables.Close(), queues.Close()
	})
	template, err := stack.Load(filepath.Join("..", "template.yaml"), stack.Options{QueueEndpoint: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provision.Apply(t.Context(), template, provision.Options{Endpoint: server.URL}); err != nil {
		t.Fatal(err)
	}
	aws := config.AWS{Region: "us-east-1", AccessKeyID: "key", SecretAccessKey: "secret", Endpoint: server.URL}
	p := &pipeline{client: db.New(aws, time.Now), sqs: sqstest.Client(server.URL), queues: map[string]string{}}
	for _, table := range template.Tables {
		if table.LogicalID == "WebhooksTable" {
			p.webhooks = p.client.Table(table.Name)
		}
	}
	for _, q := range template.Queues {
		p.queues[q.LogicalID] = q.URL
	}
	client := queue.New(aws)
	p.deliveries, p.failures = client.Queue(p.queues["DeliveriesQueue"]), client.Queue(p.queues["DeliveryFailuresQueue"])
	return p
}

// subscribe stores a webhook that subscribes to all events of the workspace.
func (p *pipeline) subscribe(t *testing.T, workspaceID, webhookID string) {
	t.Helper()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	write := p.webhooks.Put(db.WebhookKey(workspaceID, webhookID), db.Item{
		"id": text(webhookID), "workspaceId": text(workspaceID), "active": &types.AttributeValueMemberBOOL{Value: true},
		"events":    &types.AttributeValueMemberL{Value: []types.AttributeValue{text("*")}},
		"createdAt": text("2026-01-31T08:00:00.000Z"), "updatedAt": text("2026-01-31T08:00:00.000Z"),
	})
	if _, err := p.client.Do(t.Context(), write); err != nil {
		t.Fatal(err)
	}
}

// TestPipelineSamples checks that each function of the webhook pipeline accepts its sample. The samples must also be
// consistent: for the first event of its sample, the fan-out must send the message in the sample of the worker.
func TestPipelineSamples(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	logger := slog.New(slog.DiscardHandler)
	metrics := metric.New(logger, "", time.Now)
	var ids struct{ WorkspaceID, WebhookID, DeliveryID string }
	var message events.SQSEvent
	if err := json.Unmarshal(read(t, "webhook-delivery-messages.json"), &message); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(message.Records[0].Body), &ids); err != nil {
		t.Fatal(err)
	}
	p.subscribe(t, ids.WorkspaceID, ids.WebhookID)
	handle := func(handler interface {
		Invoke(context.Context, []byte) ([]byte, error)
	}, sample, want string) {
		t.Helper()
		if got, err := handler.Invoke(t.Context(), read(t, sample+".json")); err != nil || string(got) != want {
			t.Errorf("%s: got %s, error %v, want %s", sample, got, err, want)
		}
	}
	// The worker runs first. The delivery does not exist yet, so the worker sends nothing.
	deps := delivery.Deps{
		DB: p.client, Webhooks: p.webhooks, Queue: p.deliveries, Clock: time.Now, Logger: logger, Metrics: metrics,
	}
	worker := delivery.NewWorker(delivery.WorkerDeps{
		Deps: deps, Failures: p.failures, Keys: newKeys(), Sender: sender.New(sender.Options{Now: time.Now}),
	})
	handle(lambdafn.Queue(logger, worker.Handle), "webhook-delivery-messages", `{"batchItemFailures":[]}`)
	fanout := delivery.NewFanout(deps)
	handle(lambdafn.StreamBatch(logger, fanout.Handle, p.failures.Poison), "webhook-fanout-events",
		`{"batchItemFailures":[]}`)
	handle(lambdafn.Schedule(logger, delivery.NewRetryJob(deps).Run), "webhook-retry-schedule", `null`)

	url := p.queues["DeliveriesQueue"]
	input := &awssqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10}
	received, err := p.sqs.ReceiveMessage(t.Context(), input)
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, m := range received.Messages {
		bodies = append(bodies, *m.Body)
	}
	if len(bodies) != 2 || !strings.Contains(strings.Join(bodies, "\n"), message.Records[0].Body) {
		t.Errorf("the fan-out sent\n%s\nwant two messages, one of them the sample\n%s",
			strings.Join(bodies, "\n"), message.Records[0].Body)
	}
}

// newKeys returns a key ring with one random key.
func newKeys() *config.Keys {
	ring := `{"current":"k1","k1":"` + rand.Text() + rand.Text() + `"}`
	return config.NewKeys(func(context.Context) (string, error) { return ring, nil }, time.Now)
}
