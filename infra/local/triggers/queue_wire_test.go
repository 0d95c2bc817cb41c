package triggers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/local/triggers"
)

// consumer is a function that reads a queue.
type consumer func(ctx context.Context, messages []events.SQSMessage) (answer string, err error)

func (c consumer) invoke(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
	var event events.SQSEvent
	if err := json.Unmarshal(in.Payload, &event); err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	answer, err := c(ctx, event.Records)
	if err != nil {
		return nil, err
	}
	response := &runtime.Response{Body: io.NopCloser(strings.NewReader("")), Payload: []byte(answer)}
	if answer == "error" {
		response.FunctionError = &runtime.FunctionError{Type: "errorString", Message: "boom"}
	}
	return response, nil
}

func openQueue(t *testing.T, endpoint, queue string, c consumer, change func(*resources.EventSourceMapping)) *triggers.Triggers {
	t.Helper()
	m := resources.EventSourceMapping{Name: "FnJobs", Function: "Fn", Queue: queue, BatchSize: 10, MaximumConcurrency: 5}
	if change != nil {
		change(&m)
	}
	opened, err := triggers.Open(triggers.Options{
		Mappings: []resources.EventSourceMapping{m}, Invoke: c.invoke, Endpoint: endpoint, Positions: triggers.NewMemory(), Now: time.Now,
		Logger:  slog.New(slog.DiscardHandler),
		Backoff: func(int) time.Duration { return 5 * time.Millisecond },
	})
	if err != nil {
		t.Fatal(err)
	}
	opened.Start()
	return opened
}

// awaitEmpty waits until a queue has no messages, including invisible ones.
func awaitEmpty(t *testing.T, client *sqs.Client, url string, limit time.Duration) {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		out, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
		if err != nil {
			t.Fatal(err)
		}
		visible, hidden := out.Attributes["ApproximateNumberOfMessages"], out.Attributes["ApproximateNumberOfMessagesNotVisible"]
		if visible == "0" && hidden == "0" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s messages are in the queue, %s are hidden", visible, hidden)
		}
	}
}

func TestQueueOnEngine(t *testing.T) {
	t.Parallel()
	endpoint := sqstest.StartServer(t)
	client := sqstest.Client(endpoint)
	got := make(chan events.SQSMessage, 10)
	m := openQueue(t, endpoint, "jobs", func(_ context.Context, messages []events.SQSMessage) (string, error) {
		for _, message := range messages {
			got <- message
		}
		return "", nil
	}, nil)
	defer stop(t, m)
	// The mapping was there first.
	url := sqstest.CreateQueue(t, client, "jobs", map[string]string{"ReceiveMessageWaitTimeSeconds": "20"})
	send := func(body string) time.Time {
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &url, MessageBody: &body, MessageGroupId: aws.String("group"),
		})
		if err != nil {
			t.Fatal(err)
		}
		return time.Now()
	}
	send(`{"wanted": true}`)
	message := <-got
	attributes := message.Attributes
	want := events.SQSMessage{
		MessageId: message.MessageId, ReceiptHandle: message.ReceiptHandle, Body: `{"wanted": true}`, Md5OfBody: "c067c3e31143f6423c1ad18ffe7a4fc3",
		EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:jobs",
		AWSRegion: "us-east-1",
		Attributes: map[string]string{
			"ApproximateReceiveCount": "1", "MessageGroupId": "group",
			"SentTimestamp": attributes["SentTimestamp"], "ApproximateFirstReceiveTimestamp": attributes["ApproximateFirstReceiveTimestamp"],
			"SenderId": attributes["SenderId"],
		},
		MessageAttributes: map[string]events.SQSMessageAttribute{},
	}
	if diff := cmp.Diff(want, message); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if message.ReceiptHandle == "" || len(attributes["SentTimestamp"]) != 13 || attributes["SenderId"] == "" {
		t.Errorf("%+v", message)
	}
	awaitEmpty(t, client, url, 10*time.Second)
	// A long poll returns when a message arrives.
	for range 3 {
		sent := send(`{"wanted": true}`)
		<-got
		took := time.Since(sent)
		t.Log("sent and received in", took)
		if took > 2*time.Second {
			t.Errorf("a message took %v", took)
		}
	}
}

// With functions that fail in every way, lost responses, and restarts, every message is delivered, and the queue is
// empty in the end.
func TestNoMessageIsLostOnEngine(t *testing.T) {
	t.Parallel()
	const messages = 300
	endpoint := sqstest.StartServer(t)
	client := sqstest.Client(endpoint)
	url := sqstest.CreateQueue(t, client, "jobs", map[string]string{"VisibilityTimeout": "1"})
	var calm atomic.Bool
	wire := sqstest.NewWire(t, endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if calm.Load() || rand.N(20) > 0 {
			next.ServeHTTP(out, r)
			return
		}
		switch rand.N(3) {
		case 0:
			sqstest.ServerError.Reply(out, r)
		case 1:
			dynamotest.Cut(out, r)
		default: // the response is lost
			next.ServeHTTP(discard{http.Header{}}, r)
			dynamotest.Cut(out, r)
		}
	})
	var mu sync.Mutex
	done := map[string]bool{}
	work := func(ctx context.Context, batch []events.SQSMessage) (answer string, err error) {
		time.Sleep(rand.N(5 * time.Millisecond))
		outcome := rand.N(10)
		switch {
		case calm.Load():
		case outcome == 0:
			return "error", nil
		case outcome == 1:
			return "", runtime.ErrThrottled
		case outcome == 2:
			return `{"batchItemFailures":[{"itemIdentifier":"unknown"}]}`, nil
		case outcome < 6:
			failed := batch[0]
			batch = batch[1:]
			answer = fmt.Sprintf(`{"batchItemFailures":[{"itemIdentifier":%q}]}`, failed.MessageId)
			if _, err := client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &url, ReceiptHandle: &failed.ReceiptHandle}); err != nil {
				t.Log(err) // a message that was too slow is delivered again
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for _, m := range batch {
			done[m.Body] = true
		}
		return answer, nil
	}
	for first := 0; first < messages; first += 10 {
		in := &sqs.SendMessageBatchInput{QueueUrl: &url}
		for i := range 10 {
			body := fmt.Sprint(first + i)
			in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: &body, MessageBody: &body})
		}
		if _, err := client.SendMessageBatch(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	for life := range 6 {
		m := openQueue(t, wire.Endpoint(), "jobs", work, func(m *resources.EventSourceMapping) { m.BatchSize, m.MaximumConcurrency = 7, 4 })
		time.Sleep(time.Duration(life) * 60 * time.Millisecond)
		stop(t, m)
	}
	calm.Store(true)
	m := openQueue(t, wire.Endpoint(), "jobs", work, nil)
	defer stop(t, m)
	awaitEmpty(t, client, url, 20*time.Second)
	mu.Lock()
	defer mu.Unlock()
	if len(done) != messages {
		t.Errorf("%d of %d messages are done", len(done), messages)
	}
}

// discard is a response writer that discards the response.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
