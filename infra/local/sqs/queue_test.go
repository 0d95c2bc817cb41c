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
)

func TestQueueAttributes(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "jobs", nil)
	if !strings.HasSuffix(url, "/000000000000/jobs") || !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("URL %s", url)
	}
	want := map[string]string{
		"QueueArn": arnOf("jobs"), "CreatedTimestamp": "1795176000", "LastModifiedTimestamp": "1795176000",
		"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0", "ApproximateNumberOfMessagesDelayed": "0",
		"VisibilityTimeout": "30", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "345600", "DelaySeconds": "0",
		"ReceiveMessageWaitTimeSeconds": "0", "SqsManagedSseEnabled": "true",
	}
	if diff := cmp.Diff(want, queueAttributes(t, client, url)); diff != "" {
		t.Errorf("a new queue (-want +got):\n%s", diff)
	}
	create(t, client, "dead", nil)
	clock.advance(time.Minute)
	set := func(values map[string]string) {
		t.Helper()
		if _, err := client.SetQueueAttributes(t.Context(), &sdk.SetQueueAttributesInput{QueueUrl: &url, Attributes: values}); err != nil {
			t.Fatal(err)
		}
	}
	changed := map[string]string{
		"VisibilityTimeout": "43200", "MaximumMessageSize": "1024", "MessageRetentionPeriod": "60", "DelaySeconds": "900",
		"ReceiveMessageWaitTimeSeconds": "20", "KmsMasterKeyId": "alias/k", "KmsDataKeyReusePeriodSeconds": "86400",
		"Policy":             `{"Version":"2012-10-17","Statement":[]}`,
		"RedriveAllowPolicy": `{"redrivePermission":"byQueue","sourceQueueArns":["` + arnOf("dead") + `"]}`,
		"RedrivePolicy":      `{ "maxReceiveCount": "7", "deadLetterTargetArn": "` + arnOf("dead") + `", "other": 1 }`,
	}
	set(changed)
	for name, value := range changed {
		want[name] = value
	}
	want["RedrivePolicy"] = redriveTo("dead", 7)
	want["LastModifiedTimestamp"], want["SqsManagedSseEnabled"] = "1795176060", "false"
	if diff := cmp.Diff(want, queueAttributes(t, client, url)); diff != "" {
		t.Errorf("after a change (-want +got):\n%s", diff)
	}
	set(map[string]string{"Policy": "", "RedrivePolicy": "", "RedriveAllowPolicy": "{}", "KmsMasterKeyId": ""})
	for _, name := range []string{"Policy", "RedrivePolicy", "RedriveAllowPolicy", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds"} {
		delete(want, name)
	}
	if diff := cmp.Diff(want, queueAttributes(t, client, url)); diff != "" {
		t.Errorf("after taking away (-want +got):\n%s", diff)
	}
	if got := must(t, s, "GetQueueAttributes", `{URL(jobs)}`).raw; got != "{}" {
		t.Errorf("nothing asked for: %s", got)
	}
	if got := must(t, s, "GetQueueAttributes", `{URL(jobs),"AttributeNames":["DelaySeconds","FifoQueue","Policy"]}`).raw; got != `{"Attributes":{"DelaySeconds":"900"}}` {
		t.Errorf("some asked for: %s", got)
	}
}

func TestCreateQueueAgain(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	first := create(t, client, "q", map[string]string{"DelaySeconds": "5", "VisibilityTimeout": "40"})
	for name, test := range map[string]struct {
		attributes map[string]string
		differs    string
	}{
		"without attributes":   {nil, ""},
		"the same":             {map[string]string{"DelaySeconds": "5", "VisibilityTimeout": "40"}, ""},
		"some of them":         {map[string]string{"DelaySeconds": "5"}, ""},
		"with a default":       {map[string]string{"MaximumMessageSize": "1048576"}, ""},
		"a different value":    {map[string]string{"DelaySeconds": "6"}, "DelaySeconds"},
		"what differs first":   {map[string]string{"VisibilityTimeout": "1", "DelaySeconds": "6"}, "DelaySeconds"},
		"one that it has not":  {map[string]string{"Policy": "{}"}, "Policy"},
		"the default it lacks": {map[string]string{"VisibilityTimeout": "30"}, "VisibilityTimeout"},
	} {
		out, err := client.CreateQueue(t.Context(), &sdk.CreateQueueInput{QueueName: aws.String("q"), Attributes: test.attributes})
		var exists *types.QueueNameExists
		switch {
		case test.differs == "" && (err != nil || *out.QueueUrl != first):
			t.Errorf("%s: %v", name, err)
		case test.differs != "" && (!errors.As(err, &exists) || !strings.HasSuffix(*exists.Message, " "+test.differs)):
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestListQueues(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	if got := must(t, s, "ListQueues", `{}`).raw; got != "{}" {
		t.Errorf("no queues: %s", got)
	}
	for i := range 5 {
		create(t, client, fmt.Sprintf("a%d", i), nil)
		create(t, client, fmt.Sprintf("b%d", i), nil)
	}
	var names []string
	pages := sdk.NewListQueuesPaginator(client, &sdk.ListQueuesInput{QueueNamePrefix: aws.String("b"), MaxResults: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, url := range page.QueueUrls {
			names = append(names, url[strings.LastIndex(url, "/")+1:])
		}
	}
	if got := strings.Join(names, " "); got != "b0 b1 b2 b3 b4" {
		t.Errorf("got %s", got)
	}
	all, err := client.ListQueues(t.Context(), &sdk.ListQueuesInput{})
	if err != nil || len(all.QueueUrls) != 10 || all.NextToken != nil {
		t.Errorf("got %v, %v", all, err)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	out, err := client.CreateQueue(t.Context(), &sdk.CreateQueueInput{QueueName: aws.String("q"), Tags: map[string]string{"a": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	url := out.QueueUrl
	tags := func(want map[string]string) {
		t.Helper()
		got, err := client.ListQueueTags(t.Context(), &sdk.ListQueueTagsInput{QueueUrl: url})
		if err != nil || !cmp.Equal(got.Tags, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	tags(map[string]string{"a": "1"})
	if _, err := client.TagQueue(t.Context(), &sdk.TagQueueInput{QueueUrl: url, Tags: map[string]string{"a": "2", "b": ""}}); err != nil {
		t.Fatal(err)
	}
	tags(map[string]string{"a": "2", "b": ""})
	if _, err := client.UntagQueue(t.Context(), &sdk.UntagQueueInput{QueueUrl: url, TagKeys: []string{"a", "none"}}); err != nil {
		t.Fatal(err)
	}
	tags(map[string]string{"b": ""})
	many := map[string]string{}
	for i := range 50 {
		many[fmt.Sprint(i)] = "x"
	}
	_, err = client.TagQueue(t.Context(), &sdk.TagQueueInput{QueueUrl: url, Tags: many})
	if err == nil || !strings.Contains(err.Error(), "Too many tags added for queue q.") {
		t.Errorf("51 tags: %v", err)
	}
	tags(map[string]string{"b": ""})
}

// A queue of a deleted one's name is another queue.
func TestDeleteQueue(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", map[string]string{"DelaySeconds": "0"})
	sendText(t, client, url, "a", "b")
	handle := receive(t, client, url, nil)[0].ReceiptHandle
	waits := make(chan error)
	go func() {
		_, err := client.ReceiveMessage(t.Context(), &sdk.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
		waits <- err
	}()
	waiting(t, s, "q", 1)
	if _, err := client.DeleteQueue(t.Context(), &sdk.DeleteQueueInput{QueueUrl: &url}); err != nil {
		t.Fatal(err)
	}
	var missing *types.QueueDoesNotExist
	if err := <-waits; !errors.As(err, &missing) {
		t.Errorf("who waits got %v", err)
	}
	if _, err := client.GetQueueUrl(t.Context(), &sdk.GetQueueUrlInput{QueueName: aws.String("q")}); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
	if keys := s.keysOnDisk(t); keys != "0 queues, 0 bodies, 0 entries" {
		t.Errorf("left on disk: %s", keys)
	}
	create(t, client, "q", nil)
	if got := counts(t, client, url); got != "0 0 0" {
		t.Errorf("the next queue has %s", got)
	}
	_, err := client.DeleteMessage(t.Context(), &sdk.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: handle})
	var bad *types.ReceiptHandleIsInvalid
	if !errors.As(err, &bad) {
		t.Errorf("the old queue's handle: %v", err)
	}
}

func TestPurgeQueue(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	purge := func() error {
		_, err := client.PurgeQueue(t.Context(), &sdk.PurgeQueueInput{QueueUrl: &url})
		return err
	}
	sendText(t, client, url, "a", "b", "c")
	handle := receive(t, client, url, func(in *sdk.ReceiveMessageInput) { in.MaxNumberOfMessages = 1 })[0].ReceiptHandle
	if err := purge(); err != nil {
		t.Fatal(err)
	}
	if got := counts(t, client, url); got != "0 0 0" {
		t.Errorf("left %s", got)
	}
	if keys := s.keysOnDisk(t); keys != "1 queues, 0 bodies, 0 entries" {
		t.Errorf("left on disk: %s", keys)
	}
	deleteOne(t, client, url, handle)
	sendText(t, client, url, "d")
	clock.advance(59 * time.Second)
	var running *types.PurgeQueueInProgress
	if err := purge(); !errors.As(err, &running) || *running.Message != "Only one PurgeQueue operation on q is allowed every 60 seconds." {
		t.Errorf("after 59 seconds: %v", err)
	}
	if got := bodies(receive(t, client, url, nil)); got != "d" {
		t.Errorf("got %q", got)
	}
	clock.advance(time.Second)
	if err := purge(); err != nil {
		t.Errorf("after 60 seconds: %v", err)
	}
}
