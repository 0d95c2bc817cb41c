package sqstest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/sqs/sqstest"
)

func TestStart(t *testing.T) {
	t.Parallel()
	client := sqstest.Start(t)
	url := sqstest.CreateQueue(t, client, "things", map[string]string{"VisibilityTimeout": "5"})
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("hello")}); err != nil {
		t.Fatal(err)
	}
	got, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 5})
	if err != nil || len(got.Messages) != 1 || aws.ToString(got.Messages[0].Body) != "hello" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if _, err := client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: got.Messages[0].ReceiptHandle}); err != nil {
		t.Fatal(err)
	}
}

// A fault affects the calls of its operation, as often as it is configured.
func TestWire(t *testing.T) {
	t.Parallel()
	endpoint := sqstest.StartServer(t)
	direct := sqstest.Client(endpoint)
	url := sqstest.CreateQueue(t, direct, "wired", nil)
	wire := sqstest.NewWire(t, endpoint, nil)
	client := wire.Client()
	send := func() error {
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
		return err
	}
	for _, test := range []struct {
		fault sqstest.Fault
		fails bool
		hits  int
		sent  string // so many messages are there afterwards
	}{
		{sqstest.ServerError.Times(1), false, 1, "1"},
		{sqstest.Throttled, true, sqstest.Attempts, "1"},
		{sqstest.MissingQueue, true, 1, "1"},
		{sqstest.LostReply, false, 1, "3"},
		{sqstest.DroppedConnection, true, sqstest.Attempts, "3"},
	} {
		wire.Break("SendMessage", test.fault)
		if err := send(); (err != nil) != test.fails || wire.Hits() != test.hits {
			t.Errorf("%s: got %v after %d hits, want %d", test.fault.Name, err, wire.Hits(), test.hits)
		}
		got, err := direct.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{"All"}})
		if err != nil || got.Attributes["ApproximateNumberOfMessages"] != test.sent {
			t.Errorf("%s: then got %v, %v", test.fault.Name, got, err)
		}
	}
	wire.Clear()
	if err := send(); err != nil {
		t.Error(err)
	}
}
