package sqs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/datafolder"
)

// A message is received as it was sent, with system attributes. The SDK verifies the checksum of the body.
func TestMessage(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	body := "<\t\r\nünïcode 🦜>&\"" + string(rune(0x10FFFF))
	sent, err := client.SendMessage(t.Context(), &sdk.SendMessageInput{
		QueueUrl: &url, MessageBody: &body, MessageGroupId: aws.String("tenant!~"),
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.advance(1500 * time.Millisecond)
	got := receive(t, client, url, nil)[0]
	if *got.Body != body || *got.MessageId != *sent.MessageId || *got.MD5OfBody != *sent.MD5OfMessageBody {
		t.Errorf("got %+v", got)
	}
	wantSystem := map[string]string{
		"SenderId": "000000000000", "SentTimestamp": "1795176000000", "ApproximateReceiveCount": "1",
		"ApproximateFirstReceiveTimestamp": "1795176001500", "MessageGroupId": "tenant!~",
	}
	if diff := cmp.Diff(wantSystem, got.Attributes); diff != "" {
		t.Errorf("system attributes (-want +got):\n%s", diff)
	}
}

func TestSystemAttributeNames(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	create(t, client, "q", map[string]string{"VisibilityTimeout": "0"})
	must(t, s, "SendMessage", `{URL(q),"MessageBody":"m"}`)
	for _, test := range []struct{ parameters, want string }{
		{``, ``},
		{`,"AttributeNames":["SenderId"]`, `"Attributes":{"SenderId":"000000000000"}`},
		{`,"MessageSystemAttributeNames":["SenderId"]`, `"Attributes":{"SenderId":"000000000000"}`},
		{`,"AttributeNames":["SenderId"],"MessageSystemAttributeNames":["ApproximateReceiveCount"]`, `"Attributes":{"ApproximateReceiveCount":"4","SenderId":"000000000000"}`},
	} {
		got := must(t, s, "ReceiveMessage", `{URL(q)`+test.parameters+`}`)
		message := got.body["Messages"].([]any)[0].(map[string]any)
		shown, ok := message["Attributes"].(map[string]any)
		if ok != (test.want != "") || ok && len(shown) != strings.Count(test.want, `":"`) {
			t.Errorf("%s: got %s", test.parameters, got.raw)
		}
	}
	if got := must(t, s, "ReceiveMessage", `{URL(q),"WaitTimeSeconds":0}`); got.body["Messages"] == nil {
		t.Errorf("got %s", got.raw)
	}
	client2 := create(t, client, "empty", nil)
	if got := must(t, s, "ReceiveMessage", `{URL(empty)}`).raw; got != "{}" {
		t.Errorf("from %s: got %s", client2, got)
	}
}

func TestSendBatch(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", map[string]string{"MaximumMessageSize": "1024"})
	out, err := client.SendMessageBatch(t.Context(), &sdk.SendMessageBatchInput{QueueUrl: &url, Entries: []types.SendMessageBatchRequestEntry{
		{Id: aws.String("good"), MessageBody: aws.String("a")},
		{Id: aws.String("large"), MessageBody: aws.String(strings.Repeat("x", 1025))},
		{Id: aws.String("just"), MessageBody: aws.String(strings.Repeat("x", 1024))},
		{Id: aws.String("late"), MessageBody: aws.String("b"), DelaySeconds: 901},
		{Id: aws.String("bad"), MessageBody: aws.String("\x00")},
		{Id: aws.String("last"), MessageBody: aws.String("c"), DelaySeconds: 5, MessageGroupId: aws.String("g")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var good, bad []string
	for _, e := range out.Successful {
		good = append(good, *e.Id)
	}
	for _, e := range out.Failed {
		bad = append(bad, fmt.Sprintf("%s %s %v", *e.Id, *e.Code, e.SenderFault))
	}
	if got := strings.Join(good, " "); got != "good just last" {
		t.Errorf("good: %s", got)
	}
	want := "large InvalidParameterValue true, late InvalidParameterValue true, bad InvalidMessageContents true"
	if got := strings.Join(bad, ", "); got != want {
		t.Errorf("bad: %s", got)
	}
	if got := counts(t, client, url); got != "2 0 1" {
		t.Errorf("counts %s", got)
	}
}

func TestLargestMessage(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	largest := strings.Repeat("€", 1<<20/3) + "x"
	sendText(t, client, url, largest)
	if got := receive(t, client, url, nil); len(got) != 1 || *got[0].Body != largest {
		t.Errorf("got %d messages", len(got))
	}
	if _, err := client.SendMessage(t.Context(), &sdk.SendMessageInput{QueueUrl: &url, MessageBody: aws.String(largest + "x")}); err == nil {
		t.Error("a message with one byte more was accepted")
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	must(t, s, "SendMessage", `{URL(q),"MessageBody":"later","DelaySeconds":10}`)
	must(t, s, "SendMessage", `{URL(q),"MessageBody":"own","DelaySeconds":5}`)
	must(t, s, "SendMessage", `{URL(q),"MessageBody":"none","DelaySeconds":0}`)
	if got := counts(t, client, url); got != "1 0 2" {
		t.Errorf("counts %s", got)
	}
	if got := bodies(receive(t, client, url, nil)); got != "none" {
		t.Errorf("at once: %q", got)
	}
	clock.advance(4999 * time.Millisecond)
	if got := bodies(receive(t, client, url, nil)); got != "" {
		t.Errorf("too early: %q", got)
	}
	clock.advance(time.Millisecond)
	if got := bodies(receive(t, client, url, nil)); got != "own" {
		t.Errorf("after 5 s: %q", got)
	}
	clock.advance(5 * time.Second)
	if got := bodies(receive(t, client, url, nil)); got != "later" {
		t.Errorf("after 10 s: %q", got)
	}
}

func TestVisibility(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	sendText(t, client, url, "m")
	first := receive(t, client, url, nil)[0]
	if got := counts(t, client, url); got != "0 1 0" {
		t.Errorf("counts %s", got)
	}
	clock.advance(29 * time.Second)
	hide(t, client, url, first.ReceiptHandle, 60)
	clock.advance(59 * time.Second)
	if got := receive(t, client, url, nil); len(got) != 0 {
		t.Error("visible too early")
	}
	clock.advance(time.Second)
	second := receive(t, client, url, func(in *sdk.ReceiveMessageInput) { in.VisibilityTimeout = 100 })[0]
	if second.Attributes["ApproximateReceiveCount"] != "2" || second.Attributes["ApproximateFirstReceiveTimestamp"] != first.Attributes["ApproximateFirstReceiveTimestamp"] {
		t.Errorf("second receive: %v", second.Attributes)
	}
	change := func(handle *string, seconds int32) error {
		_, err := client.ChangeMessageVisibility(t.Context(), &sdk.ChangeMessageVisibilityInput{QueueUrl: &url, ReceiptHandle: handle, VisibilityTimeout: seconds})
		return err
	}
	if err := change(first.ReceiptHandle, 5); err == nil || !strings.Contains(err.Error(), "ReceiptHandle must be the handle of the last receive") {
		t.Errorf("with the older handle: %v", err)
	}
	clock.advance(10 * time.Second)
	if err := change(second.ReceiptHandle, 43_191); err == nil || !strings.Contains(err.Error(), "VisibilityTimeout must end at most 43200 seconds after") {
		t.Errorf("over 12 hours: %v", err)
	}
	if err := change(second.ReceiptHandle, 43_190); err != nil {
		t.Errorf("12 hours: %v", err)
	}
	if err := change(second.ReceiptHandle, 0); err != nil {
		t.Error(err)
	}
	if got := counts(t, client, url); got != "1 0 0" {
		t.Errorf("released: %s", got)
	}
	var idle *types.MessageNotInflight
	if err := change(second.ReceiptHandle, 10); !errors.As(err, &idle) {
		t.Errorf("of a visible message: %v", err)
	}
	deleteOne(t, client, url, second.ReceiptHandle)
	if err := change(second.ReceiptHandle, 10); err == nil || !strings.Contains(err.Error(), "ReceiptHandle must be the handle of the last receive") {
		t.Errorf("of a deleted message: %v", err)
	}
}

func TestChangeVisibilityBatch(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	sendText(t, client, url, "a", "b")
	got := receive(t, client, url, nil)
	out, err := client.ChangeMessageVisibilityBatch(t.Context(), &sdk.ChangeMessageVisibilityBatchInput{QueueUrl: &url, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
		{Id: aws.String("a"), ReceiptHandle: got[0].ReceiptHandle, VisibilityTimeout: 0},
		{Id: aws.String("bad"), ReceiptHandle: aws.String("x"), VisibilityTimeout: 0},
		{Id: aws.String("long"), ReceiptHandle: got[1].ReceiptHandle, VisibilityTimeout: 43_201},
	}})
	if err != nil || len(out.Successful) != 1 || len(out.Failed) != 2 || *out.Failed[0].Code != "ReceiptHandleIsInvalid" || *out.Failed[1].Code != "InvalidParameterValue" {
		t.Errorf("got %+v, %v", out, err)
	}
	if got := counts(t, client, url); got != "1 1 0" {
		t.Errorf("counts %s", got)
	}
}

// Deletions are idempotent, and need the handle of the last receive.
func TestDelete(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	sendText(t, client, url, "m")
	first := receive(t, client, url, nil)[0].ReceiptHandle
	clock.advance(30 * time.Second)
	second := receive(t, client, url, nil)[0].ReceiptHandle
	deleteOne(t, client, url, first)
	if got := counts(t, client, url); got != "0 1 0" {
		t.Errorf("the older handle left %s", got)
	}
	clock.advance(30 * time.Second)
	for range 2 {
		deleteOne(t, client, url, second) // also after the visibility timeout, and twice
		if got := counts(t, client, url); got != "0 0 0" {
			t.Errorf("left %s", got)
		}
	}
	sendText(t, client, url, "a", "b", "c")
	got := receive(t, client, url, nil)
	out, err := client.DeleteMessageBatch(t.Context(), &sdk.DeleteMessageBatchInput{QueueUrl: &url, Entries: []types.DeleteMessageBatchRequestEntry{
		{Id: aws.String("a"), ReceiptHandle: got[0].ReceiptHandle},
		{Id: aws.String("again"), ReceiptHandle: got[0].ReceiptHandle},
		{Id: aws.String("bad"), ReceiptHandle: aws.String("x")},
		{Id: aws.String("c"), ReceiptHandle: got[2].ReceiptHandle},
	}})
	if err != nil || len(out.Successful) != 3 || len(out.Failed) != 1 || *out.Failed[0].Id != "bad" || !out.Failed[0].SenderFault {
		t.Errorf("got %+v, %v", out, err)
	}
	if got := counts(t, client, url); got != "0 1 0" {
		t.Errorf("left %s", got)
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", map[string]string{"MessageRetentionPeriod": "60"})
	sendText(t, client, url, "old")
	clock.advance(30 * time.Second)
	sendText(t, client, url, "hidden", "young")
	receive(t, client, url, func(in *sdk.ReceiveMessageInput) { in.MaxNumberOfMessages = 2; in.VisibilityTimeout = 1000 })
	clock.advance(30 * time.Second)
	if got := counts(t, client, url); got != "1 1 0" {
		t.Errorf("after a minute %s", got)
	}
	clock.advance(30 * time.Second)
	if got := counts(t, client, url); got != "0 0 0" {
		t.Errorf("after another %s", got)
	}
	if keys := s.keysOnDisk(t); keys != "1 queues, 0 bodies, 0 entries" {
		t.Errorf("left %s", keys)
	}
}

// keysOnDisk returns the numbers of keys in the store.
func (s *Store) keysOnDisk(t testing.TB) string {
	t.Helper()
	found := map[byte]int{}
	for _, space := range []byte{datafolder.SpaceQueue, datafolder.SpaceBody, datafolder.SpaceMessage} {
		if err := datafolder.Each(s.folder.DB, []byte{space}, func(_, _ []byte) error { found[space]++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%d queues, %d bodies, %d entries", found[datafolder.SpaceQueue], found[datafolder.SpaceBody], found[datafolder.SpaceMessage])
}
