package sqs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// A message that was received often enough goes to the dead-letter queue, as the message it was.
func TestRedrive(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	dead := create(t, client, "dead", nil)
	url := create(t, client, "q", map[string]string{"RedrivePolicy": redriveTo("dead", 2), "VisibilityTimeout": "10"})
	if _, err := client.SendMessage(t.Context(), &sdk.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("m"), MessageGroupId: aws.String("g"),
		MessageAttributes: map[string]types.MessageAttributeValue{"Foo": text("Bar")}}); err != nil {
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
	if *got.MessageId != *last.MessageId || *got.Body != "m" || *got.MessageAttributes["Foo"].StringValue != "Bar" {
		t.Errorf("got %+v", got)
	}
	deleteOne(t, client, url, last.ReceiptHandle) // too late: it is another queue's
	if got := counts(t, client, url) + ", " + counts(t, client, dead); got != "0 0 0, 0 1 0" {
		t.Errorf("counts %s", got)
	}
	sources, err := client.ListDeadLetterSourceQueues(t.Context(), &sdk.ListDeadLetterSourceQueuesInput{QueueUrl: &dead})
	if err != nil || len(sources.QueueUrls) != 1 || sources.QueueUrls[0] != url {
		t.Errorf("sources %v, %v", sources, err)
	}
}

// What is given up is as old as it was: it ends by when it was sent, and the dead-letter queue's retention.
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

// Odd policies: a queue that is its own dead-letter queue, and a target that has gone.
func TestOddRedrives(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	own := create(t, client, "own", map[string]string{"VisibilityTimeout": "0", "RedrivePolicy": redriveTo("own", 1)})
	sendText(t, client, own, "a", "b")
	receive(t, client, own, nil)
	if got := receive(t, client, own, nil); len(got) != 0 {
		t.Errorf("got %s", bodies(got))
	}
	if got := counts(t, client, own); got != "2 0 0" {
		t.Errorf("counts %s", got)
	}
	dead := create(t, client, "dead", nil)
	url := create(t, client, "q", map[string]string{"VisibilityTimeout": "0", "RedrivePolicy": redriveTo("dead", 1)})
	sendText(t, client, url, "m")
	if _, err := client.DeleteQueue(t.Context(), &sdk.DeleteQueueInput{QueueUrl: &dead}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := bodies(receive(t, client, url, nil)); got != "m" {
			t.Errorf("got %q", got)
		}
	}
}

// deadLetters puts messages into a dead-letter queue by way of a queue.
func deadLetters(t testing.TB, client *sdk.Client, source, dead string, bodies ...string) (url, deadURL string) {
	t.Helper()
	deadURL = create(t, client, dead, nil)
	url = create(t, client, source, map[string]string{"RedrivePolicy": redriveTo(dead, 1), "VisibilityTimeout": "0"})
	sendText(t, client, url, bodies...)
	for range 2 {
		receive(t, client, url, nil)
	}
	_, err := client.SetQueueAttributes(t.Context(), &sdk.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]string{"VisibilityTimeout": "30"}})
	if err != nil {
		t.Fatal(err)
	}
	return url, deadURL
}

func start(t testing.TB, client *sdk.Client, change func(*sdk.StartMessageMoveTaskInput)) (handle *string) {
	t.Helper()
	in := &sdk.StartMessageMoveTaskInput{SourceArn: aws.String(arnOf("dead"))}
	if change != nil {
		change(in)
	}
	out, err := client.StartMessageMoveTask(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out.TaskHandle
}

func moves(t testing.TB, client *sdk.Client) []types.ListMessageMoveTasksResultEntry {
	t.Helper()
	out, err := client.ListMessageMoveTasks(t.Context(), &sdk.ListMessageMoveTasksInput{SourceArn: aws.String(arnOf("dead")), MaxResults: aws.Int32(10)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Results
}

// ended waits for the end of the newest task.
func ended(t testing.TB, client *sdk.Client) types.ListMessageMoveTasksResultEntry {
	t.Helper()
	var newest types.ListMessageMoveTasksResultEntry
	eventually(t, "the task ends", func() bool {
		newest = moves(t, client)[0]
		return *newest.Status != moveRunning
	})
	return newest
}

func TestMoveBack(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	url, dead := deadLetters(t, client, "q", "dead", "a", "b", "c")
	before := receive(t, client, dead, nil)
	clock.advance(30 * time.Second)
	start(t, client, nil)
	task := ended(t, client)
	if *task.Status != moveCompleted || task.ApproximateNumberOfMessagesMoved != 3 || *task.ApproximateNumberOfMessagesToMove != 3 ||
		task.TaskHandle != nil || task.DestinationArn != nil || task.StartedTimestamp != clock.Now().UnixMilli() {
		t.Errorf("got %+v", task)
	}
	if got := counts(t, client, dead) + ", " + counts(t, client, url); got != "0 0 0, 3 0 0" {
		t.Errorf("counts %s", got)
	}
	// They are new messages.
	got := receive(t, client, url, nil)
	if bodies(got) != "a b c" || got[0].Attributes["ApproximateReceiveCount"] != "1" || *got[0].MessageId == *before[0].MessageId ||
		got[0].Attributes["SentTimestamp"] != fmt.Sprint(clock.Now().UnixMilli()) || got[0].Attributes["DeadLetterQueueSourceArn"] != "" {
		t.Errorf("got %+v", got)
	}
	deleteOne(t, client, dead, before[0].ReceiptHandle)
	if got := counts(t, client, url); got != "0 3 0" {
		t.Errorf("the old handle: %s", got)
	}
}

func TestMoveElsewhere(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	_, dead := deadLetters(t, client, "q", "dead", "a", "b")
	sendText(t, client, dead, "never received")
	other := create(t, client, "other", nil)
	start(t, client, func(in *sdk.StartMessageMoveTaskInput) {
		in.DestinationArn, in.MaxNumberOfMessagesPerSecond = aws.String(arnOf("other")), aws.Int32(500)
	})
	if task := ended(t, client); *task.Status != moveCompleted || *task.DestinationArn != arnOf("other") || *task.MaxNumberOfMessagesPerSecond != 500 {
		t.Errorf("got %+v", task)
	}
	if got := counts(t, client, dead) + ", " + counts(t, client, other); got != "0 0 0, 3 0 0" {
		t.Errorf("counts %s", got)
	}
	// What never was anywhere else has no way back.
	sendText(t, client, dead, "never received")
	start(t, client, nil)
	if task := ended(t, client); *task.Status != moveFailed || *task.FailureReason != "CouldNotDetermineMessageSource" {
		t.Errorf("got %+v", task)
	}
	if got := len(moves(t, client)); got != 2 {
		t.Errorf("%d tasks", got)
	}
}

// A task moves in its own time, can be cancelled, and is the only one of its source.
func TestMoveSlowly(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url, dead := deadLetters(t, client, "q", "dead", "a", "b", "c")
	slow := func(in *sdk.StartMessageMoveTaskInput) { in.MaxNumberOfMessagesPerSecond = aws.Int32(1) }
	handle := start(t, client, slow)
	eventually(t, "the first is moved", func() bool { return moves(t, client)[0].ApproximateNumberOfMessagesMoved == 1 })
	task := moves(t, client)[0]
	if *task.Status != moveRunning || *task.TaskHandle != *handle {
		t.Errorf("got %+v", task)
	}
	_, err := client.StartMessageMoveTask(t.Context(), &sdk.StartMessageMoveTaskInput{SourceArn: aws.String(arnOf("dead"))})
	if err == nil || !strings.Contains(err.Error(), "There is already a task running. Only one active task is allowed for a source queue arn at a given time.") {
		t.Errorf("a second task: %v", err)
	}
	out, err := client.CancelMessageMoveTask(t.Context(), &sdk.CancelMessageMoveTaskInput{TaskHandle: handle})
	if err != nil || out.ApproximateNumberOfMessagesMoved != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
	if task := moves(t, client)[0]; *task.Status != moveCancelled || task.TaskHandle != nil {
		t.Errorf("got %+v", task)
	}
	if got := counts(t, client, dead) + ", " + counts(t, client, url); got != "2 0 0, 1 0 0" {
		t.Errorf("counts %s", got)
	}
	if _, err := client.CancelMessageMoveTask(t.Context(), &sdk.CancelMessageMoveTaskInput{TaskHandle: handle}); err == nil {
		t.Error("cancelled again")
	}
}

// A task that the store's end interrupts goes on at its next start, where it was.
func TestMoveInterrupted(t *testing.T) {
	t.Parallel()
	options := Options{Dir: filepath.Join(t.TempDir(), "data"), Now: newTestClock().Now}
	s, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	client := clientOf(t, s)
	deadLetters(t, client, "q", "dead", "a", "b", "c", "d", "e", "f", "g", "h")
	start(t, client, func(in *sdk.StartMessageMoveTaskInput) { in.MaxNumberOfMessagesPerSecond = aws.Int32(10) })
	eventually(t, "one is moved", func() bool { return moves(t, client)[0].ApproximateNumberOfMessagesMoved > 0 })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, func(o *Options) { *o = options })
	client = clientOf(t, s)
	if task := ended(t, client); *task.Status != moveCompleted || task.ApproximateNumberOfMessagesMoved != 8 {
		t.Errorf("got %s after %d messages", *task.Status, task.ApproximateNumberOfMessagesMoved)
	}
	if got := must(t, s, "GetQueueAttributes", `{URL(q),"AttributeNames":["ApproximateNumberOfMessages"]}`).raw; !strings.Contains(got, `"8"`) {
		t.Errorf("got %s", got)
	}
}

// A task whose destination goes fails.
func TestMoveToNowhere(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url, dead := deadLetters(t, client, "q", "dead", "a", "b", "c")
	start(t, client, func(in *sdk.StartMessageMoveTaskInput) { in.MaxNumberOfMessagesPerSecond = aws.Int32(1) })
	eventually(t, "the first is moved", func() bool { return moves(t, client)[0].ApproximateNumberOfMessagesMoved == 1 })
	if _, err := client.DeleteQueue(t.Context(), &sdk.DeleteQueueInput{QueueUrl: &url}); err != nil {
		t.Fatal(err)
	}
	if task := ended(t, client); *task.Status != moveFailed || *task.FailureReason != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("got %+v", task)
	}
	if got := counts(t, client, dead); got != "2 0 0" {
		t.Errorf("left %s", got)
	}
}
