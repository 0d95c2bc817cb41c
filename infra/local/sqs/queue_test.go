package sqs

import (
	"errors"
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
		"VisibilityTimeout": "30", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "345600",
		"ReceiveMessageWaitTimeSeconds": "0",
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
		"VisibilityTimeout": "43200", "MaximumMessageSize": "1024", "MessageRetentionPeriod": "60",
		"ReceiveMessageWaitTimeSeconds": "20",
		"RedrivePolicy":                 `{ "maxReceiveCount": "7", "deadLetterTargetArn": "` + arnOf("dead") + `", "other": 1 }`,
	}
	set(changed)
	for name, value := range changed {
		want[name] = value
	}
	want["RedrivePolicy"] = redriveTo("dead", 7)
	want["LastModifiedTimestamp"] = "1795176060"
	if diff := cmp.Diff(want, queueAttributes(t, client, url)); diff != "" {
		t.Errorf("after a change (-want +got):\n%s", diff)
	}
	set(map[string]string{"RedrivePolicy": " { } "})
	delete(want, "RedrivePolicy")
	if diff := cmp.Diff(want, queueAttributes(t, client, url)); diff != "" {
		t.Errorf("after removing policies (-want +got):\n%s", diff)
	}
	if got := must(t, s, "GetQueueAttributes", `{URL(jobs)}`).raw; got != "{}" {
		t.Errorf("no names: %s", got)
	}
	if got := must(t, s, "GetQueueAttributes", `{URL(jobs),"AttributeNames":["VisibilityTimeout","RedrivePolicy"]}`).raw; got != `{"Attributes":{"VisibilityTimeout":"43200"}}` {
		t.Errorf("some names: %s", got)
	}
}

func TestCreateQueueAgain(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	first := create(t, client, "q", map[string]string{"ReceiveMessageWaitTimeSeconds": "5", "VisibilityTimeout": "40"})
	for name, test := range map[string]struct {
		attributes map[string]string
		differs    string
	}{
		"without attributes":   {nil, ""},
		"the same":             {map[string]string{"ReceiveMessageWaitTimeSeconds": "5", "VisibilityTimeout": "40"}, ""},
		"some of them":         {map[string]string{"ReceiveMessageWaitTimeSeconds": "5"}, ""},
		"with a default":       {map[string]string{"MaximumMessageSize": "1048576"}, ""},
		"a different value":    {map[string]string{"ReceiveMessageWaitTimeSeconds": "6"}, "ReceiveMessageWaitTimeSeconds"},
		"what differs first":   {map[string]string{"VisibilityTimeout": "1", "ReceiveMessageWaitTimeSeconds": "6"}, "ReceiveMessageWaitTimeSeconds"},
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
