package schedule

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/local/runtime"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/local/stack"
)

// TestDeadLettersThroughTheWire sends an event to its queue with the SDK, the embedded SQS, and the real clock.
func TestDeadLettersThroughTheWire(t *testing.T) {
	t.Parallel()
	endpoint := sqstest.StartServer(t)
	client := sqstest.Client(endpoint)
	queue := sqstest.CreateQueue(t, client, "dead", nil)
	began, base := time.Now(), date("2026-11-21 09:59:59").Add(980*time.Millisecond)
	s, err := Open(Options{
		Schedules: []stack.Schedule{{
			Name: "once", ARN: scheduleARN, Function: "gone", Enabled: true, Expression: "cron(0 10 21 11 ? 2026)",
			DeadLetterQueue: "dead", Input: `{"key":"value"}`,
		}},
		Invoke: func(context.Context, runtime.Invocation) (*runtime.Response, error) {
			return &runtime.Response{Body: io.NopCloser(bytes.NewReader(nil))}, runtime.ErrFunctionNotFound
		},
		Endpoint: endpoint, Now: func() time.Time { return base.Add(time.Since(began)) }, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	received, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &queue, WaitTimeSeconds: 20, MessageAttributeNames: []string{"All"},
	})
	if err != nil || len(received.Messages) != 1 {
		t.Fatalf("received %v, %v", received, err)
	}
	message := received.Messages[0]
	if aws.ToString(message.Body) != `{"key":"value"}` || aws.ToString(message.MessageAttributes["ERROR_CODE"].StringValue) != "ResourceNotFoundException" {
		t.Errorf("dead letter is %+v", message)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// If the dead-letter queue does not exist, the event is logged.
func TestDeadLetterQueueDoesNotExist(t *testing.T) {
	t.Parallel()
	var logged logs
	s, err := Open(Options{
		Schedules: []stack.Schedule{with(scheduled("rate(1 day)"), func(s *stack.Schedule) { s.Enabled, s.DeadLetterQueue = true, "nowhere" })},
		Invoke:    (&lambda{}).invoke, Endpoint: sqstest.StartServer(t), Now: time.Now, Logger: slog.New(slog.NewTextHandler(&logged, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.schedules[0].sendToDeadLetterQueue(letter{body: "the event", reason: runtime.ErrFunctionNotFound})
	if text := logged.String(); !bytes.Contains([]byte(text), []byte("the event")) || !bytes.Contains([]byte(text), []byte("nowhere")) {
		t.Errorf("log is %s", text)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
