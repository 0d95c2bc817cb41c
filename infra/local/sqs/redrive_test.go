package sqs

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/datafolder/disktest"
)

// A message that was received too often is moved to the dead-letter queue and keeps its ID, times and content.
func TestRedrive(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	dead := create(t, client, "dead", nil)
	url := create(t, client, "q", map[string]string{"RedrivePolicy": redriveTo("dead", 2), "VisibilityTimeout": "10"})
	if _, err := client.SendMessage(t.Context(), &sdk.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("m"), MessageGroupId: aws.String("g")}); err != nil {
		t.Fatal(err)
	}
	var last types.Message
	for range 2 {
		last = receive(t, client, url, nil)[0]
		clock.advance(10 * time.Second)
	}
	if got := counts(t, client, url); got != "1 0 0" {
		t.Errorf("before the next receive: %s", got)
	}
	late := make(chan []types.Message)
	go func() { late <- receive(t, client, dead, long(20)) }()
	waiting(t, s, "dead", 1)
	if got := receive(t, client, url, nil); len(got) != 0 {
		t.Errorf("received a third time: %v", got)
	}
	got := (<-late)[0]
	want := map[string]string{
		"ApproximateReceiveCount": "3", "SentTimestamp": last.Attributes["SentTimestamp"], "MessageGroupId": "g",
		"ApproximateFirstReceiveTimestamp": last.Attributes["ApproximateFirstReceiveTimestamp"], "DeadLetterQueueSourceArn": arnOf("q"),
	}
	for name, value := range want {
		if got.Attributes[name] != value {
			t.Errorf("%s is %s, want %s", name, got.Attributes[name], value)
		}
	}
	if *got.MessageId != *last.MessageId || *got.Body != "m" {
		t.Errorf("got %+v", got)
	}
	deleteOne(t, client, url, last.ReceiptHandle) // deletes nothing, because the message was moved
	if got := counts(t, client, url) + ", " + counts(t, client, dead); got != "0 0 0, 0 1 0" {
		t.Errorf("counts %s", got)
	}
}

// In a dead-letter queue, the retention period begins when the message was sent to its first queue.
func TestRedriveRetention(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	dead := create(t, client, "dead", map[string]string{"MessageRetentionPeriod": "120"})
	url := create(t, client, "q", map[string]string{"RedrivePolicy": redriveTo("dead", 1), "VisibilityTimeout": "0"})
	sendText(t, client, url, "m")
	receive(t, client, url, nil)
	clock.advance(100 * time.Second)
	receive(t, client, url, nil)
	if got := counts(t, client, dead); got != "1 0 0" {
		t.Fatalf("counts %s", got)
	}
	clock.advance(20 * time.Second)
	if got := counts(t, client, dead); got != "0 0 0" {
		t.Errorf("counts %s", got)
	}
}

// A message stays in its queue if the policy names a queue that does not exist: after a start in another region, all
// queues have other ARNs.
func TestRedriveToMissingQueue(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := openIn(t, dir, nil, newTestClock())
	must(t, s, "CreateQueue", `{"QueueName":"dead"}`)
	must(t, s, "CreateQueue", `{"QueueName":"q","Attributes":{"RedrivePolicy":`+strconv.Quote(redriveTo("dead", 1))+`}}`)
	must(t, s, "SendMessage", `{URL(q),"MessageBody":"m"}`)
	must(t, s, "ReceiveMessage", `{URL(q),"VisibilityTimeout":0}`)
	shut(t, s)
	s = openTest(t, func(o *Options) { o.Folder, o.Region = disktest.Open(t, dir, nil), "eu-west-1" })
	if got := must(t, s, "ReceiveMessage", `{URL(q)}`).raw; !strings.Contains(got, `"Body":"m"`) {
		t.Errorf("received %s", got)
	}
}
