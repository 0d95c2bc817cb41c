package events_test

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/provision"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/local/stack"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace/record"
)

// sampleTime is the time at which the functions process the samples: shortly after the sample events.
func sampleTime() time.Time { return time.Date(2026, time.January, 31, 8, 31, 20, 0, time.UTC) }

// The webhooks of the samples. One is in the fast lane, the other one is in the slow lane.
const (
	fastWebhook = "wh_01KGA5B1S0ABCDEFGHJKMNPQRS"
	slowWebhook = "wh_01KGA5B1S0ABCDEFGHJKMNPQRT"
)

// pipeline contains the tables and queues of the template, in new embedded AWS services.
type pipeline struct {
	client                     *db.Client
	webhooks, events, projects db.Table
	sqs                        *awssqs.Client
	queues                     map[string]string // URLs by logical ID

	fast, slow, creations, failures queue.Queue
}

func newPipeline(t *testing.T) *pipeline {
	t.Helper()
	tables, err := dynamodb.Open(dynamodb.Options{Now: sampleTime})
	if err != nil {
		t.Fatal(err)
	}
	queues, err := sqs.Open(sqs.Options{Now: sampleTime})
	if err != nil {
		t.Fatal(err)
	}
	secretsServer, err := secrets.Open(secrets.Options{Now: sampleTime})
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
	template, err := stack.Load(filepath.Join("..", "template.yaml"), stack.Options{
		QueueEndpoint: server.URL, Parameters: map[string]string{"AiProvider": "scaffold"},
	})
	if err != nil {
		t.Fatal(err)
	}
	template.Buckets = nil // the pipeline does not use S3
	if _, err := provision.Apply(t.Context(), template, provision.Options{Endpoint: server.URL}); err != nil {
		t.Fatal(err)
	}
	aws := config.AWS{Region: "us-east-1", AccessKeyID: "key", SecretAccessKey: "secret", Endpoint: server.URL}
	p := &pipeline{client: db.New(aws, sampleTime), sqs: sqstest.Client(server.URL), queues: map[string]string{}}
	for _, table := range template.Tables {
		switch table.LogicalID {
		case "WebhooksTable":
			p.webhooks = p.client.Table(table.Name)
		case "ProjectsTable":
			p.projects = p.client.Table(table.Name)
		case "EventsTable":
			p.events = p.client.Table(table.Name)
		}
	}
	for _, q := range template.Queues {
		p.queues[q.LogicalID] = q.URL
	}
	client := queue.New(aws)
	p.fast, p.slow = client.Queue(p.queues["DeliveriesQueue"]), client.Queue(p.queues["SlowDeliveriesQueue"])
	p.creations = client.Queue(p.queues["CreationsQueue"])
	p.failures = client.Queue(p.queues["DeliveryFailuresQueue"])
	return p
}

// subscribe stores a webhook that subscribes to all events of the samples' workspace. prompt reports whether its
// endpoint is in the fast lane.
func (p *pipeline) subscribe(t *testing.T, webhookID string, prompt bool) {
	t.Helper()
	const workspaceID, accountID = "ws_01KGA4V5N2ABCDEFGHJKMNPQRS", "usr_01KGA4V5N0ABCDEFGHJKMNPQRS"
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	write := p.webhooks.Put(db.WebhookKey(workspaceID, webhookID), db.Item{
		"id": text(webhookID), "workspaceId": text(workspaceID), "accountId": text(accountID),
		"active":     &types.AttributeValueMemberBOOL{Value: true},
		"prompt":     &types.AttributeValueMemberBOOL{Value: prompt},
		"generation": &types.AttributeValueMemberN{Value: "1"},
		"events":     &types.AttributeValueMemberL{Value: []types.AttributeValue{text("*")}},
		"createdAt":  text("2026-01-31T08:00:00.000Z"), "updatedAt": text("2026-01-31T08:00:00.000Z"),
	})
	workspace := p.projects.Put(db.WorkspaceKey(workspaceID), record.Workspace{ID: workspaceID, Owners: 1})
	for _, w := range []db.Write{write, workspace} {
		if _, err := p.client.Do(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
}

// storeEvents stores the events of the fan-out's sample.
func (p *pipeline) storeEvents(t *testing.T) {
	t.Helper()
	for _, record := range storedEvents(t, "webhook-fanout-events") {
		item, err := db.Encode(record)
		if err != nil {
			t.Fatal(err)
		}
		write := p.events.Put(event.KeyOf(record.WorkspaceID, record.ProjectID, record.ID), item)
		if _, err := p.client.Do(t.Context(), write); err != nil {
			t.Fatal(err)
		}
	}
}

// receive returns the messages in a queue: for each, the group and the body.
func (p *pipeline) receive(t *testing.T, logicalID string) (messages []string) {
	t.Helper()
	return receive(t, p.sqs, p.queues[logicalID])
}

func receive(t *testing.T, sqs *awssqs.Client, url string) (messages []string) {
	t.Helper()
	out, err := sqs.ReceiveMessage(t.Context(), &awssqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{sqstypes.MessageSystemAttributeNameAll},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Messages {
		messages = append(messages, m.Attributes["MessageGroupId"]+" "+*m.Body)
	}
	return messages
}

// checkMessage checks that a queue contains one message, and that it is the message of a sample.
func checkMessage(t *testing.T, sqs *awssqs.Client, url, sample string) {
	t.Helper()
	got := receive(t, sqs, url)
	if len(got) != 1 {
		t.Fatalf("got the messages %q, want one", got)
	}
	if want := sampleMessage(t, sample); got[0] != want {
		t.Errorf("got the message\n%s\nwant the sample\n%s", got[0], want)
	}
}

// sampleMessage returns the group and the body of the message in a sample.
func sampleMessage(t *testing.T, sample string) string {
	t.Helper()
	var decoded events.SQSEvent
	if err := json.Unmarshal(read(t, sample+".json"), &decoded); err != nil {
		t.Fatal(err)
	}
	m := decoded.Records[0]
	if sum := md5.Sum([]byte(m.Body)); hex.EncodeToString(sum[:]) != m.Md5OfBody {
		t.Errorf("%s: got md5OfBody %s, want %x", sample, m.Md5OfBody, sum)
	}
	return m.Attributes["MessageGroupId"] + " " + m.Body
}

// TestPipelineSamples checks that each function of the webhook pipeline accepts its samples. The samples must also be
// consistent: for its sample, the fan-out must send the messages in the samples of the fast lane and of the creation of
// deliveries. For the latter, the function of the slow lane must send the message in the sample of a turn.
func TestPipelineSamples(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	logger := slog.New(slog.DiscardHandler)
	p.subscribe(t, fastWebhook, true)
	p.subscribe(t, slowWebhook, false)
	p.storeEvents(t)
	handle := func(handler interface {
		Invoke(context.Context, []byte) ([]byte, error)
	}, sample, want string) {
		t.Helper()
		if got, err := handler.Invoke(t.Context(), read(t, sample+".json")); err != nil || string(got) != want {
			t.Errorf("%s: got %s, error %v, want %s", sample, got, err, want)
		}
	}
	deps := delivery.Deps{
		Store: delivery.Store{Client: p.client, Table: p.webhooks, Events: p.events, Projects: p.projects},
		Fast:  p.fast, Slow: p.slow, Creations: p.creations, Clock: sampleTime, Logger: logger,
		Metrics: metric.New(logger, "", sampleTime),
	}
	workers := delivery.WorkerDeps{
		Deps: deps, Failures: p.failures, Keys: newKeys(), Sender: sender.New(sender.Options{Now: sampleTime}),
	}
	// The workers run first. The deliveries do not exist yet, so they send nothing.
	fast, slow := delivery.NewFastWorker(workers), delivery.NewSlowWorker(workers)
	handle(lambdafn.Queue(logger, fast.Handle), "webhook-delivery-messages", `{"batchItemFailures":[]}`)
	handle(lambdafn.Queue(logger, slow.Handle), "webhook-slow-delivery-turn", `{"batchItemFailures":[]}`)
	fanout := delivery.NewFanout(deps)
	handle(lambdafn.StreamBatch(logger, fanout.Handle, p.failures.Poison), "webhook-fanout-events",
		`{"batchItemFailures":[]}`)
	handle(lambdafn.Schedule(logger, delivery.NewRetryJob(deps).Run), "webhook-retry-schedule", `null`)

	want := sampleMessage(t, "webhook-delivery-messages")
	if got := p.receive(t, "DeliveriesQueue"); len(got) != 2 || !slices.Contains(got, want) {
		t.Errorf("the fan-out sent\n%s\nto the fast lane, want two messages, one of them the sample\n%s",
			strings.Join(got, "\n"), want)
	}
	want = sampleMessage(t, "webhook-slow-delivery-creation")
	if got := p.receive(t, "CreationsQueue"); len(got) != 1 || got[0] != want {
		t.Errorf("the fan-out sent\n%s\nto the slow lane, want the sample\n%s", strings.Join(got, "\n"), want)
	}
	handle(lambdafn.Queue(logger, slow.Handle), "webhook-slow-delivery-creation", `{"batchItemFailures":[]}`)
	want = sampleMessage(t, "webhook-slow-delivery-turn")
	if got := p.receive(t, "SlowDeliveriesQueue"); len(got) != 1 || got[0] != want {
		t.Errorf("the slow lane sent\n%s\nwant the sample\n%s", strings.Join(got, "\n"), want)
	}
}

// newKeys returns a key ring with one random key.
func newKeys() *config.Keys {
	ring := `{"current":"k1","k1":"` + rand.Text() + rand.Text() + `"}`
	return config.NewKeys(func(context.Context) (string, error) { return ring, nil }, sampleTime)
}
